"""Graphs in files: ids, training marks and labels that are not what they seem, in the words of the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import herald_gpu
from herald_gpu.cli import main
from herald_gpu.datasets import make_graph

N = 120
GRAPH = make_graph(N, n_classes=3, n_features=6, homophily=0.7, seed=3)
EDGES, NODES = GRAPH.to_frames()
SHUFFLED = NODES.sample(frac=1, random_state=0).reset_index(drop=True)
RATIO = ["--ratio", "0.3", "--backend", "cpu"]


@pytest.fixture(params=["csv", "parquet"])
def written(request, tmp_path, monkeypatch):
    """Write tables to files where we stand; gives the options that name them."""
    monkeypatch.chdir(tmp_path)

    def write(nodes, edges=EDGES):
        for name, table in (("edges", edges), ("nodes", nodes)):
            path = tmp_path / f"{name}.{request.param}"
            table.to_csv(path, index=False) if request.param == "csv" else table.to_parquet(path, index=False)
        return ["--edges", f"edges.{request.param}", "--features", f"nodes.{request.param}"]

    return write


def condensed(*options):
    """Condense, and give the result."""
    assert main(["condense", *options, *RATIO, "--quiet", "--output", "small.herald", "--force"]) == 0
    return herald_gpu.CondensedGraph.load("small.herald")


def refused(capsys, *options, command="condense"):
    """Give what is said of options that are refused, in one line."""
    assert main([command, *options, *([] if command == "evaluate" else RATIO)]) in (1, 2)
    (line,) = capsys.readouterr().err.splitlines()
    assert "=" not in line.replace("node='", "").replace("drop=[", "")  # no arguments of Python
    return line


def same(one, other):
    pd.testing.assert_frame_equal(one.features, other.features)
    pd.testing.assert_frame_equal(one.edges, other.edges)


def expected():
    return herald_gpu.condense(EDGES, NODES, ratio=0.3, backend="cpu")


# Ids


@pytest.mark.parametrize("command", ["condense", "evaluate"])
def test_ids_in_another_column(written, capsys, command):
    paths = written(SHUFFLED.rename(columns={"node": "id"}))
    line = refused(capsys, *paths, command=command)
    assert "--features has no column 'node', but its column 'id' looks like node ids" in line
    assert "pass --node 'id' if it holds the ids" in line
    assert "or --number-rows if rows are numbered from 0 to 119" in line


def test_ids_in_another_column_that_is_named(written):
    small = condensed(*written(SHUFFLED.rename(columns={"node": "id"})), "--node", "id")
    same(small, expected_named("id"))


def expected_named(name):
    return herald_gpu.condense(EDGES, NODES.rename(columns={"node": name}), node=name, ratio=0.3, backend="cpu")


def test_rows_that_are_numbered(written, capsys):
    paths = written(NODES.drop(columns="node"))
    same(condensed(*paths), expected())
    note = "the table of nodes has no column 'node': rows are numbered from 0 and these numbers are the node ids"
    assert capsys.readouterr().err.splitlines() == [f"herald: warning: {note}"]
    same(condensed(*paths, "--number-rows"), expected())
    assert capsys.readouterr().err == ""


def test_stored_row_numbers(written, capsys):
    numbered = SHUFFLED.reset_index().rename(columns={"index": "Unnamed: 0"})
    same(condensed(*written(numbered)), expected())
    assert "columns ['Unnamed: 0'] are not used as features" in capsys.readouterr().err


def test_a_column_and_no_column_at_once(written, capsys):
    line = refused(capsys, *written(NODES), "--node", "id", "--number-rows")
    assert "--number-rows says that no column holds ids, but --node id names one: leave one of them out" in line


@pytest.mark.parametrize("options", [[], ["--split", "3"]], ids=["marks", "drawn"])
def test_numbered_rows_are_evaluated(written, capsys, options):
    nodes = NODES.drop(columns=["node", "train"] if options else "node")
    paths = [*written(nodes), "--number-rows", *options]
    condensed(*paths)
    quick = ["--models", "GCN", "--seeds", "1", "--epochs", "2", "--hidden", "4", "--device", "cpu", "--json"]
    assert main(["evaluate", "small.herald", *paths, *quick]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]


def test_edges_beyond_the_rows_of_an_archive(tmp_path, capsys):
    path = tmp_path / "graph.npz"
    every = np.stack([np.arange(N), np.roll(np.arange(N), 1)]) + 1
    np.savez(path, edge_index=every, x=GRAPH.features, y=GRAPH.labels)
    line = refused(capsys, "--data", str(path))
    assert "an array of 120 rows, so that ids are the row numbers 0 to 119, but edges name nodes from 1 to 120" in line
    assert "if ids count from 1, subtract 1 from edges" in line


# Training marks


@pytest.mark.parametrize(
    ("yes", "no", "how"), [(1, 0, "0/1"), ("Yes", "No", "yes/no"), ("train", "unused", "words"), ("Y", "n", "y/n")]
)
def test_training_marks_are_read(written, capsys, yes, no, how):
    paths = written(NODES.assign(train=np.where(GRAPH.train, yes, no)))
    same(condensed(*paths), expected())
    (line,) = capsys.readouterr().err.splitlines()
    assert f"column 'train' is read as {how}: {GRAPH.train.sum()}" in line


@pytest.mark.parametrize("command", ["condense", "evaluate"])
def test_training_marks_that_are_not_understood(written, capsys, command):
    line = refused(capsys, *written(NODES.assign(train=np.arange(N) % 3)), command=command)
    assert "--features column 'train' has the values [0, 1, 2], which do not say which nodes are for training" in line
    assert "astype" not in line


def test_missing_training_marks(written, capsys):
    marks = NODES["train"].astype(object).where(NODES.index > 2, None)
    assert "column 'train' has 3 missing values: write false, 0 or no there" in refused(
        capsys, *written(NODES.assign(train=marks))
    )


def test_a_training_column_that_is_not_there(written, capsys):
    line = refused(capsys, *written(NODES), "--train-column", "use")
    assert line.endswith("--features has no column 'use': correct --train-column")


def test_no_labels(written, capsys):
    line = refused(capsys, *written(NODES.drop(columns="label")))
    assert line.endswith("no labels: name the label column of --features with --label (there is no 'label')")


def test_masks_of_an_archive_that_are_none(tmp_path, capsys):
    path, parts = tmp_path / "graph.npz", np.where(GRAPH.train, "train", "test")
    np.savez(path, edge_index=GRAPH.edge_index, x=GRAPH.features, y=GRAPH.labels, train_mask=parts)
    assert "has the values 'test', 'train': store booleans, or zeros and ones" in refused(capsys, "--data", str(path))


# Labels


def test_a_label_that_means_unknown(written, capsys):
    paths = written(NODES.drop(columns="train").assign(label=np.where(GRAPH.labels > 0, 1, -1)))
    line = refused(capsys, *paths)
    assert "has one class only among training nodes" in line
    assert "nodes have the label -1, which means unlabelled: pass --unlabelled None if it is a class" in line
    assert list(condensed(*paths, "--unlabelled", "None").report.class_counts) == [-1, 1]


def test_nodes_without_a_label_are_counted(written, capsys):
    paths = written(NODES.drop(columns="train").assign(label=np.where(GRAPH.train, GRAPH.labels, -1)))
    condensed(*paths)
    n = int((~GRAPH.train).sum())
    assert capsys.readouterr().err.splitlines() == [
        f"herald: warning: {n} nodes have the label -1 and count as unlabelled"
    ]


# Notes are told once


@pytest.mark.parametrize("options", [[], ["--quiet"], ["--json"]], ids=["summary", "quiet", "json"])
def test_notes_are_told_once(written, capsys, options):
    assert main(["condense", *written(NODES.drop(columns="node")), *RATIO, *options]) == 0
    said, told = capsys.readouterr()
    shown = said if not options else told
    assert (told if not options else said).count("rows are numbered") == ("--json" in options)
    assert shown.count("rows are numbered from 0") == 1
