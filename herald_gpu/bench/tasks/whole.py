"""Whole condensations: seconds, and memory beside what was given."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import condense
from herald_gpu.bench import graphs, memory
from herald_gpu.bench.clocks import median
from herald_gpu.bench.tasks.stages import HERE, PRESETS
from herald_gpu.experiments.quiet import hushed
from herald_gpu.pipeline import COMPILATION
from herald_gpu.planning import plan

if TYPE_CHECKING:
    from herald_gpu import CondensedGraph, HeraldConfig
    from herald_gpu.bench.graphs import Given


def whole(
    spec: dict[str, Any], preset: str, ratio: float, repeats: int, changes: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Condense a graph some times.

    Memory is of the first time: `peak` is the most resident at once, interpreter and all; `taken` is that less what
    was resident before the graph was loaded, so that it holds the input, the kept features and all work space.

    Parameters
    ----------
    spec : dict
        A graph, see :func:`herald_gpu.bench.graphs.load`.
    preset : {"default", "paper"}
    ratio : float
    repeats : int
    changes : dict, optional
        Options of the preset that are to differ.
    """
    memory.settle()
    empty = memory.resident()
    return condensed(graphs.load(spec), PRESETS[preset](**(changes or {})), ratio, repeats, empty=empty)


def condensed(given: Given, config: HeraldConfig, ratio: float, repeats: int, *, empty: int) -> dict[str, Any]:
    """Condense a loaded graph some times; `empty` is what was resident before it was loaded."""
    seconds: list[float] = []
    timings: list[dict[str, float]] = []
    with hushed():
        with memory.watched() as span:
            small = _timed(given, ratio, config, seconds, timings)
        for _ in range(repeats - 1):
            _timed(given, ratio, config, seconds, timings)
    kept = kept_bytes(given, small)
    return {
        "seconds": median(seconds),
        "all_seconds": seconds,
        "timings": {name: median([one[name] for one in timings]) for name in timings[0]},
        "peak": span.most,
        "taken": span.most - empty,
        "input": given.input_bytes,
        "kept": kept,
        "excess": span.most - empty - given.input_bytes - kept,
        "nodes": small.report.n_nodes,
        "features": small.report.feature_count,
        "storage_ratio": small.report.storage_ratio,
    }


def _timed(
    given: Given, ratio: float, config: HeraldConfig, seconds: list[float], timings: list[dict[str, float]]
) -> CondensedGraph:
    start = time.perf_counter()
    small = condense(*given.arguments, ratio=ratio, config=config, backend="cpu")
    seconds.append(time.perf_counter() - start)
    timings.append({name: taken for name, taken in small.report.timings.items() if name != COMPILATION})
    return small


def presets(spec: dict[str, Any], ratio: float, repeats: int) -> dict[str, Any]:
    """Condense a graph with both presets in turn, so that both meet the machine as it is.

    Parameters
    ----------
    spec, ratio, repeats
        As of :func:`whole`; each preset is run once more before, to warm up.
    """
    given = graphs.load(spec)
    taken: dict[str, list[float]] = {name: [] for name in PRESETS}
    with hushed():
        for _ in range(repeats + 1):
            for name, seconds in taken.items():
                _timed(given, ratio, PRESETS[name](), seconds, [])
    found = {name: median(seconds[1:]) for name, seconds in taken.items()}
    return {**found, "ratio": found["default"] / found["paper"], "all_seconds": taken}


def kept_bytes(given: Given, small: CondensedGraph) -> int:
    """Bytes of the kept features of all nodes, in the container they were given in."""
    columns = np.asarray(small.feature_ids, dtype=np.int64)
    if not hasattr(given.features, "indptr"):
        return int(given.features.shape[0]) * len(columns) * given.features.dtype.itemsize
    chosen = np.isin(given.features.indices, columns)
    return int(chosen.sum()) * 8 + int(given.features.indptr.nbytes)


def reddit(spec: dict[str, Any], ratio: float) -> dict[str, Any]:
    """Condense a generated graph of Reddit's size once, with the work of every stage from the cost model."""
    memory.settle()
    empty, config = memory.resident(), PRESETS["default"]()
    given = graphs.load(spec)
    found = condensed(given, config, ratio, repeats=1, empty=empty)
    sizes = {
        "nodes": int(given.features.shape[0]),
        "edges": int(given.edge_index.shape[1]),
        "features": int(given.features.shape[1]),
        "classes": len(np.unique(given.labels)),
    }
    counted = [sizes[name] for name in ("nodes", "edges", "features")]
    share = float(given.train.mean())
    made = plan(*counted, n_classes=sizes["classes"], ratio=ratio, train_share=share, config=config, device=HERE)
    work = {name: {"flops": 0.0, "bytes": 0.0} for name in found["timings"]}
    for stage in made.stages:
        total = work[stage.name.partition("/")[0]]
        total["flops"] += stage.flops
        total["bytes"] += stage.bytes_moved
    return found | {"sizes": sizes, "work": work}
