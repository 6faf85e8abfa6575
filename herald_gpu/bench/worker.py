"""A process that measures one case: its task and options come as JSON on stdin, the result goes to stdout."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import DatasetError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Callable

TASKS = "herald_gpu.bench.tasks"
TINY = {"n_nodes": 300, "n_classes": 3, "n_features": 24, "mean_degree": 6.0, "homophily": 0.8}


def measure(task: str, options: dict[str, Any]) -> dict[str, Any]:
    """Run a task; what cannot be had here (a graph, a library) is skipped with the reason.

    Examples
    --------
    >>> sorted(measure("lid:dense", {"n_rows": 50, "n_features": 8, "repeats": 1}))
    ['flops', 'gemm', 'grown', 'lid', 'of', 'ratio', 'rows_bytes']
    """
    module, _, name = task.partition(":")
    run: Callable[..., dict[str, Any]] = getattr(importlib.import_module(f"{TASKS}.{module}"), name)
    try:
        return run(**options)
    except (DatasetError, MissingDependencyError) as error:
        return {"skipped": str(error)}


def warm_up() -> None:
    """Compile what is compiled once, import what is imported late: both presets, dense and sparse."""
    from herald_gpu import HeraldConfig, condense
    from herald_gpu.datasets import make_graph
    from herald_gpu.experiments.quiet import hushed

    with hushed():
        for kind in ("dense", "bag_of_words"):
            made = make_graph(**TINY, features=kind, mean_words=5.0)  # type: ignore[arg-type]
            for config in (HeraldConfig(), HeraldConfig.paper()):
                condense(made.edge_index, made.features, made.labels, made.train, ratio=0.2, config=config)


def main() -> None:
    """Measure the case on stdin."""
    case = json.load(sys.stdin)
    if case["warm"]:
        warm_up()
    found = measure(case["task"], case["options"])
    sys.stdout.write(f"\n{json.dumps(found)}\n")


if __name__ == "__main__":
    main()
