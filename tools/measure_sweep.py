"""Measure what a sweep over five ratios costs beside single calls.

For every data set, in one run: seconds of condense() at the largest ratio, of one call per ratio, of the sweep, and the
sweep over the largest. Each is the fastest of some repetitions, after a first call that compiles kernels.

    HERALD_DATA=folder python tools/measure_sweep.py [--preset paper] [--repeat 3] [cora pubmed coauthor-cs]
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import herald_gpu
from herald_gpu.datasets import load_graph
from herald_gpu.ratios import RATIOS

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["cora", "pubmed", "coauthor-cs"], metavar="DATASET")
    parser.add_argument("--preset", choices=("default", "paper"), default="default")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    config = herald_gpu.HeraldConfig() if args.preset == "default" else herald_gpu.HeraldConfig.paper()
    titles = "| graph | largest ratio, s | five calls, s | sweep, s | sweep / largest |\n|---|---|---|---|---|\n"
    sys.stdout.write(titles)
    for name in args.names:
        graph = load_graph(name)
        given = (graph.edge_index, graph.features, graph.labels, graph.train)
        sweep = partial(herald_gpu.sweep, *given, ratios=RATIOS, config=config, backend="cpu")
        single = partial(herald_gpu.condense, *given, config=config, backend="cpu")
        sweep()
        alone = [min(seconds(partial(single, ratio=ratio)) for _ in range(args.repeat)) for ratio in RATIOS]
        together = min(seconds(sweep) for _ in range(args.repeat))
        largest = alone[-1]
        cells = [name, *(f"{value:.2f}" for value in (largest, sum(alone), together, together / largest))]
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
