"""Condensing on Dask workers from the command line."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

from herald_gpu import CondensedGraph, condense
from herald_gpu.cli import main
from herald_gpu.datasets import make_graph
from herald_gpu.distributed.clusters import open_client, read_folder
from herald_gpu.errors import ClusterError, ConfigError, InputError

GRAPH = make_graph(200, n_classes=3, n_features=8, seed=6)
EDGES, NODES = GRAPH.to_frames()
ROOT = Path(__file__).parents[2]
TABLES = ["--edges", "edges", "--features", "nodes"]


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
        ([*TABLES, "--workers", "1", "--min-workers", "1"], "--min-workers and --wait are for --scheduler"),
        ([*TABLES, "--workers", "1", "--wait", "5"], "--min-workers and --wait are for --scheduler"),
        ([*TABLES, "--scheduler", "x", "--min-workers", "0"], "--min-workers 0 is not valid"),
        ([*TABLES, "--scheduler", "x", "--wait", "0"], "--wait 0 is not valid"),
        ([*TABLES, "--min-workers", "2"], "--min-workers 2 is for Dask workers"),
        ([*TABLES, "--wait", "2"], "--wait 2.0 is for Dask workers"),
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


@pytest.mark.parametrize(
    ("backend", "gpu", "read"), [("rapids", False, "host"), ("rapids", True, "device"), ("cpu", True, "host")]
)
def test_tables_go_to_the_device_only_where_there_is_one_here(folder, monkeypatch, backend, gpu, read):
    from herald_gpu.backend import multi, probe

    monkeypatch.setattr(probe, "probe", lambda: probe.Probe(available=gpu, reason="so it was decided"))
    monkeypatch.setattr(multi, "read_tables", lambda files: files)
    found = read_folder(folder / "nodes", backend=backend)
    assert isinstance(found, list) == (read == "device")
    if read == "host":
        assert found["node"].compute().tolist() == NODES["node"].tolist()


def test_a_scheduler_that_is_not_there():
    refused = pytest.raises(ClusterError, match=r"--scheduler tcp://127.0.0.1:9 does not answer.*dask scheduler")
    with refused, open_client(None, "tcp://127.0.0.1:9", backend="cpu", wait=1):
        pass


@pytest.mark.parametrize("held", [None, "", "{}", "[1]"])
def test_a_scheduler_file_that_names_none(tmp_path, held):
    file = tmp_path / "scheduler.json"
    if held is not None:
        file.write_text(held)
    refused = pytest.raises(ClusterError, match=r"scheduler.json names no scheduler after 0.2 s: 'dask scheduler")
    with refused, open_client(None, str(file), backend="cpu", wait=0.2):
        pass


def test_a_scheduler_file_is_waited_for(tmp_path):
    file = tmp_path / "scheduler.json"
    late = threading.Timer(0.3, file.write_text, [json.dumps({"address": "tcp://127.0.0.1:9"})])
    late.start()
    with pytest.raises(ClusterError, match="does not answer"), open_client(None, str(file), backend="cpu", wait=1):
        pass
    late.join()


@contextmanager
def running(what, *words):
    """Run a program of Dask from our sources, and end it."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--no-dashboard", *words]
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def worker(file):
    return running("worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--memory-limit", "1GB")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning:distributed")
def test_folders_on_the_workers_of_a_scheduler(folder, capsys):
    file, whole = folder / "scheduler.json", condense(EDGES, NODES, ratio=0.1, backend="cpu")
    words = ["condense", *TABLES, "--ratio", "0.1", "--backend", "cpu", "--json"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    address = f"tcp://127.0.0.1:{port}"
    with running("scheduler", "--port", port, "--scheduler-file", str(file)), worker(file), worker(file):
        # Nothing of it is up yet: the scheduler and both workers are waited for.
        assert main([*words, "--scheduler", address, "--min-workers", "2", "--output", "small.herald"]) == 0
        assert main([*words, "--scheduler", str(file), "--output", "again.herald"]) == 0
        assert main([*words, "--scheduler", address, "--min-workers", "3", "--wait", "2"]) == 1
    printed = capsys.readouterr()
    assert '"workers": 2' in printed.out
    assert f"--scheduler {address} has 2 of 3 workers after 2 s" in printed.err
    for name in ("small", "again"):
        assert CondensedGraph.load(folder / f"{name}.herald").edges.equals(whole.edges)


def test_workers_or_a_scheduler():
    with pytest.raises(ConfigError, match="pass either"), open_client(None, None, backend="cpu"):
        pass
