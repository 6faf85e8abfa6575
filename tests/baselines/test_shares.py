"""Class shares against Sainte-Lague written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import host

from herald_gpu.baselines.shares import apportion, take_turns


def one_by_one(sizes, total):
    """Give each class a place, then every further place to the largest quotient n / (2 a + 1)."""
    places = [1] * len(sizes)
    while sum(places) < total:
        quotients = [n / (2 * a + 1) if a < n else -1 for n, a in zip(sizes, places, strict=True)]
        places[int(np.argmax(np.round(quotients, 9)))] += 1
    return places


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(0, 100))
def test_places_are_those_of_sainte_lague(sizes, more):
    total = min(sum(sizes), len(sizes) + more)
    assert apportion(np.array(sizes), total).tolist() == one_by_one(sizes, total)


def test_no_class_gets_more_places_than_it_has_nodes():
    assert apportion(np.array([1, 2, 9]), 12).tolist() == [1, 2, 9]


def test_classes_take_turns_by_their_shares(backend):
    # Turns of the first: 1/8, 3/8, 5/8, 7/8; of the second: 1/4, 3/4.
    by_class = [backend.asarray(np.array([10, 11, 12, 13])), backend.asarray(np.array([20, 21]))]
    assert host(backend, take_turns(backend, by_class, [4, 2])).tolist() == [10, 20, 11, 12, 21, 13]


def test_equal_turns_go_to_the_lower_class(backend):
    by_class = [backend.asarray(np.array([5])), backend.asarray(np.array([3]))]
    assert host(backend, take_turns(backend, by_class, [1, 1])).tolist() == [5, 3]


@pytest.mark.parametrize("taken", [1, 5, 10, 17])
def test_every_prefix_is_close_to_the_shares(backend, taken):
    sizes = [12, 6, 3]
    by_class = [backend.asarray(np.arange(n) + 100 * code) for code, n in enumerate(sizes)]
    order = host(backend, take_turns(backend, by_class, sizes))
    counts = np.bincount(order[:taken] // 100, minlength=3)
    assert (np.abs(counts - taken * np.array(sizes) / 21) < 1).all()
