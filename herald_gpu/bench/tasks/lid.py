"""LID: exact on dense and on sparse rows, and through an index."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import scipy.sparse

from herald_gpu import HeraldConfig, ops
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.bench import bare, graphs, memory
from herald_gpu.bench.clocks import in_turns, median, seconds
from herald_gpu.errors import MissingDependencyError
from herald_gpu.install import pip_line
from herald_gpu.lid import measure_lid

BACKEND = CpuBackend()


def dense(n_rows: int, n_features: int, repeats: int) -> dict[str, Any]:
    """Exact LID of dense float32 rows beside the full product of the matrix with its transpose."""
    x = graphs.latent_rows(n_rows, n_features)
    inverse = _inverse_norms(x)
    product = bare.all_pairs(bare.unit_rows(x))
    product()
    taken = in_turns({"lid": lambda: _lid(x, inverse, "exact"), "gemm": product}, repeats)
    with memory.watched() as span:
        _lid(x, inverse, "exact")
    return _medians(taken) | {"flops": 2.0 * n_rows**2 * n_features, "grown": span.grown, "rows_bytes": x.nbytes}


def sparse(spec: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Exact LID of sparse rows as they are, beside the same rows made dense first.

    `dense_share` is the largest piece of the matrix that was ever dense: 1 if all of it was at once.
    """
    x = graphs.load(spec).seen(BACKEND).features
    if not scipy.sparse.issparse(x):
        x = scipy.sparse.csr_matrix(x)
    inverse = _inverse_norms(x)

    def densified() -> None:
        _lid(np.ascontiguousarray(x.toarray()), inverse, "exact")

    taken = in_turns({"lid": lambda: _lid(x, inverse, "exact"), "densified": densified}, repeats)
    watched = WatchedMatrix(x)
    WatchedMatrix.largest = 0
    with memory.watched() as span:
        _lid(watched, inverse, "exact")
    n_rows, n_features = x.shape
    return _medians(taken) | {
        "rows": n_rows,
        "features": n_features,
        "stored": int(x.nnz),
        "grown": span.grown,
        "dense_share": WatchedMatrix.largest / (n_rows * n_features),
    }


class WatchedMatrix(scipy.sparse.csr_matrix):
    """A CSR matrix that notes the largest part of it that was made dense.

    Examples
    --------
    >>> WatchedMatrix.largest = 0
    >>> _ = WatchedMatrix(np.eye(4))[1:3].toarray()
    >>> WatchedMatrix.largest
    8
    """

    largest = 0

    def toarray(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on
        """As the matrix itself, noting its size."""
        WatchedMatrix.largest = max(WatchedMatrix.largest, self.shape[0] * self.shape[1])
        return super().toarray(*args, **options)


def approximate(n_rows: int, n_features: int) -> dict[str, Any]:
    """LID through an index beside exact LID, once each: seconds, and the rank correlation over all rows."""
    from scipy.stats import spearmanr

    if importlib.util.find_spec("faiss") is None:
        msg = f"approximate LID needs FAISS: {pip_line('approx')}"
        raise MissingDependencyError(msg)
    x = graphs.latent_rows(n_rows, n_features)
    inverse, values = _inverse_norms(x), {}
    _lid(x[:2000], inverse[:2000], "approximate")

    def run(kind: str) -> None:
        values[kind] = _lid(x, inverse, kind)

    taken = {kind: seconds(lambda kind=kind: run(kind)) for kind in ("approximate", "exact")}  # type: ignore[misc]
    found, exact = (values[kind] for kind in ("approximate", "exact"))
    return {
        **taken,
        "speedup": taken["exact"] / taken["approximate"],
        "spearman": float(spearmanr(found.values, exact.values).statistic),
        "recall": found.search.recall,
        "index": found.search.name,
    }


def _lid(x: Any, inverse: Any, kind: str) -> Any:  # noqa: ANN401 - a matrix, and LID of its rows
    return measure_lid(BACKEND, x, inverse, HeraldConfig.paper(lid=kind))


def _inverse_norms(x: Any) -> Any:  # noqa: ANN401 - a matrix
    return ops.inverse(BACKEND, ops.row_norms(BACKEND, x))


def _medians(taken: dict[str, list[float]]) -> dict[str, Any]:
    """Medians, and the first over the second."""
    (first, ours), (_, theirs) = ((name, median(values)) for name, values in taken.items())
    return {name: median(values) for name, values in taken.items()} | {"ratio": ours / theirs, "of": first}
