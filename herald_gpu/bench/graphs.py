"""Graphs of the benchmark: real ones by name, generated ones by their sizes, and the stages' view of either."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import HeraldConfig, api
from herald_gpu.datasets import load_graph, make_graph
from herald_gpu.experiments import graphs
from herald_gpu.io.read import Columns

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.graph import Graph

SEED = 0
HOMOPHILY = 0.7
LATENT = 16
"""Directions that generated rows of an approximate search have."""
NOISE = 0.1


@dataclass(frozen=True, eq=False)
class Given:
    """A graph as a caller would pass it.

    Attributes
    ----------
    edge_index, features, labels, train
        As :func:`herald_gpu.condense` takes them.
    """

    edge_index: Array
    features: Matrix
    labels: Array
    train: Array

    @property
    def arguments(self) -> tuple[Any, Any, Any, Any]:
        """What to pass to condense()."""
        return self.edge_index, self.features, self.labels, self.train

    @property
    def input_bytes(self) -> int:
        """Bytes of edges, features, labels and training set."""
        return sum(matrix_bytes(part) for part in self.arguments)

    def seen(self, backend: Backend, config: HeraldConfig | None = None) -> Graph:
        """Clean it, as the stages see it."""
        read = backend.read(*self.arguments, columns=Columns(), unlabelled=-1)
        return api.build_graph(backend, read, config or HeraldConfig())[0]


def matrix_bytes(matrix: Any) -> int:  # noqa: ANN401 - an array or a CSR matrix
    """Bytes that an array or a CSR matrix holds.

    Examples
    --------
    >>> import scipy.sparse
    >>> matrix_bytes(np.zeros((2, 3), dtype=np.float32))
    24
    >>> csr = scipy.sparse.csr_array(np.eye(3, dtype=np.float32))
    >>> matrix_bytes(csr) == csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes
    True
    """
    if hasattr(matrix, "indptr"):
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
    return int(np.asarray(matrix).nbytes)


def load(spec: dict[str, Any]) -> Given:
    """Load ``{"dataset": NAME}`` (never over the network), ``reddit-like-SCALE`` among them, or generate by options.

    Parameters
    ----------
    spec : dict
        Of a data set, or options of :func:`herald_gpu.datasets.make_graph`.

    Raises
    ------
    DatasetError
        If a data set is not here.

    Examples
    --------
    >>> load({"n_nodes": 100, "n_features": 8, "mean_degree": 4}).features.shape
    (100, 8)
    """
    if "dataset" in spec:
        name = spec["dataset"]
        found = graphs.load(name) if name.startswith(graphs.LIKE) else load_graph(name, download=False)
        return Given(found.edge_index, found.features, found.labels, found.train)
    made = make_graph(**{"homophily": HOMOPHILY, "seed": SEED, **spec})
    return Given(made.edge_index, made.features, made.labels, made.train)


def latent_rows(n_rows: int, n_features: int, *, seed: int = SEED) -> np.ndarray:
    """Rows near a flat sheet of few directions, as embeddings are; independent noise has no near neighbours to find.

    Examples
    --------
    >>> latent_rows(5, 40).shape, latent_rows(5, 40).dtype
    ((5, 40), dtype('float32'))
    """
    generator = np.random.default_rng(seed)
    onto = generator.standard_normal((LATENT, n_features), dtype=np.float32)
    rows = generator.standard_normal((n_rows, LATENT), dtype=np.float32) @ onto
    rows += np.float32(NOISE) * generator.standard_normal(rows.shape, dtype=np.float32)
    return rows
