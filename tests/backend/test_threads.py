"""Threads of BLAS while stages run."""

from __future__ import annotations

import sys
from types import ModuleType

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
