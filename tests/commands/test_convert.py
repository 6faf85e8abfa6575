"""``herald convert``."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import herald_gpu
from herald_gpu.cli import main
from herald_gpu.commands.convert import FORMATS as TOLD
from herald_gpu.datasets import make_graph
from herald_gpu.io.export import FORMATS


@pytest.fixture(scope="module")
def small():
    g = make_graph(300, n_classes=3, n_features=16, seed=2)
    return herald_gpu.condense(g.edge_index, g.features, g.labels, g.train, ratio=0.2, backend="cpu")


@pytest.fixture
def saved(small, tmp_path):
    small.save(tmp_path / "small.herald")
    return tmp_path / "small.herald"


def test_every_format_is_offered():
    assert tuple(TOLD) == FORMATS


@pytest.mark.parametrize("to", FORMATS)
def test_every_format_is_written(saved, small, to, capsys):
    out = saved.parent / "out"
    assert main(["convert", str(saved), "--to", to, "--output", str(out)]) == 0
    told, errors = capsys.readouterr()
    assert told.startswith(f"{small.report.n_nodes} nodes, {small.report.n_edges:,} directed edges, 16 features: {out}")
    assert errors == ""
    assert sorted(path.name for path in saved.parent.iterdir()) == ["out", "small.herald"]
    assert out.is_dir() == (to in ("csv", "parquet"))


def test_what_is_printed(saved, capsys):
    out = saved.parent / "x.npz"
    argv = ["convert", str(saved), "--to", "npz", "--output", str(out)]
    assert main([*argv, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*argv, "--json", "--force"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["to"], told["files"]) == ("npz", [str(out)])
    with np.load(out, allow_pickle=False) as found:
        assert told["nodes"] == found["num_nodes"]


@pytest.mark.parametrize("to", ["npz", "csv"])
def test_an_existing_output_is_replaced_on_request(saved, to, capsys):
    out = saved.parent / "x"
    argv = ["convert", str(saved), "--to", to, "--output", str(out)]
    assert main(argv) == 0
    before = out.stat().st_mtime_ns
    assert main(argv) == 1
    assert f"--output {out} exists: pass --force to replace it" in capsys.readouterr().err
    assert out.stat().st_mtime_ns == before
    assert main([*argv, "--force"]) == 0


def test_the_graph_itself_is_never_replaced(saved, monkeypatch, capsys):
    monkeypatch.chdir(saved.parent)
    before = saved.read_bytes()
    assert main(["convert", "small.herald", "--to", "npz", "--output", str(saved), "--force"]) == 1
    assert f"--output {saved} would replace what RESULT small.herald reads" in capsys.readouterr().err
    assert main(["convert", "small.herald", "--to", "csv", "--output", ".", "--force"]) == 1
    assert "would replace what RESULT small.herald reads" in capsys.readouterr().err
    assert saved.read_bytes() == before


def test_a_folder_of_results_is_read(saved, capsys):
    folder = saved.parent / "folder"
    folder.mkdir()
    saved.rename(folder / "condensed.herald")
    assert main(["convert", str(folder), "--to", "csv", "--output", str(saved.parent / "x"), "--json"]) == 0
    assert [path.rpartition("/")[2] for path in json.loads(capsys.readouterr().out)["files"]] == [
        "edges.csv",
        "nodes.csv",
    ]


def test_what_fails(saved, capsys, monkeypatch):
    out = str(saved.parent / "x")
    assert main(["convert", str(saved.parent / "none"), "--to", "npz", "--output", out]) == 1
    assert "No such file" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    assert main(["convert", str(saved), "--to", "pyg", "--output", out]) == 1
    assert "pip install torch-geometric" in capsys.readouterr().err
    with pytest.raises(SystemExit) as leaving:
        main(["convert", str(saved), "--to", "dot", "--output", out])
    assert leaving.value.code == 2
