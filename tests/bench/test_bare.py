"""Bare kernels do the arithmetic of the stages, and no more."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from herald_gpu import HeraldConfig, ops, pipeline, search, study, threads
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.bench import bare, graphs
from herald_gpu.bench.kernels import bare_kernels, fisher_products, lesson_sizes, pagerank_steps, touched
from herald_gpu.bench.watch import watch
from herald_gpu.guidance import LANDMARKS, Guidance
from herald_gpu.stages import landmarks
from herald_gpu.stages.expansion import expand

SPEC = {"n_nodes": 240, "n_classes": 3, "n_features": 20, "mean_degree": 4.0}
WORDS = SPEC | {"features": "bag_of_words", "mean_words": 4.0}
BACKEND = CpuBackend()


@pytest.fixture(scope="module", params=[SPEC, WORDS], ids=["dense", "sparse"])
def graph(request):
    return graphs.load(request.param).seen(BACKEND)


def test_the_product_of_all_pairs(graph, monkeypatch):
    monkeypatch.setattr(bare, "GEMM_ROWS", 100)
    unit = bare.unit_rows(graph.features)
    assert np.allclose(np.linalg.norm(unit, axis=1), (np.linalg.norm(unit, axis=1) > 0))
    assert np.allclose(bare.all_pairs(unit)(), (unit @ unit.T)[200:], atol=1e-6)


def test_products_of_fisher_are_two_hops(graph, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", 240 * 8)  # 20 columns: two blocks of 8, and one of 4
    dense = np.asarray(graph.features.todense() if scipy.sparse.issparse(graph.features) else graph.features)
    hops = graph.adjacency.toarray().astype(float) @ graph.adjacency.toarray() @ dense
    assert np.allclose(bare.column_products(graph.adjacency, graph.features, 2)(), hops[:, 16:])
    if scipy.sparse.issparse(graph.features):
        assert np.allclose(bare.sparse_products(graph.adjacency, graph.features, 2)().toarray(), hops)
    assert callable(fisher_products(graph, 2))


def test_the_table_of_classes(graph):
    table = bare.class_table(graph.adjacency, graph.labels, 3)()
    assert np.array_equal(table, ops.neighbour_classes(BACKEND, graph.adjacency, graph.labels, 3))


def test_one_pass_sees_the_edges_of_the_nodes(graph):
    nodes = np.array([3, 5, 200])
    assert bare.edge_pass(graph.adjacency, nodes)() == graph.adjacency[nodes].nnz


def test_passes_over_tables_see_every_fold_and_chosen_row():
    tables = np.arange(4 + 9, dtype=np.int16)
    places = np.array([[0, -1, -1, -1, 0], [-1, -1, -1, -1, -1]])
    assert bare.table_passes(tables, [2, 3], places)() == 2 * (4 + 9) + 2 + 3


def test_steps_of_pagerank(graph):
    restart = np.full(240, 1 / 240)
    options = {"probability": 0.15, "tol": 1e-6, "max_iter": 100}
    alone = ops.induced(graph.adjacency, np.flatnonzero(np.diff(graph.adjacency.indptr) > 0))
    restart = np.full(alone.shape[0], 1 / alone.shape[0])
    steps = pagerank_steps(alone, restart, options)
    ranks = [BACKEND.pagerank(alone, restart, **(options | {"max_iter": n})) for n in (steps - 1, steps, steps + 1)]
    assert np.array_equal(ranks[1], ranks[2])
    assert not np.array_equal(ranks[0], ranks[1])
    assert pagerank_steps(alone, restart, options | {"max_iter": 2}) == 2


def test_nodes_that_an_expansion_looks_at(graph):
    class Noting(CpuBackend):
        def grow(self, *args, **options):
            self.grown = (super().grow(*args, **options), options["depth"])
            return self.grown[0]

    backend, config = Noting(), HeraldConfig.paper()
    seen = watch(graph, 0.3, config)
    picked = seen.made.picked
    from herald_gpu.budget import make_budget, settle_prices

    budget = make_budget(backend, graph, 0.3, config)
    pricing = settle_prices(backend, graph, picked.kept, budget, config)
    expand(backend, graph.adjacency, picked.scores.ranking, pricing.prices, pricing.budget, config)
    growth, depth = backend.grown
    found = set(touched(graph.adjacency, [backend.grown]).tolist())
    around = [set(graph.adjacency[v].indices.tolist()) for v in range(240)]
    wanted = set(np.flatnonzero(growth.member).tolist())
    for root in np.flatnonzero(growth.considered).tolist() if depth else []:
        wanted |= {root} | (around[root] if depth > 1 else set())
    assert found == wanted


@pytest.mark.parametrize(
    "config",
    [HeraldConfig(), *(HeraldConfig(exemplar_rule=rule) for rule in ("landmarks", "cover")), HeraldConfig.paper()],
    ids=["default", "landmarks", "cover", "paper"],
)
def test_every_stage_has_its_kernel_right_after_it(graph, config):
    first = watch(graph, 0.3, config)
    kernels = bare_kernels(first, graph, config)
    again = watch(graph, 0.3, config, bare=kernels)
    assert set(first.seconds) - {"weights"} == set(again.bare_seconds)
    assert all(taken >= 0 for taken in (*again.seconds.values(), *again.bare_seconds.values()))
    assert np.array_equal(first.made.nodes, again.made.nodes)
    assert {name.partition("/")[0] for name in first.seconds} == set(first.peaks)


def test_watching_leaves_nothing_behind(graph):
    homes = {
        pipeline: ("count_features",),
        search: ("walk_along", "views_through", "judge"),
        study: ("Remembered",),
        search.Search: ("learn",),
        landmarks: ("learn_directions",),
    }

    def found():
        return [getattr(home, name) for home, names in homes.items() for name in names]

    before = found()
    watch(graph, 0.3, HeraldConfig())
    assert found() == before


def test_trials_are_noted_with_their_sizes(graph):
    seen = watch(graph, 0.3, HeraldConfig())
    tried = seen.made.picked.trials
    for kind, those in (
        ("landmark_trials", [trial for trial in tried if trial.rule == LANDMARKS]),
        ("trials", [trial for trial in tried if trial.rule != LANDMARKS]),
    ):
        noted = seen.noted[kind]
        assert len(noted) == len(those) * 4  # a trial has a regression for every fold
        assert {columns for _, columns, _, _ in noted} == {trial.feature_count for trial in those}
        assert {classes for *_, classes in noted} == {3}
    assert {rows for rows, *_ in seen.noted["landmark_trials"]} == {9}  # two landmarks a class, and an exemplar


def test_trials_learn_from_landmarks_too(graph, monkeypatch):
    chosen, fill = [], search.fill

    def noting(*args, **options):
        nodes = fill(*args, **options)
        chosen.extend([] if options["every_class"] else [len(nodes)])
        return nodes

    monkeypatch.setattr(search, "fill", noting)
    seen = watch(graph, 0.3, HeraldConfig())
    # In any order: candidates are tried side by side.
    assert sorted(rows for rows, *_ in seen.noted["trials"]) == sorted(exemplars + 6 for exemplars in chosen)


def test_landmarks_beside_exemplars_are_timed_as_landmarks(graph, monkeypatch):
    beside, nap, calls = Guidance.beside, 0.2, []

    def slowly(self, width):
        calls.append(width)
        time.sleep(nap)
        return beside(self, width)

    monkeypatch.setattr(Guidance, "beside", slowly)
    seen = watch(graph, 0.3, HeraldConfig())
    assert calls == [20, 10]
    assert seen.seconds["exemplars/landmarks"] >= nap * len(calls)


def test_landmarks_are_noted_with_their_systems(graph):
    """One to rank all features, then one of all nodes and one a fold for each number of features.

    Once for landmarks alone, once for those beside exemplars. What these have in common is done once: in as many
    columns as landmarks alone have at most, and again in more.
    """
    seen = watch(graph, 0.3, HeraldConfig())
    guided = [trial.feature_count for trial in seen.made.picked.trials if trial.rule == LANDMARKS]
    assert guided == [10]
    assert seen.noted["directions"] == [(3, 20), *((3, count) for count in (10, 20, 10) for _ in range(5))]
    assert seen.noted["held_out"] == [10, 20]
    assert seen.noted["factorised"] == [20, *(count for count in (10, 20) for _ in range(5))]
    assert seen.noted["remembered"] == 20
    assert seen.noted["counts"] == sorted(
        {trial.feature_count for trial in seen.made.picked.trials if trial.rule != LANDMARKS}
    )


@pytest.mark.parametrize("smallest", [1024, 20])
def test_landmarks_learn_from_the_first_compared_nodes_of_every_class(graph, smallest, monkeypatch):
    config, spread, learnt_from = HeraldConfig(smallest_pool=smallest), threads.spread, []

    def noting(backend, function, places):
        places = list(places)
        found = list(spread(backend, function, places))
        if getattr(function, "__qualname__", "") == "_add_up.<locals>.scaled":
            columns = found[0][0].shape[1]
            # Rows have length 1, but for those of zeros: their squares add up to how many they are.
            learnt_from.append((max(float((rows**2).sum()) for rows, _ in found), columns))
        return iter(found)

    monkeypatch.setattr(threads, "spread", noting)
    noted = watch(graph, 0.3, config).noted
    _, pool = noted["walk"]
    (everybody, widest), *outside = lesson_sizes(pool, noted["remembered"], noted["held_out"], config)
    assert widest == 20
    assert everybody == sum(min(size, smallest) for size in pool.sizes)
    assert (everybody < len(pool.compared)) == (smallest == 20)
    assert [width for _, width in outside] == [10] * pool.n_folds + [20] * pool.n_folds
    assert sum(nodes for nodes, _ in outside) == 2 * everybody
    assert [columns for _, columns in learnt_from] == [20, *(width for _, width in outside)]
    # Rows have length 1 in all columns: in fewer they are shorter.
    whole = [(round(most), columns) for most, columns in learnt_from if columns == 20]
    assert whole == [(everybody, 20), *outside[pool.n_folds :]]


def test_one_class_has_no_landmarks(graph):
    alone = replace(graph, labels=np.minimum(graph.labels, 0), n_classes=1)
    seen = watch(alone, 0.3, HeraldConfig())
    assert "exemplars/landmarks" not in seen.seconds
    assert set(bare_kernels(seen, alone, HeraldConfig())) == set(seen.seconds)
