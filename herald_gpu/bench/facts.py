"""What measurements depend on: the machine, the libraries, and the commit."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.experiments.provenance import n_cores, origin, processor

GIT_SECONDS = 10


def facts() -> dict[str, Any]:
    """Describe where and on what this is run; the machine is not named.

    Examples
    --------
    >>> sorted(facts())
    ['commit', 'cores', 'cpu', 'libraries', 'load', 'machine', 'memory_bytes', 'version', 'versions']
    """
    return {
        **origin(),
        "versions": CpuBackend().versions(),
        "cpu": processor(),
        "cores": n_cores(),
        "memory_bytes": memory_bytes(),
        "load": load(),
        "commit": commit(),
    }


def memory_bytes() -> int | None:
    """Give the memory of this machine, where the system says."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def load() -> float | None:
    """Give the processes that waited for a core in the last minute, on average: what else the machine had to do."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def commit() -> str | None:
    """Name the commit that this package stands at, ``+`` where files differ from it; None outside a checkout."""
    git, here = shutil.which("git"), Path(__file__).parent
    if git is None:
        return None

    def ask(*words: str) -> str | None:
        command = [git, "-C", str(here), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=GIT_SECONDS)  # noqa: S603 - our own words
        return done.stdout.strip() if done.returncode == 0 else None

    found = ask("rev-parse", "--short=12", "HEAD")
    if found is None or ask("ls-files", "--error-unmatch", str(Path(__file__))) is None:
        return None  # installed below some other repository
    return f"{found}+" if ask("status", "--porcelain", "--untracked-files=no", "--", str(here.parent)) else found
