"""Stage 1: how heterophilic the training graph is (eq:hetero)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Backend
    from herald_gpu.graph import Graph


@dataclass(frozen=True)
class Heterophily:
    """Share of cross-class edges among training nodes, and how many edges it was measured on."""

    h: float
    n_edges: int


def measure_heterophily(backend: Backend, graph: Graph) -> Heterophily:
    """Measure the share of edges inside the training set whose ends differ in label.

    Without any such edge the share is 0; the caller says so in the report.
    """
    xp = backend.xp
    codes = xp.where(graph.train, graph.labels, -1)
    table = ops.neighbour_classes(backend, graph.adjacency, codes, graph.n_classes)[graph.train]
    total = int(ops.scalar(table.sum(dtype=xp.float64)))
    if total == 0:
        return Heterophily(0.0, 0)
    same = ops.scalar(ops.own_class(backend, table, codes[graph.train]).sum(dtype=xp.float64))
    return Heterophily((total - same) / total, total)
