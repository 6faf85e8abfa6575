"""The demonstration writes its graph as tables that the other commands read."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from herald_gpu.cli import main
from herald_gpu.datasets import make_graph


def test_the_graph_is_written_as_two_tables(tmp_path, capsys):
    assert main(["demo", "--write", str(tmp_path), "--nodes", "300", "--seed", "3", "--json"]) == 0
    paths = [str(tmp_path / "edges.csv"), str(tmp_path / "nodes.csv")]
    assert json.loads(capsys.readouterr().out) == paths
    edges, nodes = map(pd.read_csv, paths)
    graph = make_graph(300, homophily=0.2, seed=3)
    assert np.array_equal(edges[["src", "dst"]].to_numpy().T, graph.edge_index)
    assert nodes["label"].tolist() == graph.labels.tolist()
    assert nodes["train"].tolist() == graph.train.tolist()
    assert np.allclose(nodes.filter(regex="^f").to_numpy(), graph.features, rtol=1e-3)
    assert main(["condense", "--edges", paths[0], "--features", paths[1], "--ratio", "0.2", "--quiet"]) == 0


def test_a_folder_that_is_not_there_is_told(tmp_path, capsys):
    assert main(["demo", "--write", str(tmp_path / "none")]) == 1
    err = capsys.readouterr().err
    assert "none" in err
    assert len(err.splitlines()) == 1


def test_files_are_replaced_with_force_only(tmp_path, capsys):
    written = ["demo", "--write", str(tmp_path), "--nodes", "300", "--quiet"]
    assert main(written) == 0
    assert main(written) == 1
    assert "exists: pass --force to replace it" in capsys.readouterr().err
    assert main([*written, "--force"]) == 0
    assert main([*written, "--output", str(tmp_path / "small.herald")]) == 2
    assert "--write condenses nothing" in capsys.readouterr().err
