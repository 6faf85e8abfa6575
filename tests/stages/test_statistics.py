"""Figures of the condensed graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import reference
from support.graphs import build, random_raw, raw

from herald_gpu import ops
from herald_gpu.stages.statistics import describe, measure


def described(backend, given, nodes):
    graph = build(backend, given)
    chosen = backend.asarray(np.array(nodes, dtype=np.int64))
    part = ops.induced(graph.adjacency, chosen)
    counts, variance = ops.fetch(backend, *measure(backend, graph, graph.features, chosen))
    sizes = {"n_nodes": len(nodes), "n_edges": int(part.nnz), "full_nodes": given.n, "full_edges": graph.n_edges}
    return describe(counts.astype(int), float(variance), **sizes)


def test_by_hand(backend):
    given = raw(
        [(0, 1), (1, 2), (2, 0), (2, 3)],
        [[0, 1], [2, 1], [4, 1], [6, 1], [9, 9]],
        [0, 1, 1, 0, 0],
        [True, True, True, True, False],
    )
    figures = described(backend, given, [0, 1, 2, 4])
    assert (figures.n_nodes, figures.n_edges) == (4, 6)
    assert (figures.node_ratio, figures.edge_ratio) == (4 / 5, 6 / 8)
    assert figures.class_counts == (1, 2)  # the last node has no label to count
    assert figures.class_entropy == pytest.approx(-(1 / 3) * math.log(1 / 3) - (2 / 3) * math.log(2 / 3))
    assert (figures.mean_degree, figures.density) == (6 / 4, 6 / 12)
    # First column: (0 2 4 9) varies by 11.1875 where the training set varies by 5; second: 12 over nothing.
    assert figures.feature_variance == pytest.approx((11.1875 / (5 + 1e-12) + 12 / 1e-12) / 2)


def test_the_whole_training_set_varies_like_itself(backend):
    given = random_raw("dense", 40, seed=3)
    figures = described(backend, given, np.flatnonzero(given.train).tolist())
    assert figures.feature_variance == pytest.approx(1, abs=1e-9)


def test_one_class_has_no_entropy(backend):
    given = raw([(0, 1)], np.eye(3), [0, 0, 1])
    figures = described(backend, given, [0, 1])
    assert figures.class_entropy == 0.0
    assert math.copysign(1, figures.class_entropy) == 1.0
    assert figures.class_counts == (2, 0)


def test_balanced_classes_have_the_largest_entropy(backend):
    given = raw([], np.eye(4), [0, 1, 2, 3])
    assert described(backend, given, [0, 1, 2, 3]).class_entropy == pytest.approx(math.log(4))


def test_one_node_and_no_edges(backend):
    figures = described(backend, raw([], np.eye(2), [0, 1]), [1])
    assert (figures.n_edges, figures.edge_ratio, figures.mean_degree, figures.density) == (0, 0, 0, 0)
    assert figures.feature_variance == 0


@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_against_plain_sums(backend, kind):
    given = random_raw(kind, 50, seed=6)
    nodes = sorted(np.random.default_rng(0).choice(50, 20, replace=False).tolist())
    figures = described(backend, given, nodes)
    x, train = given.x.astype(np.float64), np.flatnonzero(given.train)
    ratios = [x[nodes, j].var() / (x[train, j].var() + 1e-12) for j in range(x.shape[1])]
    assert figures.feature_variance == pytest.approx(sum(ratios) / len(ratios), rel=1e-9)
    assert figures.n_edges == reference.n_directed(reference.neighbours(given), nodes)
