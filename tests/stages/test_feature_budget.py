"""Stage 3, first half: how many features the tree on smoothed rows splits on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from support import reference
from support.backends import FACTORIES
from support.graphs import TINY, build, host, random_raw, raw
from support.strict import counted

from herald_gpu import ops
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.feature_budget import count_features, smoothed_rows

CONFIG = HeraldConfig.paper()
KINDS = ("binary", "counts", "dense")


def test_smoothing_by_hand(backend):
    # Degrees with the node itself: 2, 3, 2. Row 1: (4/2 + 6/3 + 2/2) / 3; row 0: (4/2 + 6/3) / 2.
    graph = build(backend, raw([(0, 1), (1, 2)], [[4.0], [6.0], [2.0]], [0, 1, 0]))
    rows = backend.asarray(np.array([0, 1]))
    smooth = smoothed_rows(backend, graph, rows)
    assert smooth.dtype == np.float32
    np.testing.assert_allclose(host(backend, smooth)[:, 0], [2.0, 5 / 3], rtol=1e-6)


def test_isolated_nodes_keep_their_features(backend):
    graph = build(backend, raw([], [[0.5, 0], [0, 3]], [0, 1]))
    rows = backend.asarray(np.array([0, 1]))
    np.testing.assert_allclose(host(backend, smoothed_rows(backend, graph, rows)), [[0.5, 0], [0, 3]])


@pytest.mark.parametrize("block", [8_000_000, 150])
@pytest.mark.parametrize("kind", KINDS)
def test_smoothing_against_the_reference(backend, kind, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    given = random_raw(kind, 50, seed=2)
    rows = np.flatnonzero(given.train)
    smooth = host(backend, smoothed_rows(backend, build(backend, given), backend.asarray(rows)))
    expected = reference.smoothed(reference.neighbours(given), given.x)[rows]
    np.testing.assert_allclose(smooth, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("where", ["backend", "host"])
@pytest.mark.parametrize("kind", KINDS)
def test_count_is_that_of_the_tree(backend, kind, where):
    if where == "backend" and backend.tree_name != CpuBackend.tree_name:
        pytest.skip(f"another tree, which may count otherwise: {backend.tree_name}")
    given = random_raw(kind, 80, seed=4)
    rows = np.flatnonzero(given.train)
    smooth = reference.smoothed(reference.neighbours(given), given.x)[rows].astype(np.float32)
    tree = DecisionTreeClassifier(max_depth=50, random_state=42).fit(smooth, np.array(given.y)[rows]).tree_
    split_on = sorted({j for j in tree.feature.tolist() if j >= 0})
    found = count_features(backend, build(backend, given), replace(CONFIG, feature_tree=where))
    assert found.tree_name == "scikit-learn, exact splits"
    assert found.count == len(split_on) > 1
    assert host(backend, found.tree).tolist() == split_on


def test_one_feature_is_enough(backend):
    x = [[5, 0, 1], [5, 1, 0], [5, 0, 1], [9, 1, 0], [9, 0, 1], [9, 1, 0]]
    found = count_features(backend, build(backend, raw([], x, [0, 0, 0, 1, 1, 1])), CONFIG)
    assert found.count == 1
    assert host(backend, found.tree).tolist() == [0]


def test_depth_limits_the_tree(backend):
    given = random_raw("counts", 80, seed=4)
    graph = build(backend, given)
    assert count_features(backend, graph, replace(CONFIG, tree_depth=1)).count == 1


def test_only_training_rows_grow_the_tree(backend):
    # The last node would call for a second split, but it is not a training node.
    x = [[0, 0], [0, 0], [1, 0], [0, 1]]
    found = count_features(backend, build(backend, raw([], x, [0, 0, 1, 1], [True, True, True, False])), CONFIG)
    assert found.count == 1


@pytest.mark.parametrize(("asked", "count"), [(1, 1), (2, 2), (99, 3)])
def test_a_given_count_needs_no_tree(backend, tiny, asked, count):
    found = count_features(backend, tiny["triangles"], replace(CONFIG, feature_count=asked))
    assert found.count == count
    assert found.tree is None
    assert found.tree_name is None


def test_where_the_tree_chooses_it_is_grown(backend, tiny):
    config = replace(CONFIG, feature_ranking="tree")
    found = count_features(backend, tiny["triangles"], config)
    assert found.tree is not None
    assert found.tree_name == backend.tree_name
    assert found.count == found.tree.shape[0]


def test_a_tree_without_splits_keeps_one_feature(backend):
    found = count_features(backend, build(backend, raw([(0, 1)], [[1.0, 1.0], [1.0, 1.0]], [0, 0])), CONFIG)
    assert found.count == 1
    assert host(backend, found.tree).tolist() == [0]


def test_rows_cross_to_the_host_only_if_asked():
    """The strict device counts what leaves it."""
    backend = FACTORIES["strict"]()
    graph = build(backend, TINY["triangles"])
    for where, crossed in (("backend", 0), ("host", 2)):  # rows and classes
        with counted() as ledger:
            count_features(backend, graph, replace(CONFIG, feature_tree=where))
        assert ledger.to_host == crossed
