"""Matching class shares, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import build, host, raw

from herald_gpu.baselines.classes import match_classes
from herald_gpu.budget import Budget, Prices

LABELS = [0] * 6 + [1] * 6 + [0]
TRAIN = [True] * 12 + [False]
RAW = raw([(0, 1), (2, 3), (6, 7)], np.ones((13, 2)), LABELS, TRAIN)
RANKING = np.array([0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11])


def matched(backend, nodes, *, seated=(), limit=1000.0):
    mask = np.zeros(13, dtype=bool)
    mask[list(seated)] = True
    prices = Prices(backend.asarray(np.full(13, 10.0)), 4.0, 8.0)
    kept = match_classes(
        backend,
        build(backend, RAW),
        backend.asarray(np.array(nodes)),
        backend.asarray(RANKING),
        backend.asarray(mask),
        prices,
        None if limit is None else Budget("binary", 10_000, limit, 0.1),
    )
    return host(backend, kept).tolist()


@pytest.mark.parametrize("limit", [1000.0, None])
def test_the_worst_go_and_the_best_come(backend, limit):
    """Four of class 0 and none of class 1: two each are due; 5 and 4 rank last, 6 and 7 first. Node 12 is no matter."""
    assert matched(backend, [0, 1, 4, 5, 12], limit=limit) == [0, 1, 6, 7, 12]


def test_a_match_is_left_alone(backend):
    assert matched(backend, [3, 4, 10, 11]) == [3, 4, 10, 11]


def test_seated_nodes_stay(backend):
    assert matched(backend, [0, 1, 4, 5], seated=[5, 4]) == [4, 5, 6, 7]


def test_nothing_is_added_beyond_the_budget(backend):
    """Nodes 0 and 1 with their edge take 28 bytes; 6 fits in 40, 7 and its edge to 6 do not, 8 neither."""
    assert matched(backend, [0, 1, 4, 5], limit=40.0) == [0, 1, 6]


def test_every_class_has_a_target_of_at_least_one(backend):
    assert matched(backend, [2]) == [2, 6]
