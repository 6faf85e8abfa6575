"""All stages in order: against the plain reference, inside the budget, the same every time."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st
from support import reference
from support.graphs import Raw, build, edge_set, host, random_raw, raw

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.errors import BudgetError
from herald_gpu.pipeline import STAGES, Clock, run

PAPER = HeraldConfig.paper()
CPU = CpuBackend()
KINDS = ("binary", "counts", "dense")


def condensed(backend, given, ratio, config=PAPER, seed=0):
    return run(backend, build(backend, given), ratio, config, seed=seed, clock=Clock(backend))


# Against the reference


@pytest.mark.parametrize("default", [False, True], ids=["paper", "default"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [0.12, 0.35, 0.7])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_whole_method_against_the_reference(backend, kind, ratio, seed, default):
    given = random_raw(kind, 55, seed)
    config = HeraldConfig(feature_count=6) if default else HeraldConfig.paper(feature_count=6)
    expected = reference.condense(given, ratio, 6, default=default)
    found = condensed(backend, given, ratio, config)
    assert host(backend, found.feature_indices).tolist() == expected.features
    np.testing.assert_allclose(host(backend, found.scores.score), expected.scores, atol=1e-9)
    assert host(backend, found.scores.ranking).tolist() == expected.ranking
    assert (found.expansion.depth, found.expansion.target_size) == (expected.depth, expected.target)
    nodes = host(backend, found.nodes).tolist()
    assert nodes == sorted(expected.members)
    assert {v for v, flag in zip(nodes, host(backend, found.is_root), strict=True) if flag} == expected.roots
    assert found.sizes.storage_bytes == expected.bytes <= found.sizes.budget_bytes == expected.limit


# What always holds


def check_result(given: Raw, ratio: float, found, backend=CPU) -> None:
    """Check the promises of the result against the graph that went in."""
    around, nodes = reference.neighbours(given), host(backend, found.nodes).tolist()
    columns, train = host(backend, found.feature_indices).tolist(), [given.train[v] for v in nodes]
    kind = reference.cheapest_kind(given.x)
    full = sum(reference.node_prices(kind, given.x)) + 4 * reference.n_directed(around)
    spent = reference.cost(around, reference.node_prices(kind, given.x[:, columns]), nodes)
    assert found.sizes.storage_bytes == spent
    assert found.sizes.full_bytes == full
    assert spent <= ratio * full
    assert spent / full <= ratio
    assert nodes == sorted(set(nodes))
    assert columns == sorted(set(columns))
    place = {v: i for i, v in enumerate(nodes)}
    induced = {(place[u], place[v]) for u in nodes for v in around[u] if v in place}
    assert edge_set(backend, found.adjacency) == induced
    np.testing.assert_array_equal(host(backend, found.features), given.x[np.ix_(nodes, columns)])
    assert host(backend, found.labels).tolist() == [given.y[v] if given.train[v] else -1 for v in nodes]
    assert host(backend, found.train_mask).tolist() == train
    counts = Counter(given.y[v] for v in nodes if given.train[v])
    assert found.missing == tuple(code for code in range(given.n_classes) if code not in counts)
    assert found.statistics.class_counts == tuple(counts[code] for code in range(given.n_classes))
    for flag, v in zip(host(backend, found.is_root), nodes, strict=True):
        assert given.train[v] or not flag


VARIANTS = (
    PAPER,
    HeraldConfig(),
    replace(PAPER, trim_roots=True),
    replace(PAPER, depth=0),
    replace(PAPER, expansion_factor=5.0, patience=0),
    replace(PAPER, feature_ranking="tree", node_ranking="random"),
    replace(PAPER, feature_count=3),
)


@settings(deadline=None, max_examples=60)
@hypothesis_given(
    kind=st.sampled_from(KINDS),
    n=st.integers(8, 60),
    seed=st.integers(0, 10_000),
    ratio=st.floats(0.005, 1.0),
    config=st.sampled_from(VARIANTS),
)
def test_the_budget_holds(kind, n, seed, ratio, config):
    given = random_raw(kind, n, seed)
    assume(given.edges)
    try:
        found = condensed(CPU, given, ratio, config, seed)
    except BudgetError as error:
        asked, ratio = ratio, error.smallest_ratio
        found = condensed(CPU, given, ratio, config, seed)
        assert asked < ratio
    check_result(given, ratio, found)
    assert found.missing == ()


@pytest.mark.parametrize("kind", KINDS)
def test_promises_on_every_backend(backend, kind):
    given = random_raw(kind, 60, seed=21)
    for ratio in (0.15, 0.5, 1.0):
        found = condensed(backend, given, ratio)
        check_result(given, ratio, found, backend)


@pytest.mark.parametrize("kind", KINDS)
def test_best_effort_keeps_the_budget_and_names_what_is_missing(backend, kind):
    given = random_raw(kind, 60, seed=22)
    given.x[:, 0] = 1.0  # every node costs something
    storage = reference.cheapest_kind(given.x)
    price = reference.node_prices(storage, given.x)
    full = sum(price) + 4 * reference.n_directed(reference.neighbours(given))
    least = sum(price[v] for v in reference.cheapest(given, price).values())  # without any edge among them
    config = replace(PAPER, feature_count=99)
    for ratio in ((least - 1) / full, (min(price) + 1) / full):
        with pytest.raises(BudgetError):
            condensed(backend, given, ratio, config)
        found = condensed(backend, given, ratio, replace(config, on_infeasible="best_effort"))
        check_result(given, ratio, found, backend)
        assert found.missing
        assert found.nodes.shape[0] >= 1


def test_the_smallest_feasible_ratio_holds_one_node_of_every_class(backend):
    given = random_raw("counts", 60, seed=23)
    given.x[:, 0] = 1.0
    with pytest.raises(BudgetError) as error:
        condensed(backend, given, 1e-4)
    found = condensed(backend, given, error.value.smallest_ratio)
    check_result(given, error.value.smallest_ratio, found, backend)
    assert found.missing == ()


def test_a_budget_of_nothing_where_nothing_is_needed(backend):
    """Training nodes without features and edges take no storage: one of each class fits in zero bytes."""
    x = np.zeros((6, 2))
    x[4:] = 1
    given = raw([(2, 4), (3, 5), (4, 5)], x, [0, 1, 0, 1, 0, 1], [True, True, True, True, False, False])
    found = condensed(backend, given, 1e-6)
    check_result(given, 1e-6, found, backend)
    assert found.sizes.storage_bytes == found.sizes.budget_bytes == 0
    assert found.missing == ()


@pytest.mark.parametrize("config", [PAPER, HeraldConfig()], ids=["paper", "default"])
def test_only_training_labels_matter(backend, config):
    given = random_raw("counts", 60, seed=24)
    other = replace(
        given, y=tuple(code if known else 2 - code for code, known in zip(given.y, given.train, strict=True))
    )
    one, two = (condensed(backend, which, 0.3, config) for which in (given, other))
    assert host(backend, one.nodes).tolist() == host(backend, two.nodes).tolist()
    assert host(backend, one.scores.score).tolist() == host(backend, two.scores.score).tolist()
    assert host(backend, one.labels).tolist() == host(backend, two.labels).tolist()


def test_the_same_twice(backend):
    given = random_raw("dense", 60, seed=25)
    one, two = (condensed(backend, given, 0.3) for _ in range(2))
    for name in ("nodes", "features", "feature_indices", "is_root"):
        np.testing.assert_array_equal(host(backend, getattr(one, name)), host(backend, getattr(two, name)))


def test_the_seed_matters_only_where_something_is_drawn(backend):
    given = random_raw("counts", 60, seed=26)
    for config, alike in ((PAPER, True), (replace(PAPER, node_ranking="random"), False)):
        one, two = (host(backend, condensed(backend, given, 0.2, config, seed).nodes).tolist() for seed in (0, 1))
        assert (one == two) == alike


def test_the_whole_graph_at_ratio_one(backend):
    # With all features kept and every node a training node, everything fits and no one is pruned.
    given = random_raw("counts", 40, seed=27)
    given = replace(given, train=(True,) * 40)
    found = condensed(backend, given, 1.0, replace(PAPER, feature_count=99))
    assert found.nodes.shape[0] == 40
    assert found.sizes.storage_bytes == found.sizes.full_bytes


@pytest.mark.parametrize("given", [raw([(0, 1)], [[1, 0], [0, 1]], [0, 1]), raw([(0, 1)], [[1.0], [1.0]], [0, 0])])
def test_two_nodes(backend, given):
    found = condensed(backend, given, 1.0)
    check_result(given, 1.0, found, backend)
    assert found.nodes.shape[0] == 2


# The clock


class Bar:
    """As much of a progress bar as the clock needs."""

    def __init__(self):
        self.told, self.updates = [], 0

    def set_description(self, text):
        self.told.append(text)

    def update(self):
        self.updates += 1


def test_every_stage_is_timed_logged_and_told(backend, caplog):
    bar = Bar()
    clock = Clock(backend, bar)
    with caplog.at_level(logging.DEBUG, logger="herald_gpu"):
        run(backend, build(backend, random_raw("counts", 40, seed=1)), 0.5, PAPER, seed=0, clock=clock)
    assert tuple(clock.seconds) == STAGES
    assert all(seconds >= 0 for seconds in clock.seconds.values())
    assert bar.told == list(STAGES)
    assert bar.updates == len(STAGES)
    assert [record for record in caplog.records if "expansion" in record.getMessage()]


def test_a_clock_starts_a_run(monkeypatch):
    started = []

    def start(self):
        started.append(self)

    monkeypatch.setattr(CpuBackend, "start_run", start)
    clock = Clock(CpuBackend())
    assert started == [clock.backend]


# Published


@pytest.mark.parametrize("kind", ["citation", "pubmed", "scaled"])
def test_published_result(backend, kind):
    given = random_raw("counts", 60, seed=28)
    graph = build(backend, given, stored=True, all_labels=True)
    found = run(backend, graph, 0.05, HeraldConfig.published(kind), seed=0, clock=Clock(backend))
    edges = edge_set(backend, found.adjacency)
    assert edges == {(b, a) for a, b in edges}
    nodes = host(backend, found.nodes).tolist()
    place = {v: i for i, v in enumerate(nodes)}
    stored = {(place[a], place[b]) for a, b in given.edges if a in place and b in place}
    assert edges == stored | {(b, a) for a, b in stored}
    train = np.array([given.train[v] for v in nodes])
    np.testing.assert_array_equal(host(backend, found.train_mask), train & host(backend, found.is_root))
    labels = [given.y[v] if given.train[v] else -1 for v in nodes]
    assert host(backend, found.labels).tolist() == labels
    dense = len(nodes) * found.feature_indices.shape[0] * 2 + 2 * len(edges)
    whole = 60 * 14 * 2 + 2 * len(given.edges)
    assert found.sizes.published_ratio == pytest.approx(dense / whole)
    assert any("does not keep the budget" in note for note in found.warnings)
    assert (found.scaling is not None) == (kind == "scaled")
