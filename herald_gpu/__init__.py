"""herald_gpu: gradient-free, heterophily-aware graph condensation.

Importing this package loads neither CUDA, RAPIDS nor torch; names are resolved on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from herald_gpu._version import __version__

if TYPE_CHECKING:
    from herald_gpu.api import condense
    from herald_gpu.backend import get_backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.estimator import HeraldCondenser
    from herald_gpu.planning import plan
    from herald_gpu.result import CondensedGraph, load
    from herald_gpu.summary import Report
    from herald_gpu.sweeps import sweep

_HOMES = {
    "CondensedGraph": "herald_gpu.result",
    "HeraldCondenser": "herald_gpu.estimator",
    "HeraldConfig": "herald_gpu.config",
    "Report": "herald_gpu.summary",
    "condense": "herald_gpu.api",
    "get_backend": "herald_gpu.backend",
    "load": "herald_gpu.result",
    "plan": "herald_gpu.planning",
    "sweep": "herald_gpu.sweeps",
}

__all__ = [
    "CondensedGraph",
    "HeraldCondenser",
    "HeraldConfig",
    "Report",
    "__version__",
    "condense",
    "get_backend",
    "load",
    "plan",
    "sweep",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name from its home when it is first asked for."""
    if name == "pyg":
        return importlib.import_module("herald_gpu.pyg")
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not; `pyg` is a module that needs PyG, and so is not in `__all__`."""
    return sorted([*__all__, "pyg"])
