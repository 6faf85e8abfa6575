"""Several ratios from the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import herald_gpu
from herald_gpu.cli import main
from herald_gpu.datasets import make_graph, paper_split

N = 240
RATIOS = ["--ratios", "0.3", "0.1"]


@pytest.fixture(scope="module")
def graph():
    return make_graph(N, n_classes=3, n_features=12, homophily=0.7, seed=3)


@pytest.fixture
def data(graph, tmp_path):
    split = paper_split(N)
    masks = {"train_mask": split.train, "val_mask": split.validation, "test_mask": split.test}
    np.savez(tmp_path / "graph.npz", edge_index=graph.edge_index, x=graph.features, y=graph.labels, **masks)
    return ["--data", str(tmp_path / "graph.npz"), "--backend", "cpu"]


def test_figures_are_those_of_sweep(data, graph, capsys):
    assert main(["sweep", *data, *RATIOS, "--seed", "1", "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    given = (graph.edge_index, graph.features, graph.labels, paper_split(N).train)
    wanted = herald_gpu.sweep(*given, ratios=[0.1, 0.3], random_state=1, backend="cpu")
    table = pd.DataFrame(told["table"])
    pd.testing.assert_frame_equal(table.drop(columns="seconds"), wanted.table.drop(columns="seconds"))
    assert (told["recommended"], told["reason"]) == (wanted.recommended, wanted.reason)
    assert told["infeasible"] == []


def test_the_folder(data, tmp_path, capsys):
    folder = tmp_path / "ratios"
    assert main(["sweep", *data, *RATIOS, "--output", str(folder)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[:3] == ["ratio", "bytes", "budget"]
    assert out.endswith(f"Saved to {folder}.\n")
    names = {path.name for path in folder.iterdir()}
    assert {"ratio-0.1.herald", "ratio-0.3.herald", "table.csv"} <= names
    table = pd.read_csv(folder / "table.csv")
    small = herald_gpu.CondensedGraph.load(folder / "ratio-0.3.herald")
    assert small.report.storage_bytes == table["bytes"].tolist()[1]
    assert small.report.validation_nodes == paper_split(N).train.sum()


def test_the_plot_is_saved(data, tmp_path):
    pytest.importorskip("matplotlib")
    assert main(["sweep", *data, *RATIOS, "--quiet", "--output", str(tmp_path / "ratios")]) == 0
    assert (tmp_path / "ratios" / "sweep.png").read_bytes().startswith(b"\x89PNG")


def test_without_scores_nothing_is_drawn(data, tmp_path, capsys):
    folder = tmp_path / "ratios"
    assert main(["sweep", *data, *RATIOS, "--preset", "paper", "--output", str(folder)]) == 0
    assert not (folder / "sweep.png").exists()
    assert "No ratio can be recommended" in capsys.readouterr().out


def test_a_folder_with_other_files_is_refused_before_the_work(data, tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert main(["sweep", *data, *RATIOS, "--output", str(tmp_path / "mine"), "--force"]) == 1
    assert "is a folder with other files in it, such as 'notes.txt'" in capsys.readouterr().err
    assert main(["sweep", *data, *RATIOS, "--output", str(tmp_path), "--force"]) == 1
    assert "would replace what --data" in capsys.readouterr().err


def test_accuracies(data, capsys):
    pytest.importorskip("torch")
    assert main(["sweep", *data, *RATIOS, "--evaluate", "--seeds", "2", "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert all(0 < row["accuracy"] <= 100 and row["accuracy_error"] >= 0 for row in told["table"])
    assert "validation accuracy" in told["reason"]


def test_infeasible_ratios_are_told(data, capsys):
    options = ["--set", "feature_count=12", "--set", "landmarks=False", "--quiet", "--json"]
    assert main(["sweep", *data, "--ratios", "0.0001", "0.3", *options]) == 0
    (told,) = json.loads(capsys.readouterr().out)["infeasible"]
    assert told["ratio"] == 0.0001
    assert told["smallest_ratio"] > 0.0001


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ratios", "2"], "--ratios 2.0 is not valid: pass a number in (0, 1]"),
        (["--models", "GCN"], "--models is for --evaluate"),
        (["--seeds", "2"], "--seeds is for --evaluate"),
    ],
)
def test_bad_options_are_refused_in_words_of_options(data, options, message, capsys):
    assert main(["sweep", *data, *options]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_of_an_earlier_sweep_is_replaced_with_force(data, tmp_path, capsys):
    folder = tmp_path / "ratios"
    options = [*data, "--ratios", "0.0001", "0.3", "--output", str(folder), "--quiet"]
    assert main(["sweep", *options]) == 0
    (folder / "ratio-0.0001.herald").write_bytes(b"of a sweep in which this ratio was feasible")
    assert main(["sweep", *options]) == 1
    assert main(["sweep", *options, "--force"]) == 0
    assert main(["sweep", *options, "--force", "--preset", "paper", "--json"]) == 0
    assert "HeraldConfig" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--models", "GraphCon"], "--models GraphCon is not known: did you mean GraphConv?"),
        (["--seeds", "0"], "--seeds 0 is not valid"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_before_the_work(data, capsys, options, said):
    assert main(["sweep", *data, *RATIOS, "--evaluate", *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_preset_is_named_as_an_option(data, capsys):
    assert main(["sweep", *data, *RATIOS, "--preset", "published-citation", "--scale", "standard"]) == 2
    assert "or --preset published-scaled" in capsys.readouterr().err
