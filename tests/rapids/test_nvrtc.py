"""R3: every kernel compiles to machine code of the GPUs that RAPIDS 26.10 runs on, without a GPU."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from support import nvrtc

import herald_gpu

# By path: the package around it imports CuPy.
KERNELS = runpy.run_path(str(Path(herald_gpu.__file__).parent / "backend" / "rapids" / "kernels.py"))
SOURCES = KERNELS["SOURCES"]
ARCHITECTURES = (75, 80, 90, 100, 120)
"""Turing, Ampere, Hopper, and two kinds of Blackwell."""
ELF = b"\x7fELF"
BROKEN = {
    "syntax": ("bool* member, bool*", "bool* member bool*"),
    "unknown name": ("considered[roots[r]]", "considered[root[r]]"),
    "unknown function": ("__syncthreads();", "__sync_threads();"),
    "too much shared memory": ("partial[256]", "partial[65536]"),
    "unused variable": ("const int lane = threadIdx.x;", "const int lane = threadIdx.x; int unused;"),
}


def entries(source):
    """Names of the kernels in a source."""
    return re.findall(r"__global__ void (\w+)\(", source)


@pytest.fixture(scope="module")
def compiler():
    path = nvrtc.find()
    if path is None:
        pytest.skip(f"NVRTC is not installed: pip install {nvrtc.DISTRIBUTIONS[0]}")
    return nvrtc.Compiler(path)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", SOURCES)
def test_kernels_compile(compiler, name, architecture):
    cubin = compiler.cubin(SOURCES[name], architecture, KERNELS["OPTIONS"])
    assert cubin.startswith(ELF)
    assert all(entry.encode() in cubin for entry in entries(SOURCES[name]))


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_broken_kernel_does_not(compiler, change):
    source = SOURCES["accept_roots"]
    assert change[0] in source
    with pytest.raises(nvrtc.CompileError):
        compiler.cubin(source.replace(*change, 1), 80)


def test_every_source_is_listed():
    sources = {value for value in KERNELS.values() if isinstance(value, str) and "__global__" in value}
    assert sources == set(SOURCES.values())
    assert all(name in entries(source) for name, source in SOURCES.items())
