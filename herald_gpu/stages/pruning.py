"""Stage 6: prune by personalised PageRank (eq:ppr)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.budget import keep_within

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget, Prices
    from herald_gpu.config import HeraldConfig
    from herald_gpu.stages.expansion import Expansion

PAGERANK_DECIMALS = 10


@dataclass(frozen=True)
class Pruning:
    """What is left.

    Attributes
    ----------
    nodes : int array
        Ascending.
    removed : int
        Nodes taken out.
    """

    nodes: Array
    removed: int


def prune(
    backend: Backend,
    adjacency: Matrix,
    expansion: Expansion,
    ranking: Array,
    prices: Prices,
    budget: Budget,
    config: HeraldConfig,
) -> Pruning:
    """Remove the nodes least central to the roots, down to n* and on until the budget holds.

    Non-roots go first, by PageRank; then, only if still over the budget, roots from the back of the ranking.
    """
    xp = backend.xp
    nodes = xp.flatnonzero(expansion.member)
    before = int(nodes.shape[0])
    if before == 0:
        return Pruning(nodes, 0)
    is_root = expansion.considered[nodes]
    part = ops.induced(adjacency, nodes)
    centrality = xp.round(central_to_roots(backend, part, is_root, config), PAGERANK_DECIMALS)
    # Non-roots by rising centrality, ties higher id first: a stable sort of the reversed order.
    backwards = xp.flatnonzero(~is_root)[::-1]
    others = backwards[xp.argsort(centrality[backwards], kind="stable")]
    n_others = int(others.shape[0])
    position = xp.full(before, before, dtype=xp.int64)
    position[others] = xp.arange(n_others, dtype=xp.int64)
    excess = min(n_others, max(0, before - max(expansion.target_size, 0 if config.exact else 1)))
    if not config.exact:
        kept = nodes[xp.flatnonzero(position >= excess)]
        return Pruning(kept, before - int(kept.shape[0]))
    worst_first = _places(backend, ranking[::-1], expansion.considered & expansion.member)
    position = xp.where(is_root, n_others + worst_first[nodes], position)
    kept = keep_within(backend, part, nodes, position, prices, limit=budget.limit, start=excess)
    return Pruning(kept, before - int(kept.shape[0]))


def central_to_roots(backend: Backend, adjacency: Matrix, is_root: Array, config: HeraldConfig) -> Array:
    """Personalised PageRank around the roots of a subgraph; 0 for nodes isolated in it."""
    xp = backend.xp
    around = (adjacency + adjacency.T).tocsr()
    linked = xp.flatnonzero(xp.diff(around.indptr) > 0)
    values = xp.zeros(adjacency.shape[0], dtype=xp.float64)
    roots = xp.flatnonzero(is_root[linked])
    n_roots = int(roots.shape[0])
    if n_roots == 0:
        return values
    restart = xp.zeros(linked.shape[0], dtype=xp.float64)
    restart[roots] = 1.0 / n_roots
    around = ops.induced(around, linked)
    values[linked] = backend.pagerank(
        around, restart, probability=config.restart, tol=config.ppr_tol, max_iter=config.ppr_max_iter
    )
    return values


def _places(backend: Backend, order: Array, wanted: Array) -> Array:
    """Place of each wanted node in `order`, counting wanted nodes only; indexed by node."""
    xp = backend.xp
    places = xp.zeros(wanted.shape[0], dtype=xp.int64)
    places[order] = xp.cumsum(wanted[order].astype(xp.int64)) - 1
    return places
