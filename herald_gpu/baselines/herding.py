"""Herding: nodes whose mean follows the mean of their class (Welling, ICML 2009)."""

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
    """Take training nodes in herding order while they fit."""
    ranking = rank_by_class(backend, graph, budget, options, herding_order)
    return fill(backend, graph, ranking, budget, options)


def herding_order(backend: Backend, rows: Matrix, count: int) -> Array:
    """Positions of `count` rows: each brings the mean of those picked closest to the mean of all.

    After t - 1 picks with sum s the next one minimises |m - (s + x) / t|, which is to say it maximises
    <t m - s, x> - |x|^2 / 2: Welling's herding, on rows of equal length.
    """
    xp, n = backend.xp, int(rows.shape[0])
    columns = turned(backend, rows)
    mean = columns @ xp.full(n, 1.0 / n, dtype=xp.float64)
    half = ops.row_norms(backend, rows) ** 2 / 2
    total = xp.zeros(rows.shape[1], dtype=xp.float64)
    taken = xp.zeros(n, dtype=bool)
    picked = xp.zeros(count, dtype=xp.int64)
    for step in range(count):
        gain = xp.round(rows @ ((step + 1) * mean - total) - half, ops.SCORE_DECIMALS)
        best = xp.argmax(xp.where(taken, -xp.inf, gain))[None]
        one = xp.zeros(n, dtype=xp.float64)
        one[best] = 1.0
        total += columns @ one
        taken[best] = True
        picked[step : step + 1] = best
    return picked
