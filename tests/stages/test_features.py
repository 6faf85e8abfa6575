"""Stage 3, second half: multi-hop Fisher ratio times activation density."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu import ops
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.feature_budget import FeatureBudget
from herald_gpu.stages.features import activation_density, choose_features, multihop_fisher

CONFIG = HeraldConfig.paper()
KINDS = ("binary", "counts", "dense")


def fisher_of(backend, given, h, config=CONFIG):
    return host(backend, multihop_fisher(backend, build(backend, given), h, config)).tolist()


def test_ratio_by_hand(backend):
    # First column: means 1 and 5 around 3, so 2*4 + 2*4 over 2*1 + 2*1 = 4. Second: means 1 and 3 around 2,
    # so 2*1 + 2*1 over 2*1 + 2*1 = 1. No edges: the other hops are all zero and contribute nothing.
    given = raw([], [[0, 0], [2, 2], [4, 2], [6, 4]], [0, 0, 1, 1])
    assert fisher_of(backend, given, 0.0) == pytest.approx([1.0, 0.25], rel=1e-11)


def test_population_variances(backend):
    # Unequal classes. First column: means 2, 6 around 10/3: (4*16/9 + 2*64/9) over (4*2 + 2*1).
    column = [0, 2, 2, 4, 5, 7]
    other = [0, 0, 0, 1, 0, 1]  # means 1/4, 1/2 around 1/3: (4/144 + 2/36) over (4*3/16 + 2/4)
    given = raw([], np.array([column, other]).T, [0, 0, 0, 0, 1, 1])
    first, second = (192 / 9) / 10, (12 / 144) / 1.25
    assert fisher_of(backend, given, 0.0) == pytest.approx([1.0, second / first], rel=1e-11)


def test_only_training_rows_count(backend):
    given = raw([], [[0, 0], [2, 2], [4, 2], [6, 4], [99, -7]], [0, 0, 1, 1, 1], [True] * 4 + [False])
    assert fisher_of(backend, given, 0.0) == pytest.approx([1.0, 0.25], rel=1e-11)


def test_hops_are_scaled_apart_and_weighted(backend):
    # Path 0-1-2-3, classes 0 0 1 1. Ratios by hand: hop 0 of (0 2 4 6) is 4, of (0 2 2 4) is 1.
    given = raw([(0, 1), (1, 2), (2, 3)], [[0, 0], [2, 2], [4, 2], [6, 4]], [0, 0, 1, 1])
    # Hop 1: (2 2 4 4) and (2 1 3 2); hop 2: (2 3 3 4) and (1 2.5 1.5 3).
    hop0 = [4.0, 1.0]
    hop1 = [4 / 1e-12, 1.0 / (0.5 + 0.5)]
    hop2 = [1.0 / (0.5 + 0.5), 4 * 0.25**2 / (2 * 0.75**2 * 2)]
    for h in (0.0, 0.3, 1.0):
        total = [sum((1 - h) ** k * hop[j] / max(hop) for k, hop in enumerate((hop0, hop1, hop2))) for j in (0, 1)]
        expected = [value / max(total) for value in total]
        assert fisher_of(backend, given, h) == pytest.approx(expected, rel=1e-9)


def test_at_full_heterophily_only_the_raw_features_count(backend):
    given = random_raw("dense", 40, seed=8)
    assert fisher_of(backend, given, 1.0) == pytest.approx(
        fisher_of(backend, given, 0.0, replace(CONFIG, hops=0)), rel=1e-12
    )


def test_small_classes_can_be_skipped(backend):
    # The single node of class 2 shifts the overall mean, but neither scatter counts it.
    x = np.array([[0, 2, 4, 6, 8], [1, 0, 2, 5, 1]]).T
    codes = [0, 0, 1, 1, 2]
    ratios = [reference.fisher(column, codes, eps=1e-8, smallest=2) for column in x.T.tolist()]
    config = replace(CONFIG, min_class_size=2, fisher_eps=1e-8)
    assert fisher_of(backend, raw([], x, codes), 0.0, config) == pytest.approx(
        [ratio / max(ratios) for ratio in ratios], rel=1e-10
    )


def test_features_that_never_vary(backend):
    assert fisher_of(backend, raw([(0, 1)], [[1, 1], [1, 1]], [0, 1]), 0.5) == [0.0, 0.0]


def test_density_by_hand(backend):
    given = raw([], [[1, -4, 0], [3, 0, 0], [9, 9, 9]], [0, 1, 1], [True, True, False])
    density = host(backend, activation_density(backend, build(backend, given)))
    assert density.tolist() == [1.0, 1.0, 0.0]  # 4/2 and 4/2 over the largest


@pytest.mark.parametrize("block", [8_000_000, 130])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dense", [True, False], ids=["with density", "without"])
def test_scores_against_the_reference(backend, dense, kind, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    given = random_raw(kind, 50, seed=6)
    config = replace(CONFIG, feature_density=dense)
    for h in (0.0, 0.37, 1.0):
        kept = choose_features(backend, build(backend, given), h, FeatureBudget(5, None), config)
        expected = reference.feature_scores(reference.neighbours(given), given, h, dense=dense)
        np.testing.assert_allclose(host(backend, kept.score), expected, rtol=1e-9, atol=1e-12)
        assert host(backend, kept.indices).tolist() == reference.best_features(expected, 5)


def test_ties_go_to_the_lower_index(backend):
    column = [0, 2, 4, 6]
    x = np.array([[1, 0, 0, 1], column, column, column]).T
    graph = build(backend, raw([], x, [0, 0, 1, 1]))
    kept = choose_features(backend, graph, 0.0, FeatureBudget(2, None), CONFIG)
    assert host(backend, kept.indices).tolist() == [1, 2]


def test_the_tree_may_choose(backend, tiny):
    chosen = backend.asarray(np.array([0, 2]))
    config = replace(CONFIG, feature_ranking="tree")
    kept = choose_features(backend, tiny["triangles"], 0.0, FeatureBudget(2, chosen), config)
    assert host(backend, kept.indices).tolist() == [0, 2]
    assert kept.score is None
