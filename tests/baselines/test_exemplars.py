"""Ranking class by class, as far as the budget can reach."""

from __future__ import annotations

import numpy as np
from support.graphs import build, host, random_raw

from herald_gpu.baselines.exemplars import rank_by_class
from herald_gpu.baselines.options import SpaceOptions
from herald_gpu.budget import make_budget
from herald_gpu.config import HeraldConfig


def backwards(asked):
    """Make an order that takes the last row first, and note what it is asked for."""

    def order(backend, rows, count):
        asked.append((int(rows.shape[0]), count))
        return backend.xp.arange(int(rows.shape[0]), dtype=backend.xp.int64)[::-1][:count]

    return order


def test_classes_are_ordered_apart_and_merged(backend):
    given = random_raw("counts", 50, seed=1)
    graph = build(backend, given)
    budget = make_budget(backend, graph, 1.0, HeraldConfig())
    ranking = host(backend, rank_by_class(backend, graph, budget, SpaceOptions(), backwards([])))
    y, train = np.array(given.y), np.array(given.train)
    assert sorted(ranking.tolist()) == np.flatnonzero(train).tolist()
    for code in range(3):
        assert ranking[y[ranking] == code].tolist() == np.flatnonzero(train & (y == code))[::-1].tolist()


def test_no_further_than_the_budget_reaches(backend):
    """Dense rows of 14 features take 56 bytes: with 200 bytes three nodes fit, and two more may be tried."""
    graph = build(backend, random_raw("dense", 50, seed=1))
    full = make_budget(backend, graph, 1.0, HeraldConfig()).full_bytes
    budget = make_budget(backend, graph, 200 / full, HeraldConfig())
    asked = []
    ranking = rank_by_class(backend, graph, budget, SpaceOptions(patience=2), backwards(asked))
    assert [count for _, count in asked] == [6, 6, 6]
    assert ranking.shape == (18,)
