"""The backends that tests run on, and why some of them cannot run here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.backend.probe import probe
from support import doubles
from support.strict import StrictBackend

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Backend


def _emulated() -> Backend:
    if not doubles.emulated():
        pytest.skip("CuPy emulated on the CPU is not installed: make test-emulated")
    doubles.install()
    from herald_gpu.backend.rapids import RapidsBackend

    return RapidsBackend()


def _gpu() -> Backend:
    if doubles.emulated():
        pytest.skip("CuPy is emulated here: no GPU")
    found = probe()
    if not found.available:
        pytest.skip(f"no GPU: {found.reason}")
    from herald_gpu.backend.rapids import RapidsBackend

    return RapidsBackend()


FACTORIES: dict[str, Callable[[], Backend]] = {
    "cpu": CpuBackend,
    "strict": StrictBackend,
    "emulated": _emulated,
    "gpu": _gpu,
}
"""Backends by name; a factory that cannot run here calls `pytest.skip` with its reason."""
DEVICES = [pytest.param("emulated", marks=pytest.mark.emulated), pytest.param("gpu", marks=pytest.mark.gpu)]
"""The RAPIDS backend, in the two ways there are to run it; never NumPy in disguise."""
