"""Propagate and cluster: means of clusters, true storage."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import build, host, random_raw

from herald_gpu.baselines.cluster import ClusterOptions, class_means, select
from herald_gpu.baselines.kmeans import kmeans
from herald_gpu.budget import Budget, make_budget
from herald_gpu.config import HeraldConfig
from herald_gpu.errors import BudgetError, ConfigError

RAW = random_raw("dense", 60, seed=5)


def condensed(backend, limit, *, given=RAW, **options):
    graph = build(backend, given)
    full = make_budget(backend, graph, 1.0, HeraldConfig()).full_bytes
    budget = Budget(graph.kind, full, limit, limit / full)
    return select(backend, graph, budget, seed=0, options=ClusterOptions(**options))


def propagated(backend, given=RAW, hops=2):
    graph = build(backend, given)
    loops = host(backend, graph.adjacency).astype(np.float64) + np.eye(given.n)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    return np.linalg.matrix_power(root @ loops @ root, hops) @ given.x.astype(np.float64)


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_one_node_a_class_is_the_mean_of_the_class(backend, hops):
    small = condensed(backend, 3 * 56 + 10, links="none", hops=hops)  # 14 floats a node
    rows, y, train = propagated(backend, hops=hops), np.array(RAW.y), np.array(RAW.train)
    expected = [rows[train & (y == code)].mean(axis=0) for code in range(3)]
    np.testing.assert_allclose(host(backend, small.features), expected, rtol=1e-5, atol=1e-6)
    assert host(backend, small.labels).tolist() == [0, 1, 2]
    assert small.storage_bytes == 3 * 56


def test_features_are_means_of_the_clusters_of_each_class(backend):
    rows, y, train = propagated(backend), np.array(RAW.y), np.array(RAW.train)
    nodes = np.flatnonzero(train)
    given = backend.asarray(rows[nodes]), backend.asarray(y[nodes].astype(np.int32))
    means, codes, sizes = class_means(backend, *given, np.array([2, 3, 1]), seed=4)
    assert codes.tolist() == [0, 0, 1, 1, 1, 2]
    rng, at = np.random.default_rng(4), 0
    for code, k in enumerate((2, 3, 1)):
        mine = rows[nodes][y[nodes] == code]
        own = host(backend, kmeans(backend, backend.asarray(mine), k, rng=rng))
        for cluster in range(k):
            np.testing.assert_allclose(means[at], mine[own == cluster].mean(axis=0), atol=1e-12)
            assert sizes[at] == (own == cluster).sum()
            at += 1


def test_alike_nodes_are_joined_and_features_solved_for(backend):
    """With room for everything each training node is its own cluster, so that H is known."""
    small = condensed(backend, 100_000, threshold=0.6, smoothness=0.5)
    y, train = np.array(RAW.y), np.array(RAW.train)
    h = np.concatenate([propagated(backend)[train & (y == code)] for code in range(3)])
    unit = h / np.linalg.norm(h, axis=1, keepdims=True)
    a = ((unit @ unit.T > 0.6) & ~np.eye(len(h), dtype=bool)).astype(np.float64)
    np.testing.assert_array_equal(host(backend, small.adjacency), a)
    loops, degree = a + np.eye(len(a)), a.sum(axis=1)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    step = np.linalg.matrix_power(root @ loops @ root, 2)
    inner = np.where(degree > 0, np.maximum(degree, 1) ** -0.5, 0)
    laplacian = np.diag((degree > 0) * 1.0) - inner[:, None] * a * inner
    x = host(backend, small.features)
    # The gradient of |S^2 X - H|^2 + 0.5 tr(X' L X) vanishes.
    np.testing.assert_allclose(step @ (step @ x - h) + 0.5 * laplacian @ x, 0, atol=1e-5)


def test_edges_have_a_share_where_they_do_not_fit(backend):
    """All pairs are alike: nodes leave a fifth of 1000 bytes to edges, the rest of it too."""
    small = condensed(backend, 1000, threshold=-1.0, edge_share=0.2)
    assert host(backend, small.features).shape[0] == 800 // 56
    assert small.adjacency.nnz == 2 * ((1000 - 14 * 56) // 8)


@pytest.mark.parametrize("limit", [200, 333, 560, 1500])
@pytest.mark.parametrize("options", [{}, {"threshold": -1.0}, {"links": "none"}, {"top": 3}, {"edge_share": 0.5}])
def test_storage_is_what_the_parts_take(backend, limit, options):
    small = condensed(backend, limit, **options)
    x, edges = host(backend, small.features), int(small.adjacency.nnz)
    stored = min(4 * x.size, 6 * np.count_nonzero(x)) if "top" in options else 4 * x.size
    assert small.storage_bytes == stored + 4 * edges
    assert small.storage_bytes <= limit
    assert host(backend, small.train).all()
    assert small.nodes is None


def test_top_entries_let_more_nodes_in(backend):
    few, many = condensed(backend, 560, links="none"), condensed(backend, 560, links="none", top=4)
    assert host(backend, few.features).shape[0] == 10
    assert host(backend, many.features).shape[0] > 20
    assert (np.count_nonzero(host(backend, many.features), axis=1) <= 4).all()


def test_one_a_class_must_fit(backend):
    with pytest.raises(BudgetError, match="one synthetic node of each of the 3 classes"):
        condensed(backend, 167)


@pytest.mark.parametrize(
    "wrong", [{"hops": -1}, {"links": "induced"}, {"threshold": 2}, {"smoothness": 0}, {"top": 0}, {"edge_share": -0.1}]
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        ClusterOptions(**wrong)
