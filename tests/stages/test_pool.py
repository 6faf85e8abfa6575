"""Who may be an exemplar, and who is held out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st
from support.graphs import build, host, random_raw, raw

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.pool import FOLDS, class_shares, draw_pool

CPU = CpuBackend()
CONFIG = HeraldConfig()
LOPSIDED = raw([], np.eye(23, 4), [0] * 14 + [1] * 8 + [2])
"""Classes of 14, 8 and 1 nodes."""


def drawn(backend, given, wanted=5, config=CONFIG, seed=0, **options):
    """Draw a pool and bring its arrays to the host."""
    pool = draw_pool(backend, build(backend, given, **options), wanted, config, seed=seed)
    moved = ("members", "codes", "compared", "held", "free")
    return replace(pool, **{name: host(backend, getattr(pool, name)) for name in moved})


def places(pool):
    """Place of each member in its class, as it was drawn."""
    return np.array([list(pool.codes[:i]).count(code) for i, code in enumerate(pool.codes)])


def test_training_nodes_class_by_class(backend):
    given = random_raw("binary", 50, seed=1)
    pool = drawn(backend, given)
    assert sorted(pool.members.tolist()) == np.flatnonzero(given.train).tolist()
    assert pool.codes.tolist() == [given.y[v] for v in pool.members.tolist()]
    assert pool.codes.tolist() == sorted(pool.codes.tolist())
    assert pool.counts.tolist() == np.bincount(pool.codes).tolist()


def test_the_order_follows_the_seed_and_not_the_backend(backend):
    given = random_raw("binary", 50, seed=1)
    ours, theirs = drawn(CPU, given, seed=3), drawn(backend, given, seed=3)
    for name in ("members", "compared", "held", "free", "held_sizes", "sizes"):
        np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name), err_msg=name)
    assert drawn(backend, given, seed=4).members.tolist() != ours.members.tolist()


def test_every_order_of_a_class_may_be_drawn():
    given = raw([], np.eye(4), [0, 0, 0, 1])
    orders = {tuple(drawn(CPU, given, seed=seed).members.tolist()) for seed in range(60)}
    assert {order[:3] for order in orders} == {
        (0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0),
    }  # fmt: skip
    assert {order[3] for order in orders} == {3}


@pytest.mark.parametrize(
    ("smallest", "largest", "wanted", "sizes"),
    [
        (3, 10, 1, [3, 3, 1]),  # no fewer than the smallest
        (3, 10, 6, [6, 6, 1]),  # as many as are wanted
        (3, 10, 99, [10, 8, 1]),  # no more than the largest, nor than there are
        (12, 5, 99, [12, 8, 1]),  # the smallest wins
    ],
)
def test_how_many_are_compared(backend, smallest, largest, wanted, sizes):
    config = replace(CONFIG, smallest_pool=smallest, largest_pool=largest)
    pool = drawn(backend, LOPSIDED, wanted, config)
    assert pool.sizes == sizes
    first = [i for i, place in enumerate(places(pool)) if place < sizes[pool.codes[i]]]
    assert pool.compared.tolist() == first


def test_every_training_node_is_held_out_once(backend):
    pool = drawn(backend, LOPSIDED)
    assert pool.n_folds == FOLDS == 4
    assert sorted(pool.held.tolist()) == list(range(23))
    assert sum(pool.held_sizes) == 23


def test_a_fold_never_chooses_from_whom_it_holds_out(backend):
    pool = drawn(backend, LOPSIDED)
    low = 0
    for fold, size in enumerate(pool.held_sizes):
        held = set(pool.held[low : low + size].tolist())
        free = set(pool.members[pool.free[fold]].tolist())
        assert held.isdisjoint(free)
        assert held | free == set(range(23))
        low += size
    assert pool.free[-1].all()
    assert pool.free.shape == (5, 23)


def test_each_fold_holds_out_a_quarter_of_every_class(backend):
    pool = drawn(backend, LOPSIDED)
    for fold in range(4):
        left = np.bincount(pool.codes[~pool.free[fold]], minlength=3)
        assert left.tolist() == [len(range(fold, count, 4)) for count in (14, 8, 1)]


@pytest.mark.parametrize(
    ("trial_nodes", "sizes"),
    [(2000, [7, 6, 5, 5]), (6, [6, 6]), (5, [5]), (1, [1]), (17, [7, 6, 5])],
)
def test_no_more_folds_and_nodes_than_a_trial_asks_for(backend, trial_nodes, sizes):
    pool = drawn(backend, LOPSIDED, config=replace(CONFIG, trial_nodes=trial_nodes))
    assert pool.held_sizes == sizes
    assert pool.free.shape == (len(sizes) + 1, 23)
    low = 0
    for fold, size in enumerate(sizes):
        held = pool.held[low : low + size].tolist()
        assert len(set(held)) == size
        assert set(held) <= set(pool.members[~pool.free[fold]].tolist())
        low += size


def test_held_out_nodes_who_are_not_asked_are_not_chosen_either(backend):
    pool = drawn(backend, LOPSIDED, config=replace(CONFIG, trial_nodes=3))
    assert pool.held_sizes == [3]
    assert (~pool.free[0]).sum() == 4 + 2 + 1


def test_a_single_class_of_a_single_node(backend):
    pool = drawn(backend, raw([(0, 1)], np.eye(2), [0, 0], [False, True]))
    assert pool.members.tolist() == pool.held.tolist() == [1]
    assert pool.held_sizes == [1, 0, 0, 0]
    assert pool.free[:, 0].tolist() == [False, True, True, True, True]
    assert pool.targets.tolist() == [1.0]


def test_labels_outside_the_training_set_are_not_read(backend):
    given = random_raw("binary", 40, seed=2)
    turned = raw(given.edges, given.x, [y if t else (y + 1) % 3 for y, t in zip(given.y, given.train, strict=True)],
                 given.train)  # fmt: skip
    one, two = drawn(backend, given, all_labels=True), drawn(backend, turned, all_labels=True)
    for name in ("members", "codes", "compared", "held", "free", "targets"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


# Shares


def test_shares_by_hand():
    counts = np.array([6, 3, 1])
    assert class_shares(counts, replace(CONFIG, prior_share=1.0)).tolist() == pytest.approx([0.6, 0.3, 0.1])
    assert class_shares(counts, replace(CONFIG, prior_share=0.0)).tolist() == pytest.approx([1 / 3] * 3)
    assert class_shares(counts, replace(CONFIG, prior_share=0.25)).tolist() == pytest.approx([0.4, 0.325, 0.275])


@settings(max_examples=50, deadline=None, derandomize=True)
@hypothesis_given(st.lists(st.integers(1, 10**6), min_size=1, max_size=30), st.floats(0, 1))
def test_shares_are_those_of_a_whole(counts, prior):
    shares = class_shares(np.array(counts), replace(CONFIG, prior_share=prior))
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0).all()
