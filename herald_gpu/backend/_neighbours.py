"""Nearest neighbours on the host: candidates in float32 from tiles, posting lists or an index, distances in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from herald_gpu.backend import _index

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

TILE = 2048
"""Rows and columns of one tile of similarities: 16 MB of float32."""
MARGIN = 8
"""Candidates found in float32 beyond k, so that the k nearest in float64 are among them."""
GEMM_ADVANTAGE = 24.0
"""One scattered multiply-add of the posting lists costs about this many of a blocked GEMM."""


def exact_nearest(
    x: Matrix, inverse_norm: Array, k: int, reference: Array | None, rows: Array | None, *, keep_self: bool
) -> Array:
    """Distances found by comparing all pairs.

    Dense rows meet in tiles of a float32 matrix product, each tile serving both of its sides; sparse rows meet
    through posting lists, unless so many of them overlap that densified tiles are cheaper.
    """
    n = int(x.shape[0])
    whole = reference is None and rows is None
    asked = np.arange(n) if rows is None else np.asarray(rows)
    pool = np.arange(n) if reference is None else np.asarray(reference)
    count = min(len(pool) - (reference is None), k + MARGIN)
    candidates = np.full((len(asked), count), -1, dtype=np.int64)
    best = np.full((len(asked), count), -np.inf, dtype=np.float32)
    if whole and scipy.sparse.issparse(x) and _posting_lists_pay(x):
        _sparse_candidates(x, inverse_norm, best, candidates)
    elif whole:
        _tile_candidates(x, inverse_norm, best, candidates)
    else:
        _row_candidates(x, inverse_norm, asked, pool, best, candidates, keep_self=keep_self)
    return _distances(x, inverse_norm, asked, candidates)[:, :k]


def approximate_nearest(x: Matrix, inverse_norm: Array, k: int) -> Array:
    """Distances of the neighbours that an index finds; a row it finds too few for is compared with all others.

    Zero rows have no direction: the index never sees them. They are at distance 1 from every row, so that many
    ones compete with the distances found among the others.
    """
    n = int(x.shape[0])
    filled = np.flatnonzero(inverse_norm > 0)
    width = k + MARGIN + 1
    if len(filled) <= width:
        return exact_nearest(x, inverse_norm, k, None, None, keep_self=False)
    found = _index.nearest_positions(_unit_matrix(x, inverse_norm, filled), width)
    candidates = np.where(found >= 0, filled[found], -1)
    candidates[candidates == filled[:, None]] = -1
    level = np.ones((len(filled), min(n - len(filled), k)))
    distances = np.concatenate([_distances(x, inverse_norm, filled, candidates), level], axis=1)
    distances.sort(axis=1)
    out = np.ones((n, k))
    out[filled] = distances[:, :k]
    short = filled[np.isinf(distances[:, k - 1])]
    if len(short):
        out[short] = exact_nearest(x, inverse_norm, k, None, short, keep_self=False)
    return out


def _distances(x: Matrix, inverse_norm: Array, rows: Array, candidates: Array) -> Array:
    """Distances of rows to their candidates, ascending."""
    from herald_gpu.backend import _kernels

    out, sparse = np.empty(candidates.shape, dtype=np.float64), scipy.sparse.issparse(x)
    if sparse:
        _kernels.sparse_distances(x.indptr, x.indices, x.data, inverse_norm, rows, candidates, out)
    else:
        _kernels.dense_distances(x, inverse_norm, rows, candidates, out)
    out.sort(axis=1)
    return out


def _posting_lists_pay(x: Matrix) -> bool:
    occurrences = np.bincount(x.indices, minlength=x.shape[1]).astype(np.float64)
    return bool(GEMM_ADVANTAGE * (occurrences**2).sum() <= float(x.shape[0]) ** 2 * x.shape[1])


def _sparse_candidates(x: Matrix, inverse_norm: Array, best: Array, candidates: Array) -> None:
    from herald_gpu.backend import _kernels

    unit = x.data * np.repeat(inverse_norm, np.diff(x.indptr))
    postings = scipy.sparse.csr_matrix((unit, x.indices, x.indptr), shape=x.shape).tocsc()
    scratch = _kernels.thread_rows(x.shape[0])
    _kernels.sparse_neighbours(
        x.indptr, x.indices, unit, postings.indptr, postings.indices, postings.data, best, candidates, scratch
    )


def _tile_candidates(x: Matrix, inverse_norm: Array, best: Array, candidates: Array) -> None:
    from herald_gpu.backend import _kernels

    n = x.shape[0]
    for low in range(0, n, TILE):
        rows = _unit_rows(x[low : low + TILE], inverse_norm[low : low + TILE])
        for left in range(low, n, TILE):
            columns = rows if left == low else _unit_rows(x[left : left + TILE], inverse_norm[left : left + TILE])
            tile = rows @ columns.T
            _kernels.offer_tile(tile, low, np.arange(left, left + len(columns)), best, candidates)
            if left != low:  # the other half of the symmetric matrix
                _kernels.offer_tile(tile.T, left, np.arange(low, low + len(rows)), best, candidates)


def _row_candidates(
    x: Matrix, inverse_norm: Array, rows: Array, pool: Array, best: Array, candidates: Array, *, keep_self: bool
) -> None:
    """Chosen rows against a chosen pool: nothing is symmetric."""
    from herald_gpu.backend import _kernels

    for left in range(0, len(pool), TILE):
        ids = pool[left : left + TILE]
        columns = _unit_rows(x[ids], inverse_norm[ids])
        for low in range(0, len(rows), TILE):
            asked = rows[low : low + TILE]
            banned = np.full(len(asked), -1) if keep_self else asked
            tile = _unit_rows(x[asked], inverse_norm[asked]) @ columns.T
            _kernels.offer_rows(tile, low, banned, ids, best, candidates)


def _unit_matrix(x: Matrix, inverse_norm: Array, rows: Array) -> Array:
    """Normalised rows, dense in float32, made block by block."""
    out = np.empty((len(rows), x.shape[1]), dtype=np.float32)
    for low in range(0, len(rows), TILE):
        part = rows[low : low + TILE]
        out[low : low + TILE] = _unit_rows(x[part], inverse_norm[part])
    return out


def _unit_rows(x: Matrix, inverse_norm: Array) -> Array:
    dense = x.toarray() if hasattr(x, "toarray") else x
    return (dense * inverse_norm[:, None]).astype(np.float32)
