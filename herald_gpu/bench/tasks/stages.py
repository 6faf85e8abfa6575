"""Every stage of a run beside its bare kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu import HeraldConfig
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.bench import graphs, memory
from herald_gpu.bench.clocks import median, seconds
from herald_gpu.bench.kernels import bare_kernels
from herald_gpu.bench.watch import watch
from herald_gpu.experiments.quiet import hushed
from herald_gpu.planning import DeviceSpec, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.bench.watch import Watched
    from herald_gpu.graph import Graph
    from herald_gpu.planning import StagePlan

HERE = DeviceSpec(name="cpu", memory_bytes=2**40, bandwidth=1e10, context_bytes=0)
"""Work is counted, not predicted: the device does not matter."""
PRESETS: dict[str, Callable[..., HeraldConfig]] = {"default": HeraldConfig, "paper": HeraldConfig.paper}


def stages(spec: dict[str, Any], preset: str, ratio: float, repeats: int) -> dict[str, Any]:
    """Run the pipeline under watch once, then with the bare kernel of every stage right after it.

    The first run gives the memory, and warms up; medians are of the others.

    Parameters
    ----------
    spec : dict
        A graph, see :func:`herald_gpu.bench.graphs.load`.
    preset : {"default", "paper"}
    ratio : float
    repeats : int
    """
    config, backend = PRESETS[preset](), CpuBackend()
    given = graphs.load(spec)
    reading = [seconds(lambda: given.seen(backend, config)) for _ in range(repeats)]
    graph = given.seen(backend, config)
    memory.settle()
    held = memory.resident()
    with hushed():
        first = watch(graph, ratio, config)
        kernels = bare_kernels(first, graph, config)
        runs = [watch(graph, ratio, config, bare=kernels) for _ in range(repeats)]
    work = cost(graph, int(first.made.feature_indices.shape[0]), ratio, config)
    return {
        "sizes": sizes(graph),
        "kept": int(first.made.feature_indices.shape[0]),
        "reading": median(reading),
        "stages": {name: _row(name, first, runs, held, work) for name in first.seconds},
    }


def _row(name: str, first: Watched, runs: list[Watched], held: int, work: dict[str, StagePlan]) -> dict[str, Any]:
    taken = median([run.seconds[name] for run in runs])
    bare = [run.bare_seconds[name] for run in runs if name in run.bare_seconds]
    planned = work.get(name)
    return {
        "seconds": taken,
        "bare": median(bare) if bare else None,
        "flops": None if planned is None else planned.flops,
        "bytes": None if planned is None else planned.bytes_moved,
        "peak": max(0, first.peaks[name.partition("/")[0]] - held),
    }


def cost(graph: Graph, kept: int, ratio: float, config: HeraldConfig) -> dict[str, StagePlan]:
    """Count the work of a run with the cost model, by part of a stage.

    Parameters
    ----------
    graph, ratio, config
        What was run.
    kept : int
        Features that were kept; what the default preset tries does not depend on them.
    """
    n, f = graph.n_nodes, graph.n_features
    stored = int(getattr(graph.features, "nnz", n * f))
    found: dict[str, StagePlan] = {}
    # With the number of features known no tree is planned: that one comes from a plan without it.
    for count in (None,) if config.selection == "exemplars" else (None, kept):
        made = plan(
            n,
            graph.n_edges,
            f,
            n_classes=graph.n_classes,
            ratio=ratio,
            train_share=float(graph.train.mean()),
            density=stored / (n * f),
            binary=graph.kind == "binary",
            feature_count=count,
            config=config,
            device=HERE,
        )
        found |= {stage.name: stage for stage in made.stages}
    return found


def sizes(graph: Graph) -> dict[str, int]:
    """Give nodes, edges, features and classes."""
    return {
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
        "features": graph.n_features,
        "classes": graph.n_classes,
    }
