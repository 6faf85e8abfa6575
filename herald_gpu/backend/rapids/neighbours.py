"""Nearest neighbours with cuML; their distances again in float64 with our own kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy as cp
import cupyx.scipy.sparse as cusparse

from herald_gpu.backend.rapids import kernels
from herald_gpu.backend.rapids.device import batch_rows, check_index_width

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

MARGIN = 8
"""Candidates found in float32 beyond k, so that the k nearest in float64 are among them."""

_dense_kernels = {
    "float32": cp.RawKernel(kernels.DENSE_DISTANCES, "dense_distances", options=kernels.OPTIONS),
    "float64": cp.RawKernel(kernels.DENSE_DISTANCES, "dense_distances_of_doubles", options=kernels.OPTIONS),
}
_sparse_kernel = cp.RawKernel(kernels.SPARSE_DISTANCES, "sparse_distances", options=kernels.OPTIONS)


def nearest_distances(x: Matrix, inverse_norm: Array, k: int, reference: Array | None) -> Array:
    """See :class:`~herald_gpu.backend.Backend`.

    Zero rows have no direction: cuML never sees them. They are at distance 1 from every row, so that many ones
    compete with the distances found among the others.
    """
    n, x = int(x.shape[0]), _readable(x)
    pool = cp.arange(n) if reference is None else reference
    pool = pool[inverse_norm[pool] > 0]
    n_pool, n_zero = int(pool.shape[0]), (n if reference is None else int(reference.shape[0])) - int(pool.shape[0])
    out = cp.ones((n, k), dtype=cp.float64)
    rows = cp.flatnonzero(inverse_norm > 0)
    if n_pool == 0 or int(rows.shape[0]) == 0:
        return out
    width = min(n_pool, k + MARGIN + 1)
    index = _fitted(_unit_rows(x, inverse_norm, pool), width)
    # A batch holds its distances to all of the pool, its normalised rows, its candidates and their distances.
    step = batch_rows(4 * n_pool + 8 * int(x.shape[1]) + 32 * width, int(rows.shape[0]))
    for low in range(0, int(rows.shape[0]), step):
        batch = rows[low : low + step]
        queries = _unit_rows(x, inverse_norm, batch)
        found = index.kneighbors(queries, n_neighbors=width, return_distance=False)
        candidates = pool[cp.asarray(found).astype(cp.int64)]
        distances = exact_distances(x, inverse_norm, batch, candidates, keep_self=reference is not None)
        level = cp.ones((int(batch.shape[0]), min(n_zero, k)), dtype=cp.float64)
        merged = cp.sort(cp.concatenate([distances, level], axis=1), axis=1)
        out[batch] = merged[:, :k]
    return out


def exact_distances(x: Matrix, inverse_norm: Array, rows: Array, candidates: Array, *, keep_self: bool) -> Array:
    """Half squared distances of normalised rows to their candidates, in float64; a row itself is infinitely far."""
    out = cp.empty(candidates.shape, dtype=cp.float64)
    n_pairs, width = int(out.size), int(candidates.shape[1])
    launch = ((n_pairs + kernels.THREADS - 1) // kernels.THREADS,), (kernels.THREADS,)
    pairs = (cp.ascontiguousarray(rows.astype(cp.int64)), cp.ascontiguousarray(candidates), cp.int64(n_pairs))
    if cusparse.issparse(x):
        matrix = (x.indptr, x.indices, x.data)
        _sparse_kernel(*launch, (*matrix, inverse_norm, *pairs, cp.int32(width), cp.int32(keep_self), out))
    else:
        sizes = (cp.int32(width), cp.int32(x.shape[1]))
        _dense_kernels[x.dtype.name](*launch, (x, inverse_norm, *pairs, *sizes, cp.int32(keep_self), out))
    return out


def _readable(x: Matrix) -> Matrix:
    """Bring rows to what the kernels read: C-ordered floats or doubles, or CSR of floats with sorted 32-bit indices."""
    if cusparse.issparse(x):
        check_index_width(int(x.nnz), "the number of stored feature values")
        narrow = (x.data.astype(cp.float32), x.indices.astype(cp.int32), x.indptr.astype(cp.int32))
        x = cusparse.csr_matrix(narrow, shape=x.shape)
        x.sort_indices()
        return x
    return cp.ascontiguousarray(x, dtype=x.dtype if x.dtype.name in _dense_kernels else cp.float32)


def _fitted(points: Matrix, width: int) -> Any:  # noqa: ANN401 - a cuML estimator
    from cuml.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=width, algorithm="brute", metric="cosine", output_type="cupy")
    return search.fit(points)


def _unit_rows(x: Matrix, inverse_norm: Array, rows: Array) -> Matrix:
    part, scale = x[rows], inverse_norm[rows]
    if not cusparse.issparse(part):
        return cp.ascontiguousarray(part * scale[:, None], dtype=cp.float32)
    data = part.data * cp.repeat(scale, cp.diff(part.indptr))
    return cusparse.csr_matrix((data.astype(cp.float32), part.indices, part.indptr), shape=part.shape)
