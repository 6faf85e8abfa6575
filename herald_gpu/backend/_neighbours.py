"""Nearest neighbours on the host: candidates in float32 from tiles of similarities, distances in float64."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from herald_gpu.backend import _index, _tiles
from herald_gpu.backend._similarity import Similarity, unit_rows
from herald_gpu.backend._tiles import Buffers, Nearest, in_threads

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

MARGIN = 8
"""Candidates found in float32 beyond k, so that the k nearest in float64 are among them."""


def exact_nearest(
    x: Matrix, inverse_norm: Array, k: int, reference: Array | None, rows: Array | None, *, keep_self: bool
) -> Array:
    """Distances found by comparing all pairs; where none is left out, each is compared once and serves both rows."""
    n = int(x.shape[0])
    asked = np.arange(n) if rows is None else np.asarray(rows)
    pool = np.arange(n) if reference is None else np.asarray(reference)
    nearest = Nearest(len(asked), min(len(pool) - (reference is None), k + MARGIN))
    if reference is None and rows is None:
        _meet_all(x, inverse_norm, nearest)
    else:
        _meet_chosen(x, inverse_norm, asked, pool, nearest, keep_self=keep_self)
    return _distances(x, inverse_norm, asked, nearest.ids)[:, :k]


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


def _meet_all(x: Matrix, inverse_norm: Array, nearest: Nearest) -> None:
    similarity, buffers = Similarity(x, inverse_norm), Buffers()
    starts = similarity.starts

    def meet(pair: tuple[int, int]) -> None:
        nearest.offer_tile(similarity.tile(*pair, buffers), *pair)

    # Along diagonals: tiles made at the same time belong to different rows, so that threads seldom wait for each other.
    diagonals = (zip(starts, starts[step:], strict=False) for step in range(len(starts)))
    in_threads(meet, itertools.chain.from_iterable(diagonals))


def _meet_chosen(
    x: Matrix, inverse_norm: Array, rows: Array, pool: Array, nearest: Nearest, *, keep_self: bool
) -> None:
    """Chosen rows against a chosen pool: nothing is symmetric."""
    buffers = Buffers()

    def meet(left: int) -> None:
        ids = pool[left : left + _tiles.TILE]
        columns = unit_rows(x[ids], inverse_norm[ids], buffers.take("columns", len(ids), x.shape[1]))
        for low in range(0, len(rows), _tiles.TILE):
            asked = rows[low : low + _tiles.TILE]
            tile = buffers.take("tile", len(asked), len(ids))
            np.matmul(unit_rows(x[asked], inverse_norm[asked]), columns.T, out=tile)
            banned = np.full(len(asked), -1) if keep_self else asked
            nearest.offer_rows(tile, np.arange(low, low + len(asked)), banned, ids)

    in_threads(meet, range(0, len(pool), _tiles.TILE))


def _unit_matrix(x: Matrix, inverse_norm: Array, rows: Array) -> Array:
    """Normalised rows, dense in float32, made block by block."""
    out = np.empty((len(rows), x.shape[1]), dtype=np.float32)

    def make(low: int) -> None:
        part = rows[low : low + _tiles.TILE]
        unit_rows(x[part], inverse_norm[part], out[low : low + _tiles.TILE])

    in_threads(make, range(0, len(rows), _tiles.TILE))
    return out
