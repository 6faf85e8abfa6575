"""Condensing on Dask workers from the command line."""

from __future__ import annotations

import json
import warnings

import pytest

from herald_gpu import CondensedGraph, condense
from herald_gpu.cli import main
from herald_gpu.datasets import make_graph
from herald_gpu.distributed.clusters import open_client, read_folder
from herald_gpu.errors import ClusterError, ConfigError, InputError

GRAPH = make_graph(200, n_classes=3, n_features=8, seed=6)
EDGES, NODES = GRAPH.to_frames()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Stand where folders of Parquet files are."""
    for name, table, parts in (("edges", EDGES, 2), ("nodes", NODES, 3)):
        (tmp_path / name).mkdir()
        step = -(-len(table) // parts)
        for part in range(parts):
            table.iloc[part * step : (part + 1) * step].to_parquet(tmp_path / name / f"{part}.parquet", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_folders_on_workers(folder, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = ["--ratio", "0.1", "--workers", "1", "--backend", "cpu", "--resume", "run", "--json"]
        code = main(["condense", "--edges", "edges", "--features", "nodes", "--output", "small.herald", *options])
    assert code == 0
    told = json.loads(capsys.readouterr().out)
    assert told["workers"] == 1
    whole = condense(EDGES, NODES, ratio=0.1, backend="cpu")
    small = CondensedGraph.load(folder / "small.herald")
    assert small.edges.equals(whole.edges)
    assert (folder / "run" / "run.json").is_file()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--edges", "edges", "--features", "nodes"], "--workers N"),
        (["--edges", "edges/0.parquet", "--features", "nodes/0.parquet", "--resume", "run"], "--resume run is for"),
        (["--dataset", "cora", "--workers", "1"], "need --edges and --features"),
        (["--edges", "edges", "--features", "nodes", "--workers", "0"], "--workers 0 is not valid"),
        (["--edges", "edges", "--features", "nodes", "--workers", "1", "--scheduler", "x"], "pass either --workers"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_does_not_go_together_is_told(capsys, words, says):
    assert main(["condense", *words]) != 0
    assert says in capsys.readouterr().err


def test_a_folder_without_tables(tmp_path):
    with pytest.raises(InputError, match=r"neither a \.parquet file nor a folder"):
        read_folder(tmp_path)
    (tmp_path / "x.csv").write_text("a")
    with pytest.raises(InputError, match="neither"):
        read_folder(tmp_path / "x.csv")


def test_a_folder_is_read_in_the_order_of_names(folder):
    assert read_folder(folder / "nodes")["node"].compute().tolist() == NODES["node"].tolist()
    assert read_folder(folder / "nodes" / "0.parquet").npartitions == 1


def test_a_scheduler_that_is_not_there():
    import dask

    refused = pytest.raises(ClusterError, match=r"--scheduler tcp://127.0.0.1:9 does not answer.*dask scheduler")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        refused,
        open_client(None, "tcp://127.0.0.1:9", backend="cpu"),
    ):
        pass


def test_workers_or_a_scheduler():
    with pytest.raises(ConfigError, match="pass either"), open_client(None, None, backend="cpu"):
        pass
