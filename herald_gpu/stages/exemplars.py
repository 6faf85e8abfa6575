"""Exemplars: training nodes that stand for the others of their class, as many as the budget holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from herald_gpu import ops
from herald_gpu.budget import cheapest_nodes, induced_bytes

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Growth
    from herald_gpu.budget import Pricing
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.pool import Pool

Rule = Literal["cover", "herd"]
RULES: tuple[Rule, ...] = ("cover", "herd")
ROUNDING = 1e-9


@dataclass(frozen=True)
class Order:
    """Who comes first.

    Attributes
    ----------
    place : int array
        Of each member of the pool in its class, best first.
    linked : bool array
        Whether an edge to the one before it in its class is due.
    turn : int array
        Members of the pool that may be chosen, in the order of their turns.
    """

    place: Array
    linked: Array
    turn: Array


def order_members(backend: Backend, pool: Pool, places: Array, fold: int, *, link_share: float) -> Order:
    """Order all training nodes: by their places, classes taking turns by their shares.

    The i-th node of a class with share s has its turn at (i + 1/2) / s (Sainte-Lague); ties go to the lower class.

    Parameters
    ----------
    backend : Backend
    pool : Pool
    places : int array
        Place of each compared node among those of its class; -1 for one that has none. Such nodes, and those that were
        not compared, follow as they were drawn.
    fold : int
        Whose free nodes may be chosen.
    link_share : float
        Link this share of a class to one another.
    """
    xp, free = backend.xp, pool.free[fold]
    place = xp.full(int(pool.members.shape[0]), -1, dtype=xp.int64)
    place[pool.compared] = xp.where(free[pool.compared], places, -1)
    codes = pool.codes.astype(xp.int64)
    waiting = (free & (place < 0)).astype(xp.int64)
    before = xp.cumsum(waiting) - waiting  # those who wait, ahead of each member
    counts = ops.class_counts(backend, pool.codes, len(pool.sizes))
    starts = xp.cumsum(counts) - counts
    taken = ops.class_counts(backend, xp.where(place >= 0, pool.codes, -1), len(pool.sizes))
    place = xp.where(place >= 0, place, taken[codes] + before - before[starts][codes])
    shares = backend.asarray(pool.targets)
    turns = ops.turns(xp, place, shares[codes])
    linked = xp.floor((place + 1) * link_share + ROUNDING) > xp.floor(place * link_share + ROUNDING)
    candidates = xp.flatnonzero(free)
    return Order(place, linked, candidates[xp.argsort(turns[candidates], kind="stable")])


def fill(
    backend: Backend,
    graph: Graph,
    pool: Pool,
    order: Order,
    pricing: Pricing,
    limit: float,
    config: HeraldConfig,
    *,
    every_class: bool,
) -> Array | None:
    """Choose nodes in order while they, the edges among them and their links fit: their ids, ascending.

    Parameters
    ----------
    backend, graph, pool, order, config
        As everywhere.
    pricing : Pricing
        Says what nodes and edges cost; a link costs as much as two directed edges.
    limit : float
        Bytes there are for them.
    every_class : bool
        Whether a node of every class must be among them. Where one is missing the cheapest of each class come first;
        None if those do not fit, though without links and with all of the budget they would.
    """
    xp, prices = backend.xp, pricing.prices
    node = prices.node.copy()
    node[pool.members] += order.linked * (2.0 * prices.edge)
    charged, ranking = replace(prices, node=node), pool.members[order.turn]

    def grow(roots: Array, member: Array | None = None, spent: Array = 0.0) -> Growth:
        return backend.grow(
            graph.adjacency,
            roots,
            charged,
            limit=limit,
            depth=0,
            patience=config.patience,
            member=member,
            spent=spent,
        )

    growth = grow(ranking)
    if not every_class:
        return xp.flatnonzero(growth.member)
    counts = ops.class_counts(backend, graph.labels, graph.n_classes, growth.member & graph.train)
    if ops.scalar(counts.min()) == 0:
        seats = cheapest_nodes(backend, graph, charged)
        if pricing.feasible:
            needed = induced_bytes(charged, graph.adjacency, seats)
            if ops.scalar(needed) > limit:
                return None
            growth = grow(ranking, ops.mask_of(backend, seats, graph.n_nodes), needed)
        else:
            growth = grow(seats[xp.argsort(node[seats], kind="stable")], growth.member, growth.spent)
    return xp.flatnonzero(growth.member)


def stand_in(backend: Backend, rows: Array, lengths: Array, codes: Array, directions: Array) -> Array:
    """Find the node of every class whose own features point most nearly the way of its class (ties: the first).

    Parameters
    ----------
    backend : Backend
    rows : (n, k) float32 array
        Features of the nodes.
    lengths : (n,) float64 array
        Of these rows.
    codes : int array
        Their classes; -1 may not be chosen.
    directions : (classes, k) float64 array
        Of length 1.

    Returns
    -------
    int array
        Places of nodes, one of every class that has some.

    Examples
    --------
    >>> import numpy as np
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> rows = np.array([[1, 0], [0, 3], [2, 2], [0, 0]], dtype=np.float32)
    >>> stand_in(CpuBackend(), rows, np.linalg.norm(rows, axis=1), np.array([0, 1, 1, 0]), np.eye(2)).tolist()
    [0, 1]
    """
    xp, n_classes = backend.xp, int(directions.shape[0])
    along = ops.own_class(backend, rows @ directions.T.astype(rows.dtype), codes) * ops.inverse(backend, lengths)
    order = ops.descending(backend, along)
    order = order[xp.argsort(xp.where(codes < 0, n_classes, codes)[order], kind="stable")]
    counts = ops.class_counts(backend, codes, n_classes)
    return order[(xp.cumsum(counts) - counts)[xp.flatnonzero(counts > 0)]]


def surround(
    backend: Backend, graph: Graph, nodes: Array, pricing: Pricing, limit: float, config: HeraldConfig
) -> Array:
    """Spend what is left on other nodes, those with the most chosen neighbours first: all ids, ascending.

    Parameters
    ----------
    backend, graph, pricing, config
        As everywhere.
    nodes : int array
        Chosen nodes: all training nodes.
    limit : float
        Bytes for them and the others.
    """
    xp = backend.xp
    member = ops.mask_of(backend, nodes, graph.n_nodes)
    around = graph.adjacency @ member.astype(xp.float64)
    others = xp.flatnonzero(~member & (around > 0))
    growth = backend.grow(
        graph.adjacency,
        others[xp.argsort(-around[others], kind="stable")],
        pricing.prices,
        limit=limit,
        depth=0,
        patience=config.patience,
        member=member,
        spent=induced_bytes(pricing.prices, graph.adjacency, nodes),
    )
    return xp.flatnonzero(growth.member)
