"""The CPU backend: PageRank, trees, arrays, orders of exemplars."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from support import greedy, reference
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


# Exemplars


def tables_of(rng, sizes, low, high):
    """Symmetric tables of whole numbers."""
    drawn = [rng.integers(low, high, (n, n)) for n in sizes]
    return [np.tril(table) + np.tril(table, -1).T for table in drawn]


def places_of(tables, free, rule, most):
    flat = np.concatenate([table.ravel() for table in tables]).astype(np.int16)
    return BACKEND.exemplar_places(flat, [len(table) for table in tables], np.asarray(free), rule=rule, most=most)


@pytest.mark.parametrize("rule", greedy.RULES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    folds=st.integers(1, 3),
    most=st.integers(0, 10),
    span=st.sampled_from([(0, 3), (-3, 4), (-5000, 12289), (-9, 0)]),
)
def test_exemplars_by_definition(rule, seed, sizes, folds, most, span):
    rng = np.random.default_rng(seed)
    tables, free = tables_of(rng, sizes, *span), rng.random((folds, sum(sizes))) < 0.7
    expected = greedy.all_places([table.tolist() for table in tables], free.tolist(), rule, most)
    found = places_of(tables, free, rule, most)
    assert found.dtype == np.int32
    assert found.tolist() == expected


@settings(max_examples=30, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 9), width=st.integers(1, 5))
def test_herding_keeps_the_mean_of_the_chosen_closest_to_the_mean_of_all(seed, n, width):
    """Rows of one length: the distance of the two means, times N (t + 1), is a whole number."""
    rows = 2 * np.random.default_rng(seed).integers(0, 2, (n, width)) - 1
    expected, chosen = [-1] * n, np.zeros(width, dtype=np.int64)
    for place in range(n):
        apart = [(((place + 1) * rows.sum(axis=0) - n * (chosen + row)) ** 2).sum() for row in rows]
        best = min((j for j in range(n) if expected[j] < 0), key=lambda j: (apart[j], j))
        expected[best] = place
        chosen = chosen + rows[best]
    assert places_of([rows @ rows.T], np.ones((1, n), dtype=bool), "herd", n).tolist() == [expected]


def test_cover_by_hand():
    # 1 stands for 0, 1, 2 (9 + 8 + 8); then 3 adds 9, and 0 and 2 add 1 each: the first of them comes first.
    table = np.array([[9, 8, 0, 0], [8, 9, 8, 0], [0, 8, 9, 0], [0, 0, 0, 9]])
    free = np.ones((1, 4), dtype=bool)
    assert places_of([table], free, "cover", 4).tolist() == [[2, 0, 3, 1]]
    assert places_of([table], free, "cover", 2).tolist() == [[-1, 0, -1, 1]]


@pytest.mark.parametrize("rule", greedy.RULES)
def test_exemplars_that_are_all_alike_keep_their_order(rule):
    found = places_of([np.full((5, 5), 7), np.zeros((3, 3))], np.ones((1, 8), dtype=bool), rule, 5)
    assert found.tolist() == [[0, 1, 2, 3, 4, 0, 1, 2]]


@pytest.mark.parametrize("rule", greedy.RULES)
def test_nodes_that_are_not_free_are_neither_chosen_nor_stood_for(rule):
    rng = np.random.default_rng(3)
    (table,) = tables_of(rng, [8], -20, 60)
    free = np.array([True, False, True, True, False, True, True, True])
    found = places_of([table], free[None, :], rule, 8)[0]
    assert (found[~free] == -1).all()
    other = table.copy()
    other[~free] = rng.integers(-900, 900, (2, 8))
    other[:, ~free] = other[~free].T
    np.testing.assert_array_equal(places_of([other], free[None, :], rule, 8)[0], found)
    alone = places_of([table[np.ix_(free, free)]], np.ones((1, 6), dtype=bool), rule, 8)[0]
    assert found[free].tolist() == alone.tolist()


@pytest.mark.parametrize("rule", greedy.RULES)
def test_a_fold_without_any_free_node(rule):
    free = np.array([[False, False, True], [True, True, True]])
    found = places_of([np.eye(2), np.eye(1)], free, rule, 3)
    assert found.tolist() == [[-1, -1, 0], [0, 1, 0]]
