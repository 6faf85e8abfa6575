"""Stage 1: how heterophilic the training graph is (eq:hetero)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herald_gpu.backend import Array, Backend
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


@dataclass(frozen=True)
class TrainingEdges:
    """Edges from some training nodes to others: how many, how many inside a class; and their nodes by class."""

    total: float
    same: float
    classes: np.ndarray


def measure_heterophily(backend: Backend, graph: Graph) -> Heterophily:
    """Measure the share of edges inside the training set whose ends differ in label.

    Without any such edge the share is 0; the caller says so in the report.
    """
    xp = backend.xp
    codes = xp.where(graph.train, graph.labels, -1)
    rows = xp.flatnonzero(graph.train)
    table = ops.neighbour_classes(backend, graph.adjacency, codes, graph.n_classes)[rows]
    return heterophily_of([count_training_edges(backend, table, codes[rows])])


def count_training_edges(backend: Backend, table: Array, codes: Array) -> TrainingEdges:
    """Count the edges of some training nodes (partial).

    Parameters
    ----------
    backend : Backend
    table : (n, classes) array
        Neighbours of each of them in the training set, by class.
    codes : int array
        Their own classes.
    """
    xp = backend.xp
    own = ops.own_class(backend, table, codes)
    counts = ops.class_counts(backend, codes, int(table.shape[1]))
    found = ops.fetch(backend, table.sum(dtype=xp.float64), own.sum(dtype=xp.float64), counts)
    return TrainingEdges(float(found[0]), float(found[1]), found[2])


def heterophily_of(parts: Sequence[TrainingEdges]) -> Heterophily:
    """Put the counts of all training nodes together (combine, finish); whole numbers, so their order is no matter."""
    total, same = sum(part.total for part in parts), sum(part.same for part in parts)
    shares = np.sum([part.classes for part in parts], axis=0)
    h = (total - same) / total if total else 0.0
    by_chance = float(1.0 - ((shares / shares.sum()) ** 2).sum())
    return Heterophily(h, int(total), 1.0 - h / by_chance if by_chance > 0 else 1.0)
