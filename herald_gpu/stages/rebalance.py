"""Stage 7: bring class counts back to the training shares (eq:rebalance), inside the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops
from herald_gpu.budget import cheapest_nodes, induced_bytes, keep_within

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.budget import Budget, Prices
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.scoring import NodeScores


@dataclass(frozen=True)
class Balance:
    """The final node set.

    Attributes
    ----------
    nodes : int array
        Ascending.
    roots : bool array of length N
        R, with the nodes added here.
    added, trimmed, evicted : int
        Nodes added to classes below target, removed from classes above it, and removed to make room for a class
        that was absent.
    missing : tuple of int
        Classes without a training node in the result.
    """

    nodes: Array
    roots: Array
    added: int
    trimmed: int
    evicted: int
    missing: tuple[int, ...]


class _State:
    """The node set while it is being balanced."""

    def __init__(self, backend: Backend, graph: Graph, nodes: Array, roots: Array) -> None:
        self.backend, self.graph = backend, graph
        self.member = ops.mask_of(backend, nodes, graph.n_nodes)
        self.roots = roots.copy()

    def counts(self, mask: Array) -> np.ndarray:
        codes = self.graph.labels[self.member & mask & self.graph.train]
        return self.backend.to_host(ops.class_counts(self.backend, codes, self.graph.n_classes))

    def nodes(self) -> Array:
        return self.backend.xp.flatnonzero(self.member)


def rebalance(
    backend: Backend,
    graph: Graph,
    nodes: Array,
    roots: Array,
    scores: NodeScores,
    prices: Prices,
    budget: Budget,
    config: HeraldConfig,
    *,
    feasible: bool,
) -> Balance:
    """Trim classes above their target, fill those below it, and give every class at least one node.

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    nodes : int array
        The pruned node set.
    roots : bool array
        R of the expansion.
    scores : NodeScores
    prices : Prices
    budget : Budget
    feasible : bool
        Whether one training node of every class fits in the budget.
    """
    state = _State(backend, graph, nodes, roots)
    counts = state.counts(state.roots)
    targets = class_targets(backend, graph, int(counts.sum()))
    trimmed = _trim(state, counts, targets, scores, config)
    added = _fill(state, counts, targets, scores, prices, budget, config)
    evicted = 0
    if config.exact:
        evicted, more = _admit_absent(state, scores, prices, budget, feasible=feasible)
        added += more
    missing = np.flatnonzero(state.counts(graph.train) == 0)
    return Balance(state.nodes(), state.roots, added, trimmed, evicted, tuple(int(c) for c in missing))


def class_targets(backend: Backend, graph: Graph, n_target: int) -> np.ndarray:
    """n_c*: the training shares of `n_target` nodes, rounded half to even, at least one."""
    counts = backend.to_host(ops.class_counts(backend, graph.labels[graph.train], graph.n_classes))
    return np.maximum(1, np.rint(counts * n_target / counts.sum())).astype(np.int64)


def _trim(state: _State, counts: np.ndarray, targets: np.ndarray, scores: NodeScores, config: HeraldConfig) -> int:
    """Remove the lowest-scored roots of over-full classes, where the preset lets roots go.

    The counted nodes are all roots, so without that permission there is nothing to trim.
    """
    if not config.trim_roots:
        return 0
    counted = state.member & state.roots
    trimmed = 0
    for code in np.flatnonzero(counts > config.upper_tolerance * targets + 1):
        worst_first = scores.ranking[::-1]
        mine = worst_first[(state.graph.labels[worst_first] == int(code)) & counted[worst_first]]
        gone = mine[: int(counts[code] - targets[code])]
        state.member[gone] = False
        trimmed += int(gone.shape[0])
        counts[code] = targets[code]
    return trimmed


def _fill(
    state: _State,
    counts: np.ndarray,
    targets: np.ndarray,
    scores: NodeScores,
    prices: Prices,
    budget: Budget,
    config: HeraldConfig,
) -> int:
    """Add the best-ranked absent training nodes of classes below target, largest deficit first."""
    lower = config.lower_tolerance * targets
    short = np.flatnonzero(counts < (lower if config.exact else np.floor(lower)))
    deficits = (targets - counts)[short]
    added = 0
    for code in short[np.argsort(-deficits, kind="stable")] if config.exact else short:
        ranking = scores.ranking
        absent = ranking[(state.graph.labels[ranking] == int(code)) & ~state.member[ranking]]
        wanted = int(targets[code] - counts[code])
        if config.exact:
            added += _add_within(state, absent, prices, budget, quota=wanted)
        else:
            absent = absent[:wanted]
            state.member[absent] = True
            state.roots[absent] = True
            added += int(absent.shape[0])
    return added


def _add_within(state: _State, candidates: Array, prices: Prices, budget: Budget, *, quota: int) -> int:
    """Add candidates in order, each only if it fits in the budget; they become roots."""
    before = state.member
    growth = state.backend.grow(
        state.graph.adjacency,
        candidates,
        prices,
        limit=budget.limit,
        depth=0,
        patience=int(candidates.shape[0]),
        member=before,
        spent=induced_bytes(prices, state.graph.adjacency, state.nodes()),
        quota=quota,
    )
    state.roots = state.roots | (growth.member & ~before)
    state.member = growth.member
    return growth.accepted


def _admit_absent(
    state: _State, scores: NodeScores, prices: Prices, budget: Budget, *, feasible: bool
) -> tuple[int, int]:
    """Give every absent class its cheapest training node: (evicted, added).

    Room is made by evicting the worst-ranked training node of the largest class, again and again but never the
    last of a class, then unlabelled nodes by falling price; if even that is not enough, what is left gives way to
    the cheapest training node of every class, which is known to fit.
    """
    backend, graph, xp = state.backend, state.graph, state.backend.xp
    absent = np.flatnonzero(state.counts(graph.train) == 0)
    if len(absent) == 0:
        return 0, 0
    cheapest = cheapest_nodes(backend, graph, prices)
    new = cheapest[backend.asarray(absent)]
    if not feasible:
        by_price = new[xp.argsort(prices.node[new], kind="stable")]
        return 0, _add_within(state, by_price, prices, budget, quota=len(absent))
    before = int(state.member.sum())
    state.member[new] = True
    nodes = state.nodes()
    position = _eviction_order(state, nodes, scores, prices)
    kept = keep_within(backend, graph.adjacency, nodes, position, prices, limit=budget.limit)
    if induced_bytes(prices, graph.adjacency, kept) > budget.limit:
        kept, new = xp.sort(cheapest), cheapest
    state.member = ops.mask_of(backend, kept, graph.n_nodes)
    state.roots[new] = True
    return before + len(absent) - int(kept.shape[0]), len(absent)


def _eviction_order(state: _State, nodes: Array, scores: NodeScores, prices: Prices) -> Array:
    """Place of each node in the order of eviction; the best-ranked node of each class must stay."""
    xp, n = state.backend.xp, int(nodes.shape[0])
    rank = xp.zeros(state.graph.n_nodes, dtype=xp.int64)
    rank[scores.ranking] = xp.arange(scores.ranking.shape[0], dtype=xp.int64)
    train = state.graph.train[nodes]
    codes = xp.where(train, state.graph.labels[nodes], state.graph.n_classes).astype(xp.int64)
    # Place of each training node within its class, best first: the largest class is the one with the highest.
    order = xp.argsort(rank[nodes], kind="stable")
    order = order[xp.argsort(codes[order], kind="stable")]
    counts = xp.bincount(codes, minlength=state.graph.n_classes + 1)
    starts = xp.cumsum(counts) - counts
    within = xp.zeros(n, dtype=xp.int64)
    within[order] = xp.arange(n, dtype=xp.int64) - starts[codes[order]]
    # Labelled nodes from the highest place down (ties: lower class), then unlabelled ones by falling price.
    labelled = xp.flatnonzero(train & (within > 0))
    labelled = labelled[xp.argsort(codes[labelled], kind="stable")]
    labelled = labelled[xp.argsort(-within[labelled], kind="stable")]
    others = xp.flatnonzero(~train)
    others = others[xp.argsort(-prices.node[nodes[others]], kind="stable")]
    evictable = xp.concatenate([labelled, others])
    position = xp.full(n, n, dtype=xp.int64)
    position[evictable] = xp.arange(evictable.shape[0], dtype=xp.int64)
    return position
