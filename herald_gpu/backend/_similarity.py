"""Cosine similarities of all pairs of rows on the host, tile by tile in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from herald_gpu.backend import _tiles

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix
    from herald_gpu.backend._tiles import Buffers

DENSE_SHARE = 0.15
"""A feature that more than this share of rows has is multiplied densely, others meet through posting lists: one
scattered multiply-add costs as much as some 1 / 0.15^2 = 44 of a blocked matrix product."""


KEPT_BYTES = 2**28
"""Normalised rows are kept where they take no more: made for every tile anew they take a tenth of its time."""


class Similarity:
    """Tiles of similarity between blocks of rows.

    Parameters
    ----------
    x : (N, F) array or CSR matrix
        Rows; of sparse ones only blocks are made dense, and of these only their frequent features.
    inverse_norm : (N,) float64 array
        One over each row's length; 0 for a zero row.
    """

    def __init__(self, x: Matrix, inverse_norm: Array) -> None:
        self._dense, self._inverse_norm = x, inverse_norm
        self._rare: list[tuple[tuple[Array, ...], tuple[Array, ...]]] = []
        self.starts = range(0, int(x.shape[0]), _tiles.TILE)
        self._keeps = not hasattr(x, "toarray") and 4 * x.shape[0] * x.shape[1] <= KEPT_BYTES
        self._kept: dict[int, Array] = {}
        if hasattr(x, "toarray"):
            self._split(x)

    def _split(self, x: Matrix) -> None:
        frequent = np.bincount(x.indices, minlength=x.shape[1]) > DENSE_SHARE * x.shape[0]
        if not frequent.all():
            self._dense = scipy.sparse.csr_matrix(x[:, np.flatnonzero(frequent)])
            rare = scipy.sparse.csr_matrix(x[:, np.flatnonzero(~frequent)], dtype=np.float32)
            rare.data = (rare.data * np.repeat(self._inverse_norm, np.diff(rare.indptr))).astype(np.float32)
            for low in self.starts:
                block = rare[low : low + _tiles.TILE]
                postings = block.tocsc()
                lists = (postings.indptr, postings.indices.astype(np.uint32), postings.data)
                self._rare.append(((block.indptr, block.indices, block.data), lists))

    def tile(self, low: int, left: int, buffers: Buffers) -> Array:
        """Similarities of the rows from `low` on with those from `left` on; overwritten by the next tile."""
        rows = self._block("rows", low, buffers)
        columns = rows if left == low else self._block("columns", left, buffers)
        out = buffers.take("tile", len(rows), len(columns))
        if rows.shape[1]:
            np.matmul(rows, columns.T, out=out)
        else:
            out.fill(0)
        if self._rare:
            from herald_gpu.backend import _kernels

            _kernels.add_postings(out, *self._rare[low // _tiles.TILE][0], *self._rare[left // _tiles.TILE][1])
        return out

    def _block(self, name: str, low: int, buffers: Buffers) -> Array:
        if low in self._kept:
            return self._kept[low]
        part = slice(low, low + _tiles.TILE)
        x = self._dense[part]
        if not self._keeps:
            return unit_rows(x, self._inverse_norm[part], buffers.take(name, *x.shape))
        self._kept[low] = unit_rows(x, self._inverse_norm[part])
        return self._kept[low]


def unit_rows(x: Matrix, inverse_norm: Array, out: Array | None = None) -> Array:
    """Normalised rows, dense in float32; multiplied in float64, where the inverse of a tiny length is finite."""
    dense = x.toarray() if hasattr(x, "toarray") else x
    out = np.empty(x.shape, dtype=np.float32) if out is None else out
    return np.multiply(dense, inverse_norm[:, None], out=out, casting="same_kind")
