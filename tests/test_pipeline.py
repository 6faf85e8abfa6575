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
from outcomes import packed_bytes, sign_bytes
from support import reference
from support.graphs import Raw, build, edge_set, host, random_raw, raw

from herald_gpu import pipeline, search
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.errors import BudgetError
from herald_gpu.pipeline import STAGES, Clock, run
from herald_gpu.stages.features import score_features

PAPER = HeraldConfig.paper()
DEFAULT = HeraldConfig()
REAL = HeraldConfig(landmarks=False, edges="real")
PRESETS = pytest.mark.parametrize("config", [PAPER, DEFAULT], ids=["paper", "default"])
CPU = CpuBackend()
KINDS = ("binary", "counts", "dense")
CHAINS = raw(
    [(v, v + 1) for v in range(0, 39, 2)],
    np.random.default_rng(2).random((40, 12)) + np.repeat(np.eye(2, 12), 20, axis=0),
    [0] * 20 + [1] * 20,
    [v % 2 == 0 or v % 4 == 1 for v in range(40)],
)
"""Pairs of nodes, every pair of one class: exemplars are seldom joined."""


def condensed(backend, given, ratio, config=PAPER, seed=0):
    return run(backend, build(backend, given), ratio, config, seed=seed, clock=Clock(backend))


# Against the reference


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [0.12, 0.35, 0.7])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_whole_method_against_the_reference(backend, kind, ratio, seed):
    given = random_raw(kind, 55, seed)
    expected = reference.condense(given, ratio, 6)
    found = condensed(backend, given, ratio, HeraldConfig.paper(feature_count=6))
    assert host(backend, found.feature_indices).tolist() == expected.features
    np.testing.assert_allclose(host(backend, found.scores.score), expected.scores, atol=1e-9)
    assert host(backend, found.scores.ranking).tolist() == expected.ranking
    expansion = found.picked.expansion
    assert (expansion.depth, expansion.target_size) == (expected.depth, expected.target)
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
    made = [] if found.picked.landmarks is None else 2 * list(range(given.n_classes))
    rows = given.x[np.ix_(nodes, columns)]
    spent = packed_bytes(found.sizes.encoding.name, rows, found.adjacency.nnz) + sign_bytes(len(made), len(columns))
    assert found.sizes.storage_bytes == spent
    assert found.sizes.full_bytes == full
    assert spent <= ratio * full
    assert spent / full <= ratio
    assert nodes == sorted(set(nodes))
    assert columns == sorted(set(columns))
    place = {v: i for i, v in enumerate(nodes)}
    induced = {(place[u], place[v]) for u in nodes for v in around[u] if v in place}
    synthetic = host(backend, found.synthetic)
    edges = edge_set(backend, found.adjacency)
    coo = backend.to_host(found.adjacency).tocoo()
    links = set(zip(coo.row[synthetic].tolist(), coo.col[synthetic].tolist(), strict=True))
    assert edges - links == induced
    assert edges == {(b, a) for a, b in edges}
    assert len(links) == found.n_synthetic
    labels = [given.y[v] if given.train[v] else -1 for v in nodes] + made
    assert all(labels[a] == labels[b] >= 0 for a, b in links)
    assert host(backend, found.labels).tolist() == labels
    assert host(backend, found.train_mask).tolist() == train + [True] * len(made)
    assert host(backend, found.is_landmark).tolist() == [False] * len(nodes) + [True] * len(made)
    assert not host(backend, found.is_root)[len(nodes) :].any()
    loss = 0 if found.scales is None else 0.5 * host(backend, found.scales) * (1 + 1e-5)
    if found.sizes.encoding.values == "float16":
        loss = 1e-3 * np.abs(rows)
    features = host(backend, found.features)
    assert (np.abs(features[: len(nodes)] - rows) <= loss).all()
    if made:
        np.testing.assert_array_equal(features[len(nodes) :], host(backend, found.picked.landmarks))
    counts = Counter(given.y[v] for v in nodes if given.train[v])
    assert found.missing == tuple(code for code in range(given.n_classes) if code not in counts)
    assert found.statistics.class_counts == tuple(counts[code] for code in range(given.n_classes))
    for flag, v in zip(host(backend, found.is_root), nodes, strict=False):
        assert given.train[v] or not flag


VARIANTS = (
    PAPER,
    DEFAULT,
    REAL,
    replace(DEFAULT, encoding="graph", homophily_switch=0.0),
    replace(DEFAULT, landmarks=False, homophily_switch=0.0, exemplar_rule="herd"),
    replace(DEFAULT, feature_count=3, prior_share=1.0, linked_share=1.0, homophily_switch=0.0),
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


@PRESETS
@pytest.mark.parametrize("kind", KINDS)
def test_promises_on_every_backend(backend, kind, config):
    given = random_raw(kind, 60, seed=21)
    for ratio in (0.15, 0.5, 1.0):
        found = condensed(backend, given, ratio, config)
        check_result(given, ratio, found, backend)


def test_landmarks_or_links(backend):
    found = condensed(backend, CHAINS, 0.1)
    assert found.picked.landmarks is None
    assert found.n_synthetic == 0
    found = condensed(backend, CHAINS, 0.1, replace(DEFAULT, exemplar_rule="landmarks"))
    check_result(CHAINS, 0.1, found, backend)
    assert host(backend, found.is_landmark).sum() == 4
    assert found.n_synthetic == 4
    found = condensed(backend, CHAINS, 0.1, replace(DEFAULT, landmarks=False, linked_share=1.0))
    check_result(CHAINS, 0.1, found, backend)
    assert found.picked.landmarks is None
    assert found.n_synthetic > 0


def test_without_landmarks_and_links_all_is_of_the_graph(backend):
    found = condensed(backend, CHAINS, 0.1, REAL)
    check_result(CHAINS, 0.1, found, backend)
    assert found.picked.landmarks is None
    assert found.n_synthetic == 0


@pytest.mark.parametrize("config", [PAPER, replace(DEFAULT, encoding="graph")], ids=["paper", "default"])
@pytest.mark.parametrize("kind", KINDS)
def test_best_effort_keeps_the_budget_and_names_what_is_missing(backend, kind, config):
    given = random_raw(kind, 60, seed=22)
    given.x[:, 0] = 1.0  # every node costs something
    storage = reference.cheapest_kind(given.x)
    price = reference.node_prices(storage, given.x)
    full = sum(price) + 4 * reference.n_directed(reference.neighbours(given))
    least = sum(price[v] for v in reference.cheapest(given, price).values())  # without any edge among them
    config = replace(config, feature_count=99)
    for ratio in ((least - 1) / full, (min(price) + 1) / full):
        with pytest.raises(BudgetError):
            condensed(backend, given, ratio, config)
        found = condensed(backend, given, ratio, replace(config, on_infeasible="best_effort"))
        check_result(given, ratio, found, backend)
        assert found.missing
        assert found.nodes.shape[0] >= 1


@PRESETS
def test_the_smallest_feasible_ratio_holds_one_node_of_every_class(backend, config):
    given = random_raw("counts", 60, seed=23)
    given.x[:, 0] = 1.0
    with pytest.raises(BudgetError) as error:
        condensed(backend, given, 1e-4, config)
    found = condensed(backend, given, error.value.smallest_ratio, config)
    check_result(given, error.value.smallest_ratio, found, backend)
    assert found.missing == ()


@PRESETS
def test_a_budget_of_nothing_where_nothing_is_needed(backend, config):
    """Training nodes without features and edges take no storage: one of each class fits in zero bytes."""
    x = np.zeros((6, 2))
    x[4:] = 1
    given = raw([(2, 4), (3, 5), (4, 5)], x, [0, 1, 0, 1, 0, 1], [True, True, True, True, False, False])
    found = condensed(backend, given, 1e-6, config)
    check_result(given, 1e-6, found, backend)
    assert found.sizes.storage_bytes == found.sizes.budget_bytes == 0
    assert found.missing == ()


@PRESETS
def test_only_training_labels_matter(backend, config):
    given = random_raw("counts", 60, seed=24)
    other = replace(
        given, y=tuple(code if known else 2 - code for code, known in zip(given.y, given.train, strict=True))
    )
    one, two = (condensed(backend, which, 0.3, config) for which in (given, other))
    assert host(backend, one.nodes).tolist() == host(backend, two.nodes).tolist()
    for name in ("prototype", "boundary", "ranking"):
        assert host(backend, getattr(one.scores, name)).tolist() == host(backend, getattr(two.scores, name)).tolist()
    if one.scores.score is not None:
        assert host(backend, one.scores.score).tolist() == host(backend, two.scores.score).tolist()
    assert host(backend, one.features).tolist() == host(backend, two.features).tolist()
    assert edge_set(backend, one.adjacency) == edge_set(backend, two.adjacency)
    assert one.picked.trials == two.picked.trials
    assert host(backend, one.labels).tolist() == host(backend, two.labels).tolist()


@PRESETS
def test_the_same_twice(backend, config):
    given = random_raw("dense", 60, seed=25)
    one, two = (condensed(backend, given, 0.3, config) for _ in range(2))
    for name in ("nodes", "features", "feature_indices", "is_root", "adjacency", "synthetic"):
        np.testing.assert_array_equal(host(backend, getattr(one, name)), host(backend, getattr(two, name)))


def test_the_seed_matters_only_where_something_is_drawn(backend):
    given = random_raw("counts", 60, seed=26)
    few = replace(DEFAULT, smallest_pool=4, largest_pool=4)  # compared with one another
    for config, alike in ((PAPER, True), (replace(PAPER, node_ranking="random"), False), (few, False)):
        one, two = (host(backend, condensed(backend, given, 0.2, config, seed).nodes).tolist() for seed in (0, 1))
        assert (one == two) == alike


def test_the_whole_graph_at_ratio_one(backend):
    # With all features kept and every node a training node, everything fits and no one is pruned.
    given = random_raw("counts", 40, seed=27)
    given = replace(given, train=(True,) * 40)
    found = condensed(backend, given, 1.0, replace(PAPER, feature_count=99))
    assert found.nodes.shape[0] == 40
    assert found.sizes.storage_bytes == found.sizes.full_bytes


@PRESETS
@pytest.mark.parametrize("given", [raw([(0, 1)], [[1, 0], [0, 1]], [0, 1]), raw([(0, 1)], [[1.0], [1.0]], [0, 0])])
def test_two_nodes(backend, given, config):
    found = condensed(backend, given, 1.0, config)
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


@PRESETS
def test_every_stage_is_timed_logged_and_told(backend, caplog, config):
    bar, stages = Bar(), STAGES[config.selection]
    clock = Clock(backend, bar)
    with caplog.at_level(logging.DEBUG, logger="herald_gpu"):
        run(backend, build(backend, random_raw("counts", 40, seed=1)), 0.5, config, seed=0, clock=clock)
    assert tuple(clock.seconds) == stages
    assert all(seconds >= 0 for seconds in clock.seconds.values())
    assert bar.told == list(stages)
    assert bar.updates == len(stages)
    told = [record.getMessage() for record in caplog.records]
    assert all(any(message.startswith(f"stage {stage}:") for message in told) for stage in stages)


@pytest.mark.parametrize("most", [1, 10_000])
def test_features_are_ranked_where_the_search_does_not_rank_all_of_them(monkeypatch, most):
    asked = []

    def noting(*given):
        asked.append(given)
        return score_features(*given)

    monkeypatch.setattr(pipeline, "score_features", noting)
    monkeypatch.setattr(search, "MOST_LEARNT", most)
    backend = CpuBackend()
    run(backend, build(backend, random_raw("dense", 40, seed=2)), 0.5, HeraldConfig(), seed=0, clock=Clock(backend))
    assert len(asked) == (most == 1)


def test_the_tree_that_counted_features_is_named(backend):
    given = random_raw("counts", 40, seed=1)
    for config, name in ((PAPER, backend.tree_name), (replace(PAPER, feature_count=3), None), (DEFAULT, None)):
        assert condensed(backend, given, 0.5, config).picked.tree == name


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
