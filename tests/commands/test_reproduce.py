"""``herald reproduce``."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from herald_gpu.cli import main
from herald_gpu.datasets import make_graph
from herald_gpu.experiments import runner, timing
from herald_gpu.experiments.reproduce import NAMES

PART = ["--datasets", "Tiny", "--methods", "herald", "random", "--ratios", "0.3"]


@pytest.fixture
def out(tmp_path, monkeypatch):
    """Hold one small graph, no way to the network, and a folder for results."""
    made = make_graph(150, n_classes=3, n_features=12, mean_degree=4, seed=3)
    np.savez(tmp_path / "tiny.npz", edge_index=made.edge_index, x=made.features, y=made.labels)
    monkeypatch.setenv("HERALD_DATA", str(tmp_path))
    monkeypatch.setenv("HERALD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HERALD_OFFLINE", "1")
    return tmp_path / "out"


@pytest.fixture
def _untrained(monkeypatch):
    def train(grid, made, graph, cells):  # noqa: ARG001
        return [(cell, made.facts | {"status": "ok", "accuracy": 50.0 + cell.seed}) for cell in cells]

    monkeypatch.setattr(runner, "_train", train)


def reproduce(out, *options):
    return main(["reproduce", *options, "--output", str(out)])


@pytest.mark.usefixtures("_untrained")
def test_a_part_is_run_and_told(out, capsys):
    options = ["accuracy", *PART, "--models", "GCN", "--seeds", "2", "--columns", "true"]
    assert reproduce(out, *options) == 0
    told, errors = capsys.readouterr()
    assert told.splitlines()[:2] == ["accuracy: 4 run", f"  {out / 'accuracy.md'}"]
    assert all(line.startswith("herald: info: ") for line in errors.splitlines())
    rows = pd.read_csv(out / "data" / "accuracy.csv")
    assert sorted(zip(rows["method"], rows["seed"], strict=True)) == [
        ("herald", 0), ("herald", 1), ("random", 0), ("random", 1),
    ]  # fmt: skip
    assert set(rows["dataset"]) == {"tiny"}
    assert reproduce(out, *options) == 0
    assert capsys.readouterr().out.startswith("accuracy: 4 there already")


@pytest.mark.usefixtures("_untrained")
def test_every_graph_and_model_is_told(out, capsys):
    options = [*PART, "--models", "GCN", "--seeds", "2", "--columns", "true"]
    assert reproduce(out, "accuracy", *options) == 0
    errors = capsys.readouterr().err
    assert "herald: info: tiny random true r=0.3: 2 cells" in errors
    assert "herald: info: tiny herald true r=0.3 GCN: 50.00, 51.00" in errors


def test_changes_and_parquet(out):
    assert reproduce(out, "large-scale", *PART, "--changes", "pca", "--models", "GCN", "--render-only") == 0
    assert not (out / "data").exists()
    assert reproduce(out, "statistics", *PART[:2], "--methods", "herald", "--ratios", "0.3", "--parquet") == 0
    assert len(pd.read_parquet(out / "data" / "statistics.parquet")) == 2


def test_an_interrupted_run_says_where_its_rows_are(out, capsys, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "make", stopped)
    assert reproduce(out, "statistics", *PART[:2]) == 130
    assert str(out / "data") in capsys.readouterr().err


def test_the_sizes_of_complexity(out, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(timing, "time_stages", lambda sizes, seed: seen.append((sizes, seed)) or {"tree": 0.1})
    assert reproduce(out, "complexity", "--sizes", "nodes=300,600", "features=4", "--repeats", "1") == 0
    assert capsys.readouterr().out.startswith("complexity: 3 run")
    assert [sizes["nodes"] for sizes, _ in seen[1:]] == [300, 600, timing.BASE["nodes"]]


@pytest.mark.usefixtures("_untrained")
def test_all_takes_what_each_experiment_has(out, capsys, monkeypatch):
    monkeypatch.setattr(timing, "time_stages", lambda sizes, seed: {"tree": 0.1})  # noqa: ARG005
    assert reproduce(out, "all", "--datasets", "cora", "--seeds", "1", "--repeats", "1") == 0
    told, errors = capsys.readouterr()
    heads = [line.partition(":")[0] for line in told.splitlines() if not line.startswith(" ")]
    assert heads == ["accuracy", "sensitivity", "statistics", "complexity", "comparison", "agreement", "leaderboard"]
    assert "without their data" in told
    assert "cora is left out" in errors


def test_the_list(capsys):
    assert main(["reproduce", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*NAMES, "all"]
    assert "480 cells" in lines[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "no experiment was named"),
        (["acuracy"], "'acuracy' is no experiment"),
        (["accuracy", "--datasets", "corra"], "corra"),
        (["accuracy", "--datasets", "reddit-like-7"], "reddit-like-1"),
        (["accuracy", "--methods", "cgc"], "methods: cgc"),
        (["accuracy", "--seeds", "0"], "--seeds 0"),
        (["leaderboard", "--splits", "4"], "--splits 4: leaderboard has 3"),
        (["accuracy", "--splits", "2"], "--splits 2: accuracy has 1"),
        (["accuracy", "--ratios", "2"], "ratios: 2.0"),
        (["accuracy", "--repeats", "2"], "belong to complexity"),
        (["complexity", "--models", "GCN"], "models does not belong to complexity"),
        (["complexity", "--sizes", "nodes"], "--sizes nodes"),
        (["complexity", "--sizes", "nodes=ten"], "--sizes nodes=ten"),
        (["complexity", "--sizes", "classes=3"], "classes"),
        (["complexity", "--repeats", "0"], "--repeats 0"),
    ],
)
def test_what_makes_no_sense(out, capsys, options, said):
    assert reproduce(out, *options) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()
