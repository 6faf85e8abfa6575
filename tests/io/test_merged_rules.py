"""Rules of reading that meet in one table: dropped and encoded columns, indexes, names, marks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from herald_gpu import condense
from herald_gpu.cli import main
from herald_gpu.errors import ColumnError, ConfigError, FileFormatError, InputError
from herald_gpu.io.read import Columns, read

N = 40
RNG = np.random.default_rng(0)
EDGES = pd.DataFrame(RNG.integers(0, N, (3 * N, 2)), columns=["src", "dst"])
NODES = pd.DataFrame(
    {"node": range(N), "label": np.arange(N) % 3, "a": RNG.normal(size=N), "b": RNG.normal(size=N)},
)


@pytest.fixture
def indexed(tmp_path):
    """A Parquet file whose ids are in a stored index."""
    path = tmp_path / "nodes.parquet"
    table = NODES.drop(columns="node").set_index(pd.Index(RNG.permutation(N), name="pid"))
    table.to_parquet(path)
    return table, path


@pytest.mark.parametrize("argument", ["drop", "categorical"])
def test_a_stored_index_is_no_column(indexed, argument):
    for given in indexed:
        with pytest.raises(ColumnError, match=r"feats has no columns \['pid'\]"):
            read(EDGES, given, columns=Columns(**{argument: "pid"}))


def test_a_stored_index_of_several_levels_is_refused(tmp_path):
    table = NODES.drop(columns="node").set_index([np.arange(N), np.arange(N) % 2])
    table.to_parquet(tmp_path / "nodes.parquet")
    for given in (table, tmp_path / "nodes.parquet"):
        with pytest.raises(ColumnError, match="MultiIndex"):
            read(EDGES, given, columns=Columns())


def test_half_floats_are_looked_at_without_statistics(tmp_path):
    NODES.drop(columns="node").assign(c=np.arange(N).astype(np.float16)).to_parquet(tmp_path / "n.parquet", index=False)
    with pytest.raises(ColumnError, match="'c' looks like node ids"):
        read(EDGES, tmp_path / "n.parquet", columns=Columns())
    assert read(EDGES, tmp_path / "n.parquet", columns=Columns(node=None)).features.shape == (N, 3)


def test_repeated_names_of_edges_are_refused(tmp_path):
    twice = pd.concat([EDGES, EDGES[["src"]]], axis=1)
    NODES.to_csv(tmp_path / "nodes.csv", index=False)
    for nodes in (NODES, tmp_path / "nodes.csv"):
        with pytest.raises(ColumnError, match=r"edges has repeated column names \['src'\]"):
            condense(twice, nodes, ratio=0.5)


@pytest.mark.parametrize("options", [{"csv": ";"}, {"csv": True}, {"csv": ["separator"]}])
def test_options_of_csv_files_are_a_mapping(tmp_path, options):
    NODES.to_csv(tmp_path / "nodes.csv", index=False)
    with pytest.raises(ConfigError, match=r"csv=.* is not valid: pass a mapping"):
        condense(EDGES, tmp_path / "nodes.csv", ratio=0.5, **options)


def test_none_drops_nothing():
    small = condense(EDGES, NODES, ratio=0.5, drop=None, categorical=None)
    assert small.node_ids.tolist() == condense(EDGES, NODES, ratio=0.5).node_ids.tolist()


@pytest.mark.parametrize("ending", ["gz", "zip", "xz", "bz2"])
def test_damaged_archives_are_refused(tmp_path, ending):
    path = tmp_path / f"nodes.csv.{ending}"
    path.write_bytes(b"garbage")
    with pytest.raises((FileFormatError, OSError)):
        condense(EDGES, path, ratio=0.5)


@pytest.mark.parametrize("place", [0, 5])
@pytest.mark.parametrize("odd", [5.0, [[1.0], [1.0, 2.0]], [1.0]])
def test_vectors_of_a_networkx_graph_are_alike(place, odd):
    graph = nx.Graph()
    graph.add_nodes_from((row, {"x": [1.0, float(row)], "label": row % 2}) for row in range(10))
    graph.add_edges_from((row, (row + 1) % 10) for row in range(10))
    graph.nodes[place]["x"] = odd
    with pytest.raises(InputError, match="give all nodes vectors of one length"):
        condense(graph, ratio=0.9)


def test_a_feature_called_train_stays_a_feature(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    EDGES.to_csv("edges.csv", index=False)
    split = np.where(np.arange(N) < 25, "train", np.where(np.arange(N) < 32, "val", "test"))
    NODES.assign(split=split, train=np.arange(N) % 2).to_csv("nodes.csv", index=False)
    options = ["--edges", "edges.csv", "--features", "nodes.csv", "--train-column", "split"]
    assert main(["evaluate", *options, "--models", "MLP", "--seeds", "1", "--epochs", "2"]) == 0
    assert "3 features" in capsys.readouterr().out
