"""Where results come from: the machine, the libraries, and the version of this package."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from functools import cache
from pathlib import Path

from herald_gpu._version import __version__

LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch")
"""Those whose version may change a digit."""
CPUINFO = Path("/proc/cpuinfo")


@cache
def origin() -> dict[str, str]:
    """Say what makes a row: version, machine and libraries.

    Examples
    --------
    >>> sorted(origin())
    ['libraries', 'machine', 'version']
    """
    return {"version": __version__, "machine": machine(), "libraries": libraries()}


def machine() -> str:
    """Describe this machine by what its speed depends on; it is not named.

    Examples
    --------
    >>> " of " in machine()
    True
    """
    cores = n_cores()
    return f"{cores} core{'s' if cores > 1 else ''} of {processor()}, {platform.machine()} {platform.system()}"


def n_cores() -> int:
    """Count the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """Name the model of the CPU."""
    if CPUINFO.is_file():
        for line in CPUINFO.read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return " ".join(value.split())
    return platform.processor() or "an unnamed CPU"


def libraries() -> str:
    """List versions of Python and of the libraries that compute; those that are absent are left out.

    Examples
    --------
    >>> libraries().startswith("Python 3.")
    True
    """
    found = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)
