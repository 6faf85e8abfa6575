"""The CPU backend: PageRank, trees, arrays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from support import reference
from support.graphs import random_raw

from herald_gpu.backend.cpu import CpuBackend

BACKEND = CpuBackend()


def test_pagerank_sums_to_one_and_stops():
    given = random_raw("binary", 40, seed=7, mean_degree=5.0)
    around = reference.neighbours(given)
    linked = [v for v in range(40) if around[v]]
    place = {v: i for i, v in enumerate(linked)}
    weights = np.zeros((len(linked), len(linked)))
    for u in linked:
        for v in around[u]:
            weights[place[u], place[v]] = 1 + (u + v) % 3
    restart = np.zeros(len(linked))
    restart[:4] = 0.25
    adjacency = scipy.sparse.csr_matrix(weights)
    by_node = {i: {j: weights[i, j] for j in np.flatnonzero(weights[i])} for i in range(len(linked))}
    for steps in (1, 3, 100):
        found = BACKEND.pagerank(adjacency, restart, probability=0.15, tol=1e-6, max_iter=steps)
        expected = reference.pagerank(by_node, {0, 1, 2, 3}, steps=steps)
        assert found.sum() == pytest.approx(1)
        assert found.tolist() == pytest.approx([expected[i] for i in range(len(linked))], abs=1e-14)
    assert (adjacency.toarray() == weights).all()


def test_tree_features_are_ascending_and_distinct():
    x = np.array([[0, 5, 0], [0, 5, 1], [1, 5, 0], [1, 5, 1]], dtype=np.float32)
    codes = np.array([0, 1, 1, 0])
    for matrix in (x, scipy.sparse.csr_matrix(x)):
        found = BACKEND.tree_features(matrix, codes, max_depth=50, seed=42)
        assert found.tolist() == [0, 2]
        assert found.dtype == np.int64


def test_arrays_pass_through():
    array = np.arange(3)
    assert BACKEND.asarray(array) is array
    assert BACKEND.to_host(array) is array
    assert BACKEND.asarray([1, 2], dtype=np.float32).dtype == np.float32


def test_versions_and_memory():
    assert {"python", "numpy", "scipy", "scikit-learn", "numba"} <= set(BACKEND.versions())
    assert BACKEND.peak_memory() > 1_000_000
