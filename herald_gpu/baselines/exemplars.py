"""Rank training nodes class by class, and let classes take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu.baselines.selection import affordable, link_prices
from herald_gpu.baselines.shares import take_turns
from herald_gpu.baselines.spaces import training_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.baselines.options import SpaceOptions
    from herald_gpu.budget import Budget
    from herald_gpu.graph import Graph

    Order = Callable[[Backend, Matrix, int], Array]


def rank_by_class(backend: Backend, graph: Graph, budget: Budget, options: SpaceOptions, order: Order) -> Array:
    """Training nodes, each class in the order that `order` gives its rows, merged by training shares.

    A class is ranked only as far as the budget can reach: the most nodes that fit anyhow, and `patience` more.
    """
    xp = backend.xp
    nodes = xp.flatnonzero(graph.train)
    codes = graph.labels[nodes]
    rows = training_rows(backend, graph, options.space)
    prices = link_prices(backend, graph, budget, options.links)
    most = affordable(backend, graph, prices, budget) + options.patience + 1
    by_class, sizes = [], []
    for code in range(graph.n_classes):
        mine = xp.flatnonzero(codes == code)
        size = int(mine.shape[0])
        by_class.append(nodes[mine[order(backend, rows[mine], min(size, most))]])
        sizes.append(size)
    return take_turns(backend, by_class, sizes)
