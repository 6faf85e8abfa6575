"""The seam: what a backend must offer, and how one is chosen."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys

import pytest
from support.strict import StrictBackend

from herald_gpu.backend import Backend, get_backend
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.errors import BackendUnavailable, ConfigError, HeraldError

OPERATIONS = [name for name, _ in inspect.getmembers(Backend, inspect.isfunction) if not name.startswith("_")]


def test_the_protocol_is_small():
    assert 8 <= len(OPERATIONS) <= 15


@pytest.mark.parametrize("cls", [CpuBackend, StrictBackend])
@pytest.mark.parametrize("name", OPERATIONS)
def test_backends_offer_every_operation(cls, name):
    assert callable(getattr(cls, name))


@pytest.mark.parametrize("cls", [CpuBackend, StrictBackend])
@pytest.mark.parametrize("name", ["name", "tree_name", "index_name", "all_pairs_limit", "xp", "sparse", "linalg"])
def test_backends_have_every_attribute(cls, name):
    assert getattr(cls(), name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_cpu_takes_the_arguments_of_the_protocol(name):
    wanted, found = (inspect.signature(getattr(cls, name)).parameters for cls in (Backend, CpuBackend))
    assert [(p.name, p.kind, p.default) for p in wanted.values()] == [
        (p.name, p.kind, p.default) for p in found.values()
    ]


def test_the_cpu_by_name():
    assert get_backend("cpu").name == "cpu"


def test_auto_tells_its_choice_in_one_line(caplog):
    with caplog.at_level(logging.INFO, logger="herald_gpu"):
        found = get_backend()
    (record,) = caplog.records
    assert record.getMessage().startswith(f"backend: {found.name}")


@pytest.mark.parametrize("name", ["gpu", "", None, "CPU"])
def test_unknown_names_are_refused(name):
    with pytest.raises(ConfigError, match="pass 'auto', 'cpu' or 'rapids'"):
        get_backend(name)


def test_rapids_never_falls_back():
    try:
        told = get_backend("rapids").name
    except BackendUnavailable as error:  # no GPU here: it says why
        told = str(error)
    assert "rapids" in told
    assert issubclass(BackendUnavailable, HeraldError)


def test_choosing_the_cpu_loads_no_heavy_library():
    code = (
        "import sys; from herald_gpu import get_backend, HeraldConfig; get_backend('cpu'); HeraldConfig();"
        "heavy = {'numba', 'sklearn', 'torch', 'cupy', 'cudf', 'cuml', 'cugraph', 'networkx', 'matplotlib'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - own code
    assert done.stdout.strip() == "[]"
