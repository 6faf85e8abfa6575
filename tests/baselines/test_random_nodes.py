"""Random: a seeded order of the training nodes."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import build, host, random_raw

from herald_gpu.baselines.random_nodes import RandomOptions, random_ranking
from herald_gpu.errors import ConfigError

RAW = random_raw("counts", 60, seed=4)


@pytest.mark.parametrize("balanced", [True, False])
def test_every_training_node_has_one_place(backend, balanced):
    ranking = host(backend, random_ranking(backend, build(backend, RAW), seed=1, balanced=balanced))
    assert sorted(ranking.tolist()) == np.flatnonzero(RAW.train).tolist()


def test_without_balance_the_order_is_that_of_the_generator(backend):
    nodes = np.flatnonzero(RAW.train)
    expected = nodes[np.random.default_rng(7).permutation(len(nodes))]
    ranking = random_ranking(backend, build(backend, RAW), seed=7, balanced=False)
    assert host(backend, ranking).tolist() == expected.tolist()


def test_balance_keeps_the_order_within_a_class(backend):
    graph, y = build(backend, RAW), np.array(RAW.y)
    plain = host(backend, random_ranking(backend, graph, seed=7, balanced=False))
    fair = host(backend, random_ranking(backend, graph, seed=7, balanced=True))
    for code in range(3):
        assert fair[y[fair] == code].tolist() == plain[y[plain] == code].tolist()
    assert set(y[fair[:3]]) == {0, 1, 2}


def test_seeds_differ(backend):
    graph = build(backend, RAW)
    one, two = (host(backend, random_ranking(backend, graph, seed=s, balanced=True)) for s in (0, 1))
    assert one.tolist() != two.tolist()


def test_balanced_is_true_or_false():
    with pytest.raises(ConfigError, match="balanced=1"):
        RandomOptions(balanced=1)
