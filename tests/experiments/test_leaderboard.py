"""The leaderboard: variants are chosen on validation nodes, then measured over splits and seeds."""

from __future__ import annotations

import pandas as pd
import pytest
from support.results import frame, infeasible, row

from herald_gpu import baselines
from herald_gpu.errors import ConfigError
from herald_gpu.experiments import leaderboard, runner
from herald_gpu.experiments.cells import Condensation
from herald_gpu.experiments.condensers import HERALD, make
from herald_gpu.experiments.graphs import load
from herald_gpu.experiments.grids import GRIDS, MODELS, Grid, variants
from herald_gpu.experiments.leaderboard import choice, measured, run
from herald_gpu.experiments.store import Store

BOARD = Grid(
    "board",
    "",
    ("tiny",),
    (("herald-default", "true"), ("random", "true"), ("full", "true")),
    ratios=(0.3,),
    models=("GCN", "GIN"),
    seeds=2,
    training={"epochs": 2, "hidden": 4},
    splits=("paper", "1"),
    variants={"random": {"all": {}, "few": {"features": "fisher", "feature_count": 4}}},
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "rows.csv")


@pytest.fixture
def trained(monkeypatch):
    """Stand in for training: with few features validation is better, and every call is recorded."""
    calls = []

    def train(grid, made, graph, cells):  # noqa: ARG001
        calls.append((cells[0].of, [cell.model for cell in cells], graph.train.copy()))
        better = 2.0 if cells[0].of.change == "few" else 1.0
        facts = dict.fromkeys((*runner.TAKEN, "train_seconds"), 0.0) | {"status": "ok", "validation": better}
        return [(cell, facts | made.facts) for cell in cells]

    monkeypatch.setattr(runner, "_train", train)
    return calls


@pytest.mark.usefixtures("tiny")
def test_the_best_variant_is_measured_on_every_split(store, trained):
    tally = run(BOARD, store)
    rows = store.frame
    random = rows[rows["method"] == "random"]
    assert (random["change"] == "all").sum() == 1  # the cell that it was tried in
    few = random[random["change"] == "few"]
    assert set(zip(few["split"], few["model"], few["seed"], strict=True)) == {
        (split, model, seed) for split in ("paper", "1") for model in ("GCN", "GIN") for seed in (0, 1)
    }
    ours = rows[rows["method"] == "herald-default"]
    assert len(ours) == 8
    assert set(ours["change"]) == {""}
    assert tally.done == len(rows)
    masks = {of.split: mask.tobytes() for of, _, mask in trained}
    assert masks["paper"] != masks["1"]


@pytest.mark.usefixtures("tiny")
def test_the_whole_graph_is_trained_on_once(store, trained):
    run(BOARD, store)
    whole = [of for of, _, _ in trained if of.method == "full"]
    assert {of.split for of in whole} == {"paper"}
    assert len(store.frame[store.frame["method"] == "full"]) == 2  # two models, one initialisation


@pytest.mark.usefixtures("tiny")
def test_it_goes_on_where_it_was(store, trained):
    run(BOARD, store, splits=1)
    before = len(trained)
    again = run(BOARD, Store(store.path), splits=1)
    assert len(trained) == before
    assert again.done == 0
    run(BOARD, Store(store.path))
    assert {of.split for of, _, _ in trained[before:]} == {"1"}


def test_narrowed_down(store, trained, tiny):  # noqa: ARG001 - the graph is there
    run(BOARD, store, methods=["herald-default"], models=["GIN"], seeds=1, splits=1, ratios=[0.4])
    assert [(of.method, of.ratio, models) for of, models, _ in trained] == [("herald-default", 0.4, ["GIN"])]


@pytest.mark.parametrize("option", ["columns", "changes"])
def test_what_it_does_not_have(store, option):
    with pytest.raises(ConfigError, match=option):
        run(BOARD, store, **{option: ["true"]})


@pytest.mark.usefixtures("tiny")
def test_a_graph_that_is_not_there_is_left_out(store, trained, caplog):
    run(BOARD, store, datasets=["cora"])
    assert trained == []
    assert "cora is left out" in caplog.text


def test_choice():
    rows = frame(
        row(method="random", change="a", validation=50.0),
        row(method="random", change="b", validation=60.0),
        row(method="random", change="c", validation=60.0),
        row(method="random", change="d", validation=99.0, model="GAT"),
        row(method="random", change="d", validation=99.0, seed=1),
        row(method="random", change="d", validation=99.0, split="1"),
        row(method="random", change="d", validation=99.0, ratio=0.03),
        infeasible(method="random", change="d"),
    )
    options: dict[str, dict] = {key: {} for key in "abcd"}
    assert choice(rows, "cora", "random", 0.01, options) == "b"
    assert choice(rows, "cora", "random", 0.005, options) is None
    assert choice(rows, "cora", "herald-default", 0.01, {"": {}}) == ""
    assert choice(pd.DataFrame(), "cora", "random", 0.01, options) is None


def test_what_was_measured():
    rows = frame(
        row(method="herald-default", validation=1.0),
        row(method="random", change="tree, induced", validation=3.0),
        row(method="random", change="all, induced", validation=2.0),
        row(method="full", ratio=1.0, validation=4.0),
    )
    assert set(measured(rows, GRIDS["leaderboard"])) == {
        ("cora", "herald-default", 0.01, ""),
        ("cora", "random", 0.01, "tree, induced"),
        ("cora", "full", 1.0, ""),
    }


def test_variants_have_our_storage_types():
    made = variants()
    assert set(made) == {name for name, _ in GRIDS["leaderboard"].methods} - {"herald-default", "full"}
    for options in made.values():
        assert all(option["encoding"] == "auto" for option in options.values())
    picked = {(option["features"], option["links"]) for option in made["herding"].values()}
    assert picked == {(f, e) for f in ("all", "tree", "fisher") for e in ("induced", "expanded")}
    assert GRIDS["leaderboard"].models == MODELS
    assert leaderboard.CHOOSER in MODELS


@pytest.mark.parametrize("method", [name for name in variants() if name not in HERALD])
def test_every_variant_is_a_choice_of_its_own(method, tiny, monkeypatch):  # noqa: ARG001 - the graph is there
    """What a method has elsewhere, where nothing is asked for, does not mix with what a variant asks for."""
    asked, run = [], baselines.run

    def noted(name, *given, ratio, backend, **options):
        asked.append(options)
        return run(name, *given, ratio=ratio, backend=backend, **options)

    monkeypatch.setattr(baselines, "run", noted)
    graph = load("tiny")
    for name, options in variants()[method].items():
        made = make(Condensation("tiny", method, "true", 0.5, name), graph, options)
        assert made.facts["storage_ratio"] <= 0.5
    assert asked == list(variants()[method].values())
