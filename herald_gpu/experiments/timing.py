"""Seconds of each stage on generated graphs, one size varied at a time."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from herald_gpu import HeraldConfig, condense
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.datasets import make_graph
from herald_gpu.errors import ConfigError, FileFormatError
from herald_gpu.experiments.provenance import origin
from herald_gpu.experiments.quiet import hushed
from herald_gpu.experiments.store import write
from herald_gpu.pipeline import COMPILATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from herald_gpu.backend import Array

logger = logging.getLogger("herald_gpu")

BASE = {"nodes": 8000, "edges": 48_000, "features": 128}
"""Sizes that stay while another is varied; edges are directed."""
SWEEPS: dict[str, tuple[int, ...]] = {
    "nodes": (2000, 4000, 8000, 16_000),
    "edges": (12_000, 24_000, 48_000, 96_000, 192_000),
    "features": (32, 64, 128, 256, 512),
}
RATIO = 0.2
"""So large that two hops fit at every size: where they do not, the expansion falls back to one."""
REPEATS = 5
KEY = ("axis", "value", "stage", "repeat")
PARTS = {"tree": "features", "neighbours": "scoring"}
"""What is timed apart, and the stage it is a part of."""


class TimedBackend(CpuBackend):
    """The CPU backend, with a clock for the two calls that the complexities of their stages hide.

    Attributes
    ----------
    seconds : dict
        Of the decision tree that counts features (`tree`) and of the nearest neighbours of LID (`neighbours`).
    """

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)

    def nearest_distances(self, *args: Any, **options: Any) -> Array:  # noqa: ANN401 - passed on
        """See :class:`~herald_gpu.backend.Backend`."""
        compiled, start = self.compile_seconds, time.perf_counter()
        found = super().nearest_distances(*args, **options)
        self.seconds["neighbours"] += time.perf_counter() - start - (self.compile_seconds - compiled)
        return found

    def tree_features(self, *args: Any, **options: Any) -> Array:  # noqa: ANN401 - passed on
        """See :class:`~herald_gpu.backend.Backend`."""
        start = time.perf_counter()
        found = super().tree_features(*args, **options)
        self.seconds["tree"] += time.perf_counter() - start
        return found


@dataclass(frozen=True)
class Plan:
    """Which sizes to time, and how often.

    Attributes
    ----------
    sweeps : mapping of str to sequence of int
        Values of each size that is varied: `nodes`, `edges` (directed), `features`.
    repeats : int
    """

    sweeps: Mapping[str, Sequence[int]] = field(default_factory=lambda: SWEEPS)
    repeats: int = REPEATS

    def __post_init__(self) -> None:
        for axis, values in self.sweeps.items():
            if axis not in BASE or any(value < 1 for value in values):
                msg = f"{axis}={list(values)}: pass positive sizes of some of {', '.join(BASE)}"
                raise ConfigError(msg)
        if self.repeats < 1:
            msg = f"repeats={self.repeats!r}: at least one is needed"
            raise ConfigError(msg)

    def runs(self) -> Iterator[tuple[str, int, int]]:
        """Give axis, value and repeat of each run; all sizes once before any is repeated."""
        for repeat in range(self.repeats):
            for axis, values in self.sweeps.items():
                for value in values:
                    yield axis, int(value), repeat


def measure(path: Path, plan: Plan) -> int:
    """Time what is missing of a plan, and keep it; gives how many runs that were.

    Parameters
    ----------
    path : Path
        A CSV file, written anew after each run.
    plan : Plan
    """
    rows = read(path)
    known = set(zip(rows["axis"], rows["value"], rows["repeat"], strict=True))
    missing = [run for run in plan.runs() if run not in known]
    if missing:
        time_stages({"nodes": 300, "edges": 1800, "features": 8}, seed=0)  # compiles what is compiled once
    for axis, value, repeat in missing:
        logger.info("complexity: %s=%d, repeat %d", axis, value, repeat)
        found = time_stages(BASE | {axis: value}, seed=repeat)
        key = {"axis": axis, "value": value, "repeat": repeat}
        added = pd.DataFrame([key | {"stage": stage, "seconds": took} | origin() for stage, took in found.items()])
        rows = added if rows.empty else pd.concat([rows, added], ignore_index=True)
        write(rows, path)
    return len(missing)


def read(path: Path) -> pd.DataFrame:
    """Read what was timed so far.

    Raises
    ------
    FileFormatError
        If the file is no such table.
    """
    if not path.exists():
        return pd.DataFrame(columns=[*KEY, "seconds"])
    try:
        rows = pd.read_csv(path)
    except ValueError:  # nothing in it, or no table
        rows = pd.DataFrame()
    lacking = [name for name in (*KEY, "seconds") if name not in rows]
    if lacking:
        msg = f"{path} is no table of times, it lacks {', '.join(lacking)}: move it away, or pass another folder"
        raise FileFormatError(msg)
    return rows


def time_stages(sizes: Mapping[str, int], *, seed: int) -> dict[str, float]:
    """Condense one generated graph with the paper's preset and give the seconds of each stage.

    Parameters
    ----------
    sizes : mapping
        `nodes`, `edges` and `features`.
    seed : int
        Of the graph.

    Examples
    --------
    >>> found = time_stages({"nodes": 300, "edges": 1800, "features": 8}, seed=0)
    >>> {"heterophily", "tree", "neighbours", "expansion"} <= set(found)
    True
    """
    graph = make_graph(
        sizes["nodes"], n_features=sizes["features"], mean_degree=sizes["edges"] / sizes["nodes"], seed=seed
    )
    given = (graph.edge_index, graph.features, graph.labels, graph.train)
    backend = TimedBackend()
    with hushed():
        small = condense(*given, ratio=RATIO, config=HeraldConfig.paper(), backend=backend)
    found = {name: seconds for name, seconds in small.report.timings.items() if name != COMPILATION}
    for part, stage in PARTS.items():
        found[stage] -= backend.seconds[part]
        found[part] = backend.seconds[part]
    return found
