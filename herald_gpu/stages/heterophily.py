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
    rows = xp.flatnonzero(graph.train)
    table = ops.neighbour_classes(backend, graph.adjacency, codes, graph.n_classes)[rows]
    own = ops.own_class(backend, table, codes[rows])
    total, same = (float(v) for v in ops.fetch(backend, table.sum(dtype=xp.float64), own.sum(dtype=xp.float64)))
    return Heterophily((total - same) / total, int(total)) if total else Heterophily(0.0, 0)
