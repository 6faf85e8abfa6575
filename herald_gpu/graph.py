"""What the stages see: a clean graph on one backend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from herald_gpu import ops
from herald_gpu.errors import ConfigError, InputError
from herald_gpu.io.matrices import to_numpy

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.stages.scaling import Scaling

FeatureKind = Literal["dense", "binary", "sparse"]

LARGEST = 1e15
"""Feature values may be no larger: products of rows of them are added up in float32."""


@dataclass(frozen=True)
class Graph:
    """A labelled graph, cleaned.

    Attributes
    ----------
    adjacency : (N, N) CSR matrix of float32
        Ones; symmetric, without self loops and duplicates, indices sorted. Where a preset asks for the graph as
        stored: directed, with self loops, and values that say how often an edge stands in the list.
    features : (N, F) matrix of float32
        CSR where that is the cheaper way to hold the values, else a dense C-ordered array: decided by the
        values alone, so that the same numbers take the same path whatever container they came in.
    kind : {"dense", "binary", "sparse"}
        The cheapest way to store the features, as they were given.
    labels : (N,) int32 array
        Class codes; -1 is unknown. Labels outside the training set are erased before any stage can see them.
    train : (N,) bool array
        The training nodes; each has a label.
    n_classes : int
        Classes that occur among training nodes.
    scaling : Scaling, optional
        How the features were scaled.
    n_given : int, optional
        Non-zeros of the features before they were scaled.
    """

    adjacency: Matrix
    features: Matrix
    kind: FeatureKind
    labels: Array
    train: Array
    n_classes: int
    scaling: Scaling | None = field(default=None, kw_only=True)
    n_given: int | None = field(default=None, kw_only=True)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.features.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @property
    def n_edges(self) -> int:
        """Number of directed edges: every undirected edge counts twice."""
        return int(ops.scalar(edge_total(self.adjacency)))

    def seen(self, nodes: Array) -> Array:
        """Pass nodes whose edges are about to be looked at; a part of a graph refuses those it has no edges of."""
        return nodes


def edge_total(adjacency: Matrix) -> Array:
    """Number of directed edges, repeated ones as often as they stand; left on the backend."""
    return adjacency.data.sum(dtype="float64")


@dataclass(frozen=True)
class Dropped:
    """What cleaning the edge list removed."""

    self_loops: int
    duplicates: int


def clean_edges(backend: Backend, source: Array, target: Array, n_nodes: int) -> tuple[Matrix, Dropped]:
    """Symmetrise, drop self loops and duplicates.

    An edge given in both directions is no duplicate.

    Parameters
    ----------
    backend : Backend
    source, target : int arrays
        Node positions, 0 to `n_nodes` - 1.
    n_nodes : int
    """
    xp, given = backend.xp, int(source.shape[0])
    proper = source != target
    loops = given - int(proper.sum())
    if loops:
        source, target = source[proper], target[proper]
    del proper
    directed = _csr(backend, source, target, n_nodes)
    directed.sum_duplicates()
    duplicates = given - loops - int(directed.nnz)
    both = (directed + directed.T).tocsr()
    del directed
    both.sort_indices()
    ones = xp.ones(both.nnz, dtype=xp.float32)
    adjacency = backend.sparse.csr_matrix((ones, both.indices, both.indptr), shape=(n_nodes, n_nodes))
    return adjacency, Dropped(self_loops=loops, duplicates=duplicates)


def stored_edges(backend: Backend, source: Array, target: Array, n_nodes: int) -> Matrix:
    """Keep the edges as given: directed, with self loops; a repeated edge becomes one with a higher value."""
    stored = _csr(backend, source, target, n_nodes)
    stored.sum_duplicates()
    stored.sort_indices()
    return stored


def _csr(backend: Backend, source: Array, target: Array, n_nodes: int) -> Matrix:
    ones = backend.xp.ones(source.shape[0], dtype=backend.xp.float32)
    return backend.sparse.coo_matrix((ones, (source, target)), shape=(n_nodes, n_nodes)).tocsr()


def clean_features(backend: Backend, features: Matrix) -> tuple[Matrix, FeatureKind]:
    """Bring features to the container that their values call for, as float32.

    Parameters
    ----------
    backend : Backend
    features : dense array or CSR matrix
        Numeric; explicit zeros are dropped.
    """
    xp, sparse = backend.xp, backend.sparse
    if sparse.issparse(features):
        features = features.tocsr().astype(xp.float32)  # a copy: the caller's matrix is not touched
        features.sum_duplicates()
        features.eliminate_zeros()
        features.sort_indices()
        values = features.data
    else:
        values = features = xp.ascontiguousarray(features, dtype=xp.float32)
    stored, binary = ops.fetch(backend, xp.count_nonzero(values), ((values == 0) | (values == 1)).all())
    kind = cheapest_kind(features.shape, int(stored), binary=bool(binary))
    if kind == "dense":
        features = features.toarray() if sparse.issparse(features) else features
    elif not sparse.issparse(features):
        features = ops.to_csr(backend, features)
    return features, kind


def check_finite(backend: Backend, features: Matrix, feature_ids: Array, node_ids: Array) -> None:
    """Refuse NaN, infinite and too large values, naming the first."""
    count, row, column = first_bad(backend.xp, features)
    if count == 0:
        return
    name, node = (to_numpy(ids[i : i + 1]).tolist()[0] for ids, i in ((feature_ids, column), (node_ids, row)))
    raise not_finite(count, name, node)


def first_bad(xp: Any, features: Matrix) -> tuple[int, int, int]:  # noqa: ANN401 - NumPy or CuPy
    """How many values are no numbers or too large ones, and row and column of the first."""
    sparse = hasattr(features, "indptr")
    values = features.data if sparse else features
    bad = values <= LARGEST
    bad &= values >= -LARGEST
    bad = xp.logical_not(bad, out=bad).ravel()
    count = int(bad.sum())
    if count == 0:
        return 0, -1, -1
    place = int(xp.argmax(bad))
    if sparse:
        return count, int((features.indptr <= place).sum()) - 1, int(features.indices[place])
    return count, *divmod(place, int(features.shape[1]))


def not_finite(count: int, name: object, node: object) -> InputError:
    """Make the error of values that are no numbers or too large ones, naming column and node of the first."""
    return InputError(
        f"feats has {count} values that are NaN, infinite or beyond {LARGEST:g}, the first in column {name!r} "
        f"of node {node!r}: clean, impute or scale them first"
    )


def cheapest_kind(shape: tuple[int, int], n_stored: int, *, binary: bool) -> FeatureKind:
    """Name the cheapest of the three ways to store a matrix (eq:budget)."""
    if binary:
        return "binary"
    return "sparse" if 3 * n_stored <= 2 * shape[0] * shape[1] else "dense"


def check_storage(kind: FeatureKind, storage: str) -> FeatureKind:
    """Apply the `storage=` override to the kind found from the values."""
    if storage == "binary" and kind != "binary":
        msg = "storage='binary' but feats has non-zero values other than 1: pass storage='auto', 'sparse' or 'dense'"
        raise ConfigError(msg)
    return kind if storage == "auto" else storage  # type: ignore[return-value]
