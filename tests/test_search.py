"""The search: inside the budget to the byte, every class present, nothing learnt from who is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import HealthCheck, settings
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st
from support import reference
from support.graphs import build, edge_set, host, random_raw, raw
from support.ridge import dense_adjacency, right_answers, seen

from herald_gpu import ops
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.budget import make_budget
from herald_gpu.config import HeraldConfig
from herald_gpu.errors import BudgetError, ConfigError
from herald_gpu.guidance import landmark_codes, with_landmarks
from herald_gpu.search import Search, Trial, preferred
from herald_gpu.stages.trials import score

CPU = CpuBackend()
CONFIG = HeraldConfig(fewest_exemplars=1)
KINDS = ("binary", "counts", "dense")
VALUE_BYTES = {"float32": 4, "float16": 2, "int8": 1}
ALIKE, OTHER = 1.0, 0.0
"""Homophily of graphs whose edges join their like, and as chance would."""
quick = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def searching(backend, given, ratio, config=CONFIG, *, homophily=ALIKE, seed=0, ranking=None, **options):
    graph = build(backend, given, **options)
    columns = np.random.default_rng(seed).permutation(given.x.shape[1]) if ranking is None else ranking
    budget = make_budget(backend, graph, ratio, config)
    return Search(backend, graph, backend.asarray(columns), budget, config, homophily=homophily, seed=seed), budget


def search(backend, given, ratio, config=CONFIG, **options):
    made, budget = searching(backend, given, ratio, config, **options)
    return made.run(), budget


def spent(given, found, backend=CPU):
    """Bytes of a condensed graph, counted on the host from what it is made of."""
    nodes, columns = (host(backend, part).tolist() for part in (found.nodes, found.columns))
    rows = given.x[np.ix_(nodes, columns)]
    coded, (n, width) = found.coded, rows.shape
    if coded.layout == "dense":
        features = n * (-(-width // 8) if coded.values == "bits" else width * VALUE_BYTES[coded.values])
    else:
        features = np.count_nonzero(rows) * (2 + VALUE_BYTES.get(coded.values, 0))
    scales = 4 * width if coded.values == "int8" else 0
    signs = 0 if found.landmarks is None else len(host(backend, found.landmarks)) * (-(-width // 8) + 4)
    return features + scales + signs + 4 * len(edge_set(backend, found.edges.adjacency))


def links(backend, found):
    matrix = backend.to_host(found.edges.adjacency).tocoo()
    flags = host(backend, found.edges.synthetic)
    return {(int(u), int(v)) for u, v, flag in zip(matrix.row, matrix.col, flags, strict=True) if flag}


def induced(given, nodes):
    place = {v: i for i, v in enumerate(nodes)}
    around = reference.neighbours(given)
    return {(place[u], place[v]) for u in nodes for v in around[u] if v in place}


def check(given, found, budget, backend=CPU):
    """What holds for every result."""
    nodes, columns = (host(backend, part).tolist() for part in (found.nodes, found.columns))
    assert nodes == sorted(set(nodes))
    assert columns == sorted(set(columns))
    assert nodes
    others = [v for v in nodes if not given.train[v]]
    if others:  # only where all training nodes are there, and only their neighbours
        assert set(np.flatnonzero(given.train)) <= set(nodes)
        around = reference.neighbours(given)
        assert all(any(given.train[u] for u in around[v]) for v in others)
    assert spent(given, found, backend) <= budget.limit
    np.testing.assert_array_equal(host(backend, found.kept), given.x[:, columns])
    synthetic = links(backend, found)
    assert edge_set(backend, found.edges.adjacency) - synthetic == induced(given, nodes)
    known = {given.y[v] for v in nodes}
    for u, v in synthetic:
        ends = {given.y[nodes[end]] if end < len(nodes) else (end - len(nodes)) % given.n_classes for end in (u, v)}
        assert len(ends) == 1  # links stay inside a class
    assert found.trial in found.trials
    assert found.trial.feature_count == len(columns)
    assert sorted(host(backend, found.ranking).tolist()) == np.flatnonzero(given.train).tolist()
    if known != set(range(given.n_classes)):  # nothing but the best that could be done
        assert found.landmarks is None
        assert not synthetic
    if found.landmarks is not None:
        rows = host(backend, found.landmarks)
        assert rows.shape == (2 * given.n_classes, len(columns))
        if found.trial.rule == "landmarks":
            assert len(nodes) == given.n_classes
        np.testing.assert_allclose(np.abs(rows), np.abs(rows[:, :1]) @ np.ones((1, len(columns))), rtol=1e-6)


# On every backend


@pytest.mark.parametrize(("ratio", "homophily"), [(0.12, ALIKE), (0.3, OTHER), (1.0, ALIKE)])
@pytest.mark.parametrize("kind", KINDS)
def test_within_the_budget_and_as_on_the_cpu(backend, kind, ratio, homophily):
    given = random_raw(kind, 45, seed=1, n_features=20)
    found, budget = search(backend, given, ratio, homophily=homophily)
    check(given, found, budget, backend)
    ours, _ = search(CPU, given, ratio, homophily=homophily)
    for name in ("nodes", "columns", "ranking"):
        np.testing.assert_array_equal(host(backend, getattr(found, name)), getattr(ours, name), err_msg=name)
    assert edge_set(backend, found.edges.adjacency) == edge_set(CPU, ours.edges.adjacency)
    np.testing.assert_array_equal(host(backend, found.edges.synthetic), ours.edges.synthetic)
    assert (found.landmarks is None) == (ours.landmarks is None)
    if ours.landmarks is not None:
        np.testing.assert_allclose(host(backend, found.landmarks), ours.landmarks, rtol=1e-5)
    assert [replace(trial, score=None) for trial in found.trials] == [
        replace(trial, score=None) for trial in ours.trials
    ]
    assert [trial.score for trial in found.trials] == pytest.approx([trial.score for trial in ours.trials])


def test_a_single_class(backend):
    given = random_raw("counts", 20, seed=2, n_classes=1)
    found, budget = search(backend, given, 0.5)
    check(given, found, budget, backend)


def test_a_single_training_node(backend):
    """It is held out of a fold that then has nothing to choose from."""
    given = raw([(0, 1), (1, 2)], np.eye(3, 16) + 1, [0, 0, 0], [False, True, False])
    for homophily in (ALIKE, OTHER):
        found, budget = search(backend, given, 0.7, homophily=homophily)
        check(given, found, budget, backend)
        assert 1 in host(backend, found.nodes).tolist()


def test_classes_of_one_node(backend):
    given = random_raw("binary", 30, seed=4, n_classes=3)
    train = [v < 3 or (given.train[v] and given.y[v] == 0) for v in range(30)]
    lopsided = raw(given.edges, given.x, given.y, train)
    for homophily in (ALIKE, OTHER):
        found, budget = search(backend, lopsided, 0.4, homophily=homophily)
        check(lopsided, found, budget, backend)


# The budget


@st.composite
def tasks(draw):
    """Draw a graph, a ratio and a configuration."""
    n_classes = draw(st.integers(1, 4))
    n = draw(st.integers(max(2, n_classes), 32))
    kind, seed = draw(st.sampled_from(KINDS)), draw(st.integers(0, 2**32 - 1))
    given = random_raw(
        kind,
        n,
        seed,
        n_classes=n_classes,
        n_features=draw(st.integers(1, 35)),
        mean_degree=draw(st.sampled_from([0.5, 3.0, 12.0])),
    )
    x = given.x.copy()
    x[:, 0] = 1  # no row is free of charge
    train = np.array(given.train) & (np.random.default_rng(seed).random(n) < draw(st.sampled_from([0.2, 1.0])))
    train[:n_classes] = True
    smallest = draw(st.integers(1, 20))
    config = replace(
        CONFIG,
        smallest_pool=smallest,
        largest_pool=draw(st.integers(smallest, 30)),
        trial_nodes=draw(st.sampled_from([1, 5, 2000])),
        fewest_exemplars=draw(st.integers(1, 5)),
        linked_share=draw(st.sampled_from([0.0, 0.5, 1.0])),
        landmarks=draw(st.booleans()),
        exemplar_rule=draw(st.sampled_from(["auto", "cover", "herd"])),
        patience=draw(st.sampled_from([0, 100])),
        encoding=draw(st.sampled_from(["auto", "graph"])),
    )
    return raw(given.edges, x, given.y, train), config, draw(st.sampled_from([ALIKE, OTHER]))


@quick
@hypothesis_given(tasks(), st.floats(0.01, 1.0))
def test_the_budget_holds_and_every_class_is_there(task, ratio):
    given, config, homophily = task
    try:
        found, budget = search(CPU, given, ratio, config, homophily=homophily)
    except BudgetError as error:
        found, budget = search(CPU, given, error.smallest_ratio, config, homophily=homophily)
        assert budget.limit >= spent(given, found)
    assert {given.y[v] for v in found.nodes} == set(range(given.n_classes))
    check(given, found, budget)


@quick
@hypothesis_given(tasks())
def test_the_smallest_feasible_ratio_is_just_that(task):
    given, config, homophily = task
    try:
        found, _ = search(CPU, given, 1e-9, config, homophily=homophily)
    except BudgetError as error:
        smallest = error.smallest_ratio
    else:  # there is a node of every class that has none of the kept features, and no edge to another of them
        assert spent(given, found) == 0
        return
    found, budget = search(CPU, given, smallest, config, homophily=homophily)
    check(given, found, budget)
    with pytest.raises(BudgetError):
        search(CPU, given, float(np.nextafter(smallest, 0)), config, homophily=homophily)


@quick
@hypothesis_given(tasks(), st.floats(0.01, 0.3))
def test_best_effort_gives_what_fits(task, ratio):
    given, config, homophily = task
    config = replace(config, on_infeasible="best_effort")
    try:
        found, budget = search(CPU, given, ratio, config, homophily=homophily)
    except BudgetError:  # not a single node fits
        return
    check(given, found, budget)


@pytest.mark.parametrize("homophily", [ALIKE, OTHER])
@pytest.mark.parametrize("kind", KINDS)
def test_with_room_for_all_all_training_nodes_are_taken(kind, homophily):
    given = random_raw(kind, 40, seed=5)
    found, budget = search(CPU, given, 1.0, replace(CONFIG, exemplar_rule="cover"), homophily=homophily)
    check(given, found, budget)
    around = reference.neighbours(given)
    near = {v for v in range(given.n) if any(given.train[u] for u in around[v])}
    fits = set(np.flatnonzero(given.train).tolist()) | near  # the whole graph does, encoded in fewer bytes
    assert set(found.nodes.tolist()) == fits


def test_edges_may_cost_more_than_features():
    """Where all nodes fit but not with their edges, fewer features are tried, and the ratio named is enough."""
    edges = [(u, v) for u in range(8) for v in range(u)]
    given = raw(edges, np.eye(8, 32) + np.eye(8, 32, 8), np.arange(8))
    config = replace(CONFIG, encoding="graph")
    with pytest.raises(BudgetError) as caught:
        search(CPU, given, 0.01, config, ranking=np.arange(32))
    found, budget = search(CPU, given, caught.value.smallest_ratio, config, ranking=np.arange(32))
    assert found.trial.feature_count == 8
    assert spent(given, found) == budget.limit == 8 * 7 * 4 + 8 * 2


def test_where_links_leave_no_room_the_cheapest_node_still_comes():
    given = raw([], np.ones((6, 4)) * np.arange(1, 7)[:, None], [0, 1] * 3)
    config = replace(CONFIG, linked_share=1.0, on_infeasible="best_effort", encoding="graph")
    found, budget = search(CPU, given, 1 / 6, config)
    assert budget.limit == 16
    assert len(found.nodes) == 1
    check(given, found, budget)


def test_numbers_of_features_that_do_not_fit_are_passed_over():
    """The widest rows do not hold a node of every class, narrower ones do."""
    x = np.random.default_rng(0).normal(size=(40, 32)).astype(np.float32)
    given = raw([], x, [0, 1, 2, 3] * 10)
    config = replace(CONFIG, encoding="graph")
    found, _ = search(CPU, given, 4 * 4 * 16 / (40 * 32 * 4), config, homophily=OTHER)
    assert {trial.feature_count for trial in found.trials} <= {8, 16}


# Edges and landmarks


@pytest.mark.parametrize("kind", KINDS)
def test_without_landmarks_and_links_it_is_an_induced_subgraph(backend, kind):
    given = random_raw(kind, 45, seed=6)
    config = replace(CONFIG, landmarks=False, edges="real")
    found, budget = search(backend, given, 0.3, config)
    check(given, found, budget, backend)
    assert found.landmarks is None
    assert links(backend, found) == set()
    assert edge_set(backend, found.edges.adjacency) == induced(given, host(backend, found.nodes).tolist())


def sparse_like(n=60, seed=7):
    """A homophilic graph of few edges: exemplars are isolated."""
    given = random_raw("binary", n, seed, n_features=40, mean_degree=0.5)
    return raw([(u, v) for u, v in given.edges if given.y[u] == given.y[v]], given.x, given.y, given.train)


def telling(n=80, n_classes=3, n_features=24, seed=0):
    """A graph whose classes differ in the features of their neighbours alone, so that few bytes tell them apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    x = (rng.random((n, n_features)) < 0.3).astype(np.float32)
    edges = [(v, u) for v in range(n) for u in rng.permutation(np.flatnonzero(y == y[v]))[:3].tolist() if u != v]
    x[np.arange(n), y] = 1
    return raw(edges, x, y.tolist())


LANDMARKS = replace(CONFIG, exemplar_rule="landmarks")


@pytest.mark.parametrize("homophily", [ALIKE, OTHER])
@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_with_an_exemplar_of_every_class(backend, kind, homophily):
    given = random_raw(kind, 45, seed=6, n_features=40)
    found, budget = search(backend, given, 0.3, LANDMARKS, homophily=homophily)
    check(given, found, budget, backend)
    assert {trial.rule for trial in found.trials} == {"landmarks"}
    n = given.n_classes
    assert links(backend, found) == {pair for c in range(n) for pair in ((n + c, 2 * n + c), (2 * n + c, n + c))}


def test_landmarks_without_synthetic_edges():
    given = random_raw("binary", 45, seed=6, n_features=40)
    found, budget = search(CPU, given, 0.3, replace(LANDMARKS, edges="real"))
    check(given, found, budget)
    assert found.landmarks is not None
    assert not links(CPU, found)


@pytest.mark.parametrize("seed", range(6))
def test_landmarks_are_followed_where_they_are_clearly_ahead(seed):
    given = telling(n=150, n_classes=5, n_features=96, seed=seed)
    found, budget = search(CPU, given, 0.015 + 0.01 * seed)
    check(given, found, budget)
    scores = {rule: max(t.score for t in found.trials if t.rule == rule) for rule in ("landmarks", "cover", "herd")}
    others = max(scores["cover"], scores["herd"])
    error = (others * (1 - others) / given.n) ** 0.5
    assert (found.trial.rule == "landmarks") == (scores["landmarks"] >= others + 2 * error)


def test_widths_of_landmarks_are_halved_from_what_fits():
    given = random_raw("binary", 60, seed=8, n_features=256)
    found, _ = search(CPU, given, 1.0, LANDMARKS)
    assert [trial.feature_count for trial in found.trials] == [128, 64, 32, 16]  # half of the features to begin with
    found, budget = search(CPU, given, 0.01, LANDMARKS)
    check(given, found, budget)
    widest = found.trials[0].feature_count
    assert 8 <= widest < 64
    assert [trial.feature_count for trial in found.trials] == [w for w in (widest, widest // 2, widest // 4) if w >= 8]


def test_landmarks_that_do_not_fit_name_the_ratio_that_is_enough():
    given = random_raw("counts", 40, seed=9)
    with pytest.raises(BudgetError, match="landmarks of 8 features") as caught:
        search(CPU, given, 1e-6, LANDMARKS)
    found, budget = search(CPU, given, caught.value.smallest_ratio, LANDMARKS)
    assert spent(given, found) == budget.limit
    assert found.trial.feature_count == 8


def test_a_number_of_features_that_is_asked_for_is_that_of_landmarks():
    given = random_raw("counts", 40, seed=9, n_features=30)
    found, _ = search(CPU, given, 0.9, replace(LANDMARKS, feature_count=21))
    assert [trial.feature_count for trial in found.trials] == [21]
    with pytest.raises(BudgetError, match="landmarks of 21 features"):
        search(CPU, given, 1e-6, replace(LANDMARKS, feature_count=21))


def test_a_fold_that_holds_everybody_out_learns_nothing():
    """One training node a class: all of them are in the first fold."""
    given = random_raw("dense", 20, seed=3, n_features=12)
    first = [given.y.index(code) for code in range(3)]
    alone = raw(given.edges, given.x, given.y, [v in first for v in range(20)])
    found, budget = search(CPU, alone, 0.9, replace(LANDMARKS, encoding="int8"))
    check(alone, found, budget)
    assert sorted(found.nodes.tolist()) == sorted(first)
    assert {trial.score for trial in found.trials} == {0.0}


def test_one_class_has_nothing_to_be_told_from():
    given = random_raw("counts", 20, seed=2, n_classes=1)
    with pytest.raises(ConfigError, match="exemplar_rule='landmarks'"):
        search(CPU, given, 0.5, LANDMARKS)


def test_links_are_for_homophilic_graphs_without_landmarks():
    given, plain = sparse_like(), replace(CONFIG, landmarks=False)
    found, budget = search(CPU, given, 0.4, plain)
    check(given, found, budget)
    assert found.trial.link_share > 0
    assert links(CPU, found)
    for config, homophily in ((plain, OTHER), (replace(plain, edges="real"), ALIKE), (CONFIG, ALIKE)):
        found, _ = search(CPU, given, 0.4, config, homophily=homophily)
        assert {trial.link_share for trial in found.trials} == {0.0}


@pytest.mark.parametrize(("homophily", "wanted"), [(0.5, False), (0.51, True)])
def test_the_switch(homophily, wanted):
    config = replace(CONFIG, homophily_switch=0.5, landmarks=False)
    found, _ = search(CPU, sparse_like(), 0.4, config, homophily=homophily)
    assert (found.trial.link_share > 0) == wanted


def test_landmarks_have_their_columns_in_the_order_of_the_features():
    """A column that only one class has is positive in both of its landmarks, wherever the ranking put it."""
    y = np.arange(40) % 2
    x = np.zeros((40, 24), dtype=np.float32)
    x[y == 0, 3] = x[y == 1, 10] = 1
    given = raw([(v, v + 2) for v in range(38)], x, y)
    for seed in range(3):
        found, _ = search(CPU, given, 0.9, LANDMARKS, seed=seed)
        columns = found.columns.tolist()
        assert {3, 10} <= set(columns)
        for code, own, other in ((0, 3, 10), (1, 10, 3)):
            pair = found.landmarks[[code, 2 + code]]
            assert (pair[:, columns.index(own)] > 0).all()
            assert (pair[:, columns.index(other)] < 0).all()


def test_features_are_ranked_by_what_tells_classes_apart(backend):
    """Without landmarks, too: of many columns of noise the one that tells comes through."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    x = rng.normal(size=(60, 32)).astype(np.float32)
    x[:, 17] = 5.0 * y - 2.5
    given = raw([(v, v + 2) for v in range(58)], x, y)
    config = replace(CONFIG, landmarks=False, feature_count=8)
    found, _ = search(backend, given, 0.2, config, ranking=np.arange(32))
    assert 17 in host(backend, found.columns).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_no_ranking_is_that_of_the_columns_as_they_stand(backend, kind):
    given = random_raw(kind, 60, seed=4)
    ranked, budget = search(backend, given, 0.3, ranking=np.arange(given.x.shape[1]))
    graph = build(backend, given)
    found = Search(backend, graph, None, budget, CONFIG, homophily=ALIKE, seed=0).run()
    assert (found.trial, found.trials) == (ranked.trial, ranked.trials)
    for name in ("columns", "nodes", "ranking"):
        assert host(backend, getattr(found, name)).tolist() == host(backend, getattr(ranked, name)).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_beside_as_many_exemplars_as_fit(backend, kind):
    given = random_raw(kind, 150, seed=6, n_features=20)
    config = replace(CONFIG, exemplar_rule="cover", feature_count=10, encoding="graph")
    found, budget = search(backend, given, 0.2, config, homophily=OTHER)
    check(given, found, budget, backend)
    bare, _ = search(backend, given, 0.2, replace(config, landmarks=False), homophily=OTHER)
    assert bare.landmarks is None
    assert found.landmarks is not None
    assert given.n_classes < len(found.nodes) <= len(bare.nodes)  # they leave room for fewer
    n = len(found.nodes)
    pairs = {(n + code, n + 3 + code) for code in range(3)}
    assert links(backend, found) == pairs | {(b, a) for a, b in pairs}
    np.testing.assert_array_equal(host(backend, found.columns), host(backend, bare.columns))


def test_landmarks_beside_exemplars_are_those_of_all_training_nodes():
    given = random_raw("dense", 60, seed=6, n_features=20)
    config = replace(CONFIG, exemplar_rule="herd", feature_count=10, edges="real", encoding="graph")
    made, _ = searching(CPU, given, 0.25, config)
    learnt = made.learn()
    found = made.choose(learnt)
    assert not links(CPU, found)
    (marks,) = learnt.beside.values()
    assert len(marks) == made.pool.n_folds + 1
    ranked = learnt.ranking[:10].tolist()
    places = [ranked.index(column) for column in found.columns.tolist()]
    np.testing.assert_array_equal(found.landmarks, marks[-1][:, places])


def test_landmarks_take_no_more_than_half_of_the_budget():
    given, config = random_raw("binary", 60, seed=6, n_features=64), replace(CONFIG, exemplar_rule="cover")
    taken, found = {count: 6 * (-(-count // 8) + 4) + 4 * 6 for count in (64, 32, 16, 8)}, []
    for ratio in (0.045, 0.05, 0.055, 0.06, 0.08):
        made, budget = searching(CPU, given, ratio, config)
        found.append(list(made.learn().beside))
        assert found[-1] == [count for count, size in taken.items() if 2 * size <= budget.limit]
    assert found[0] != found[-1] == [64, 32, 16, 8]


# Trials


def rules(found):
    return [(trial.feature_count, trial.rule) for trial in found.trials]


def test_what_is_tried():
    given, config = random_raw("dense", 60, seed=8, n_features=32), replace(CONFIG, encoding="graph")
    for homophily in (ALIKE, OTHER):
        found, _ = search(CPU, given, 0.2, replace(config, landmarks=False), homophily=homophily)
        assert rules(found) == [(count, rule) for count in (8, 16, 32) for rule in ("cover", "herd")]
        found, _ = search(CPU, given, 0.2, config, homophily=homophily)
        assert rules(found)[:2] == [(16, "landmarks"), (8, "landmarks")]
        best = max(found.trials[:2], key=lambda trial: trial.score).feature_count
        near = [count for count in (8, 16, 32) if best / 2 <= count <= 2 * best]
        assert rules(found)[2:] == [(count, rule) for count in near for rule in ("cover", "herd")]
    for rule in ("cover", "herd"):
        found, _ = search(CPU, given, 0.2, replace(config, exemplar_rule=rule))
        assert rules(found) == [(8, rule), (16, rule), (32, rule)]


@pytest.mark.parametrize("homophily", [ALIKE, OTHER])
@pytest.mark.parametrize("seed", range(4))
def test_near_the_best_with_the_fewest_features(seed, homophily):
    given = random_raw("counts", 50, seed, n_features=32)
    config = replace(CONFIG, landmarks=False)
    made, _ = searching(CPU, given, 0.15, config, homophily=homophily, seed=seed)
    found, n_held = made.run(), sum(made.pool.held_sizes)
    scores = [trial.score for trial in found.trials]
    assert all(0 <= value <= 1 for value in scores)
    best = max(scores)
    near = [t for t in found.trials if t.score >= best - 0.5 * (best * (1 - best) / n_held) ** 0.5]
    fewest = min(trial.feature_count for trial in near)
    assert found.trial.feature_count == fewest
    assert found.trial.score == max(t.score for t in found.trials if t.feature_count == fewest)


def test_of_equals_the_first_is_followed():
    tried = (Trial(8, "cover", 0.0, 0.5), Trial(8, "herd", 0.0, 0.5), Trial(16, "cover", 0.0, 0.5))
    assert preferred(tried, 100) == 0
    assert preferred(tried[1:], 100) == 0
    assert preferred((Trial(8, "cover", 0.0, 0.4), *tried[2:]), 100) == 1
    assert preferred((Trial(8, "cover", 0.0, 0.9), Trial(16, "cover", 0.0, 1.0)), 100) == 1  # no error at all


def test_nothing_is_tried_where_there_is_no_choice():
    given = random_raw("counts", 50, seed=0)
    config = replace(CONFIG, feature_count=6, exemplar_rule="cover")
    found, _ = search(CPU, given, 0.3, config, homophily=OTHER)
    assert found.trials == (Trial(6, "cover", 0.0, None),)
    found, _ = search(CPU, given, 0.3, replace(config, exemplar_rule="herd"))
    assert [(trial.rule, trial.score) for trial in found.trials] == [("herd", None)]


def candidate(made, count, rule="cover", beside=None):
    """Build the candidate of a number of features, untried."""
    from herald_gpu.stages.views import open_views

    ranked = ops.pick_columns(made.backend, made.graph.features, made.ranking[: made.options[-1].count])
    wanted = [option.count for option in made.options]
    for option, view in zip(made.options, open_views(made.backend, made.graph, ranked, wanted, made.pool), strict=True):
        if option.count == count:
            kept = ranked[:, :count]
            priced = made._priced(option, kept, beside)
            return made._candidate(priced, view, kept, rule, only=True)
    raise AssertionError(count)


def draft_of(made, untried, fold):
    """Choose the nodes of a candidate in one fold."""
    return made._draft(untried, made._places(untried, slice(fold, fold + 1))[0], fold)


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("rule", ["cover", "herd"])
def test_scores_are_right_answers_on_nodes_that_were_held_out(rule, marked):
    """Counted again by least squares, on the subgraph that each fold would have chosen."""
    given = random_raw("dense", 60, seed=9, n_features=16)
    config = replace(CONFIG, encoding="graph", exemplar_rule=rule, landmarks=marked)
    made, _ = searching(CPU, given, 0.2, config, homophily=OTHER)
    learnt = made.learn()
    tried = {trial.feature_count: trial.score for trial in made.choose(learnt).trials}
    assert set(tried) == {8, 16}
    assert set(learnt.beside) == ({8, 16} if marked else set())
    for count, value in tried.items():
        x = given.x[:, made.ranking[:count]].astype(np.float64)
        adjacency, untried = dense_adjacency(given), candidate(made, count, rule, learnt.beside.get(count))
        kinds = seen(adjacency, x)
        parts = {**kinds, "own": x, "around": kinds["around"][:, count:]}
        total, low = 0.0, 0
        for fold, size in enumerate(made.pool.held_sizes):
            draft, held = draft_of(made, untried, fold), made.pool.held[low : low + size]
            nodes = draft.nodes
            assert set(nodes.tolist()).isdisjoint(held.tolist())
            edges, rows, codes = adjacency[np.ix_(nodes, nodes)], x[nodes], np.array(given.y)[nodes]
            assert (draft.landmarks is not None) == marked
            if marked:
                pairs = np.kron(1 - np.eye(2), np.eye(3))
                edges, rows = scipy.linalg.block_diag(edges, pairs), np.vstack([rows, draft.landmarks])
                codes = np.concatenate([codes, [0, 1, 2, 0, 1, 2]])
            truth = np.array(given.y)[held]
            total = total + right_answers(seen(edges, rows), codes, parts, held, truth, 3)
            low += size
        assert value == pytest.approx(score(total, low))


def test_a_fold_for_which_nothing_fits_answers_nothing():
    """One class, and room for its cheapest node alone: who holds that one out learns nothing."""
    x = np.zeros((6, 20), dtype=np.float32)
    x[0, 0] = 1
    x[1:] = 1
    given = raw([(0, 1)], x, [0] * 6)
    config = replace(CONFIG, encoding="graph", edges="real")
    made, budget = searching(CPU, given, 2 / (2 * (1 + 100) + 8), config, ranking=np.arange(20))
    found, low, held = made.run(), 0, None
    assert budget.limit == 2
    assert found.nodes.tolist() == [0]
    for size in made.pool.held_sizes:
        held = size if 0 in made.pool.held[low : low + size] else held
        low += size
    assert [trial.score for trial in found.trials] == pytest.approx([(6 - held) / 6] * 2)


# Whose classes are read


@pytest.mark.parametrize("homophily", [ALIKE, OTHER])
def test_labels_outside_the_training_set_change_nothing(homophily):
    given = random_raw("binary", 50, seed=10, n_features=20)
    turned = [y if known else (y + 1) % 3 for y, known in zip(given.y, given.train, strict=True)]
    one, _ = search(CPU, given, 0.3, homophily=homophily, all_labels=True)
    two, _ = search(CPU, raw(given.edges, given.x, turned, given.train), 0.3, homophily=homophily, all_labels=True)
    assert one.trials == two.trials
    for name in ("nodes", "columns", "ranking"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert edge_set(CPU, one.edges.adjacency) == edge_set(CPU, two.edges.adjacency)
    assert (one.landmarks is None) == (two.landmarks is None)
    if one.landmarks is not None:
        np.testing.assert_array_equal(one.landmarks, two.landmarks)


def swapped(given, made):
    """Exchange the classes of neighbours in the list of nodes that one fold holds out: the draw stays the same."""
    held = set(made.pool.held[: made.pool.held_sizes[0]].tolist())
    pairs = [v for v in sorted(held) if v + 1 in held and given.y[v] != given.y[v + 1]]
    assert pairs
    y = list(given.y)
    for v in pairs[::2]:
        y[v], y[v + 1] = y[v + 1], y[v]
    return raw(given.edges, given.x, y, given.train)


@pytest.mark.parametrize("homophily", [ALIKE, OTHER])
@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_who_is_held_out_do_not_change_what_is_learnt_from(kind, homophily):
    given = random_raw(kind, 120, seed=11, n_features=16)
    made, _ = searching(CPU, given, 0.3, homophily=homophily)
    other, _ = searching(CPU, swapped(given, made), 0.3, homophily=homophily)
    assert (made.pool.members != other.pool.members).any()
    np.testing.assert_array_equal(made.pool.codes, other.pool.codes)
    drafts = []
    for one in (made, other):
        untried = candidate(one, 16)
        untried = replace(untried, trial=replace(untried.trial, link_share=0.4))
        drafts.append(draft_of(one, untried, 0))
    np.testing.assert_array_equal(drafts[0].nodes, drafts[1].nodes)
    first, second = (
        edge_set(CPU, one._edges(draft).adjacency) for one, draft in zip((made, other), drafts, strict=True)
    )
    assert first == second


def test_no_fold_chooses_who_it_holds_out():
    given = random_raw("counts", 60, seed=12, n_features=16)
    made, _ = searching(CPU, given, 0.9)
    untried, low = candidate(made, made.options[-1].count), 0
    for fold, size in enumerate(made.pool.held_sizes):
        draft = draft_of(made, untried, fold)
        held = made.pool.held[low : low + size].tolist()
        assert len(draft.nodes)
        assert set(draft.nodes.tolist()).isdisjoint(held)
        low += size
    assert low == sum(given.train)


def test_the_seed_draws():
    given = random_raw("counts", 60, seed=13, n_features=16)
    config = replace(CONFIG, smallest_pool=4, largest_pool=4)
    ranking = np.arange(16)
    one, two, three = (search(CPU, given, 0.3, config, seed=seed, ranking=ranking)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.ranking, two.ranking)
    np.testing.assert_array_equal(one.nodes, two.nodes)
    assert one.trials == two.trials
    assert one.ranking.tolist() != three.ranking.tolist()


# Rows and codes of landmarks


@pytest.mark.parametrize("kind", KINDS)
def test_landmarks_below_the_rows(backend, kind):
    given = random_raw(kind, 12, seed=0)
    graph = build(backend, given)
    landmarks = np.zeros((3, 14), dtype=np.float32)
    landmarks[0, 4], landmarks[2, 1] = 2.5, -1.0
    rows = with_landmarks(backend, graph.features, backend.asarray(landmarks))
    np.testing.assert_array_equal(host(backend, rows), np.vstack([given.x, landmarks]))
    assert backend.sparse.issparse(rows) == backend.sparse.issparse(graph.features)
    assert rows.dtype == np.float32
    if kind != "dense":
        assert scipy.sparse.csr_matrix(backend.to_host(rows)).nnz == np.count_nonzero(given.x) + 2
    assert with_landmarks(backend, graph.features, None) is graph.features


def test_codes_of_landmarks(backend):
    codes = backend.asarray(np.array([2, 0, -1], dtype=np.int32))
    found = landmark_codes(backend, codes, backend.xp.zeros((6, 2)), 3)
    assert host(backend, found).tolist() == [2, 0, -1, 0, 1, 2, 0, 1, 2]
    assert found.dtype == np.int32
    assert landmark_codes(backend, codes, None, 3) is codes
