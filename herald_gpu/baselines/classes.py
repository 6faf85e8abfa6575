"""Match the class shares of the training nodes (the last step of BONSAI), inside the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops
from herald_gpu.budget import induced_bytes

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.budget import Budget, Prices
    from herald_gpu.graph import Graph

LOWER, UPPER = 0.99, 1.01
"""Class counts outside these multiples of their target are corrected."""


def match_classes(
    backend: Backend, graph: Graph, nodes: Array, ranking: Array, seated: Array, prices: Prices, budget: Budget | None
) -> Array:
    """Trim classes above their training share from the back of the ranking, and fill those below from its front.

    The target of a class is its share of the training nodes that are there, rounded down; at least one.

    Parameters
    ----------
    backend, graph, prices
        As everywhere.
    nodes : int array
        The nodes there are.
    ranking : int array
        All training nodes, best first.
    seated : bool array
        Nodes that must stay.
    budget : Budget, optional
        Added nodes must fit in it; None checks nothing.
    """
    xp = backend.xp
    member = ops.mask_of(backend, nodes, graph.n_nodes)
    sizes = backend.to_host(ops.class_counts(backend, graph.labels[graph.train], graph.n_classes))
    there = graph.labels[member & graph.train]
    counts = backend.to_host(ops.class_counts(backend, there, graph.n_classes))
    targets = np.maximum(1, sizes * counts.sum() // sizes.sum())
    for code in np.flatnonzero(counts > UPPER * targets):
        mine = _of_class(graph, ranking[::-1], int(code))
        loose = mine[member[mine] & ~seated[mine]]
        member[loose[: int(counts[code] - int(UPPER * targets[code]))]] = False
    for code in np.flatnonzero(counts < LOWER * targets):
        mine = _of_class(graph, ranking, int(code))
        absent, wanted = mine[~member[mine]], int(targets[code] - counts[code])
        if budget is None:
            member[absent[:wanted]] = True
            continue
        growth = backend.grow(
            graph.adjacency,
            absent,
            prices,
            limit=budget.limit,
            depth=0,
            patience=int(absent.shape[0]),
            member=member,
            spent=induced_bytes(prices, graph.adjacency, xp.flatnonzero(member)),
            quota=wanted,
        )
        member = growth.member
    return xp.flatnonzero(member)


def _of_class(graph: Graph, ranking: Array, code: int) -> Array:
    return ranking[graph.labels[ranking] == code]
