"""Evaluation from the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import torch

import herald_gpu
from herald_gpu.cli import main
from herald_gpu.datasets import make_graph, paper_split
from herald_gpu.evaluate import Training, evaluate, summarise

N = 240
QUICK = ["--seeds", "2", "--epochs", "8", "--hidden", "16", "--models", "GCN", "GIN", "--device", "cpu"]
TRAINING = Training(epochs=8, hidden=16)


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def graph():
    return make_graph(N, n_classes=3, n_features=12, homophily=0.7, seed=3)


@pytest.fixture(scope="module")
def small(graph):
    train = paper_split(N).train
    return herald_gpu.condense(graph.edge_index, graph.features, graph.labels, train, ratio=0.2, backend="cpu")


@pytest.fixture(scope="module")
def files(graph, small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluate")
    split = paper_split(N, draw_seed=3)
    masks = {"train_mask": split.train, "val_mask": split.validation, "test_mask": split.test}
    arrays = {"edge_index": graph.edge_index, "x": graph.features, "y": graph.labels, **masks}
    np.savez(folder / "graph.npz", **arrays)
    small.save(folder / "small.herald")
    return folder


def told(capsys, *arguments):
    assert main(["evaluate", *arguments]) == 0
    return capsys.readouterr().out


def test_figures_are_those_of_evaluate(files, small, graph, capsys):
    csv = files / "rows.csv"
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz")]
    found = json.loads(told(capsys, *paths, *QUICK, "--json", "--csv", str(csv)))
    wanted = evaluate(
        small, graph, split=paper_split(N), models=["GCN", "GIN"], seeds=2, training=TRAINING, device="cpu"
    )
    rows = pd.DataFrame(found["rows"])
    pd.testing.assert_frame_equal(rows.drop(columns="seconds"), wanted.drop(columns="seconds"))
    pd.testing.assert_frame_equal(pd.DataFrame(found["summary"]), summarise(wanted))
    assert pd.read_csv(csv)["accuracy"].tolist() == pytest.approx(rows["accuracy"].tolist())


def test_the_table(files, small, capsys):
    out = told(
        capsys, str(files / "small.herald"), "--data", str(files / "graph.npz"), *QUICK, "--variant", "published"
    )
    lines = out.splitlines()
    assert lines[0].startswith(f"trained on {small.report.n_nodes} nodes, {small.report.n_edges} directed edges")
    assert lines[0].endswith("% of the storage")
    assert [line.split()[0] for line in lines[1:]] == ["model", "GCN", "GIN"]
    assert all("±" in line for line in lines[2:])


def test_the_full_graph_by_name_and_options(files, graph, capsys, monkeypatch):
    monkeypatch.setenv("HERALD_DATA", str(files))
    options = ["--split", "source", "--last", "--lr", "0.01", "--weight-decay", "0", "--graph-as", "stored", "--scaled"]
    found = json.loads(told(capsys, "--data", "graph", *QUICK, *options, "--json"))["rows"]
    training = Training(epochs=8, hidden=16, lr=0.01, weight_decay=0, best_validation=False)
    wanted = evaluate(
        None,
        graph,
        split=paper_split(N, draw_seed=3),
        models=["GCN", "GIN"],
        seeds=2,
        training=training,
        graph_as="stored",
        scaled=True,
        device="cpu",
    )
    assert [row["accuracy"] for row in found] == pytest.approx(wanted["accuracy"].tolist())
    assert {row["epoch"] for row in found} == {8}


def test_masks_of_an_archive(files, graph, capsys):
    found = json.loads(told(capsys, "--data", str(files / "graph.npz"), *QUICK, "--split", "source", "--json"))["rows"]
    options = {"models": ["GCN", "GIN"], "seeds": 2, "training": TRAINING, "device": "cpu"}
    wanted = evaluate(None, graph, split=paper_split(N, draw_seed=3), **options)
    assert [row["accuracy"] for row in found] == pytest.approx(wanted["accuracy"].tolist())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--models", "MLP"], 2, "models=['MLP'] is not valid"),
        (["--epochs", "0"], 2, "epochs=0 is not valid"),
        (["--seeds", "0"], 2, "seeds=0 is not valid"),
        (["--split", "5"], 1, "outside the training set"),
        (["--scaled"], 2, "scaled=True is for the full graph only"),
    ],
)
def test_errors_are_told_in_one_line(files, capsys, options, code, message):
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz")]
    assert main(["evaluate", *paths, *options]) == code
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_missing_file_is_told(files, capsys):
    assert main(["evaluate", str(files / "none.herald"), "--data", str(files / "graph.npz")]) == 1
    assert "none.herald" in capsys.readouterr().err
