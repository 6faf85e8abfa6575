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
    """How often edges join different classes.

    Attributes
    ----------
    h : float
        Share of cross-class edges among training nodes.
    n_edges : int
        How many edges it was measured on.
    homophily : float
        ``1 - h / (1 - sum_c p_c^2)``: 1 if edges stay inside classes, 0 if they join nodes as chance would.
    """

    h: float
    n_edges: int
    homophily: float


def measure_heterophily(backend: Backend, graph: Graph) -> Heterophily:
    """Measure the share of edges inside the training set whose ends differ in label.

    Without any such edge the share is 0; the caller says so in the report.
    """
    xp = backend.xp
    codes = xp.where(graph.train, graph.labels, -1)
    rows = xp.flatnonzero(graph.train)
    table = ops.neighbour_classes(backend, graph.adjacency, codes, graph.n_classes)[rows]
    own = ops.own_class(backend, table, codes[rows])
    counts = ops.class_counts(backend, codes, graph.n_classes)
    found = ops.fetch(backend, table.sum(dtype=xp.float64), own.sum(dtype=xp.float64), counts)
    total, same = (float(value) for value in found[:2])
    h = (total - same) / total if total else 0.0
    by_chance = float(1.0 - ((found[2] / found[2].sum()) ** 2).sum())
    return Heterophily(h, int(total), 1.0 - h / by_chance if by_chance > 0 else 1.0)
