"""Planned work of exemplars against counters of real runs on the CPU, and their sizes against the stages' own."""

from __future__ import annotations

import numpy as np
import pytest
from planning.cases import EXEMPLARS

from herald_gpu import HeraldConfig, ops, search
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.planning import plan
from herald_gpu.stages import trials, views

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
    """Count multiply-adds of views, nodes and systems of trials, and remember what was drawn."""
    counted = dict.fromkeys(("hop", "sliced", "pairs", "blocks", "nodes", "solves"), 0)
    through, judge, solve, draw = views._Walk.through, trials.judge, np.linalg.solve, search.draw_pool

    def walked(self, ranked, low, high, held):
        found, width = through(self, ranked, low, high, held), high - low
        counted["hop"] += self.adjacency.nnz * width
        counted["sliced"] += (self.legs.far_nodes.nnz + 2 * self.legs.around_held.nnz) * width
        counted["pairs"] += sum(size**2 for size in counted["pool"].sizes) * width * len(found)
        counted["blocks"] += 1
        return found

    def judged(backend, trial, *rest):
        counted["nodes"] += int(trial.features.shape[0])
        return judge(backend, trial, *rest)

    def solved(*given):
        counted["solves"] += 1
        return solve(*given)

    def drawn(*given, **options):
        counted["pool"] = draw(*given, **options)
        return counted["pool"]

    monkeypatch.setattr(views._Walk, "through", walked)
    monkeypatch.setattr(search, "judge", judged)
    monkeypatch.setattr(np.linalg, "solve", solved)
    monkeypatch.setattr(search, "draw_pool", drawn)
    return counted


@pytest.mark.parametrize("name", EXEMPLARS)
def test_work_is_that_of_a_run(name, counters, monkeypatch):
    case, backend = EXEMPLARS[name], Counted()
    if case.block:
        monkeypatch.setattr(ops, "BLOCK_ELEMENTS", case.block)
    made = case.run(backend, case.build(backend))
    planned = case.plan()
    sizes, stages = planned.sizes.exemplars, {stage.name: stage for stage in planned.stages}
    tried = list(dict.fromkeys(trial.feature_count for trial in made.picked.trials))
    assert [option.count for option in sizes.options] == tried
    seen = stages["exemplars/views"]
    assert seen.counts["multiply_adds"] == counters["hop"]
    assert seen.batches == counters["blocks"]
    assert seen.counts["sliced_multiply_adds"] == pytest.approx(counters["sliced"], rel=CLOSE)
    assert seen.counts["pair_multiply_adds"] == pytest.approx(counters["pairs"], rel=CLOSE)
    pool = counters["pool"]
    assert sizes.folds == pool.n_folds
    assert sizes.held == pytest.approx(sum(pool.held_sizes), rel=CLOSE)
    assert sizes.compared == pytest.approx(sum(pool.sizes), rel=CLOSE)
    placing, trying = stages["exemplars/places"].counts, stages["exemplars/trials"].counts
    assert len(made.picked.trials) == len(tried) * sizes.rules
    assert trying["trials"] == len(made.picked.trials)
    assert trying["solves"] == counters["solves"]
    assert counters["nodes"] / FACTOR <= trying["nodes"] <= counters["nodes"] * FACTOR
    assert placing["sums"] == pytest.approx(backend.sums, rel=CLOSE)
    assert backend.places / FACTOR <= placing["places"] <= backend.places * FACTOR


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
    planned = case.plan(config=HeraldConfig(feature_count=40, exemplar_rule="herd"))
    trying = planned.stage("exemplars/trials")
    assert (trying.counts["trials"], trying.counts["solves"]) == (0, 0)
    assert not trying.estimate
    assert "nothing to try" in planned.advice[0]


def test_unequal_classes_take_more():
    even, skewed = (plan(20_000, 200_000, 64, n_classes=20, class_skew=skew) for skew in (1.0, 3.0))
    assert skewed.sizes.exemplars.pairs > even.sizes.exemplars.pairs
    assert skewed.stage("exemplars/views").pool_bytes > even.stage("exemplars/views").pool_bytes


def test_very_many_features_are_not_tried():
    found = plan(20_000, 200_000, 20_000, n_classes=20, density=0.01, ratio=0.5)
    assert max(option.count for option in found.sizes.exemplars.options) == 5000
