"""K-Center: nodes that leave no other node of their class far away (greedy; Gonzalez 1985)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.baselines.exemplars import rank_by_class
from herald_gpu.baselines.selection import Selection, fill
from herald_gpu.baselines.spaces import turned

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.baselines.options import SpaceOptions
    from herald_gpu.budget import Budget
    from herald_gpu.graph import Graph


def select(backend: Backend, graph: Graph, budget: Budget, *, seed: int, options: SpaceOptions) -> Selection:  # noqa: ARG001 - nothing is drawn
    """Take training nodes in farthest-first order while they fit."""
    ranking = rank_by_class(backend, graph, budget, options, kcenter_order)
    return fill(backend, graph, ranking, budget, options)


def kcenter_order(backend: Backend, rows: Matrix, count: int) -> Array:
    """Positions of `count` rows: the one nearest to the mean, then always the one farthest from those picked."""
    xp, n = backend.xp, int(rows.shape[0])
    columns = turned(backend, rows)
    squares = ops.row_norms(backend, rows) ** 2
    mean = columns @ xp.full(n, 1.0 / n, dtype=xp.float64)
    urgency = 2 * (rows @ mean) - squares  # the smallest distance to the mean comes first
    distance = xp.full(n, xp.inf, dtype=xp.float64)
    taken = xp.zeros(n, dtype=bool)
    picked = xp.zeros(count, dtype=xp.int64)
    for step in range(count):
        best = xp.argmax(xp.where(taken, -xp.inf, xp.round(urgency, ops.SCORE_DECIMALS)))[None]
        one = xp.zeros(n, dtype=xp.float64)
        one[best] = 1.0
        distance = xp.minimum(distance, squares + squares[best] - 2 * (rows @ (columns @ one)))
        urgency = distance
        taken[best] = True
        picked[step : step + 1] = best
    return picked
