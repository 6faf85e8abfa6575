"""The search: inside the budget to the byte, every class present, nothing learnt from who is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
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
from herald_gpu.errors import BudgetError
from herald_gpu.search import Search, Trial, landmark_codes, preferred, with_landmarks
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
    if found.landmarks is not None:
        rows = np.vstack([rows, host(backend, found.landmarks)])
    coded, (n, width) = found.pricing.budget.coded, rows.shape
    if coded.layout == "dense":
        features = n * (-(-width // 8) if coded.values == "bits" else width * VALUE_BYTES[coded.values])
    else:
        features = np.count_nonzero(rows) * (2 + VALUE_BYTES.get(coded.values, 0))
    scales = 4 * width if coded.values == "int8" else 0
    return features + scales + 4 * len(edge_set(backend, found.edges.adjacency))


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
        ends = {given.y[nodes[end]] if end < len(nodes) else end - len(nodes) for end in (u, v)}
        assert len(ends) == 1  # links stay inside a class
    assert found.trial in found.trials
    assert found.trial.feature_count == len(columns)
    assert sorted(host(backend, found.ranking).tolist()) == np.flatnonzero(given.train).tolist()
    if found.pricing.feasible:
        assert known == set(range(given.n_classes))
    else:
        assert found.landmarks is None
        assert not synthetic


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
        landmark_share=draw(st.sampled_from([0.0, 0.25, 1.0])),
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
    assert found.pricing.feasible
    check(given, found, budget)


@quick
@hypothesis_given(tasks())
def test_the_smallest_feasible_ratio_is_just_that(task):
    given, config, homophily = task
    with pytest.raises(BudgetError) as caught:
        search(CPU, given, 1e-9, config, homophily=homophily)
    smallest = caught.value.smallest_ratio
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
    found, budget = search(CPU, given, 1.0, homophily=homophily)
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
    assert not found.pricing.feasible
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


def test_homophilic_graphs_have_landmarks_and_links():
    given = sparse_like()
    found, budget = search(CPU, given, 0.4)
    check(given, found, budget)
    assert found.landmarks.shape == (3, len(found.columns))
    assert found.landmarks.dtype == np.float32
    assert set(np.unique(found.landmarks)) == {0.0, 1.0}
    assert found.trial.link_share > 0
    assert links(CPU, found)


def test_other_graphs_have_neither():
    given = sparse_like()
    found, budget = search(CPU, given, 0.4, homophily=OTHER)
    check(given, found, budget)
    assert found.landmarks is None
    assert not links(CPU, found)
    assert {trial.link_share for trial in found.trials} == {0.0}


@pytest.mark.parametrize(("homophily", "wanted"), [(0.5, False), (0.51, True)])
def test_the_switch(homophily, wanted):
    found, _ = search(CPU, sparse_like(), 0.4, replace(CONFIG, homophily_switch=0.5), homophily=homophily)
    assert (found.landmarks is not None) == wanted


def test_landmarks_or_links_alone():
    given = sparse_like()
    found, budget = search(CPU, given, 0.4, replace(CONFIG, edges="real"))
    check(given, found, budget)
    assert found.landmarks is not None
    assert not links(CPU, found)
    found, budget = search(CPU, given, 0.4, replace(CONFIG, landmarks=False))
    check(given, found, budget)
    assert found.landmarks is None
    assert links(CPU, found)


def test_landmarks_have_their_columns_in_the_order_of_the_features():
    """Two columns that only one class has are ones in its landmark, wherever the ranking put them."""
    y = np.arange(40) % 2
    x = np.zeros((40, 12), dtype=np.float32)
    x[y == 0, 3] = x[y == 1, 10] = 1
    given = raw([(v, v + 2) for v in range(38)], x, y)
    config = replace(CONFIG, landmark_share=1.0)
    ranking = np.array([10, 0, 3, 7, 1, 2, 4, 5, 6, 8, 9, 11])
    found, _ = search(CPU, given, 0.5, config, ranking=ranking)
    columns = found.columns.tolist()
    assert np.argwhere(found.landmarks).tolist() == [[0, columns.index(3)], [1, columns.index(10)]]


# Trials


def rules(found):
    return [(trial.feature_count, trial.rule) for trial in found.trials]


def test_what_is_tried():
    given, config = random_raw("dense", 60, seed=8, n_features=32), replace(CONFIG, encoding="graph")
    for homophily in (ALIKE, OTHER):
        found, _ = search(CPU, given, 0.2, config, homophily=homophily)
        assert rules(found) == [(count, rule) for count in (8, 16, 32) for rule in ("cover", "herd")]
    for rule in ("cover", "herd"):
        found, _ = search(CPU, given, 0.2, replace(config, exemplar_rule=rule))
        assert rules(found) == [(8, rule), (16, rule), (32, rule)]


@pytest.mark.parametrize("homophily", [ALIKE, OTHER])
@pytest.mark.parametrize("seed", range(4))
def test_near_the_best_with_the_fewest_features(seed, homophily):
    given = random_raw("counts", 50, seed, n_features=32)
    made, _ = searching(CPU, given, 0.15, homophily=homophily, seed=seed)
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


def candidate(made, count, rule="cover"):
    """Build the candidate of a number of features, untried."""
    from herald_gpu.budget import settle_prices
    from herald_gpu.stages.views import open_views

    ranked = ops.pick_columns(made.backend, made.graph.features, made.ranking)
    wanted = [option.count for option in made.options]
    for option, view in zip(made.options, open_views(made.backend, made.graph, ranked, wanted, made.pool), strict=True):
        if option.count == count:
            kept = ranked[:, :count]
            pricing = settle_prices(made.backend, made.graph, kept, made.budget, made.config)
            return made._candidate(option, view, kept, pricing, rule, only=True)
    raise AssertionError(count)


@pytest.mark.parametrize("rule", ["cover", "herd"])
def test_scores_are_right_answers_on_nodes_that_were_held_out(rule):
    """Counted again by least squares, on the subgraph that each fold would have chosen."""
    given = random_raw("dense", 60, seed=9, n_features=16)
    config = replace(CONFIG, encoding="graph", exemplar_rule=rule)
    made, _ = searching(CPU, given, 0.3, config, homophily=OTHER)
    tried = {trial.feature_count: trial.score for trial in made.run().trials}
    assert set(tried) == {8, 16}
    for count, value in tried.items():
        x = given.x[:, made.ranking[:count]].astype(np.float64)
        adjacency, untried = dense_adjacency(given), candidate(made, count, rule)
        kinds = seen(adjacency, x)
        parts = {**kinds, "own": x, "around": kinds["around"][:, count:]}
        total, low = 0.0, 0
        for fold, size in enumerate(made.pool.held_sizes):
            nodes, held = made._draft(untried, fold).nodes, made.pool.held[low : low + size]
            assert set(nodes.tolist()).isdisjoint(held.tolist())
            learnt = seen(adjacency[np.ix_(nodes, nodes)], x[nodes])
            codes, truth = np.array(given.y)[nodes], np.array(given.y)[held]
            total = total + right_answers(learnt, codes, parts, held, truth, 3)
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
    if homophily == ALIKE:
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
        drafts.append(one._draft(untried, 0))
    np.testing.assert_array_equal(drafts[0].nodes, drafts[1].nodes)
    first, second = (
        edge_set(CPU, one._edges(draft).adjacency) for one, draft in zip((made, other), drafts, strict=True)
    )
    assert first == second
    assert (drafts[0].landmarks is None) == (drafts[1].landmarks is None)
    if drafts[0].landmarks is not None:
        np.testing.assert_array_equal(drafts[0].landmarks, drafts[1].landmarks)


def test_no_fold_chooses_who_it_holds_out():
    given = random_raw("counts", 60, seed=12, n_features=16)
    made, _ = searching(CPU, given, 0.9)
    untried, low = candidate(made, made.options[-1].count), 0
    for fold, size in enumerate(made.pool.held_sizes):
        draft = made._draft(untried, fold)
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
    found = landmark_codes(backend, codes, backend.xp.zeros((3, 2)))
    assert host(backend, found).tolist() == [2, 0, -1, 0, 1, 2]
    assert found.dtype == np.int32
    assert landmark_codes(backend, codes, None) is codes
