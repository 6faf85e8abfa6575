"""Condense a graph that no worker could hold, and write down memory, exchange and time.

Run ``python tools/measure_distributed.py --out docs/results/data/distributed`` for a tenth of the size, and add
``--full`` for 2 million nodes and 60 million directed edges. The graph is generated partition by partition on the
workers. Every case is a process of its own; what is there already is not measured again, and a case that was broken off
goes on from its partial results. ``--page docs/results/distributed.md`` writes the tables.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from herald_gpu.bench.facts import facts
from herald_gpu.io.atomic import whole_file

CLASSES, FEATURES, TRAIN_SHARE, HOMOPHILY, LOCAL = 8, 64, 0.1, 0.7, 0.5
RATIO = 0.001
WINDOW = 20_000
"""Half of the edges stay within so many nodes, as they do where neighbours have similar ids."""
MEGA, GIGA = 1e6, 1e9
UNMEASURED = [
    "",
    "**The large graph was not measured yet** (`--full`): that no worker holds the whole of a graph larger than its",
    "limit is so by construction, but not shown by these figures, and nothing is said about how time falls with more",
    "workers.",
]


@dataclass(frozen=True)
class Case:
    """A run: sizes of the graph, and workers with the memory that each may take."""

    name: str
    nodes: int
    edges: int
    workers: int
    partitions: int
    memory: str


SMALL = [
    Case(f"tenth, {workers} worker{'s' * (workers > 1)}", 200_000, 6_000_000, workers, 4, memory)
    for workers, memory in ((1, "2GB"), (2, "2GB"), (4, "1GB"))
]
LARGE = [Case("full, 4 workers", 2_000_000, 60_000_000, 4, 8, "1.4GB")]


def make_nodes(part: int, low: int, high: int) -> pd.DataFrame:
    """Draw nodes: classes take turns by id, features are noise around the mean of the class."""
    rng = np.random.default_rng([1, part])
    ids = np.arange(low, high)
    centres = np.random.default_rng(0).normal(size=(CLASSES, FEATURES)).astype(np.float32)
    x = rng.standard_normal((len(ids), FEATURES), dtype=np.float32) + 0.5 * centres[ids % CLASSES]
    table = pd.DataFrame(x, columns=[f"f{place}" for place in range(FEATURES)])
    return table.assign(node=ids, label=ids % CLASSES, train=rng.random(len(ids)) < TRAIN_SHARE)


def make_edges(part: int, low: int, high: int, n_nodes: int, n_edges: int) -> pd.DataFrame:
    """Draw edges from some nodes: to near ones or any, mostly of their own class."""
    rng = np.random.default_rng([2, part])
    source = rng.integers(low, high, size=n_edges)
    near = source + rng.integers(-WINDOW // 2, WINDOW // 2, size=n_edges)
    target = np.where(rng.random(n_edges) < LOCAL, np.clip(near, 0, n_nodes - 1), rng.integers(n_nodes, size=n_edges))
    alike = target // CLASSES * CLASSES + source % CLASSES
    target = np.where((rng.random(n_edges) < HOMOPHILY) & (alike < n_nodes), alike, target)
    return pd.DataFrame({"src": source, "dst": target})


def collections(case: Case) -> tuple[Any, Any]:
    """Tables of edges and nodes that workers make when they are asked for."""
    import dask
    import dask.dataframe as dd

    bounds = np.linspace(0, case.nodes, case.partitions + 1).astype(int).tolist()
    each = case.edges // 2 // case.partitions
    spans = list(enumerate(pairwise(bounds)))
    nodes = [dask.delayed(make_nodes)(part, *span) for part, span in spans]
    edges = [dask.delayed(make_edges)(part, *span, case.nodes, each) for part, span in spans]
    return (
        dd.from_delayed(edges, meta=make_edges(0, 0, 8, 8, 0), verify_meta=False),
        dd.from_delayed(nodes, meta=make_nodes(0, 0, 0), verify_meta=False),
    )


def measure(case: Case, preset: str, out: Path) -> dict[str, Any]:
    """Condense the graph of a case on workers of its own."""
    import dask

    from herald_gpu import condense
    from herald_gpu.distributed.clusters import open_client

    config = _config(preset)
    partial = out / f"{slug(case, preset)}.partial"
    start = time.perf_counter()
    with (
        dask.config.set({"distributed.admin.low-level-log-length": 1_000_000}),
        open_client(case.workers, None, backend="cpu", memory=case.memory) as client,
    ):
        edges, nodes = collections(case)
        small = condense(edges, nodes, ratio=RATIO, config=config, backend="cpu", resume=partial)
        peaks = client.run(_peak)
        moved = client.run(_moved)
    shutil.rmtree(partial)
    report = small.report
    return {
        **asdict(case),
        "preset": preset,
        "seconds": time.perf_counter() - start,
        "timings": report.timings,
        "exchanged": report.exchanged_bytes,
        "peaks": sorted(peaks.values()),
        "moved": sum(moved.values()),
        "edges_kept": report.n_edges,
        "nodes_kept": report.n_nodes,
        "full_edges": report.before.n_edges,
        "machine": facts(),
    }


def _config(preset: str) -> Any:  # noqa: ANN401 - HeraldConfig, imported late as everything else
    from herald_gpu import HeraldConfig

    return HeraldConfig() if preset == "default" else HeraldConfig.paper(feature_count=32)


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _moved(dask_worker: Any) -> int:  # noqa: ANN401 - a distributed.Worker
    return sum(int(one["total"]) for one in dask_worker.transfer_incoming_log)


def slug(case: Case, preset: str) -> str:
    """Name of a case, for files."""
    return f"{case.name.replace(', ', '-').replace(' ', '-')}-{preset}"


def graph_bytes(case: dict[str, Any]) -> int:
    """Bytes of the arrays of a graph: float32 features, and the list of directed edges as pairs of int64."""
    return 4 * case["nodes"] * FEATURES + 16 * (case["full_edges"] or case["edges"])


def page(results: list[dict[str, Any]]) -> str:
    """Write the tables."""
    first = results[0]["machine"]
    stages = list(dict.fromkeys(stage for one in results for stage in one["timings"]))
    lines = [
        "# Graphs in partitions",
        "",
        "Written by `python tools/measure_distributed.py --page docs/results/distributed.md` from the cases in",
        "`docs/results/data/distributed`. A generated graph with 64 features is condensed to 0.1 % by worker",
        "processes of a `LocalCluster`, each with one thread and a limit on its memory; half of the edges stay within",
        "20,000 ids, the rest go anywhere, so that nearly every partition needs rows of every other. No figure is of",
        "a GPU.",
        "",
        f"Machine: {first['cpu']}, {first['cores']} cores, {(first['memory_bytes'] or 0) / GIGA:.0f} GB, shared with",
        "other jobs while this ran: times say how stages compare, not how fast a quiet machine is, and cases that ran",
        "under different loads (their last column) cannot be compared with one another.",
        *([] if any(one["nodes"] > SMALL[0].nodes for one in results) else UNMEASURED),
        "",
        "## Memory",
        "",
        _line_of("case", "preset", "nodes", "directed edges", "arrays, GB", "limit of a worker", "peaks, GB", "result"),
        _rule(8),
    ]
    for one in results:
        peaks = ", ".join(f"{peak / GIGA:.2f}" for peak in one["peaks"])
        lines.append(
            f"| {one['name']} | {one['preset']} | {one['nodes']:,} | {one['full_edges'] or one['edges']:,} | "
            f"{graph_bytes(one) / GIGA:.2f} | {one['memory']} | {peaks} | {one['nodes_kept']:,} nodes |"
        )
    lines += ["", "## Seconds of each stage", "", _header("case", [*stages], "total", "load"), _rule(len(stages) + 3)]
    for one in results:
        cells = [f"{one['timings'].get(stage, 0):.1f}" for stage in stages]
        lines.append(_line(one, [*cells, f"{sum(one['timings'].values()):.1f}", f"{one['machine']['load']}"]))
    lines += [
        "",
        "## Megabytes exchanged between partitions, by stage",
        "",
        _header("case", stages),
        _rule(len(stages) + 2),
    ]
    for one in results:
        cells = [f"{one['exchanged'].get(stage, 0) / MEGA:,.1f}" for stage in stages]
        lines.append(_line(one, [*cells, f"{sum(one['exchanged'].values()) / MEGA:,.1f}"]))
        lines.append(_line(one | {"name": "predicted"}, _predicted(one, stages)))
    lines += [
        "",
        "Predicted is what `herald plan --workers` says for as many partitions, with half of the edges inside theirs",
        "beyond chance, and edges given once instead of both ways. Bytes are counted by the partition that receives.",
        "What workers of Dask had from one another in all, copies of the same rows and the way of tables to their",
        "workers included:",
        "",
        *(f"- {one['name']}, {one['preset']}: {one['moved'] / MEGA:,.1f} MB" for one in results),
        "",
    ]
    return "\n".join(lines)


def _predicted(one: dict[str, Any], stages: list[str]) -> list[str]:
    """Megabytes that the model of the planner has for a case, by stage and in all."""
    from herald_gpu.planning.exchange import Spread, exchanged
    from herald_gpu.planning.sizes import measure as measure_sizes

    config = _config(one["preset"])
    sizes = measure_sizes(
        one["nodes"],
        one["full_edges"],
        FEATURES,
        n_classes=CLASSES,
        ratio=RATIO,
        train_share=TRAIN_SHARE,
        density=1.0,
        binary=False,
        degree_skew=None,
        class_skew=None,
        feature_count=None,
        config=config,
    )
    found = exchanged(sizes, config, Spread(one["partitions"], LOCAL))
    found["reading"] /= 2
    cells = [f"{found.get(stage, 0) / MEGA:,.1f}" for stage in stages]
    return [*cells, f"{sum(found.values()) / MEGA:,.1f}"]


def _header(first: str, stages: list[str], *more: str) -> str:
    return _line_of(first, *stages, *(more or ("total",)))


def _line_of(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _rule(count: int) -> str:
    return "|" + "---|" * count


def _line(one: dict[str, Any], cells: list[str]) -> str:
    return f"| {one['name']}, {one['preset']} | " + " | ".join(cells) + " |"


def main() -> None:
    """Measure what is not there yet, each case in a process of its own; write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("docs/results/data/distributed"), help="folder of the figures")
    parser.add_argument("--full", action="store_true", help="the large graph too")
    parser.add_argument("--presets", nargs="+", default=["default"], choices=("default", "paper"))
    parser.add_argument("--page", type=Path, help="write the tables to this file")
    parser.add_argument("--one", nargs=2, metavar=("CASE", "PRESET"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    cases = {case.name: case for case in [*SMALL, *LARGE]}
    if args.one:
        name, preset = args.one
        found = measure(cases[name], preset, args.out)
        with whole_file(args.out / f"{slug(cases[name], preset)}.json", overwrite=True) as beside:
            beside.write_text(json.dumps(found, indent=1), "utf-8")
        return
    for case in [*SMALL, *(LARGE if args.full else [])]:
        for preset in args.presets:
            if not (args.out / f"{slug(case, preset)}.json").exists():
                command = [sys.executable, __file__, "--out", str(args.out), "--one", case.name, preset]
                subprocess.run(command, check=True)  # noqa: S603 - this script
    if args.page is not None:
        files = sorted(args.out.glob("*.json"))
        order = list(cases)
        results = sorted(
            (json.loads(file.read_text("utf-8")) for file in files), key=lambda one: order.index(one["name"])
        )
        with whole_file(args.page, overwrite=True) as beside:
            beside.write_text(page(results), "utf-8")


if __name__ == "__main__":
    main()
