"""Nearest neighbours with cuML; their distances again in float64 with our own kernels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import cupy as cp
import cupyx.scipy.sparse as cusparse

from herald_gpu import ops
from herald_gpu.backend.rapids import kernels
from herald_gpu.backend.rapids.device import batch_rows, check_index_width, library_order

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

MARGIN = 8
"""Candidates found in float32 beyond k, so that the k nearest in float64 are among them."""

FAR = 1e300
"""Distance of what must not be a neighbour."""

_dense_kernels = {
    "float32": cp.RawKernel(kernels.DENSE_DISTANCES, "dense_distances", options=kernels.OPTIONS),
    "float64": cp.RawKernel(kernels.DENSE_DISTANCES, "dense_distances_of_doubles", options=kernels.OPTIONS),
}
_sparse_kernel = cp.RawKernel(kernels.SPARSE_DISTANCES, "sparse_distances", options=kernels.OPTIONS)


def nearest_distances(
    x: Matrix, inverse_norm: Array, k: int, reference: Array | None, rows: Array | None, *, keep_self: bool
) -> Array:
    """See :class:`~herald_gpu.backend.Backend`.

    Zero rows have no direction: cuML never sees them. They are at distance 1 from every row, so that many ones
    compete with the distances found among the others.
    """
    n, x = int(x.shape[0]), readable(x)
    given = cp.arange(n) if reference is None else reference
    pool = given[inverse_norm[given] > 0]
    n_pool, n_zero = int(pool.shape[0]), int(given.shape[0]) - int(pool.shape[0])
    asked = cp.arange(n) if rows is None else rows
    out = cp.ones((int(asked.shape[0]), k), dtype=cp.float64)
    places = cp.flatnonzero(inverse_norm[asked] > 0)
    n_places = int(places.shape[0])
    if n_pool == 0 or n_places == 0:
        return out
    width = min(n_pool, k + MARGIN + 1)
    index = _fitted(_unit_rows(x, inverse_norm, pool), width)
    step = batch_rows(query_bytes(x) + 64 * width, n_places)

    def measured(batch: Array) -> Array:  # a function, so that nothing of a batch outlives it
        queries = _unit_rows(x, inverse_norm, batch)
        with library_order():
            found = index.kneighbors(queries, n_neighbors=width, return_distance=False)
        candidates = pool[cp.asarray(found).astype(cp.int64)]
        distances = exact_distances(x, inverse_norm, batch, candidates, keep_self=keep_self)
        return smallest(distances, n_zero, k)

    for low in range(0, n_places, step):
        part = places[low : low + step]
        out[part] = measured(asked[part])
    return out


def query_bytes(x: Matrix) -> int:
    """Bytes of one normalised row while it is made; of a CSR matrix, of a row of mean length.

    What cuML holds besides is not counted: cuVS compares dense rows in tiles of at most 512 MB, whatever their
    number (``chooseTileSize``), cuML sparse rows in blocks of 10,000.
    """
    values = math.ceil(int(x.nnz) / max(1, int(x.shape[0]))) if cusparse.issparse(x) else int(x.shape[1])
    return (24 if cusparse.issparse(x) else 4) * values


def smallest(distances: Array, n_ones: int, k: int) -> Array:
    """Give the k smallest of each row, ascending, after so many ones (zero rows) have joined it."""
    level = cp.ones((int(distances.shape[0]), min(n_ones, k)), dtype=cp.float64)
    return cp.sort(cp.concatenate([distances, level], axis=1), axis=1)[:, :k]


def exact_distances(x: Matrix, inverse_norm: Array, rows: Array, candidates: Array, *, keep_self: bool) -> Array:
    """Half squared distances of normalised rows to their candidates, in float64.

    A row itself, and what is no candidate (-1), is `FAR` away.
    """
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


def readable(x: Matrix) -> Matrix:
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
    with library_order():
        return search.fit(points)


def dense_unit_rows(x: Matrix, inverse_norm: Array, rows: Array) -> Array:
    """Normalised rows in float32, made block by block: the product in float64 is never whole."""
    out = cp.empty((int(rows.shape[0]), int(x.shape[1])), dtype=cp.float32)
    for low, high in ops.blocks(*out.shape):
        part = x[rows[low:high]]
        dense = part.toarray() if cusparse.issparse(part) else part
        out[low:high] = dense * inverse_norm[rows[low:high]][:, None]
    return out


def _unit_rows(x: Matrix, inverse_norm: Array, rows: Array) -> Matrix:
    if not cusparse.issparse(x):
        return dense_unit_rows(x, inverse_norm, rows)
    part = x[rows]
    part.data *= cp.repeat(inverse_norm[rows].astype(cp.float32), cp.diff(part.indptr))
    return part
