"""Reverse nearest neighbours, and the nodes that cover most of them (the exemplars of BONSAI)."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    import scipy.sparse

    from herald_gpu.backend import Array, Backend, Matrix

DISTANCE_DECIMALS = 12
"""Squared distances, the longest row being 1, are rounded to this many decimals: duplicates tie by position."""


def nearest_rows(backend: Backend, rows: Matrix, k: int, queries: Array) -> Array:
    """Positions of the k rows nearest to each of some rows, nearest first, itself among them; ties by position.

    Parameters
    ----------
    backend : Backend
    rows : (n, F) matrix
    k : int
        At most n.
    queries : int array
        Positions of the rows that ask.

    Returns
    -------
    (len(queries), k) int array
    """
    xp, n = backend.xp, int(rows.shape[0])
    norms = ops.row_norms(backend, rows)
    longest = norms.max()
    scale = 1.0 / xp.where(longest > 0, longest, 1.0)
    squares = (norms * scale) ** 2
    wide = ops.with_data(backend, rows, rows.data.astype(xp.float64)) if backend.sparse.issparse(rows) else rows
    found = xp.zeros((queries.shape[0], k), dtype=xp.int64)
    for low, high in ops.blocks(int(queries.shape[0]), max(n, int(rows.shape[1]))):
        asked = queries[low:high]
        part = wide[asked]
        block = (part.toarray() if backend.sparse.issparse(part) else part).astype(xp.float64)
        inner = (wide @ xp.ascontiguousarray(block.T)).T * scale**2
        distance = xp.round(squares[asked][:, None] + squares[None, :] - 2 * inner, DISTANCE_DECIMALS)
        every = xp.arange(asked.shape[0], dtype=xp.int64)
        for place in range(k):
            nearest = xp.argmin(distance, axis=1)
            found[low:high, place] = nearest
            distance[every, nearest] = xp.inf
    return found


def reverse_neighbours(backend: Backend, nearest: Array, queries: Array, n: int) -> scipy.sparse.csr_matrix:
    """Who has a row among its nearest: an (n, n) CSR matrix on the host, row q listing the askers, ascending."""
    from scipy.sparse import coo_matrix

    near, asked = backend.to_host(nearest), backend.to_host(queries)
    askers = np.repeat(asked, near.shape[1])
    ones = np.ones(near.size, dtype=np.float32)
    matrix = coo_matrix((ones, (near.ravel(), askers)), shape=(n, n)).tocsr()
    matrix.sort_indices()
    return matrix


def cover_greedily(covers: scipy.sparse.csr_matrix) -> np.ndarray:
    """Rank rows by greedy maximum coverage with lazy evaluation; ties by position.

    Gains only fall as more is covered, so that a gain computed earlier is an upper bound: a row whose fresh gain is
    still the best need not be compared with the others (CELF; Leskovec et al., KDD 2007). Rows that add nothing come
    last, in their own order.

    Parameters
    ----------
    covers : CSR matrix
        Row i lists what i covers.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> covers = scipy.sparse.csr_matrix(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))
    >>> cover_greedily(covers)
    array([1, 3, 0, 2])
    """
    indptr, indices = covers.indptr, covers.indices
    covered = np.zeros(covers.shape[1], dtype=bool)
    heap = [(-int(size), row) for row, size in enumerate(np.diff(indptr)) if size]
    heapq.heapify(heap)
    ranking: list[int] = []
    while heap:
        _, row = heapq.heappop(heap)
        mine = indices[indptr[row] : indptr[row + 1]]
        fresh = (-int(np.count_nonzero(~covered[mine])), row)
        if fresh[0] == 0:
            continue
        if heap and fresh > heap[0]:
            heapq.heappush(heap, fresh)
            continue
        covered[mine] = True
        ranking.append(row)
    rest = np.setdiff1d(np.arange(covers.shape[0]), ranking)
    return np.concatenate([np.array(ranking, dtype=np.int64), rest])
