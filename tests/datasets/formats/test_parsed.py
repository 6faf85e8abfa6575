"""What parsers share: containers of features, directions of edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from herald_gpu.datasets.formats.parsed import both_ways, compact, mask_of, simple_pairs


def test_features_are_sparse_where_few_differ_from_zero():
    few = np.zeros((10, 10))
    few[0] = 2
    assert np.array_equal(compact(few).toarray(), few)
    assert compact(few).dtype == np.float32
    few[1, 0] = 1
    assert isinstance(compact(few), np.ndarray)
    assert compact(few).dtype == np.float32


def test_sparse_features_stay_sparse_and_lose_their_zeros():
    given = sparse.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    seen = compact(given)
    assert seen.format == "csr"
    assert seen.nnz == 1
    assert seen.toarray().tolist() == [[0, 3], [0, 0]]


def test_undirected_edges_are_given_both_ways():
    edges = both_ways(np.array([[0, 1], [1, 1], [2, 0]]))
    assert sorted(zip(*edges.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_pairs_are_simple_also_where_their_numbers_are_large(dtype):
    n = 100_000
    source, target = np.array([99_999, 99_998, 5, 5], dtype), np.array([99_998, 99_999, 5, 99_999], dtype)
    pairs = simple_pairs(source, target, n)
    assert list(zip(*pairs.tolist(), strict=True)) == [(5, 99_999), (99_998, 99_999), (99_999, 5), (99_999, 99_998)]


def test_masks():
    assert mask_of(4, [1, 3]).tolist() == [[False], [True], [False], [True]]
    assert mask_of(3, slice(2)).tolist() == [[True], [True], [False]]
