"""``herald datasets`` and ``herald condense --dataset``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import herald_gpu
from herald_gpu.cli import main
from herald_gpu.datasets import DATASETS, load_graph, random_split
from herald_gpu.datasets.prepared import read_prepared

N = 2708


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Hold something of Cora's size under its name, and a graph of one's own, and no way to the network."""
    rng = np.random.default_rng(0)
    ends = rng.integers(N, size=(2, 10_556), dtype=np.int32)
    np.savez(tmp_path / "cora.npz", edge_index=ends, x=np.ones((N, 1433), np.float32), y=np.arange(N) % 7)
    monkeypatch.setenv("HERALD_DATA", str(tmp_path))
    monkeypatch.setenv("HERALD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HERALD_OFFLINE", "1")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_list_has_a_line_for_each(capsys):
    assert main(["datasets"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split()[:5] == ["name", "nodes", "edges", "features", "classes"]
    assert [line.split()[0] for line in lines] == list(DATASETS)
    assert lines[0].split() == ["cora", "2,708", "10,556", "1,433", "7", "prepared", "sha256", "MIT"]
    assert main(["datasets", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["from"] for row in rows] == ["prepared"] + ["source"] * (len(DATASETS) - 1)
    assert rows[0]["urls"] == [file.url for file in DATASETS["cora"].files]


@pytest.mark.usefixtures("folder")
def test_fetch_says_what_is_here(capsys):
    assert main(["datasets", "fetch", "Cora"]) == 0
    assert capsys.readouterr().out == "cora: 2,708 nodes, 10,556 edges, 1,433 features, 7 classes (prepared)\n"
    assert main(["datasets", "fetch", "cora", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0] == {
        "name": "cora", "nodes": N, "edges": 10_556, "features": 1433, "classes": 7, "from": "prepared",
    }  # fmt: skip


def test_fetch_into_a_folder(folder, capsys):
    assert main(["datasets", "fetch", "cora", "--root", str(folder)]) == 0
    assert capsys.readouterr().out.endswith("7 classes (cached)\n")
    assert read_prepared(folder / "cora.npz") is not None


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["fetch"], 2, "fetch was given no NAME"),
        (["list", "cora"], 2, "list takes no NAME, and 'cora' was given"),
        (["fetch", "cora", "citesear"], 2, "name='citesear' is no known data set: did you mean 'citeseer'?"),
        (["fetch", "citeseer"], 1, "citeseer is not here and the network may not be used"),
    ],
)
def test_requests_that_fail(capsys, argv, code, said):
    assert main(["datasets", *argv]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"herald: error: {said}")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("options", "split"), [([], random_split(N, 42)), (["--split", "3"], random_split(N, 3))])
def test_condense_takes_a_name(monkeypatch, options, split):
    calls = []

    class Stub:
        def __str__(self):
            return "condensed"

    def condense(*args, **_):
        calls.append(args)
        return Stub()

    monkeypatch.setitem(vars(herald_gpu), "condense", condense)
    assert main(["condense", "--dataset", "cora", *options]) == 0
    edges, features, labels, train = calls[0]
    graph = load_graph("cora")
    assert np.array_equal(edges, graph.edge_index)
    assert np.array_equal(features, graph.features)
    assert np.array_equal(labels, graph.labels)
    assert np.array_equal(train, split.train)


@pytest.mark.parametrize(
    "more", [["--data", "g.npz"], ["--edges", "e.csv", "--features", "n.csv"], ["--features", "n"]]
)
def test_a_name_beside_files_makes_no_sense(capsys, more):
    assert main(["condense", "--dataset", "cora", *more]) == 2
    assert "or --dataset NAME, to say which graph" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_condense_with_a_split_that_is_none(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["condense", "--dataset", "cora", "--split", "best"])
    assert leaving.value.code == 2
    assert "herald: error: --split 'best' is no split: pass paper, source" in capsys.readouterr().err
    assert main(["condense", "--dataset", "cora", "--split", "source"]) == 2
    assert "no split comes with cora, pass 'paper', a seed" in capsys.readouterr().err
