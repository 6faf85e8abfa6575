"""The one definition of size: the formula, what adding costs, feasibility, and removal until it fits."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st
from support import reference
from support.graphs import Raw, build, host, random_raw, raw

from herald_gpu import ops
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.budget import (
    Budget,
    Prices,
    cheapest_nodes,
    graph_bytes,
    induced_bytes,
    keep_within,
    make_budget,
    make_prices,
    matrix_bytes,
    settle_prices,
)
from herald_gpu.config import HeraldConfig
from herald_gpu.encoding import OF_KIND
from herald_gpu.errors import BudgetError, ConfigError

PAPER = HeraldConfig.paper()
KINDS = ("binary", "counts", "dense")

TABLE = {
    ("Roman-empire", 22662, 65854, 300, 300): [
        (15110, 21735, 66.67),
        (19512, 32762, 86.23),
        (21548, 35238, 95.20),
        (18697, 26140, 82.47),
        (22559, 32734, 99.54),
    ],
    ("Amazon-ratings", 24492, 186100, 300, 300): [
        (11484, 37428, 46.72),
        (16174, 58828, 65.97),
        (20618, 80568, 84.24),
        (24385, 96944, 99.68),
        (12110, 41822, 49.33),
        (19132, 67092, 77.97),
        (24221, 91794, 98.89),
        (24492, 93050, 100.00),
    ],
    ("Squirrel", 5201, 217073, 2089, 432): [
        (2230, 42153, 9.45),
        (2911, 114386, 13.41),
        (3592, 129452, 16.34),
        (3820, 130775, 17.25),
        (2199, 37892, 9.26),
        (3643, 129755, 16.54),
        (3868, 131455, 17.45),
    ],
}
ROWS = [(graph, row) for graph, rows in TABLE.items() for row in rows]


# The formula


@pytest.mark.parametrize(("graph", "row"), ROWS, ids=[f"{graph[0]}-{row[0]}" for graph, row in ROWS])
def test_storage_ratios_of_the_paper(graph, row):
    _, n, edges, n_features, kept = graph
    nodes, undirected, percent = row
    ratio = graph_bytes("dense", nodes * kept, 2 * undirected) / graph_bytes("dense", n * n_features, edges)
    assert f"{100 * ratio:.2f}" == f"{percent:.2f}"


def test_the_table_is_complete():
    assert len(ROWS) == 20


@pytest.mark.parametrize(("kind", "expected"), [("dense", 2 * 2 * 10), ("binary", 2 * 10), ("sparse", 2 * 3 * 10)])
def test_bytes_by_hand(kind, expected):
    assert graph_bytes(kind, 10, 0) == expected
    assert graph_bytes(kind, 10, 6) == expected + 24


def test_the_unit_stays_two_bytes_on_large_graphs():
    assert graph_bytes("binary", 1_000_000, 10_000_000) == 2_000_000 + 40_000_000


@pytest.mark.parametrize(("kind", "n_bytes"), [("dense", 4 * 9), ("binary", 2 * 4), ("sparse", 6 * 4)])
def test_a_matrix_is_priced_by_kind_not_by_container(backend, kind, n_bytes):
    given = raw([], [[1, 0, 1], [0, 0, 0], [0, 1, 1]], [0, 1, 0])
    for features in (build(backend, given).features, backend.asarray(given.x)):
        assert matrix_bytes(backend, OF_KIND[kind], features, 0) == n_bytes
        assert matrix_bytes(backend, OF_KIND[kind], features, 10) == n_bytes + 40


# The budget


@pytest.mark.parametrize(
    ("name", "kind", "full"), [("path", "binary", 2 * 6 + 4 * 8), ("star", "binary", 2 * 3 + 4 * 8)]
)
def test_budget_by_hand(backend, tiny, name, kind, full):
    budget = make_budget(backend, tiny[name], 0.5, PAPER)
    assert budget == Budget(kind, full, full // 2)


@pytest.mark.parametrize(("storage", "full"), [("dense", 4 * 18), ("sparse", 6 * 8), ("auto", 6 * 8)])
def test_storage_overrides_the_kind(backend, tiny, storage, full):
    budget = make_budget(backend, tiny["triangles"], 1.0, replace(PAPER, storage=storage))
    assert budget.full_bytes == budget.limit == full + 4 * 12


def test_binary_storage_of_other_values_is_refused(backend, tiny):
    with pytest.raises(ConfigError, match="storage='binary'"):
        make_budget(backend, tiny["triangles"], 1.0, replace(PAPER, storage="binary"))


@pytest.mark.parametrize("kind", KINDS)
def test_dense_and_sparse_containers_give_the_same_budget(backend, kind):
    given = random_raw(kind, 40, seed=1)
    around = reference.neighbours(given)
    expected = sum(reference.node_prices(reference.cheapest_kind(given.x), given.x))
    assert make_budget(backend, build(backend, given), 1.0, PAPER).limit == expected + 4 * reference.n_directed(around)


@settings(deadline=None)
@hypothesis_given(st.floats(1e-9, 1.0))
def test_the_limit_is_the_largest_share_within_the_ratio(ratio):
    backend = CpuBackend()
    budget = make_budget(backend, build(backend, random_raw("counts", 30, seed=0)), ratio, PAPER)
    assert budget.limit == reference.largest_limit(ratio, int(budget.full_bytes))


def test_ratios_a_hair_below_whole_bytes():
    """The product of ratio and size may round up to a whole byte that the ratio does not allow."""
    graph = build(CpuBackend(), random_raw("counts", 30, seed=0))
    full = int(make_budget(CpuBackend(), graph, 1.0, PAPER).full_bytes)
    for size in range(1, full + 1):
        exact = size / full
        for ratio in (math.nextafter(exact, 0), exact, math.nextafter(exact, 1)):
            limit = make_budget(CpuBackend(), graph, ratio, PAPER).limit
            assert limit / full <= ratio
            assert (limit + 1) / full > ratio or int(ratio * full) == limit


@pytest.mark.parametrize(("kind", "units"), [("citation", 1), ("pubmed", 2), ("scaled", 2)])
def test_published_budget(backend, kind, units):
    given = raw([(0, 1), (0, 1), (1, 1)], [[2, 0], [0, 0], [1, 1]], [0, 1, 0])
    budget = make_budget(backend, build(backend, given, stored=True), 0.5, HeraldConfig.published(kind))
    assert budget.full_bytes == 2 * (units * 3 * 2 + 2 * 3)
    assert budget.limit == budget.full_bytes / 2


# Prices


@pytest.mark.parametrize(("kind", "expected"), [("dense", [8, 8, 8]), ("binary", [4, 0, 2]), ("sparse", [12, 0, 6])])
def test_prices_by_hand(backend, kind, expected):
    for features in (backend.asarray(np.array([[1, 1], [0, 0], [0, 1]], dtype=np.float32)),):
        for kept in (features, ops.to_csr(backend, features)):
            prices = make_prices(backend, kept, Budget(kind, 100, 10), PAPER)
            assert host(backend, prices.node).tolist() == expected
            assert (prices.edge, prices.edge_to_member) == (4.0, 8.0)


@pytest.mark.parametrize(("kind", "expected"), [("citation", [-2, 8]), ("scaled", [-2, 8]), ("pubmed", [12, 6])])
def test_published_prices(backend, kind, expected):
    kept = backend.asarray(np.array([[2, -3], [0, 4]], dtype=np.float32))
    prices = make_prices(backend, kept, Budget("dense", 100, 10), HeraldConfig.published(kind))
    assert host(backend, prices.node).tolist() == expected
    assert (prices.edge, prices.edge_to_member) == (2.0, 2.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_incremental_cost_is_the_cost_from_scratch(backend, kind, seed):
    given = random_raw(kind, 50, seed)
    graph, around = build(backend, given), reference.neighbours(given)
    budget = make_budget(backend, graph, 1.0, PAPER)
    prices = make_prices(backend, graph.features, budget, PAPER)
    host_prices = reference.node_prices(budget.kind, given.x)
    assert host(backend, prices.node).tolist() == host_prices
    member, spent, members = None, 0.0, set()
    for root in np.random.default_rng(seed).permutation(50):
        roots = backend.asarray(np.array([root]))
        growth = backend.grow(
            graph.adjacency, roots, prices, limit=1e9, depth=root % 3, patience=0, member=member, spent=spent
        )
        member, spent = growth.member, growth.spent
        members |= reference.within_hops(around, int(root), int(root % 3))
        nodes = backend.xp.flatnonzero(member)
        assert set(host(backend, nodes).tolist()) == members
        assert spent == induced_bytes(prices, graph.adjacency, nodes)
        assert spent == reference.cost(around, host_prices, members)
    assert spent == budget.full_bytes


# Feasibility


def test_cheapest_nodes(backend):
    given = raw([], np.ones((6, 1)), [0, 0, 1, 1, 1, 0], [True, True, True, True, True, False])
    prices = Prices(backend.asarray(np.array([5.0, 4, 9, 7, 7, 1])), 4.0, 8.0)
    assert host(backend, cheapest_nodes(backend, build(backend, given), prices)).tolist() == [1, 3]


def feasibility(backend, given, ratio, config=PAPER):
    graph = build(backend, given)
    budget = make_budget(backend, graph, ratio, config)
    return settle_prices(backend, graph, graph.features, budget, config).feasible


def test_smallest_ratio_by_hand(backend, tiny):
    # Star: node 3 (class 0) and node 4 (class 1) have no features and no edge between them: nothing to store.
    graph = tiny["star"]
    budget = make_budget(backend, graph, 1e-9, PAPER)
    assert budget.limit == 0
    assert settle_prices(backend, graph, graph.features, budget, PAPER).feasible
    # Path: nodes 0 and 2, two bytes each, no edge; 4 of 44 bytes.
    path = tiny["path"]
    budget = make_budget(backend, path, 0.01, PAPER)
    with pytest.raises(BudgetError, match="cheapest training node of each of the 2 classes takes 4") as error:
        settle_prices(backend, path, path.features, budget, PAPER)
    assert error.value.smallest_ratio == pytest.approx(4 / 44)
    assert "the smallest feasible ratio is 0.091; pass that or more" in str(error.value)


def test_edges_among_the_cheapest_count(backend):
    given = raw([(0, 1)], [[1, 1], [1, 1], [0, 1]], [0, 1, 1], [True, True, False])
    # Both training nodes are joined: 4 + 4 + 8 of 18 bytes.
    with pytest.raises(BudgetError) as error:
        feasibility(backend, given, 0.5)
    assert error.value.smallest_ratio == pytest.approx(16 / 18)


@pytest.mark.parametrize("config", [PAPER, replace(PAPER, encoding="auto")], ids=["graph", "auto"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(15))
def test_the_smallest_ratio_is_feasible_and_the_next_smaller_is_not(kind, seed, config):
    backend, given = CpuBackend(), random_raw(kind, 25 + seed, seed)
    given = replace(
        given, x=given.x + np.float32(0.5) if kind == "dense" else np.maximum(given.x, np.eye(*given.x.shape))
    )
    given = Raw(given.edges, given.x.astype(np.float32), given.y, given.train)
    given.x[:, 0] = 1.0  # no row is empty, so that every class costs something
    with pytest.raises(BudgetError) as error:
        feasibility(backend, given, 1e-6, config)
    smallest = error.value.smallest_ratio
    assert feasibility(backend, given, smallest, config)
    told = re.search(r"the smallest feasible ratio is ([\d.e-]+);", str(error.value))[1]
    assert feasibility(backend, given, float(told), config)
    with pytest.raises(BudgetError) as again:
        feasibility(backend, given, math.nextafter(smallest, 0), config)
    assert again.value.smallest_ratio == smallest


def test_best_effort_goes_on_as_long_as_anything_fits(backend, tiny):
    config = replace(PAPER, on_infeasible="best_effort")
    path = tiny["path"]
    budget = make_budget(backend, path, 0.05, config)  # 2 of 44 bytes: one node
    assert settle_prices(backend, path, path.features, budget, config).feasible is False
    nothing = replace(budget, limit=1)
    with pytest.raises(BudgetError):
        settle_prices(backend, path, path.features, nothing, config)


# Removal until it fits


@pytest.mark.parametrize("seed", range(10))
def test_keep_within_removes_one_by_one(backend, seed):
    given = random_raw("counts", 40, seed)
    graph, around, rng = build(backend, given), reference.neighbours(given), np.random.default_rng(seed)
    price = (2.0 * rng.integers(0, 10, size=40)).tolist()
    prices = Prices(backend.asarray(np.array(price)), 4.0, 8.0)
    nodes = np.sort(rng.choice(40, 25, replace=False))
    order = rng.permutation(25)[: rng.integers(10, 26)]  # the others must stay
    position = np.full(25, 25)
    position[order] = np.arange(len(order))
    whole = reference.cost(around, price, nodes.tolist())
    for share in (1.0, 0.9, 0.5, 0.2, 0.0):
        for start in (0, 3):
            left, waiting = set(nodes.tolist()), nodes[order].tolist()
            for _ in range(start):
                left.remove(waiting.pop(0))
            while waiting and reference.cost(around, price, left) > share * whole:
                left.remove(waiting.pop(0))
            kept = keep_within(
                backend,
                ops.induced(graph.adjacency, backend.asarray(nodes)),
                backend.asarray(nodes),
                backend.asarray(position),
                prices,
                limit=share * whole,
                start=start,
            )
            assert host(backend, kept).tolist() == sorted(left)
