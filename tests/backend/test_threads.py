"""Threads of stages, and of BLAS while they run."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numba
import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from herald_gpu.backend import _threads
from herald_gpu.backend.cpu import CpuBackend


def threads():
    found = [library["num_threads"] for library in ThreadpoolController().info() if library["user_api"] == "blas"]
    assert found  # NumPy's, at least
    return found


@pytest.mark.parametrize("limit", [_threads.alone, lambda: CpuBackend().stage("features")], ids=["alone", "stage"])
def test_one_thread_inside_and_as_many_as_before_afterwards(limit):
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        for _ in range(2):
            with limit():
                np.ones((4, 4)) @ np.ones((4, 4))
                assert set(threads()) == {1}
            assert threads() == before


def test_libraries_are_looked_for_again_where_modules_were_loaded(monkeypatch):
    first = _threads._libraries(len(sys.modules))
    assert _threads._libraries(len(sys.modules)) is first
    monkeypatch.setitem(sys.modules, "herald_gpu_another_module", ModuleType("another"))
    assert _threads._libraries(len(sys.modules)) is not first


def test_stages_have_the_threads_of_numba():
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        assert CpuBackend().workers == 1
    finally:
        numba.set_num_threads(before)
    assert CpuBackend().workers == before


@pytest.mark.parametrize("asked", ["1", "3", "", "many", None])
def test_threads_are_as_many_before_numba_is_loaded_as_afterwards(monkeypatch, asked):
    if asked is None:
        monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    else:
        monkeypatch.setenv("NUMBA_NUM_THREADS", asked)
    code = (
        "import sys; from herald_gpu.backend.cpu import CpuBackend; before = CpuBackend().workers;"
        "assert 'numba' not in sys.modules; import numba; print(before == CpuBackend().workers)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout == "True\n"


def test_threads_can_be_told_while_numba_is_being_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", ModuleType("numba"))
    assert _threads.count() >= 1
