"""Splits: the recipe of the paper, and others of its proportions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from herald_gpu.datasets import paper_split, random_split
from herald_gpu.datasets.splits import rest_split
from herald_gpu.errors import ConfigError


def by_recipe(n, test_seed, draw_seed):
    """Give the three sets as they are told in words, with lists and sets."""
    rest, test = train_test_split(range(n), test_size=0.2, random_state=test_seed)
    train = np.random.RandomState(draw_seed).choice(rest, int(0.7 * len(rest)), replace=False)
    return set(train.tolist()), set(rest) - set(train.tolist()), set(test)


def sets(split):
    return tuple(set(np.flatnonzero(mask).tolist()) for mask in (split.train, split.validation, split.test))


@pytest.mark.parametrize("draw_seed", [42, 0])
@pytest.mark.parametrize("n", [3, 4, 5, 6, 10, 11, 251, 2277, 2708, 19_717])
def test_paper_split_follows_the_recipe(n, draw_seed):
    assert sets(paper_split(n, draw_seed=draw_seed)) == by_recipe(n, 42, draw_seed)


def test_the_draw_leaves_the_test_set_alone():
    one, other = paper_split(200), paper_split(200, draw_seed=0)
    assert np.array_equal(one.test, other.test)
    assert not np.array_equal(one.train, other.train)


def test_sizes_on_cora():
    split = paper_split(2708)
    assert [mask.sum() for mask in (split.train, split.validation, split.test)] == [1516, 650, 542]


def test_random_split_moves_every_part_and_repeats():
    assert sets(random_split(251, 7)) == by_recipe(251, 7, 7) == sets(random_split(251, np.int64(7)))
    assert sets(random_split(251, 42)) == sets(paper_split(251))
    assert not np.array_equal(random_split(251, 7).test, random_split(251, 8).test)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(3, 400), seed=st.integers(0, 2**32 - 1))
def test_every_node_is_in_one_part(n, seed):
    split = random_split(n, seed)
    assert np.array_equal(split.train.astype(int) + split.validation + split.test, np.ones(n, dtype=int))
    assert split.train.any()
    assert split.train.dtype == split.validation.dtype == split.test.dtype == np.bool_


@pytest.mark.parametrize("n", [2, 0, -1, 10.0, True, "10"])
def test_too_few_nodes_or_none_at_all(n):
    with pytest.raises(ConfigError, match="cannot be split in three: pass an integer of at least 3"):
        paper_split(n)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, True, None])
def test_seeds_that_are_none(seed):
    with pytest.raises(ConfigError, match=r"^seed=.* is not valid: pass an integer from 0"):
        random_split(10, seed)
    with pytest.raises(ConfigError, match=r"^draw_seed=.* is not valid"):
        paper_split(10, draw_seed=seed)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(4, 300), seed=st.integers(0, 1000))
def test_the_rest_of_a_training_set_is_validated_and_tested(n, seed):
    rng = np.random.default_rng(seed)
    train, known = rng.random(n) < 0.5, rng.random(n) < 0.9
    train[:2], known[:2] = False, True
    split = rest_split(train, known)
    assert np.array_equal(split.train, train)
    assert np.array_equal(split.validation | split.test, known & ~train)
    assert not (split.validation & split.test).any()
    assert split.test.any()
    assert split.test.sum() == pytest.approx(20 / 44 * (known & ~train).sum(), abs=1)


def test_a_training_set_that_leaves_nothing():
    with pytest.raises(ConfigError, match="train leaves 1 labelled nodes for validation and test"):
        rest_split(np.arange(5) < 4, np.ones(5, dtype=bool))
