"""From typing a command to its result: ``herald condense`` in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from herald_gpu.bench.clocks import median, seconds
from herald_gpu.datasets import load_graph, make_graph
from herald_gpu.errors import HeraldError


def first_result(spec: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Time ``herald condense`` from its start to its end, after one run that fills the caches.

    Those are numba's kernels and Python's compiled modules, which an installed package has from the start.

    Parameters
    ----------
    spec : dict
        ``{"dataset": NAME}``, or options of :func:`herald_gpu.datasets.make_graph` for tables in CSV files.
    repeats : int
    """
    with tempfile.TemporaryDirectory() as folder:
        words = _words(spec, Path(folder))
        command = [sys.executable, "-m", "herald_gpu", "condense", *words, "--ratio", "0.05"]
        first = seconds(lambda: _run(command))
        taken = [seconds(lambda: _run(command)) for _ in range(repeats)]
    return {"seconds": median(taken), "all_seconds": taken, "first": first, "kernels_cached": cached_kernels()}


def cached_kernels() -> int:
    """Count the indexes of compiled kernels that numba keeps on disk for this package."""
    from herald_gpu.backend import _kernels, _table_kernels

    both = vars(_kernels) | vars(_table_kernels)
    kernels = [value for value in both.values() if hasattr(value, "_cache")]
    return sum(len(list(Path(kernel.stats.cache_path).glob("*.nbi"))) > 0 for kernel in kernels)


def _words(spec: dict[str, Any], folder: Path) -> list[str]:
    if "dataset" in spec:
        load_graph(spec["dataset"], download=False)  # or say that it is not here
        return ["--dataset", spec["dataset"]]
    edges, nodes = make_graph(**spec).to_frames()
    edges.to_csv(folder / "edges.csv", index=False)
    nodes.to_csv(folder / "nodes.csv", index=False)
    return ["--edges", str(folder / "edges.csv"), "--features", str(folder / "nodes.csv")]


def _run(command: list[str]) -> None:
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=keeping)  # noqa: S603 - this interpreter, our command
    if done.returncode != 0:
        msg = f"herald condense failed: {done.stderr.strip()}"
        raise HeraldError(msg)
