"""``herald doctor``: what this machine can run, and why not more."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import textwrap
from typing import TYPE_CHECKING, Any

from herald_gpu._version import __version__
from herald_gpu.commands import _shared
from herald_gpu.commands._parser import sentence
from herald_gpu.errors import BackendUnavailable, MissingDependencyError
from herald_gpu.install import pip_line_of

if TYPE_CHECKING:
    import argparse

VERIFIED = (
    "GPU results of this version were verified by emulating CuPy on a CPU and by compiling the kernels, not on a GPU."
)
NEEDED = ("numpy", "scipy", "scikit-learn", "numba", "pandas")
OPTIONAL = ("cupy", "cudf", "cuml", "cugraph", "pylibcugraph", "cuvs", "rmm", "torch", "torch-geometric")
WRITTEN_FOR = dict.fromkeys(("cudf", "cuml", "cugraph", "pylibcugraph", "cuvs", "rmm"), "26.10") | {"cupy": "14.2"}
"""Releases whose signatures the GPU code was checked against."""
GIGA = 1e9
WIDTH = 110


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "tell what this machine can run, and why not more"
    parser = commands.add_parser(
        "doctor",
        help=about,
        description=f"{sentence(about)}.",
        examples=["herald doctor", "herald doctor --require rapids --quiet"],
    )
    parser.set_defaults(run=run)
    _shared.add_talk_options(parser, json="print JSON instead of a table")
    parser.add_argument(
        "--require",
        choices=("cpu", "rapids"),
        default="cpu",
        help="fail unless this backend can run (default %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Examine the machine, tell what was found, and fail if the required backend cannot run."""
    found = examine()
    _shared.tell(args, found, render(found))
    if found["cpu"]["missing"]:
        missing = found["cpu"]["missing"]
        msg = f"{', '.join(missing)} not installed: no backend can run, {pip_line_of(missing)}"
        raise MissingDependencyError(msg)
    if args.require == "rapids" and not found["rapids"]["available"]:
        msg = f"backend='rapids' cannot run here: {found['rapids']['reason']}"
        raise BackendUnavailable(msg)


def examine() -> dict[str, Any]:
    """Gather everything that is told, as plain values.

    Examples
    --------
    >>> found = examine()
    >>> found["auto"]["backend"] in ("cpu", "rapids")
    True
    """
    from herald_gpu.backend.probe import dotted, probe

    outcome = probe()
    versions = {name: library_version(name) for name in (*NEEDED, *OPTIONAL)}
    driver, runtime = outcome.facts.get("driver_cuda", 0), outcome.facts.get("runtime_cuda", 0)
    return {
        "herald_gpu": __version__,
        "auto": {"backend": "rapids" if outcome.available else "cpu", "reason": outcome.reason},
        "rapids": {
            "available": outcome.available,
            "reason": outcome.reason,
            "missing": outcome.facts.get("missing", []),
        },
        "cpu": {"missing": [name for name in NEEDED if versions[name] is None]},
        "cuda": {"driver": dotted(driver) if driver else None, "runtime": dotted(runtime) if runtime else None},
        "devices": outcome.facts.get("devices", []),
        "versions": {"python": platform.python_version(), **versions},
        "host": {"system": platform.platform(), "threads": usable_threads(), "memory_bytes": host_memory()},
        "warnings": find_warnings(versions),
        "verified": VERIFIED,
    }


def render(found: dict[str, Any]) -> str:
    """Write what was found as a table."""
    cuda, host, memory = found["cuda"], found["host"], found["host"]["memory_bytes"]
    rows = [
        ("herald-gpu", found["herald_gpu"]),
        ("backend 'auto'", found["auto"]["backend"]),
        ("backend 'rapids'", "available" if found["rapids"]["available"] else "unavailable"),
        ("because", found["rapids"]["reason"]),
        ("CUDA driver", cuda["driver"] or "none found"),
        ("CUDA runtime", cuda["runtime"] or "none found"),
    ]
    for index, device in enumerate(found["devices"]):
        size = f"{device['memory_bytes'] / GIGA:,.1f} GB"
        rows.append((f"device {index}", f"{device['name']}, compute capability {device['compute_capability']}, {size}"))
    if not found["devices"]:
        rows.append(("devices", "none"))
    rows += [
        ("host", f"{host['threads']} threads, {f'{memory / GIGA:,.1f} GB' if memory else 'memory unknown'}"),
        ("system", host["system"]),
        *((name, version or "absent") for name, version in found["versions"].items()),
        *(("warning", text) for text in found["warnings"]),
    ]
    indent = " " * (2 + max(len(name) for name, _ in rows))
    lines = [
        textwrap.fill(f"{name:<{len(indent)}}{value}", WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        for name, value in rows
    ]
    return "\n".join([*lines, "", found["verified"]])


def find_warnings(versions: dict[str, str | None]) -> list[str]:
    """Say what is installed but does not go together.

    Examples
    --------
    >>> find_warnings({"cuml": "25.6.0"})
    ['cuml 25.6.0 is installed, this version of herald-gpu is written for 26.10']
    """
    found = []
    if published("cupy-cuda13x") and published("cupy-cuda12x"):
        found.append("wheels of CUDA 12 and of CUDA 13 are installed together: they overwrite each other, remove one")
    for name, version in versions.items():
        wanted = WRITTEN_FOR.get(name)
        if version is not None and wanted is not None and _numbers(version) != _numbers(wanted):
            found.append(f"{name} {version} is installed, this version of herald-gpu is written for {wanted}")
    return found


def _numbers(version: str) -> list[str]:
    return [part.lstrip("0") for part in version.split(".")[:2]]


def library_version(name: str) -> str | None:
    """Version of a library under any of the names it is published by; None if it is not installed.

    Examples
    --------
    >>> library_version("no-such-library") is None
    True
    """
    suffixes = ("-cuda13x", "-cuda12x") if name == "cupy" else ("-cu13", "-cu12")
    found = (published(f"{name}{suffix}") for suffix in (*suffixes, ""))
    return next((version for version in found if version is not None), None)


def published(distribution: str) -> str | None:
    """Version of an installed distribution; None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def usable_threads() -> int:
    """Threads that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def host_memory() -> int | None:
    """Memory of this machine in bytes; None where it cannot be told."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return None
