"""The page about the command line: what it shows works."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from herald_gpu.cli import build_parser, main
from herald_gpu.commands._parser import abouts_of
from herald_gpu.datasets import make_graph, paper_split

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
if not PAGE.exists():
    pytest.skip("no documentation beside the tests", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
SHELL, WITH_CONFIG, _ = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
(TOML,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand in a folder with the files that the page names."""
    graph = make_graph(240, n_classes=3, n_features=12, homophily=0.7, seed=3)
    edges, nodes = graph.to_frames()
    train = paper_split(240).train
    edges.to_csv(tmp_path / "edges.csv", index=False)
    nodes.assign(train=train).to_csv(tmp_path / "nodes.csv", index=False)
    arrays = {"edge_index": graph.edge_index, "x": graph.features, "y": graph.labels, "train_mask": train}
    np.savez(tmp_path / "graph.npz", **arrays)
    (tmp_path / "run.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_is_named():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|$", TEXT, re.MULTILINE))
    assert rows.keys() == abouts_of(build_parser()).keys()


def test_examples_run(folder, capsys):
    for line in SHELL.splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
        told = capsys.readouterr().err.splitlines()
        assert all(text.startswith("herald: info: ") for text in told), line
    made = {"small.herald", "result", "small.pt", "tables", "rows.csv"}
    assert made <= {path.name for path in folder.iterdir()}


def test_the_config_file_runs(folder, capsys):
    for line in WITH_CONFIG.splitlines():
        assert main(shlex.split(line)[1:]) == 0
    assert "30 % asked for" in capsys.readouterr().out
    assert (folder / "small.herald").is_file()
