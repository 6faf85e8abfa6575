"""Nearest neighbours with cuML; their distances again in float64 with our own kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy as cp
import cupyx.scipy.sparse as cusparse

from herald_gpu.backend.rapids import kernels
from herald_gpu.backend.rapids.device import batch_rows

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

MARGIN = 8
"""Candidates found in float32 beyond k, so that the k nearest in float64 are among them."""

_dense_kernel = cp.RawKernel(kernels.DENSE_DISTANCES, "dense_distances", options=kernels.OPTIONS)
_sparse_kernel = cp.RawKernel(kernels.SPARSE_DISTANCES, "sparse_distances", options=kernels.OPTIONS)


def nearest_distances(x: Matrix, inverse_norm: Array, k: int, reference: Array | None) -> Array:
    """See :class:`~herald_gpu.backend.Backend`.

    Zero rows have no direction: cuML never sees them. They are at distance 1 from every row, so that many ones
    compete with the distances found among the others.
    """
    n, x = int(x.shape[0]), x.astype(cp.float32, copy=False)
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
    grid = ((n_pairs + kernels.THREADS - 1) // kernels.THREADS,)
    candidates = cp.ascontiguousarray(candidates)
    tail = (cp.int64(n_pairs), cp.int32(width))
    own = cp.ascontiguousarray(rows.astype(cp.int64))
    if cusparse.issparse(x):
        arguments = (x.indptr, x.indices, x.data, inverse_norm, own, candidates, *tail, cp.int32(keep_self), out)
        _sparse_kernel(grid, (kernels.THREADS,), arguments)
    else:
        columns = cp.int32(x.shape[1])
        _dense_kernel(
            grid, (kernels.THREADS,), (x, inverse_norm, own, candidates, *tail, columns, cp.int32(keep_self), out)
        )
    return out


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
