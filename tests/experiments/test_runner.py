"""Running a grid: only what is missing, and whatever stops it loses little."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import pandas as pd
import pytest

from herald_gpu.errors import InputError
from herald_gpu.experiments import runner
from herald_gpu.experiments.grids import Grid
from herald_gpu.experiments.runner import Tally, run
from herald_gpu.experiments.store import Store

DESCRIBED = Grid("described", "", ("tiny",), (("random", "true"), ("herald", "published")), ratios=(0.3,), models=())
TRAINED = Grid(
    "trained",
    "",
    ("tiny",),
    (("full", "true"), ("random", "true")),
    ratios=(1e-5, 0.3),
    models=("GCN", "GIN"),
    seeds=2,
    training={"epochs": 2, "hidden": 4},
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results" / "rows.csv")


@pytest.fixture
def models(monkeypatch):
    """Stand in for training: accuracies are numbered, and calls recorded."""
    calls = []

    def train(grid, made, graph, cells):  # noqa: ARG001
        calls.append([cell.key for cell in cells])
        taken = dict.fromkeys((*runner.TAKEN, "train_seconds"), 0.0) | {"status": "ok", "accuracy": float(len(calls))}
        return [(cell, taken | made.facts) for cell in cells]

    monkeypatch.setattr(runner, "_train", train)
    return calls


@pytest.mark.usefixtures("tiny")
def test_condensed_graphs_alone(store):
    assert run(DESCRIBED, store) == Tally(done=2)
    assert store.frame["status"].tolist() == ["ok", "ok"]
    assert store.frame["model"].tolist() == ["", ""]
    assert store.frame["n_nodes"].min() > 0


@pytest.mark.usefixtures("tiny")
def test_what_is_there_is_not_run_again(store, monkeypatch):
    run(DESCRIBED, store, methods=["random"])
    made = []
    real = runner.make
    monkeypatch.setattr(runner, "make", lambda of, *rest: made.append(of.method) or real(of, *rest))
    assert run(DESCRIBED, Store(store.path)) == Tally(done=1, there=1)
    assert made == ["herald"]
    monkeypatch.setattr(runner.graphs, "load", None)  # with nothing to do, not even the graph is read
    assert run(DESCRIBED, Store(store.path)) == Tally(there=2)


@pytest.mark.usefixtures("tiny")
def test_ratios_that_cannot_be_kept_are_marked(store, models):
    assert run(TRAINED, store) == Tally(done=8, infeasible=4)
    marked = store.frame[store.frame["status"] == "infeasible"]
    assert set(marked["ratio"]) == {1e-5}
    assert (marked["smallest_ratio"] > 1e-5).all()
    assert len(models) == 4
    assert run(TRAINED, Store(store.path)) == Tally(there=12)


@pytest.mark.usefixtures("tiny")
def test_a_run_that_is_stopped_goes_on(store, models, monkeypatch):
    real = runner._train

    def stopped(grid, made, graph, cells):
        if len(models) == 1:
            raise KeyboardInterrupt
        return real(grid, made, graph, cells)

    monkeypatch.setattr(runner, "_train", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(TRAINED, store)
    assert len(Store(store.path)) == 2  # both seeds of the first model
    monkeypatch.setattr(runner, "_train", real)
    assert run(TRAINED, Store(store.path)) == Tally(done=6, infeasible=4, there=2)
    keys = [key for call in models for key in call]
    assert len(set(keys)) == len(keys) == 8


@pytest.mark.usefixtures("tiny", "models")
def test_more_seeds_add_to_fewer(store):
    run(TRAINED, store, methods=["full"], seeds=1)
    assert run(TRAINED, store, methods=["full"], seeds=2) == Tally(done=2, there=2)
    assert sorted(store.frame["seed"]) == [0, 0, 1, 1]


@pytest.mark.usefixtures("tiny")
def test_graphs_that_are_not_here_are_left_out(store, caplog):
    with caplog.at_level(logging.WARNING, "herald_gpu"):
        tally = run(DESCRIBED, store, datasets=["cora", "tiny"])
    assert tally == Tally(done=2, without_data=2)
    assert [record.getMessage().startswith("cora is left out") for record in caplog.records] == [True]
    assert set(store.frame["dataset"]) == {"tiny"}


@pytest.mark.usefixtures("tiny")
def test_a_failure_does_not_stop_the_others(store, monkeypatch, caplog):
    real = runner.make

    def failing(of, *rest):
        if of.method == "random":
            msg = "no such luck"
            raise InputError(msg)
        return real(of, *rest)

    monkeypatch.setattr(runner, "make", failing)
    assert run(DESCRIBED, store) == Tally(done=1, failed=1)
    assert "tiny random true r=0.3 failed: no such luck" in caplog.text
    assert set(store.frame["method"]) == {"herald"}


@pytest.mark.usefixtures("tiny")
def test_warnings_of_condensers_are_kept_back(store, caplog):
    with caplog.at_level(logging.WARNING, "herald_gpu"):
        run(DESCRIBED, store)
    assert caplog.text == ""
    store.path.unlink()
    with caplog.at_level(logging.INFO, "herald_gpu"):
        run(DESCRIBED, Store(store.path))
    assert "tiny herald published r=0.3: 1 cells" in caplog.text
    assert "reads the labels of all nodes" in caplog.text


@pytest.mark.usefixtures("tiny")
def test_models_are_trained_and_tested(store):
    pytest.importorskip("torch")
    assert run(TRAINED, store, ratios=[0.3]) == Tally(done=8)
    read = Store(store.path).frame
    assert read["accuracy"].between(0, 100).all()
    assert (read["train_seconds"] > 0).all()
    assert read["epoch"].between(0, 2).all()
    full = read[read["method"] == "full"]
    assert set(full["n_nodes"]) == {150}
    assert set(full["storage_ratio"]) == {1.0}
    assert (read[read["method"] == "random"]["storage_ratio"] <= 0.3).all()
    assert not any(math.isnan(value) for value in pd.to_numeric(read["validation"]))


def test_the_tally_is_told():
    assert str(Tally(done=3, infeasible=1)) == "3 run, 1 below the smallest feasible ratio"
    assert str(Tally()) == "nothing to do"


@pytest.mark.usefixtures("tiny")
def test_equal_graphs_are_trained_on_once(store, models):
    """Two ratios above what all training nodes take give the same graph."""
    loose = replace(TRAINED, methods=(("random", "true"),), ratios=(0.9, 1.0), models=("GCN",))
    assert run(loose, store) == Tally(done=4)
    assert len(models) == 1
    by_ratio = store.frame.groupby("ratio")["accuracy"].agg(list).tolist()
    assert by_ratio[0] == by_ratio[1]
    assert len(set(store.frame["fingerprint"])) == 1
    assert store.frame["storage_ratio"].max() <= 0.9


@pytest.mark.usefixtures("tiny")
def test_different_graphs_are_told_apart(store, models):
    run(replace(TRAINED, methods=(("random", "true"),), ratios=(0.2, 0.3), models=("GCN",)), store)
    assert len(models) == 2
    assert len(set(store.frame["fingerprint"])) == 2
