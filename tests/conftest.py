"""Fixtures: every test of the stages runs on every backend that is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the tests share `support`, whatever directory pytest starts from

from support.graphs import TINY, build
from support.strict import StrictBackend

from herald_gpu.backend.cpu import CpuBackend

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Backend
    from herald_gpu.graph import Graph

FACTORIES: dict[str, Callable[[], Backend]] = {"cpu": CpuBackend, "strict": StrictBackend}
"""Backends by name; a factory that cannot run here calls `pytest.skip` with its reason."""


@pytest.fixture(scope="session", params=FACTORIES)
def backend(request) -> Backend:
    return FACTORIES[request.param]()


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
