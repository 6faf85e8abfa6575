"""Fixtures: every test of the stages runs on every backend that is there."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the tests share `support`, whatever directory pytest starts from

from support.backends import DEVICES, FACTORIES
from support.graphs import TINY, build

from herald_gpu.backend import _compiling

if TYPE_CHECKING:
    from herald_gpu.backend import Backend
    from herald_gpu.graph import Graph


def _without_torch() -> list[str]:
    """List the files that cannot even be imported here: the GPU code is tested without torch as well."""
    if importlib.util.find_spec("torch") is not None:
        return []
    imports = re.compile(r"^(import|from) torch", re.MULTILINE)
    return [str(path) for path in Path(__file__).parent.rglob("test_*.py") if imports.search(path.read_text("utf-8"))]


collect_ignore = _without_torch()


def pytest_report_header() -> list[str]:
    """Say what is left out."""
    names = ", ".join(sorted(Path(path).name for path in collect_ignore))
    return [f"left out, torch is not installed: {names}"] if names else []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    """Report a backend that cannot run here once, with the number of tests it would have run."""
    report = yield
    if report.skipped and call.when == "setup" and call.excinfo is not None:
        for place in call.excinfo.traceback:
            if Path(place.path).name == "backends.py":
                report.longrepr = (str(place.path), place.lineno + 1, report.longrepr[-1])
    return report


@pytest.fixture(scope="session", params=["cpu", "strict", *DEVICES])
def backend(request) -> Backend:
    """Give each backend in turn."""
    return FACTORIES[request.param]()


@pytest.fixture(scope="session", params=DEVICES)
def rapids(request) -> Backend:
    """Give the RAPIDS backend, emulated and on a GPU."""
    return FACTORIES[request.param]()


@pytest.fixture(scope="session", autouse=True)
def _announced() -> None:
    """Announce no compilation: which test meets the first one depends on what was run before."""
    _compiling.SPENT.announced = True


@pytest.fixture
def tiny(backend) -> dict[str, Graph]:
    """Build the graphs of a handful of nodes on the backend at hand."""
    return {name: build(backend, given) for name, given in TINY.items()}


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Directory of real graphs."""
    given = os.environ.get("HERALD_DATA")
    if not given:
        pytest.skip("HERALD_DATA is not set: no real graphs to read")
    return Path(given)
