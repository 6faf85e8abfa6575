"""What every parser gives, and what several of them need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

SPARSE_SHARE = 0.1
"""Features with at most this share of non-zeros are kept as CSR."""


@dataclass(frozen=True, eq=False)
class Parsed:
    """A graph as its source has it.

    Attributes
    ----------
    edge_index : (2, E) integer array
        Sources and targets.
    features : (N, F) float32 array or SciPy CSR array
        Sparse where at most a tenth of the values differ from zero.
    labels : (N,) int64 array
        Classes from 0.
    train, validation, test : (N, K) bool arrays, optional
        The source's own splits, one a column.
    """

    edge_index: NDArray[Any]
    features: NDArray[np.float32] | csr_array
    labels: NDArray[np.int64]
    train: NDArray[np.bool_] | None = None
    validation: NDArray[np.bool_] | None = None
    test: NDArray[np.bool_] | None = None


def compact(features: Any) -> NDArray[np.float32] | csr_array:  # noqa: ANN401 - dense or sparse
    """Give features as float32, sparse where that is much smaller.

    Examples
    --------
    >>> import numpy
    >>> compact(numpy.eye(20)).format, compact(numpy.eye(2)).shape
    ('csr', (2, 2))
    """
    from scipy.sparse import csr_array, issparse

    is_sparse = bool(issparse(features))
    if is_sparse:
        sparse = csr_array(features.astype(np.float32))
        sparse.sum_duplicates()
        sparse.eliminate_zeros()
        return sparse
    dense = np.ascontiguousarray(features, dtype=np.float32)
    if np.count_nonzero(dense) <= SPARSE_SHARE * dense.size:
        return csr_array(dense)
    return dense


def both_ways(edges: NDArray[Any]) -> NDArray[np.int64]:
    """Give an edge index with both directions of edges that were stored once.

    Examples
    --------
    >>> import numpy
    >>> both_ways(numpy.array([[0, 1], [2, 2]])).tolist()
    [[0, 2, 1], [1, 2, 0]]
    """
    forward = np.asarray(edges, dtype=np.int64).T
    return np.concatenate([forward, forward[::-1, forward[0] != forward[1]]], axis=1)


def simple_pairs(source: NDArray[Any], target: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Give every pair of neighbours both ways and once, without self loops, in ascending order.

    Examples
    --------
    >>> import numpy
    >>> simple_pairs(numpy.array([0, 0, 1, 2]), numpy.array([1, 1, 0, 2]), 3).tolist()
    [[0, 1], [1, 0]]
    """
    apart = source != target
    one, other = source[apart].astype(np.int64), target[apart].astype(np.int64)
    keys = np.unique(np.concatenate([one * n + other, other * n + one]))
    return np.stack([keys // n, keys % n])


def mask_of(n: int, chosen: Any) -> NDArray[np.bool_]:  # noqa: ANN401 - anything that indexes
    """Mark the chosen of `n` nodes in a column."""
    mask = np.zeros((n, 1), dtype=bool)
    mask[chosen, 0] = True
    return mask
