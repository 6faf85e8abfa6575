"""Stage 6: pruning by personalised PageRank."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu.budget import Budget, Prices
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.expansion import Expansion
from herald_gpu.stages.pruning import central_to_roots, prune

PAPER = HeraldConfig.paper()
TO_THE_END = replace(PAPER, ppr_tol=1e-15, ppr_max_iter=1000)


def mask(backend, nodes, n):
    flags = np.zeros(n, dtype=bool)
    flags[list(nodes)] = True
    return backend.asarray(flags)


def pruned(backend, given, members, roots, ranking, price, *, target, limit, config=PAPER, stored=False):
    expansion = Expansion(mask(backend, members, given.n), mask(backend, roots, given.n), 2, target)
    found = prune(
        backend,
        build(backend, given, stored=stored).adjacency,
        expansion,
        backend.asarray(np.array(ranking, dtype=np.int64)),
        Prices(backend.asarray(np.array(price, dtype=np.float64)), 4.0, 8.0),
        Budget("sparse", 10_000, limit),
        config,
    )
    nodes = host(backend, found.nodes).tolist()
    assert nodes == sorted(nodes)
    assert found.removed == len(members) - len(nodes)
    return set(nodes)


def centrality(backend, given, roots, config=PAPER, *, stored=False):
    adjacency = build(backend, given, stored=stored).adjacency
    return host(backend, central_to_roots(backend, adjacency, mask(backend, roots, given.n), config))


# PageRank


def test_two_nodes_by_hand(backend):
    # One root, one neighbour: a = 0.15 + 0.85 b, b = 0.85 a.
    found = centrality(backend, raw([(0, 1)], np.eye(2), [0, 1]), {0}, TO_THE_END)
    root = 0.15 / (1 - 0.85**2)
    assert found.tolist() == pytest.approx([root, 0.85 * root], abs=1e-12)


def test_a_star_by_hand(backend, tiny):
    # Hub h, four leaves, all five are roots: l = 0.03 + 0.85 h / 4, h + 4 l = 1.
    found = host(
        backend,
        central_to_roots(backend, tiny["star"].adjacency, mask(backend, range(5), 5), TO_THE_END),
    )
    hub = (1 - 4 * 0.03) / 1.85
    assert found.tolist() == pytest.approx([hub] + [(1 - hub) / 4] * 4, abs=1e-12)


def test_one_step_starts_uniform(backend):
    # From 1/3 each on a path: ends get 0.85 * 1/6, the middle 0.85 * 2/3; the root 0 gets 0.15 more.
    given = raw([(0, 1), (1, 2)], np.eye(3), [0, 1, 0])
    found = centrality(backend, given, {0}, replace(PAPER, ppr_max_iter=1))
    assert found.tolist() == pytest.approx([0.15 + 0.85 / 6, 0.85 * 2 / 3, 0.85 / 6], abs=1e-15)


def test_isolated_nodes_stay_out(backend):
    given = raw([(0, 1)], np.eye(4), [0, 1, 0, 1])
    found = centrality(backend, given, {0, 2, 3})
    assert found[2:].tolist() == [0, 0]
    assert found[:2].sum() == pytest.approx(1)
    alone = centrality(backend, raw([(0, 1)], np.eye(2), [0, 1]), {0})
    assert found[:2].tolist() == alone.tolist()


def test_nothing_to_iterate_on(backend):
    assert centrality(backend, raw([], np.eye(2), [0, 1]), {0, 1}).tolist() == [0, 0]
    assert centrality(backend, raw([(0, 1)], np.eye(2), [0, 1]), set()).tolist() == [0, 0]


def test_stored_edges_are_walked_both_ways(backend):
    # A + A^T: 0 -> 1 twice and 1 -> 2 once weigh 2 and 1; the self loop of 2 weighs 2.
    given = raw([(0, 1), (0, 1), (1, 2), (2, 2)], np.eye(3), [0, 1, 0])
    weights = {0: {1: 2.0}, 1: {0: 2.0, 2: 1.0}, 2: {1: 1.0, 2: 2.0}}
    expected = reference.pagerank(weights, {0})
    found = centrality(backend, given, {0}, stored=True)
    assert found.tolist() == pytest.approx([expected[v] for v in range(3)], abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_pagerank_against_the_reference(backend, seed):
    given = random_raw("binary", 60, seed)
    around = reference.neighbours(given)
    roots = set(np.random.default_rng(seed).choice(given.n, 15, replace=False).tolist())
    expected = reference.pagerank({v: dict.fromkeys(near, 2.0) for v, near in enumerate(around)}, roots)
    found = centrality(backend, given, roots)
    assert found.tolist() == pytest.approx([expected.get(v, 0.0) for v in range(given.n)], abs=1e-12)


# Removal

STAR = raw([(0, leaf) for leaf in range(1, 6)], np.eye(6), [0, 1, 0, 1, 0, 1])


def test_ties_lose_the_higher_id(backend):
    # All leaves but root 1 are alike.
    found = pruned(backend, STAR, range(6), {0, 1}, [0, 1], [1.0] * 6, target=4, limit=1000)
    assert found == {0, 1, 2, 3}


def test_pruning_stops_at_the_target_or_with_the_last_non_root(backend):
    for target, size in ((6, 6), (9, 6), (5, 5), (3, 3), (1, 2), (0, 2)):
        assert len(pruned(backend, STAR, range(6), {0, 1}, [0, 1], [1.0] * 6, target=target, limit=1000)) == size


def test_pruning_goes_on_while_the_budget_is_exceeded(backend):
    # Hub 10, leaves 10 each with an edge of 8: 6 nodes take 100, each leaf less saves 18.
    price = [10.0] * 6
    for limit, left in ((100, 6), (99, 5), (81, 4), (28, 2), (27, 1), (9, 0)):
        found = pruned(backend, STAR, range(6), {0, 1}, [0, 1], price, target=6, limit=limit)
        assert len(found) == left


def test_roots_go_last_from_the_back_of_the_ranking(backend):
    given = raw([(0, 1), (2, 3)], np.eye(5), [0, 1, 0, 1, 0])
    price = [10.0] * 5
    # Non-roots 1 and 3 first (no centrality difference: the higher id first), then roots 4, 0, 2 by rank.
    ranking = [2, 0, 4, 3, 1]
    expected = [({0, 2, 4}, 30), ({0, 2}, 29), ({2}, 19), (set(), 9)]
    for left, limit in expected:
        assert pruned(backend, given, range(5), {0, 2, 4}, ranking, price, target=5, limit=limit) == left


def test_the_least_central_goes_first(backend):
    # Root 0 - 1 - 2 - 3: the end is reached least.
    given = raw([(0, 1), (1, 2), (2, 3)], np.eye(4), [0, 1, 0, 1])
    assert pruned(backend, given, range(4), {0}, [0], [1.0] * 4, target=3, limit=1000) == {0, 1, 2}


def test_an_empty_graph_stays_empty(backend):
    assert pruned(backend, STAR, (), {0}, [0], [1.0] * 6, target=0, limit=10) == set()


def test_only_the_subgraph_counts(backend):
    # Node 5 is no member: without it the leaf 4 hangs on the hub alone like the others.
    given = replace(STAR, edges=(*STAR.edges, (4, 5)))
    assert pruned(backend, given, range(5), {0}, [0], [1.0] * 6, target=4, limit=1000) == {0, 1, 2, 3}


@pytest.mark.parametrize("seed", range(8))
def test_against_the_reference(backend, seed):
    given = random_raw("counts", 60, seed)
    around, rng = reference.neighbours(given), np.random.default_rng(seed)
    price = (2.0 * rng.integers(0, 12, size=given.n)).tolist()
    ranking = rng.permutation(np.flatnonzero(given.train)).tolist()
    wide, _ = reference.expand(around, ranking, price, 900.0, depth=2, patience=3)
    for target, limit in ((0, 1000), (15, 1000), (25, 600), (40, 300), (10, 40), (0, 0)):
        expected = reference.prune(around, wide.members, wide.considered, ranking, price, target, limit)
        found = pruned(backend, given, wide.members, wide.considered, ranking, price, target=target, limit=limit)
        assert found == expected


def test_published_pruning_knows_no_budget_and_keeps_at_least_one(backend):
    published = HeraldConfig.published("citation")
    for target, size in ((4, 4), (0, 2)):
        found = pruned(
            backend, STAR, range(6), {0, 1}, [0, 1], [10.0] * 6, target=target, limit=0, config=published, stored=True
        )
        assert len(found) == size
    rootless = pruned(backend, STAR, {1, 2}, {0}, [0], [1.0] * 6, target=0, limit=0, config=published, stored=True)
    assert rootless == {1}
