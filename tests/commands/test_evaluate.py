"""Evaluation from the command line."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

import herald_gpu
from herald_gpu.cli import main
from herald_gpu.datasets import make_graph, paper_split, random_split
from herald_gpu.datasets.splits import rest_split
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
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz"), "--split", "paper"]
    found = json.loads(told(capsys, *paths, *QUICK, "--json", "--csv", str(csv)))
    wanted = evaluate(
        small, graph, split=paper_split(N), models=["GCN", "GIN"], seeds=2, training=TRAINING, device="cpu"
    )
    rows = pd.DataFrame(found["rows"])
    pd.testing.assert_frame_equal(rows.drop(columns="seconds"), wanted.drop(columns="seconds"))
    pd.testing.assert_frame_equal(pd.DataFrame(found["summary"]), summarise(wanted))
    assert pd.read_csv(csv)["accuracy"].tolist() == pytest.approx(rows["accuracy"].tolist())


def test_the_table(files, small, capsys):
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz"), "--split", "paper"]
    out = told(capsys, *paths, *QUICK, "--variant", "published")
    lines = out.splitlines()
    assert lines[0].startswith(f"trained on {small.report.n_nodes} nodes, {small.report.n_edges} directed edges")
    assert lines[0].endswith("% of the storage")
    assert [line.split()[0] for line in lines[1:]] == ["model", "GCN", "GIN"]
    assert all("±" in line for line in lines[2:])


def test_the_full_graph_beside_the_condensed_one(files, small, graph, capsys):
    csv = files / "both.csv"
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz"), "--split", "paper"]
    found = json.loads(told(capsys, *paths, *QUICK, "--with-full", "--json", "--csv", str(csv)))
    options = {"models": ["GCN", "GIN"], "seeds": 2, "training": TRAINING, "device": "cpu", "split": paper_split(N)}
    ours, full = evaluate(small, graph, **options), evaluate(None, graph, **options)
    wanted = pd.concat([ours, full], ignore_index=True)
    pd.testing.assert_frame_equal(pd.DataFrame(found["rows"]).drop(columns="seconds"), wanted.drop(columns="seconds"))
    assert pd.read_csv(csv)["trained_on"].tolist() == ["condensed"] * 4 + ["full"] * 4
    for line, one, other in zip(found["summary"], *(summarise(r)["mean"] for r in (ours, full)), strict=True):
        assert (line["mean"], line["full"]) == pytest.approx((one, other))
        assert line["share"] == pytest.approx(100 * one / other)
    lines = told(capsys, *paths, *QUICK, "--with-full").splitlines()
    assert lines[1].endswith(": the full graph")
    assert lines[2].split() == ["model", "condensed", "full", "share", "validation", "seconds"]
    assert [line.count("±") for line in lines[3:]] == [2, 2]


def test_only_the_full_graph_is_scaled_beside_a_condensed_one(files, graph, capsys):
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz"), "--split", "paper"]
    found = json.loads(told(capsys, *paths, *QUICK, "--with-full", "--scaled", "--json"))["rows"]
    options = {"models": ["GCN", "GIN"], "seeds": 2, "training": TRAINING, "device": "cpu", "split": paper_split(N)}
    wanted = evaluate(None, graph, scaled=True, **options)["accuracy"].tolist()
    assert [row["accuracy"] for row in found if row["trained_on"] == "full"] == pytest.approx(wanted)


def test_every_trained_model_is_told_in_a_line_where_there_is_no_terminal(files, capsys):
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz"), "--split", "paper"]
    assert main(["evaluate", *paths, *QUICK, "--with-full"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": ")[2].partition(": ")[2].partition(":")[0] for line in lines] == [
        f"{model}, seed {seed}, trained on the {which} graph"
        for which in ("condensed", "full")
        for model in ("GCN", "GIN")
        for seed in (0, 1)
    ]
    assert main(["evaluate", *paths, *QUICK, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_a_bar(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("herald_gpu.evaluate.measure.PAUSE", 0.0)
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz"), "--split", "paper"]
    assert main(["evaluate", *paths, *QUICK]) == 0
    err = capsys.readouterr().err
    assert "condensed graph: 100%" in err
    assert "4/4" in err
    assert "GIN, seed 1, epoch 8/8" in err


def test_the_full_graph_by_name_and_options(files, graph, capsys, monkeypatch):
    monkeypatch.setenv("HERALD_DATA", str(files))
    options = ["--split", "source", "--last", "--lr", "0.01", "--weight-decay", "0", "--graph-as", "stored", "--scaled"]
    found = json.loads(told(capsys, "--dataset", "graph", *QUICK, *options, "--json"))["rows"]
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
    found = json.loads(told(capsys, "--data", str(files / "graph.npz"), *QUICK, "--json"))["rows"]
    options = {"models": ["GCN", "GIN"], "seeds": 2, "training": TRAINING, "device": "cpu"}
    wanted = evaluate(None, graph, split=paper_split(N, draw_seed=3), **options)
    assert [row["accuracy"] for row in found] == pytest.approx(wanted["accuracy"].tolist())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--models", "ABC"], 2, "--models ['ABC'] is not valid"),
        (["--epochs", "0"], 2, "--epochs 0 is not valid"),
        (["--seeds", "0"], 2, "--seeds 0 is not valid"),
        (["--split", "5"], 1, "outside the training set"),
        (["--scaled"], 2, "--scaled is for the full graph only"),
    ],
)
def test_errors_are_told_in_one_line(files, capsys, options, code, message):
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz")]
    chosen = [] if "--split" in options else ["--split", "paper"]
    assert main(["evaluate", *paths, *chosen, *options]) == code
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_rows_replace_nothing_by_chance(files, tmp_path, capsys):
    paths = [str(files / "small.herald"), "--data", str(files / "graph.npz"), "--split", "paper"]
    before = (files / "graph.npz").read_bytes()
    assert main(["evaluate", *paths, "--csv", str(files / "graph.npz"), "--force"]) == 1
    assert "would replace what --data" in capsys.readouterr().err
    assert (files / "graph.npz").read_bytes() == before
    (tmp_path / "rows.csv").write_text("mine")
    assert main(["evaluate", *paths, "--csv", str(tmp_path / "rows.csv")]) == 1
    assert f"--csv {tmp_path / 'rows.csv'} exists: pass --force to replace it" in capsys.readouterr().err
    assert (tmp_path / "rows.csv").read_text() == "mine"
    assert main(["evaluate", *paths, *QUICK, "--csv", str(tmp_path / "rows.csv"), "--force", "--quiet"]) == 0
    assert (tmp_path / "rows.csv").read_text().startswith("model,")


def test_the_full_graph_beside_itself_is_refused(files, capsys):
    assert main(["evaluate", "--data", str(files / "graph.npz"), "--with-full"]) == 2
    assert "--with-full is for a condensed graph, and none was given: pass RESULT too" in capsys.readouterr().err


def test_a_missing_file_is_told(files, capsys):
    assert main(["evaluate", str(files / "none.herald"), "--data", str(files / "graph.npz")]) == 1
    assert "none.herald" in capsys.readouterr().err


@pytest.fixture
def tables(graph, tmp_path, monkeypatch):
    """Stand in a folder with the graph as tables: ids and classes are text, rows are in no order."""
    edges, nodes = graph.to_frames()
    names = {row: f"n{row:03d}" for row in range(N)}
    nodes["node"], nodes["label"] = nodes["node"].map(names), nodes["label"].map({0: "red", 1: "green", 2: "blue"})
    nodes["train"] = paper_split(N).train
    edges = pd.DataFrame({"src": edges["src"].map(names), "dst": edges["dst"].map(names)})
    shuffled = nodes.sample(frac=1, random_state=1)
    edges.to_csv(tmp_path / "edges.csv", index=False)
    edges.to_parquet(tmp_path / "edges.parquet", index=False)
    shuffled.to_csv(tmp_path / "nodes.csv", index=False)
    shuffled.to_parquet(tmp_path / "nodes.parquet", index=False)
    shuffled.drop(columns="train").to_csv(tmp_path / "unmarked.csv", index=False)
    shuffled.drop(columns="train").to_parquet(tmp_path / "unmarked.parquet", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def condensed(*paths):
    assert main(["condense", *paths, "--ratio", "0.2", "--quiet", "--output", "small.herald"]) == 0


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_as_they_were_condensed(graph, capsys, kind):
    paths = ["--edges", f"edges.{kind}", "--features", f"nodes.{kind}"]
    condensed(*paths)
    found = pd.DataFrame(json.loads(told(capsys, "small.herald", *paths, *QUICK, "--json"))["rows"])
    # The same graph in arrays, with classes numbered in the order of their names.
    full = SimpleNamespace(
        edge_index=graph.edge_index,
        features=graph.features,
        labels=np.array(["red", "green", "blue"], dtype=object)[graph.labels],
    )
    split = rest_split(paper_split(N).train, np.ones(N, dtype=bool))
    small = herald_gpu.CondensedGraph.load("small.herald")
    wanted = evaluate(small, full, split=split, models=["GCN", "GIN"], seeds=2, training=TRAINING, device="cpu")
    pd.testing.assert_frame_equal(found.drop(columns="seconds"), wanted.drop(columns="seconds"))


@pytest.mark.usefixtures("tables")
def test_words_in_the_training_column_are_the_split(graph, capsys):
    split = random_split(N, 7)
    words = np.select([split.train, split.validation], ["Train", "val"], "test")
    nodes = pd.read_csv("nodes.csv")
    nodes["train"] = words[nodes["node"].str[1:].astype(int)]
    nodes.to_csv("words.csv", index=False)
    paths = ["--edges", "edges.csv", "--features", "words.csv"]
    condensed(*paths)
    capsys.readouterr()
    assert main(["evaluate", "small.herald", *paths, *QUICK, "--json"]) == 0
    said, noted = capsys.readouterr()
    counts = f"{split.train.sum()} train, {split.validation.sum()} validation, {split.test.sum()} test nodes"
    told_once = [line for line in noted.splitlines() if "warning" in line]
    assert told_once == [f"herald: warning: column 'train' is read as words: {counts}"]
    full = SimpleNamespace(
        edge_index=graph.edge_index,
        features=graph.features,
        labels=np.array(["red", "green", "blue"], dtype=object)[graph.labels],
    )
    small = herald_gpu.CondensedGraph.load("small.herald")
    wanted = evaluate(small, full, split=split, models=["GCN", "GIN"], seeds=2, training=TRAINING, device="cpu")
    assert [row["accuracy"] for row in json.loads(said)["rows"]] == pytest.approx(wanted["accuracy"].tolist())


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_split_is_drawn_alike_for_both_commands(capsys, kind):
    paths = ["--edges", f"edges.{kind}", "--features", f"unmarked.{kind}", "--split", "3"]
    condensed(*paths)
    assert json.loads(told(capsys, "small.herald", *paths, *QUICK, "--json"))["summary"]
    small = herald_gpu.CondensedGraph.load("small.herald", output_type="numpy")
    marked = [int(name[1:]) for name in small.node_ids[small.train_mask & ~small.is_landmark]]
    assert random_split(N, 3).train[marked].all()
    # Another split is noticed by the names of the nodes.
    assert main(["evaluate", "small.herald", *paths[:-1], "4", *QUICK]) == 1
    assert "outside the training set of this split" in capsys.readouterr().err


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--features", "unmarked.csv"], "unmarked.csv does not say which nodes are for training"),
        (["--features", "nodes.csv", "--split", "3"], "--split beside a column 'train'"),
        (["--features", "nodes.csv", "--split", "source:1"], "a table has one split"),
    ],
)
def test_tables_that_do_not_say_what_to_test_on(capsys, options, said):
    condensed("--edges", "edges.csv", "--features", "unmarked.csv")
    assert main(["evaluate", "small.herald", "--edges", "edges.csv", *options]) == 2
    assert said in capsys.readouterr().err


def test_an_archive_with_training_nodes_alone(graph, tmp_path, capsys):
    arrays = {"edge_index": graph.edge_index, "x": graph.features, "y": graph.labels}
    train = paper_split(N).train
    np.savez(tmp_path / "g.npz", **arrays, train_mask=train)
    np.savez(tmp_path / "none.npz", **arrays)
    found = json.loads(told(capsys, "--data", str(tmp_path / "g.npz"), *QUICK, "--json"))["rows"]
    split = rest_split(train, np.ones(N, dtype=bool))
    wanted = evaluate(None, graph, split=split, models=["GCN", "GIN"], seeds=2, training=TRAINING, device="cpu")
    assert [row["accuracy"] for row in found] == pytest.approx(wanted["accuracy"].tolist())
    assert main(["evaluate", "--data", str(tmp_path / "none.npz")]) == 2
    assert "or add a mask train_mask" in capsys.readouterr().err
    assert main(["condense", "--data", str(tmp_path / "none.npz"), "--split", "source"]) == 2
    assert "has no train_mask" in capsys.readouterr().err


@pytest.fixture
def analyst(graph, tmp_path, monkeypatch):
    """Stand in a folder with tables as a spreadsheet writes them: semicolons, decimal commas, Latin-1, text."""
    edges, nodes = graph.to_frames()
    colors = np.random.default_rng(0).choice(["grün", "rot", "blau"], N)
    nodes = nodes.assign(train=paper_split(N).train, color=colors, name=[f"x{i}" for i in range(N)])
    edges.to_csv(tmp_path / "edges.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index=False, sep=";", decimal=",", encoding="latin-1")
    nodes.to_parquet(tmp_path / "nodes.parquet", index=False)
    edges.to_parquet(tmp_path / "edges.parquet", index=False)
    monkeypatch.chdir(tmp_path)
    return edges, nodes


SPREADSHEET = ["--edges", "edges.csv", "--features", "nodes.csv", "--encoding", "latin-1"]
SPREADSHEET += ["--separator", ";", "--decimal", ","]
ENCODED = ["--drop", "name", "--categorical", "color"]


@pytest.mark.parametrize("paths", [SPREADSHEET, ["--edges", "edges.parquet", "--features", "nodes.parquet"]])
@pytest.mark.parametrize("split", [[], ["--split", "3"]])
def test_columns_are_dropped_and_encoded_as_when_it_was_condensed(analyst, capsys, paths, split):
    edges, nodes = analyst
    dropped = [*ENCODED, *(["--drop", "train"] if split else [])]
    condensed(*paths, *dropped, *split)
    capsys.readouterr()
    found = json.loads(told(capsys, "small.herald", *paths, *split, *QUICK, "--json"))["rows"]
    again = json.loads(told(capsys, "small.herald", *paths, *dropped, *split, *QUICK, "--json"))["rows"]
    small = herald_gpu.CondensedGraph.load("small.herald")
    assert small.categories == {"color": ["blau", "grün", "rot"]}
    features = small.transform(nodes).to_numpy()
    full = SimpleNamespace(edge_index=edges.to_numpy().T, features=features, labels=nodes["label"].to_numpy())

    class Plain:
        """The condensed graph with features that need no encoding."""

        features, adjacency = small.as_type("numpy").features, small.adjacency
        labels, train_mask = small.as_type("numpy").labels, small.as_type("numpy").train_mask

        def transform(self, feats):
            return feats

    own = random_split(N, 3) if split else rest_split(paper_split(N).train, np.ones(N, dtype=bool))
    wanted = evaluate(Plain(), full, split=own, models=["GCN", "GIN"], seeds=2, training=TRAINING, device="cpu")
    assert [row["accuracy"] for row in found] == pytest.approx(wanted["accuracy"].tolist())
    assert [row["accuracy"] for row in again] == [row["accuracy"] for row in found]


@pytest.mark.usefixtures("analyst")
def test_levels_are_those_of_the_condensed_graph(analyst, capsys):
    """A table with a level more and one less has the same number of columns, and must not be read as they come."""
    _, nodes = analyst
    paths = ["--edges", "edges.parquet", "--features", "nodes.parquet"]
    condensed(*paths, *ENCODED)
    assert "never saw" not in capsys.readouterr().err
    nodes.replace({"color": {"rot": "azur"}}).to_parquet("nodes.parquet", index=False)
    told_ = main(["evaluate", "small.herald", *paths, *QUICK])
    assert told_ == 0
    assert "levels that the condensed graph never saw ('azur'); they are all zeros" in capsys.readouterr().err


@pytest.mark.usefixtures("analyst")
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (SPREADSHEET[:4], 1, "nodes.csv looks separated by ';': pass --separator ';'"),
        ([*SPREADSHEET[:4], "--separator", ";"], 1, "byte 0xfc at position"),
        ([*SPREADSHEET[:4], "--separator", ";"], 1, "pass --encoding 'latin-1'"),
        (SPREADSHEET[:8], 1, "pass --decimal ','"),
        (SPREADSHEET, 1, "['color', 'name'] are text: pass --categorical color --categorical name to encode them"),
        ([*SPREADSHEET, *ENCODED, "--drop", "city"], 1, "has no columns ['city']"),
        ([*SPREADSHEET, *ENCODED, "--drop", "label"], 1, "holds the labels: leave it out of --drop"),
        (
            ["--edges", "edges.parquet", "--features", "nodes.parquet", "--decimal", ","],
            2,
            "--decimal ',' is for paths of",
        ),
        (["--dataset", "cora", "--separator", ";"], 2, "--separator ';' is for paths of CSV files"),
        ([*SPREADSHEET[:4], "--separator", ";;"], 2, "--separator ';;' is not valid"),
    ],
)
def test_files_that_need_an_option_say_which(capsys, options, code, said):
    assert main(["condense", *options, "--quiet"]) == code
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
