"""Ridge regressions on a condensed graph: against the closed formula in dense float64 matrices."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from support.graphs import build, host, random_raw, raw
from support.ridge import dense_adjacency, right_answers, seen

from herald_gpu.stages import trials
from herald_gpu.stages.trials import LearntFrom, judge, score
from herald_gpu.stages.views import Rows

KINDS = ("binary", "counts", "dense")


def asked_of(given, nodes):
    """Rows of some nodes in a graph, as each learner is asked for them."""
    x = given.x.astype(np.float64)
    kinds = seen(dense_adjacency(given), x)
    width = x.shape[1]
    return {"own": x, "around": kinds["around"][:, width:], "mean": kinds["mean"], "total": kinds["total"]}, nodes


def on(backend, parts, nodes):
    return Rows(*(backend.asarray(parts[one.name][nodes].astype(np.float32)) for one in fields(Rows)))


@pytest.mark.parametrize("n_features", [4, 60])  # fewer columns than rows, and more
@pytest.mark.parametrize("kind", KINDS)
def test_right_answers_by_the_formula(backend, kind, n_features):
    small = random_raw(kind, 24, seed=1, n_features=n_features)
    large = random_raw(kind, 50, seed=2, n_features=n_features)
    codes = np.where(small.train, small.y, -1)
    graph = build(backend, small)
    parts, nodes = asked_of(large, np.flatnonzero(large.x.any(axis=1))[5:38])
    truth = np.array(large.y)[nodes]
    learnt = seen(dense_adjacency(small), small.x.astype(np.float64))
    expected = right_answers(learnt, codes, parts, nodes, truth, 3)
    given = LearntFrom(graph.adjacency, graph.features, backend.asarray(codes))
    found = host(backend, judge(backend, given, on(backend, parts, nodes), backend.asarray(truth), 3))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)
    assert 0 < expected.max() <= len(nodes)


def test_unknown_classes_are_not_learnt_from(backend):
    small = random_raw("dense", 24, seed=3)
    large = random_raw("dense", 30, seed=4)
    graph = build(backend, small)
    parts, nodes = asked_of(large, np.arange(30))
    codes = np.where(np.arange(24) < 9, small.y, -1)
    learnt = seen(dense_adjacency(small), small.x.astype(np.float64))
    truth = np.array(large.y)
    given = LearntFrom(graph.adjacency, graph.features, backend.asarray(codes))
    found = host(backend, judge(backend, given, on(backend, parts, nodes), backend.asarray(truth), 3))
    np.testing.assert_array_equal(found, right_answers(learnt, codes, parts, nodes, truth, 3))


def test_no_more_rows_than_needed(backend, monkeypatch):
    """Of twenty rows seven, evenly spaced from the first to the last."""
    monkeypatch.setattr(trials, "MOST_ROWS", 7)
    small, large = random_raw("dense", 20, seed=5), random_raw("dense", 30, seed=6)
    graph = build(backend, small)
    parts, nodes = asked_of(large, np.arange(30))
    truth, codes = np.array(large.y), np.array(small.y)
    given = LearntFrom(graph.adjacency, graph.features, backend.asarray(codes))
    found = host(backend, judge(backend, given, on(backend, parts, nodes), backend.asarray(truth), 3))
    some = np.full(20, -1)
    some[[0, 3, 6, 9, 12, 15, 19]] = codes[[0, 3, 6, 9, 12, 15, 19]]
    learnt = seen(dense_adjacency(small), small.x.astype(np.float64))
    np.testing.assert_array_equal(found, right_answers(learnt, some, parts, nodes, truth, 3))


def test_learning_from_the_whole_graph_gives_its_classes(backend):
    """Classes that features tell apart are all found again."""
    x = np.repeat(np.eye(3), 4, axis=0)
    given = raw([(0, 1), (4, 5), (8, 9)], x, np.repeat(np.arange(3), 4))
    graph = build(backend, given)
    parts, nodes = asked_of(given, np.arange(12))
    learnt = LearntFrom(graph.adjacency, graph.features, graph.labels)
    found = host(backend, judge(backend, learnt, on(backend, parts, nodes), graph.labels, 3))
    assert (found[:, 0] == 12).all()


def test_a_single_row_of_a_single_class(backend):
    given = raw([], [[1.0, 2.0], [3.0, 4.0]], [0, 0])
    graph = build(backend, given)
    parts, nodes = asked_of(given, np.arange(2))
    learnt = LearntFrom(graph.adjacency, graph.features, backend.asarray(np.array([0, -1])))
    found = host(backend, judge(backend, learnt, on(backend, parts, nodes), graph.labels, 1))
    assert found.tolist() == [[2.0] * 3] * 3


def test_nobody_to_ask(backend):
    given = raw([(0, 1)], np.eye(2), [0, 1])
    graph = build(backend, given)
    parts, nodes = asked_of(given, np.arange(0))
    learnt = LearntFrom(graph.adjacency, graph.features, graph.labels)
    found = judge(backend, learnt, on(backend, parts, nodes), graph.labels[:0], 2)
    assert host(backend, found).tolist() == [[0.0] * 3] * 3


def test_rows_without_any_feature(backend):
    """The intercept alone answers: with the largest class."""
    given = raw([], np.zeros((5, 9)), [1, 1, 0, 1, 0])
    graph = build(backend, given)
    parts, nodes = asked_of(given, np.arange(5))
    learnt = LearntFrom(graph.adjacency, graph.features, graph.labels)
    found = host(backend, judge(backend, learnt, on(backend, parts, nodes), graph.labels, 2))
    assert found.tolist() == [[3.0] * 3] * 3


def test_score_by_hand():
    counts = np.array([[3.0, 6.0, 1.0], [10.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
    assert score(counts, 10) == pytest.approx((2 * 0.6 + 1.0 + 0.4) / 4)
    assert score(np.zeros((3, 3)), 10) == 0.0
    assert score(np.full((3, 3), 10.0), 10) == 1.0


@pytest.mark.parametrize("n_features", [4, 60])
@pytest.mark.parametrize("units", [(2.0**-30, 2.0**-50), (2.0**30, 2.0**50)])  # powers of two: nothing is rounded
def test_rows_that_are_very_short_or_very_long(backend, n_features, units):
    small, large = (random_raw("dense", n, seed=seed, n_features=n_features) for n, seed in ((24, 1), (50, 2)))
    graph, truth = build(backend, small), backend.asarray(np.array(large.y))
    codes = backend.asarray(np.array(small.y))
    parts, nodes = asked_of(large, np.arange(50))
    found = []
    for unit in units:
        given = LearntFrom(graph.adjacency, graph.features * backend.xp.float32(unit), codes)
        scaled = {name: part * unit for name, part in parts.items()}
        found.append(host(backend, judge(backend, given, on(backend, scaled, nodes), truth, 3)))
    np.testing.assert_array_equal(found[0], found[1])
    assert found[0].max() > 50 / 3
