"""Planned work of exemplars against counters of real runs on the CPU, and their sizes against the stages' own."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from planning.cases import EXEMPLARS

from herald_gpu import HeraldConfig, ops, search
from herald_gpu.backend import _linalg
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.errors import ConfigError
from herald_gpu.guidance import LANDMARKS
from herald_gpu.planning import plan
from herald_gpu.planning.exemplar_memory import exemplar_footprints, walk_blocks
from herald_gpu.planning.exemplar_work import exemplar_work
from herald_gpu.planning.memory import ROUNDING
from herald_gpu.stages import landmarks, trials, views

CLOSE = 0.05
"""Edges of drawn nodes, and nodes of drawn folds, are planned within this share."""
FACTOR = 2.0
"""Nodes that fit are planned within this factor, either way: what edges they bring is for the graph to say."""
LOCK = threading.Lock()
"""For counters of what is done on several threads."""


class Counted(CpuBackend):
    """The CPU backend, remembering how many exemplars it put in order."""

    def __init__(self):
        self.places, self.sums = 0, 0

    def exemplar_places(self, similarity, sizes, free, **options):
        found = super().exemplar_places(similarity, sizes, free, **options)
        with LOCK:
            self.places += int((found >= 0).sum())
            self.sums += similarity.size * free.shape[0]
        return found


def halved(size, tile):
    """Cells of a symmetric table up to the end of each tile of its rows."""
    return sum((min(size, low + tile) - low) * min(size, low + tile) for low in range(0, size, tile))


@pytest.fixture
def counters(monkeypatch):
    """Count multiply-adds of views and lessons, nodes and systems of trials, and remember what was drawn."""
    counted = dict.fromkeys(("hop", "sliced", "pairs", "blocks", "gram", "nodes", "columns"), 0)
    through, take, add, draw = views._Walk.through, views.Legs.take, views._add_products, search.draw_pool
    judge, add_up, learn = trials.judge, landmarks._add_up, landmarks.learn_directions

    def walked(self, ranked, low, high, held):
        legs, width = self.legs, high - low
        counted["hop"] += self.adjacency.nnz * width
        of_nodes = (legs.far_nodes, legs.mixed_nodes, legs.around_nodes)
        counted["sliced"] += sum(one.nnz for one in (*of_nodes, legs.mixed_held, legs.around_held)) * width
        return through(self, ranked, low, high, held)

    def taken(*given):
        with LOCK:
            counted["blocks"] += 1
        return take(*given)

    def added(backend, products, hops, sizes):
        counted["pairs"] += sum(halved(size, views.GRAM_ROWS) * rows.shape[1] for size in sizes for rows in hops)
        return add(backend, products, hops, sizes)

    def judged(backend, trial, *rest):
        with LOCK:
            counted["nodes"] += int(trial.features.shape[0])
        return judge(backend, trial, *rest)

    def added_up(backend, rows, pool, scales, nodes):
        counted["gram"] += len(landmarks.SEEN) * len(nodes) * halved(rows.own.shape[1], landmarks.GRAM_COLUMNS)
        return add_up(backend, rows, pool, scales, nodes)

    def drawn(*given, **options):
        counted["pool"] = draw(*given, **options)
        return counted["pool"]

    def learnt(*given, **options):
        found = learn(*given, **options)
        with LOCK:
            counted["columns"] += found.shape[1]
        return found

    monkeypatch.setattr(views._Walk, "through", walked)
    monkeypatch.setattr(views.Legs, "take", taken)
    monkeypatch.setattr(views, "_add_products", added)
    monkeypatch.setattr(search, "judge", judged)
    monkeypatch.setattr(landmarks, "_add_up", added_up)
    monkeypatch.setattr(landmarks, "learn_directions", learnt)
    monkeypatch.setattr(search, "draw_pool", drawn)
    return counted


@pytest.fixture
def systems(monkeypatch):
    """Count systems of trials, and columns of those that are factorised for landmarks."""
    counted = {"solves": 0, "factorised": 0}
    solve, factorise = trials._solve, _linalg.cholesky

    def solved(backend, system, right):
        with LOCK:
            counted["solves"] += 1
            counted["factorised"] -= len(system)  # counted below as well
        return solve(backend, system, right)

    def factorised(a):
        with LOCK:
            counted["factorised"] += len(a)
        return factorise(a)

    monkeypatch.setattr(trials, "_solve", solved)
    monkeypatch.setattr(_linalg, "cholesky", factorised)
    return counted


@pytest.fixture
def beside(monkeypatch):
    """Remember the features of landmarks beside exemplars, and count the landmarks in trials of exemplars."""
    counted = {"features": None, "landmarks": 0}
    learn, put_below = search.Search.learn, search.with_landmarks

    def learnt(self):
        found = learn(self)
        counted.update(features=tuple(found.beside), landmarks=0)  # trials so far were of landmarks alone
        return found

    def put(backend, rows, marks):
        with LOCK:
            counted["landmarks"] += 0 if marks is None else len(marks)
        return put_below(backend, rows, marks)

    monkeypatch.setattr(search.Search, "learn", learnt)
    monkeypatch.setattr(search, "with_landmarks", put)
    return counted


def led(planned, made):
    """Give the planned search as it goes where landmarks do best with as many features as they did in a run."""
    sizes = planned.sizes.exemplars
    guided = [trial for trial in made.picked.trials if trial.rule == LANDMARKS]
    best = max(guided, key=lambda trial: trial.score, default=None)
    return sizes.everywhere() if best is None else sizes.led_by(best.feature_count, planned.sizes.train)


@pytest.mark.parametrize("name", EXEMPLARS)
def test_work_is_that_of_a_run(name, counters, systems, beside, monkeypatch):
    case, backend = EXEMPLARS[name], Counted()
    case.cut(monkeypatch)
    made = case.run(backend, case.build(backend))
    planned = case.plan()
    sizes = led(planned, made)
    work = exemplar_work(planned.sizes, sizes)
    guided = [trial.feature_count for trial in made.picked.trials if trial.rule == LANDMARKS]
    others = [trial.feature_count for trial in made.picked.trials if trial.rule != LANDMARKS]
    assert list(sizes.widths) == guided
    assert sizes.beside == beside["features"]
    assert [option.count for option in sizes.options] == list(dict.fromkeys(others))
    seen, learning = work["exemplars/views"].counts, work["exemplars/landmarks"].counts
    assert seen["multiply_adds"] == counters["hop"]
    assert walk_blocks(planned.sizes, sizes)[0] == counters["blocks"]
    assert seen["sliced_multiply_adds"] == pytest.approx(counters["sliced"], rel=CLOSE)
    assert seen["pair_multiply_adds"] == pytest.approx(counters["pairs"], rel=CLOSE)
    assert learning["gram_multiply_adds"] == pytest.approx(counters["gram"], rel=CLOSE)
    assert learning["columns_factorised"] == systems["factorised"]
    assert learning["columns_solved"] == counters["columns"]
    pool = counters["pool"]
    assert sizes.folds == pool.n_folds
    assert sizes.held == pytest.approx(sum(pool.held_sizes), rel=CLOSE)
    assert sizes.compared == pytest.approx(sum(pool.sizes), rel=CLOSE)
    trying = work["exemplars/trials"].counts
    assert len(others) == len(set(others)) * sizes.rules
    scored = [trial.rule for trial in made.picked.trials if trial.score is not None]
    assert learning["trials"] == scored.count(LANDMARKS) == len(guided)
    assert trying["trials"] == len(scored) - len(guided)
    assert learning["solves"] + trying["solves"] == systems["solves"]
    assert trying["landmarks"] == beside["landmarks"]
    nodes = learning["nodes"] + trying["nodes"]
    assert counters["nodes"] / FACTOR <= nodes <= counters["nodes"] * FACTOR
    assert ("exemplars/places" in work) == (sizes.rules > 0)
    placing = work["exemplars/places"].counts if sizes.rules else {"sums": 0, "places": 0}
    unused = sizes.pairs if sizes.rules and made.picked.trial.rule == LANDMARKS else 0  # the best was no such choice
    assert placing["sums"] == pytest.approx(backend.sums + unused, rel=CLOSE)
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
    assert (learning["trials"], learning["columns_factorised"], learning["columns_solved"]) == (0, 100, 100)


def test_landmarks_beside_exemplars_are_made_though_nothing_is_tried():
    planned = EXEMPLARS["one number of features"].plan(config=HeraldConfig(feature_count=40, exemplar_rule="herd"))
    assert planned.stage("exemplars/trials").counts["trials"] == 0
    learning = planned.stage("exemplars/landmarks").counts
    systems = planned.sizes.exemplars.folds + 1
    assert learning["trials"] == learning["solves"] == 0
    assert learning["columns_factorised"] == learning["columns_solved"] == 100 + 40 * systems
    (option,) = planned.sizes.exemplars.options
    assert option.landmarks == 2 * 5
    assert planned.sizes.final == option.fits


@pytest.mark.parametrize(("ratio", "most"), [(0.0002, 50), (0.0003, 100), (0.0005, 200), (0.0008, 400)])
def test_landmarks_beside_exemplars_take_no_more_than_half_of_the_budget(ratio, most):
    sizes = plan(1000, 4000, 400, n_classes=5, ratio=ratio).sizes
    # Ten landmarks of a bit a feature and four bytes each, and ten directed edges of four bytes.
    taken = {count: 10 * (-(-count // 8) + 4) + 4 * 10 for count in (400, 200, 100, 50, 25, 12)}
    fitting = [count for count, size in taken.items() if 2 * size <= sizes.budget]
    assert list(sizes.exemplars.fitting) == fitting
    assert fitting[0] == most


def test_landmarks_leave_room_for_fewer_exemplars():
    for alone in plan(1000, 4000, 400, n_classes=5, ratio=0.002).sizes.exemplars.grid:
        marked = alone.marked
        assert (marked.count, marked.rows, marked.places) == (alone.count, alone.rows, alone.places)
        assert 5 <= marked.chosen.nodes - 10 < alone.chosen.nodes
        assert marked.in_trial - 10 < alone.in_trial
        assert marked.chosen.edges >= 10


def test_landmarks_go_beside_exemplars_where_a_node_of_every_class_fits():
    case = EXEMPLARS["no room beside landmarks"]
    full, ample = (case.plan(ratio=ratio).sizes.exemplars for ratio in (case.ratio, 0.003))
    assert full.beside == ample.beside == (100,)  # they are made before exemplars are priced
    assert [option.landmarks for option in (*full.options, *ample.options)] == [0, 10]


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


def test_landmarks_have_no_fewer_features_than_may_be():
    """The last step down ends at the fewest there may be, and is the last even where these do not fit."""
    tight, tighter, hopeless = (
        plan(1000, 4000, 400, n_classes=5, ratio=ratio).sizes.exemplars for ratio in (0.0003, 0.0001, 0.00001)
    )
    assert tight.refused[-1] > tight.widths[0] == 8
    assert (tighter.widths, tighter.refused[-1]) == ((), 8)
    assert (hopeless.first, hopeless.widths, hopeless.refused) == (8, (), ())
    asked = plan(1000, 4000, 400, n_classes=5, ratio=0.0003, feature_count=40).sizes.exemplars
    assert (asked.first, asked.widths, asked.refused) == (40, (), (40,))


@pytest.mark.parametrize("rule", ["cover", "herd"])
def test_a_rule_of_exemplars_tries_no_landmarks_alone_and_makes_no_links(rule):
    config = HeraldConfig(exemplar_rule=rule)
    sizes, bare = (
        plan(1000, 10_000, 64, n_classes=4, config=replace(config, landmarks=made)).sizes.exemplars
        for made in (True, False)
    )
    assert (sizes.rules, sizes.first, sizes.widths, sizes.linked) == (1, 0, (), False)
    assert sizes.factorised == (64,)
    assert sizes.beside == sizes.fitting == (64, 32, 16, 8)
    assert (bare.first, bare.fitting, bare.factorised) == (0, (), ())


def test_landmarks_only_compare_no_nodes():
    config = HeraldConfig(exemplar_rule="landmarks")
    found, both = (plan(1000, 10_000, 64, n_classes=4, ratio=0.05, config=one) for one in (config, HeraldConfig()))
    assert found.sizes.exemplars.widths == both.sizes.exemplars.widths == (32, 16, 8)
    assert found.sizes.kept == 32 < both.sizes.kept
    assert found.sizes.final.nodes == 12
    assert "exemplars/places" not in [stage.name for stage in found.stages]
    assert found.stage("exemplars/views").counts["pair_multiply_adds"] == 0
    assert "numbers of features: landmarks: 32, 16, 8;" in found.advice[0]
    assert "held out" in found.advice[0]
    none = plan(1000, 10_000, 64, n_classes=4, ratio=0.0001, config=config)
    assert (none.sizes.exemplars.widths, none.sizes.kept) == ((), 8)
    assert "landmarks: none fit;" in none.advice[0]
    with pytest.raises(ConfigError, match="n_classes=1"):
        plan(1000, 10_000, 64, n_classes=1, config=config)


def test_no_more_nodes_are_learnt_from_than_the_smallest_pool_has():
    few, many = (plan(200_000, 10**6, 16, n_classes=4, ratio=ratio).sizes.exemplars for ratio in (0.001, 0.2))
    assert (few.compared, many.compared) == (4 * 1024, 4 * 2048)
    assert few.taught == many.taught == 4 * 1024


def test_one_class_has_nothing_to_learn():
    found = plan(1000, 10_000, 64, n_classes=1)
    assert "exemplars/landmarks" not in [stage.name for stage in found.stages]
    assert found.stage("exemplars/views").counts["multiply_adds"] == 10_000 * 64
