"""Stage 4: prototype, boundary and LID scores, their combination and the ranking."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu import ops
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.scoring import boundary_scores, prototype_scores, score_nodes
from herald_gpu.stages.weights import ScoreWeights

PAPER = HeraldConfig.paper()
RANKED = HeraldConfig.paper(lid_scaling="rank", lid_zero_rows="zero")
KINDS = ("binary", "counts", "dense")


def inverse_norms(backend, graph):
    return ops.inverse(backend, ops.row_norms(backend, graph.features))


def prototypes(backend, given, **options):
    graph = build(backend, given, **options)
    return host(backend, prototype_scores(backend, graph, graph.features, inverse_norms(backend, graph)))


# Prototype


def test_prototype_by_hand(backend):
    # Unit rows of class 0: (1, 0), (0, 1); centroid (1, 1) / sqrt 2. Class 1: (0.6, 0.8). The last node is of
    # unknown class: its best centroid is that of class 1. The zero row is at right angles to everything.
    x = [[2, 0], [0, 5], [3, 4], [6, 8], [0, 0]]
    given = raw([], x, [0, 0, 1, 0, 1], [True, True, True, False, False])
    scores = prototypes(backend, given)
    assert scores.tolist() == pytest.approx([math.sqrt(0.5), math.sqrt(0.5), 1.0, 1.0, 0.0], abs=1e-7)


def test_known_labels_outside_the_training_set_point_to_their_class(backend):
    # As in the published preset, where all labels are there: the centroids still come from training nodes.
    x = [[1, 0], [0, 1], [1, 0]]
    given = raw([], x, [0, 1, 1], [True, True, False])
    assert prototypes(backend, given).tolist() == pytest.approx([1, 1, 1])
    assert prototypes(backend, given, all_labels=True).tolist() == pytest.approx([1, 1, 0])


def test_a_class_without_any_feature(backend):
    assert prototypes(backend, raw([], [[0, 0], [1, 0]], [0, 1])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("block", [8_000_000, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_prototype_against_the_reference(backend, kind, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    given = random_raw(kind, 50, seed=11)
    expected = reference.prototypes(reference.unit_rows(given.x), given)
    np.testing.assert_allclose(prototypes(backend, given), expected, atol=1e-12)


# Boundary


def test_boundary_by_hand(backend, tiny):
    # The path's node 3 has one training neighbour only, of its own class; node 4 is not a training node.
    assert host(backend, boundary_scores(backend, tiny["path"])).tolist() == [0, 0.5, 0.5, 0, 0]
    assert host(backend, boundary_scores(backend, tiny["star"])).tolist() == [0.75, 1, 1, 0, 1]


def test_boundary_without_training_neighbours(backend):
    given = raw([(0, 1), (1, 2)], np.eye(4), [0, 1, 1, 0], [True, False, True, True])
    assert host(backend, boundary_scores(backend, build(backend, given))).tolist() == [0, 0, 0, 0]


def test_boundary_reads_all_labels_that_are_there(backend):
    given = raw([(0, 1), (0, 2), (1, 2)], np.eye(4), [0, 1, 0, 1], [True, False, True, True])
    graph = build(backend, given, stored=True, all_labels=True)
    assert host(backend, boundary_scores(backend, graph)).tolist() == [0.5, 1, 0, 0]  # along out-edges


@pytest.mark.parametrize("seed", range(4))
def test_boundary_against_the_reference(backend, seed):
    given = random_raw("binary", 60, seed)
    expected = reference.boundaries(reference.neighbours(given), given)
    np.testing.assert_allclose(host(backend, boundary_scores(backend, build(backend, given))), expected, atol=1e-15)


# Together


def scored(backend, given, config=PAPER, weights=ScoreWeights(0.5, 0.3, 0.2), seed=0):  # noqa: B008 - frozen
    graph = build(backend, given)
    return score_nodes(backend, graph, graph.features, weights, config, seed=seed)


@pytest.mark.parametrize("config", [PAPER, RANKED], ids=["paper", "ranked"])
@pytest.mark.parametrize("kind", KINDS)
def test_combination_against_the_reference(backend, kind, config):
    given = random_raw(kind, 60, seed=14)
    unit, around = reference.unit_rows(given.x), reference.neighbours(given)
    lid = reference.lids(unit, 10, zero_rows=config.lid_zero_rows)
    parts = (
        reference.min_max(reference.prototypes(unit, given)),
        reference.min_max(reference.boundaries(around, given)),
        reference.rank_scaled(lid) if config.lid_scaling == "rank" else reference.min_max(lid),
    )
    expected = reference.min_max([0.5 * p + 0.3 * b + 0.2 * s for p, b, s in zip(*parts, strict=True)])
    scores = scored(backend, given, config)
    np.testing.assert_allclose(host(backend, scores.score), expected, atol=1e-9)
    assert host(backend, scores.ranking).tolist() == reference.ranked(expected, given)


def test_equal_scores_rank_by_id(backend):
    given = raw([], np.ones((5, 2)), [0, 1, 0, 1, 0], [True, True, False, True, True])
    scores = scored(backend, given)
    assert host(backend, scores.score).tolist() == [0] * 5
    assert host(backend, scores.ranking).tolist() == [0, 1, 3, 4]


def test_a_component_without_weight_does_not_matter(backend):
    given = random_raw("counts", 40, seed=15)
    only = scored(backend, given, weights=ScoreWeights(0.0, 1.0, 0.0))
    expected = reference.min_max(reference.boundaries(reference.neighbours(given), given))
    np.testing.assert_allclose(host(backend, only.score), expected, atol=1e-12)


def test_random_ranking_follows_the_seed(backend):
    given = random_raw("counts", 40, seed=15)
    config = replace(PAPER, node_ranking="random")
    nodes = np.flatnonzero(given.train)
    for seed in (0, 1):
        ranking = host(backend, scored(backend, given, config, seed=seed).ranking)
        assert ranking.tolist() == nodes[np.random.default_rng(seed).permutation(len(nodes))].tolist()
