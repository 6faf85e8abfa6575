"""Kernels are compiled once, announced, and timed apart from the stages."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import herald_gpu
from herald_gpu.backend import _compiling
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.cli import _telling_on_stderr
from herald_gpu.pipeline import COMPILATION, Clock

PACKAGE = Path(herald_gpu.__file__).parent


@pytest.fixture
def spent(monkeypatch):
    """Give a count of seconds of its own, as in a process that has compiled nothing."""
    found = _compiling._Spent()
    monkeypatch.setattr(_compiling, "SPENT", found)
    return found


def fresh_kernel():
    @_compiling.kernel()
    def double(values):
        return values * 2

    double.py_func.__module__ = "herald_gpu.made"  # kernels are told from the caller's functions by their module
    return double


def test_a_kernel_that_is_compiled_is_timed_and_announced_once(spent, caplog, monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    double = fresh_kernel()
    with caplog.at_level(logging.INFO, logger=_compiling.NOTICES):
        assert double(np.float64(2.0)) == 4.0
        first = spent.seconds
        assert double(np.int64(2)) == 4
    assert 0 < first < spent.seconds
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("compiling kernels for this CPU")


def test_a_kernel_that_is_loaded_from_disk_is_not(spent, caplog, monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    fresh_kernel()(np.float64(2.0))
    before = spent.seconds
    assert before > 0
    again = fresh_kernel()
    with caplog.at_level(logging.INFO, logger=_compiling.NOTICES):
        assert again(np.float64(3.0)) == 6.0
    assert sum(again.stats.cache_hits.values()) == 1
    assert (spent.seconds, caplog.messages) == (before, [])


def test_functions_of_the_caller_are_not_counted(spent):
    import numba

    assert numba.njit(lambda x: x + 1)(1) == 2
    assert (spent.seconds, spent.announced) == (0.0, False)


def test_kernels_that_another_calls_are_not_counted_twice(spent, monkeypatch):
    clock = iter([10.0, 13.0])
    monkeypatch.setattr(_compiling.time, "perf_counter", lambda: next(clock))
    spent.begin()
    spent.begin()
    spent.end()
    spent.end()
    assert spent.seconds == 3.0


def test_a_folder_that_cannot_be_written_is_no_failure(monkeypatch, caplog):
    from numba.core import caching

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    _compiling._warn_of_no_folder.cache_clear()
    with caplog.at_level(logging.WARNING, logger=_compiling.NOTICES):
        assert fresh_kernel()(np.float64(2.0)) == 4.0
        assert fresh_kernel()(np.float64(2.0)) == 4.0
    assert len(caplog.messages) == 1
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in caplog.messages[0]


def test_the_stamp_is_the_content_of_all_kernels(monkeypatch, tmp_path):
    for path in PACKAGE.glob("backend/*_kernels.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = _compiling._content()
    monkeypatch.setattr(_compiling, "__file__", str(tmp_path / "_compiling.py"))
    assert _compiling._content.__wrapped__() == before
    os.utime(tmp_path / "_kernels.py", (1, 1))
    assert _compiling._content.__wrapped__() == before
    with (tmp_path / "_kernels.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert _compiling._content.__wrapped__() != before


def test_a_clock_books_compilation_apart(monkeypatch):
    told = iter([1.0, 1.0, 1.0, 3.5, 3.5, 4.0])
    monkeypatch.setattr(CpuBackend, "compile_seconds", property(lambda _: next(told)))
    clock = Clock(CpuBackend())
    with clock.stage("budget"):
        pass
    assert set(clock.seconds) == {"budget"}
    for name in ("features", "scoring"):
        with clock.stage(name):
            pass
    assert clock.seconds[COMPILATION] == 3.0
    assert clock.seconds["features"] == clock.seconds["scoring"] == 0.0  # no more than was compiled


@pytest.mark.parametrize(("quiet", "lines"), [(False, 1), (True, 0)])
def test_the_command_line_shows_the_line_unless_it_is_quiet(spent, capsys, quiet, lines):
    with _telling_on_stderr(verbose=False, quiet=quiet, shown=False):
        spent.begin()
        logging.getLogger("herald_gpu").info("a choice")
    assert capsys.readouterr().err.count("herald: info: compiling kernels") == lines


RUN = """
import json, sys
import numpy, pandas, scipy
import herald_gpu
from herald_gpu.datasets import make_graph
for library in (numpy, pandas, scipy):
    library.__version__ += sys.argv[1]
edges, nodes = make_graph(300, n_features=16, seed=1).to_frames()
print(json.dumps(herald_gpu.condense(edges, nodes, ratio=0.2, backend="cpu").report.timings))
"""


@pytest.mark.slow
def test_the_first_run_compiles_and_none_after_it(tmp_path):
    """Not where pip writes the same files again, nor where other libraries have another version."""
    installed = tmp_path / "site" / "herald_gpu"

    def timings(version=""):
        done = subprocess.run(  # noqa: S603 - this interpreter
            [sys.executable, "-c", RUN, version],
            env=os.environ | {"PYTHONPATH": str(installed.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    def install():
        for path in PACKAGE.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                to = installed / path.relative_to(PACKAGE)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.unlink(missing_ok=True)
                to.write_bytes(path.read_bytes())

    install()
    first = timings()
    assert first[COMPILATION] > 0
    assert COMPILATION not in timings()
    install()
    assert COMPILATION not in timings(version=".post1")
