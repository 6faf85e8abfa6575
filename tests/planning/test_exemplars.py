"""Planned work of exemplars against counters of real runs on the CPU, and their sizes against the stages' own."""

from __future__ import annotations

import numpy as np
import pytest
from planning.cases import EXEMPLARS

from herald_gpu import HeraldConfig, ops, search
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.planning import plan
from herald_gpu.planning.exemplar_memory import exemplar_footprints, walk_blocks
from herald_gpu.planning.exemplar_work import exemplar_work
from herald_gpu.planning.memory import ROUNDING
from herald_gpu.stages import landmarks, trials, views

CLOSE = 0.05
"""Edges of drawn nodes, and nodes of drawn folds, are planned within this share."""
FACTOR = 2.0
"""Nodes that fit are planned within this factor, either way: what edges they bring is for the graph to say."""


class Counted(CpuBackend):
    """The CPU backend, remembering how many exemplars it put in order."""

    def __init__(self):
        self.places, self.sums = 0, 0

    def exemplar_places(self, similarity, sizes, free, **options):
        found = super().exemplar_places(similarity, sizes, free, **options)
        self.places += int((found >= 0).sum())
        self.sums += similarity.size * free.shape[0]
        return found


@pytest.fixture
def counters(monkeypatch):
    """Count multiply-adds of views and lessons, nodes and systems of trials, and remember what was drawn."""
    counted = dict.fromkeys(("hop", "sliced", "pairs", "blocks", "gram", "nodes", "solves", "columns"), 0)
    counted["learning"] = False
    through, add, draw = views._Walk.through, views._add_products, search.draw_pool
    judge, solve = trials.judge, np.linalg.solve
    prepare, learn = landmarks.prepare_lessons, landmarks.learn_directions

    def walked(self, ranked, low, high, held):
        legs, width = self.legs, high - low
        counted["hop"] += self.adjacency.nnz * width
        of_nodes = (legs.far_nodes, legs.mixed_nodes, legs.around_nodes)
        counted["sliced"] += sum(one.nnz for one in (*of_nodes, legs.mixed_held, legs.around_held)) * width
        counted["blocks"] += 1
        return through(self, ranked, low, high, held)

    def added(backend, products, hops, sizes):
        counted["pairs"] += sum(size**2 * rows.shape[1] for size in sizes for rows in hops)
        return add(backend, products, hops, sizes)

    def judged(backend, trial, *rest):
        counted["nodes"] += int(trial.features.shape[0])
        return judge(backend, trial, *rest)

    def solved(a, b):
        counted["solves"] += 1
        counted["columns"] += len(a) if counted["learning"] else 0
        return solve(a, b)

    def prepared(backend, rows, pool):
        seen = [getattr(rows, name) for name in landmarks.SEEN]
        counted["gram"] += sum(part.shape[0] * part.shape[1] ** 2 for part in seen)
        return prepare(backend, rows, pool)

    def drawn(*given, **options):
        counted["pool"] = draw(*given, **options)
        return counted["pool"]

    def learnt(*given, **options):
        counted["learning"] = True
        found = learn(*given, **options)
        counted["learning"] = False
        return found

    monkeypatch.setattr(views._Walk, "through", walked)
    monkeypatch.setattr(views, "_add_products", added)
    monkeypatch.setattr(search, "judge", judged)
    monkeypatch.setattr(np.linalg, "solve", solved)
    monkeypatch.setattr(landmarks, "prepare_lessons", prepared)
    monkeypatch.setattr(landmarks, "learn_directions", learnt)
    monkeypatch.setattr(search, "draw_pool", drawn)
    return counted


def led(planned, made):
    """Give the planned search as it goes where landmarks do best with as many features as they did in a run."""
    sizes = planned.sizes.exemplars
    guided = [trial for trial in made.picked.trials if trial.rule == search.LANDMARKS]
    best = max(guided, key=lambda trial: trial.score, default=None)
    return sizes if best is None else sizes.led_by(best.feature_count, planned.sizes.train)


@pytest.mark.parametrize("name", EXEMPLARS)
def test_work_is_that_of_a_run(name, counters, monkeypatch):
    case, backend = EXEMPLARS[name], Counted()
    case.cut(monkeypatch)
    made = case.run(backend, case.build(backend))
    planned = case.plan()
    sizes = led(planned, made)
    work = exemplar_work(planned.sizes, sizes)
    guided = [trial.feature_count for trial in made.picked.trials if trial.rule == search.LANDMARKS]
    others = [trial.feature_count for trial in made.picked.trials if trial.rule != search.LANDMARKS]
    assert list(sizes.widths) == guided
    assert [option.count for option in sizes.options] == list(dict.fromkeys(others))
    seen, learning = work["exemplars/views"].counts, work["exemplars/landmarks"].counts
    assert seen["multiply_adds"] == counters["hop"]
    assert walk_blocks(planned.sizes, sizes)[0] == counters["blocks"]
    assert seen["sliced_multiply_adds"] == pytest.approx(counters["sliced"], rel=CLOSE)
    assert seen["pair_multiply_adds"] == pytest.approx(counters["pairs"], rel=CLOSE)
    assert learning["gram_multiply_adds"] == pytest.approx(counters["gram"], rel=CLOSE)
    assert learning["columns_solved"] == counters["columns"]
    pool = counters["pool"]
    assert sizes.folds == pool.n_folds
    assert sizes.held == pytest.approx(sum(pool.held_sizes), rel=CLOSE)
    assert sizes.compared == pytest.approx(sum(pool.sizes), rel=CLOSE)
    placing, trying = work["exemplars/places"].counts, work["exemplars/trials"].counts
    assert len(others) == len(set(others)) * sizes.rules
    assert (learning["trials"], trying["trials"]) == (len(guided), len(others))
    assert learning["solves"] + trying["solves"] == counters["solves"]
    nodes = learning["nodes"] + trying["nodes"]
    assert counters["nodes"] / FACTOR <= nodes <= counters["nodes"] * FACTOR
    assert placing["sums"] == pytest.approx(backend.sums, rel=CLOSE)
    assert backend.places / FACTOR <= placing["places"] <= backend.places * FACTOR


@pytest.mark.parametrize("name", EXEMPLARS)
def test_a_plan_has_room_and_time_for_whatever_landmarks_do_best_with(name, monkeypatch):
    EXEMPLARS[name].cut(monkeypatch)
    planned = EXEMPLARS[name].plan()
    sizes = planned.sizes
    ways = sizes.exemplars.outcomes(sizes.train)
    assert len(ways) == max(1, len(sizes.exemplars.widths))
    work, memory = ([model(sizes, way) for way in ways] for model in (exemplar_work, exemplar_footprints))
    for part in work[0]:
        stage = planned.stage(part)
        assert stage.bytes_moved == max(one[part].bytes for one in work)
        assert stage.pool_bytes == max(one[part].pool for one in memory) + ROUNDING


def test_scoring_is_counted_exactly(monkeypatch):
    case, backend, tables = EXEMPLARS["one number of features"], CpuBackend(), []
    count = ops.neighbour_classes

    def counted(given, adjacency, codes, n_classes):
        tables.append(adjacency.nnz * n_classes)
        return count(given, adjacency, codes, n_classes)

    monkeypatch.setattr(ops, "neighbour_classes", counted)
    case.run(backend, case.build(backend))
    planned = case.plan()
    scores = planned.stage("scoring").counts
    assert tables == [planned.stage("heterophily").counts["multiply_adds"], scores["table_multiply_adds"]]
    assert scores["multiply_adds"] == 1200 * 40 * 5


def test_one_number_of_features_and_one_rule_need_no_trial():
    case = EXEMPLARS["one number of features"]
    planned = case.plan(config=HeraldConfig(feature_count=40, exemplar_rule="herd", landmarks=False))
    trying = planned.stage("exemplars/trials")
    assert (trying.counts["trials"], trying.counts["solves"]) == (0, 0)
    assert not trying.estimate
    assert "nothing to try" in planned.advice[0]
    # Features are ranked all the same: by one system of all of them.
    learning = planned.stage("exemplars/landmarks").counts
    assert (learning["trials"], learning["solves"], learning["columns_solved"]) == (0, 1, 100)


def test_unequal_classes_take_more():
    even, skewed = (plan(20_000, 200_000, 64, n_classes=20, class_skew=skew) for skew in (1.0, 3.0))
    assert skewed.sizes.exemplars.pairs > even.sizes.exemplars.pairs
    assert skewed.stage("exemplars/views").pool_bytes > even.stage("exemplars/views").pool_bytes


def test_very_many_features_are_not_tried():
    sizes = plan(20_000, 200_000, 20_000, n_classes=20, density=0.01, ratio=0.02).sizes.exemplars
    assert max(option.count for option in sizes.grid) == sizes.widest == 5000
    assert (sizes.learnt, sizes.widths) == (2048, (1024, 512, 256, 128))
    assert max(option.count for option in sizes.options) == 1250


def test_landmarks_that_do_not_fit_are_made_of_fewer_features():
    sizes = EXEMPLARS["a small budget"].plan().sizes.exemplars
    assert sizes.refused[0] == 200 > sizes.widths[0]


def test_one_class_has_nothing_to_learn():
    found = plan(1000, 10_000, 64, n_classes=1)
    assert "exemplars/landmarks" not in [stage.name for stage in found.stages]
    assert found.stage("exemplars/views").counts["multiply_adds"] == 10_000 * 64
