"""Reverse neighbours and lazy greedy coverage, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from baselines import references
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import host

from herald_gpu import ops
from herald_gpu.baselines.coverage import cover_greedily, nearest_rows, reverse_neighbours

quick = settings(max_examples=60, deadline=None, derandomize=True)


def rows_of(backend, x, *, sparse):
    dense = backend.asarray(x)
    return backend.sparse.csr_matrix(dense) if sparse else dense


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_nearest_rows_are_those_of_brute_force(backend, seed, sparse, monkeypatch):
    x = np.random.default_rng(seed).integers(0, 3, (25, 4)).astype(np.float64)  # with duplicates
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", 100)  # several blocks
    every = backend.asarray(np.arange(25))
    found = nearest_rows(backend, rows_of(backend, x, sparse=sparse), 5, every)
    assert host(backend, found).tolist() == references.nearest(x, 5)


def test_only_those_who_ask_are_answered(backend):
    x = np.random.default_rng(5).random((12, 3))
    asking = np.array([2, 7])
    found = host(backend, nearest_rows(backend, backend.asarray(x), 3, backend.asarray(asking)))
    assert found.tolist() == [references.nearest(x, 3)[i] for i in asking]


def test_zero_rows_are_no_trouble(backend):
    found = nearest_rows(backend, backend.asarray(np.zeros((3, 2))), 2, backend.asarray(np.arange(3)))
    assert host(backend, found).tolist() == [[0, 1]] * 3


def test_tiny_rows_are_told_apart(backend):
    x = 1e-6 * np.array([[0.0], [1.0], [3.0]])
    found = nearest_rows(backend, backend.asarray(x), 2, backend.asarray(np.arange(3)))
    assert host(backend, found).tolist() == [[0, 1], [1, 0], [2, 1]]


def test_reverse_neighbours_list_who_asks(backend):
    x = np.random.default_rng(8).random((15, 3))
    near = references.nearest(x, 4)
    every = backend.asarray(np.arange(15))
    covers = reverse_neighbours(backend, nearest_rows(backend, backend.asarray(x), 4, every), every, 15)
    for row in range(15):
        listed = covers.indices[covers.indptr[row] : covers.indptr[row + 1]].tolist()
        assert listed == [asker for asker in range(15) if row in near[asker]]


def ranked(sets, universe):
    dense = np.array([[float(j in s) for j in range(universe)] for s in sets])
    return cover_greedily(scipy.sparse.csr_matrix(dense)).tolist()


@quick
@given(st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=12))
def test_lazy_greedy_is_greedy(sets):
    assert ranked(sets, 8) == references.greedy_cover(sets)


@pytest.mark.parametrize("seed", range(20))
def test_lazy_greedy_is_greedy_where_sets_overlap(seed):
    rng = np.random.default_rng(seed)
    sets = [set(rng.choice(20, rng.integers(1, 9), replace=False).tolist()) for _ in range(30)]
    assert ranked(sets, 20) == references.greedy_cover(sets)


def test_a_gain_that_has_fallen_is_compared_again():
    """The second set was as good as the first, but once that is taken it adds one and the third adds two."""
    assert ranked([{0, 1, 2}, {0, 1, 3}, {4, 5}], 6) == [0, 2, 1]


def test_fewer_gains_are_computed_than_by_plain_greedy(monkeypatch):
    asked = []
    count = np.count_nonzero
    monkeypatch.setattr(np, "count_nonzero", lambda a: asked.append(1) or count(a))
    n = 200
    near = references.nearest(np.random.default_rng(0).random((n, 2)), 5)
    covers = np.zeros((n, n))
    for asker, found in enumerate(near):
        covers[found, asker] = 1
    ranking = cover_greedily(scipy.sparse.csr_matrix(covers))
    assert sorted(ranking.tolist()) == list(range(n))
    assert len(asked) < n * n / 20  # plain greedy looks at every set at every step
