"""Features of a graph in partitions, scaled by figures of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.backend import get_backend
from herald_gpu.distributed.crew import reduce_tree
from herald_gpu.errors import ConfigError
from herald_gpu.stages.scaling import ColumnFacts, Scaling, column_facts, merge_facts, plan_scaling

if TYPE_CHECKING:
    import numpy as np

    from herald_gpu.backend import Backend
    from herald_gpu.config import Scale
    from herald_gpu.distributed.crew import Crew
    from herald_gpu.distributed.parts import Part
    from herald_gpu.distributed.reading import PartedGraph
    from herald_gpu.stages.scaling import ScalingPlan


def check_scale_of_parts(scale: Scale) -> None:
    """Refuse what takes more than sums over partitions."""
    if scale == "robust":
        msg = "scale='robust' is not there for Dask collections: pass 'standard' or 'auto', or graphs of one machine"
        raise ConfigError(msg)


def scale_parts(crew: Crew, graph: PartedGraph, scale: Scale) -> tuple[PartedGraph, ScalingPlan | None]:
    """Scale features on the workers that hold them: (graph, what was done)."""
    if scale == "none" or graph.layout.kind == "binary":
        return graph, None
    told = [crew.submit(part_facts, part, near=part) for part in graph.parts]
    plan = plan_scaling(crew.gather([reduce_tree(crew, merge_part_facts, told)])[0], scale)
    if plan is None:
        return graph, None
    scaling = plan.scaling(get_backend("cpu"))
    parts = [crew.submit(scale_part, part, scaling.center, scaling.spread, near=part) for part in graph.parts]
    return replace(graph, parts=parts, scaling=scaling), plan


def part_facts(backend: Backend, part: Part) -> ColumnFacts:
    """Measure the columns of a partition, on the host (partial)."""
    found = column_facts(backend, part.features)
    rows, *moments = found.moments
    mean, squares, stored, others = (backend.to_host(one) for one in (*moments, found.stored, found.others))
    return ColumnFacts(ops.Moments(rows, mean, squares), stored, others)


def merge_part_facts(backend: Backend, parts: list[ColumnFacts]) -> ColumnFacts:  # noqa: ARG001 - every task has one
    """Figures of several partitions (combine)."""
    return merge_facts(parts)


def scale_part(backend: Backend, part: Part, center: np.ndarray, spread: np.ndarray) -> Part:
    """Scale the features of a partition."""
    scaling = Scaling(backend.asarray(center), backend.asarray(spread))
    return replace(part, features=scaling.apply(backend, part.features))
