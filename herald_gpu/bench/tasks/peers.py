"""The same graph through the presets, our BONSAI and the plain recipe."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from herald_gpu import baselines, condense
from herald_gpu.bench import graphs, memory
from herald_gpu.bench.clocks import median
from herald_gpu.bench.plain import plain_condense
from herald_gpu.bench.tasks.stages import PRESETS
from herald_gpu.experiments.quiet import hushed

if TYPE_CHECKING:
    from herald_gpu.bench.graphs import Given


def peer(spec: dict[str, Any], method: str, ratio: float, repeats: int) -> dict[str, Any]:
    """Condense a graph with one method.

    Parameters
    ----------
    spec : dict
        A graph, see :func:`herald_gpu.bench.graphs.load`.
    method : {"default", "paper", "bonsai", "plain"}
    ratio : float
    repeats : int
    """
    given = graphs.load(spec)
    taken: list[float] = []
    with hushed():
        with memory.watched() as span:
            found = _run(given, method, ratio, taken)
        for _ in range(repeats - 1):
            _run(given, method, ratio, taken)
    return {"seconds": median(taken), "all_seconds": taken, "grown": span.grown, **found}


def _run(given: Given, method: str, ratio: float, taken: list[float]) -> dict[str, Any]:
    start = time.perf_counter()
    if method in PRESETS:
        small = condense(*given.arguments, ratio=ratio, config=PRESETS[method](), backend="cpu")
        nodes, share = small.report.n_nodes, small.report.storage_ratio
    elif method == "bonsai":
        other = baselines.run("bonsai", *given.arguments, ratio=ratio, backend="cpu")
        nodes, share = other.n_nodes, other.storage_ratio
    else:
        plain = plain_condense(*given.arguments, ratio=ratio)
        nodes, share = len(plain.nodes), plain.storage_ratio
    taken.append(time.perf_counter() - start)
    return {"nodes": nodes, "storage_ratio": share}
