"""Numbers of features worth trying."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu.budget import Budget
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.feature_grid import FEWEST, MOST, _halved, feature_grid, filled_columns

CONFIG = HeraldConfig(encoding="graph", fewest_exemplars=1)
KINDS = ("binary", "counts", "dense")


def grid(backend, given, limit, config=CONFIG, ranking=None):
    graph = build(backend, given)
    columns = np.arange(given.x.shape[1]) if ranking is None else np.asarray(ranking)
    return feature_grid(backend, graph, backend.asarray(columns), Budget(graph.kind, 1e9, limit), config)


def counts(options):
    return [option.count for option in options]


@pytest.mark.parametrize(
    ("n_features", "expected"),
    [
        (1, [1]),
        (15, [15]),
        (16, [16, 8]),
        (17, [17, 8]),
        (300, [300, 150, 75, 37, 18, 9]),
        (8192, [8192, 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8]),
        (20_000, [5000, 2500, 1250, 625, 312, 156, 78, 39, 19, 9]),
    ],
)
def test_halves(n_features, expected):
    assert _halved(n_features) == expected
    assert min(n_features, FEWEST) <= expected[-1] <= expected[0] <= MOST


@pytest.mark.parametrize("kind", KINDS)
def test_non_zeros_of_the_best_columns(backend, kind):
    given = random_raw(kind, 30, seed=1)
    found = filled_columns(backend, build(backend, given).features)
    assert host(backend, found).tolist() == (given.x != 0).sum(axis=0).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_every_half_with_its_mean_and_rows(backend, kind):
    given = random_raw(kind, 60, seed=2, n_features=40)
    ranking = np.random.default_rng(1).permutation(40)
    limit = {"binary": 300.0, "counts": 700.0, "dense": 600.0}[kind]
    options = grid(backend, given, limit, ranking=ranking)
    assert counts(options) == [10, 20, 40]
    known = given.x[np.array(given.train)]
    for option in options:
        mean = (known[:, ranking[: option.count]] != 0).sum() / len(known)
        each = {"binary": 2 * mean, "counts": 6 * mean, "dense": 4 * option.count}[kind]
        assert option.mean_stored == pytest.approx(mean)
        assert option.rows == pytest.approx(limit / each)


def test_the_encoding_that_holds_most(backend):
    """Four columns of 8 bytes are 32 bytes; int8 takes 8 bytes a row, and its scales once."""
    given = raw([], np.random.default_rng(0).normal(size=(99, 8)), [0, 1, 2] * 33)
    limits = {32.0: 32 / 16, 320.0: (320 - 32) / 8}  # float16, int8
    for limit, rows in limits.items():
        (option,) = grid(backend, given, limit, replace(CONFIG, encoding="auto"))
        assert option.rows == pytest.approx(rows)


def test_reduced_features_are_stored_as_the_graphs(backend):
    given = raw([], np.random.default_rng(0).normal(size=(99, 8)), [0, 1, 2] * 33)
    (option,) = grid(backend, given, 320.0, replace(CONFIG, encoding="auto", pca_variance=0.9))
    assert option.rows == pytest.approx(10)


def complete(n, n_features):
    """Every node joined to every other, each in a class of its own; two features each, n columns apart."""
    edges = [(u, v) for u in range(n) for v in range(u)]
    return raw(edges, np.eye(n, n_features) + np.eye(n, n_features, n), np.arange(n))


def test_halving_stops_where_all_training_nodes_fit(backend):
    # Dense rows of 128, 64 and 32 bytes; four training nodes.
    x = np.random.default_rng(0).normal(size=(6, 32))
    given = raw([(0, 1), (0, 4), (4, 5)], x, [0, 1, 0, 1, 0, 1], [True] * 4 + [False] * 2)
    assert counts(grid(backend, given, 4 * 128)) == [32]
    assert counts(grid(backend, given, 4 * 128 - 1)) == [16, 32]
    assert counts(grid(backend, given, 4 * 64)) == [16, 32]
    assert counts(grid(backend, given, 4 * 64 - 1)) == [8, 16]  # two nodes of 128 bytes do not fit


@pytest.mark.parametrize("on_infeasible", ["raise", "best_effort"])
def test_halving_goes_on_where_edges_leave_no_room_for_a_node_of_every_class(backend, on_infeasible):
    given, config = complete(8, 32), replace(CONFIG, on_infeasible=on_infeasible)
    whole = reference.cost(reference.neighbours(given), [4.0] * 8, range(8))
    assert whole == 8 * 4 + 8 * 7 * 4
    assert counts(grid(backend, given, whole, config)) == [32]
    assert counts(grid(backend, given, whole - 1, config)) == [8, 16, 32]


@pytest.mark.parametrize(("fewest", "expected"), [(1, [8, 16, 32]), (2, [8, 16]), (4, [8]), (5, [8]), (99, [8])])
def test_room_for_the_fewest_exemplars(backend, fewest, expected):
    """Dense rows of 128, 64 and 32 bytes in 256 bytes: two, four and eight of two classes."""
    given = raw([], np.random.default_rng(0).normal(size=(50, 32)), [0, 1] * 25)
    options = grid(backend, given, 256.0, replace(CONFIG, fewest_exemplars=fewest))
    assert counts(options) == expected


@pytest.mark.parametrize(("asked", "count"), [(1, 1), (13, 13), (32, 32), (500, 32)])
def test_a_number_that_was_asked_for(backend, asked, count):
    given = raw([], np.random.default_rng(0).normal(size=(50, 32)), [0, 1] * 25)
    for limit in (10.0, 1e6):
        assert counts(grid(backend, given, limit, replace(CONFIG, feature_count=asked))) == [count]


def test_only_training_nodes_count(backend):
    x = np.ones((40, 16), dtype=np.float32)
    x[:4, 8:] = 0
    given = raw([], x, [0, 1] * 20, [True] * 4 + [False] * 36)
    options = grid(backend, given, 4 * 2 * 8 - 1)
    assert [(option.count, option.mean_stored) for option in options] == [(8, 8.0), (16, 8.0)]
    assert counts(grid(backend, given, 4 * 2 * 8)) == [16]
