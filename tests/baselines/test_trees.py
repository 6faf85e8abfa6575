"""Gathering neighbourhoods, against a slow simulation."""

from __future__ import annotations

import numpy as np
import pytest
from baselines import references
from support.graphs import build, host, random_raw

from herald_gpu.baselines.trees import gather
from herald_gpu.budget import Prices


@pytest.mark.parametrize("total", [False, True], ids=["in a row", "in total"])
@pytest.mark.parametrize("patience", [0, 1, 3, 50])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_nodes_as_by_simulation(backend, seed, depth, patience, total):
    graph = build(backend, random_raw("counts", 40, seed=seed, mean_degree=1.5))
    rng = np.random.default_rng(seed)
    prices, ranking = rng.integers(1, 9, 40).astype(np.float64), rng.permutation(40)
    start = np.zeros(40, dtype=bool)
    start[ranking[-1]] = True
    adjacency = host(backend, graph.adjacency)
    member, roots = gather(
        backend,
        graph.adjacency,
        backend.asarray(ranking),
        Prices(backend.asarray(prices), 4.0, 8.0),
        limit=90.0,
        depth=depth,
        patience=patience,
        member=backend.asarray(start),
        spent=prices[ranking[-1]],
        total_patience=total,
    )
    expected = references.gather(
        adjacency,
        ranking.tolist(),
        prices,
        4.0,
        limit=90.0,
        depth=depth,
        patience=patience,
        start={int(ranking[-1])},
        total_patience=total,
    )
    assert np.flatnonzero(host(backend, member)).tolist() == sorted(expected)
    for root in np.flatnonzero(host(backend, roots)):
        assert references.neighbourhood(adjacency, int(root), depth) <= expected


def test_patience_in_total_stops_earlier(backend):
    """Node 1 is too dear, 3 fits, 5 is too dear: with patience 1 the second refusal ends it only if all count."""
    graph = build(backend, random_raw("counts", 8, seed=0))
    prices = np.array([1.0, 99.0, 1.0, 1.0, 1.0, 99.0, 1.0, 99.0])
    given = (graph.adjacency, backend.asarray(np.array([1, 3, 5, 6])), Prices(backend.asarray(prices), 0.0, 0.0))
    rest = {"limit": 10.0, "depth": 0, "patience": 1, "member": backend.asarray(np.zeros(8, dtype=bool)), "spent": 0.0}
    row, _ = gather(backend, *given, **rest, total_patience=False)
    total, _ = gather(backend, *given, **rest, total_patience=True)
    assert np.flatnonzero(host(backend, row)).tolist() == [3, 6]
    assert np.flatnonzero(host(backend, total)).tolist() == [3]
