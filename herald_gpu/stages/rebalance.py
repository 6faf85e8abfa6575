"""Stage 7: bring class counts back to the training shares (eq:rebalance), inside the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops
from herald_gpu.budget import cheapest_nodes, induced_bytes, keep_within

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Growth
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
    added, evicted : int or 0-d array
        Nodes added to classes below target, and removed to make room for a class that was absent.
    trimmed : int
        Nodes removed from classes above target.
    """

    nodes: Array
    roots: Array
    added: Array
    trimmed: int
    evicted: Array


class _State:
    """The node set while it is being balanced."""

    def __init__(self, backend: Backend, graph: Graph, nodes: Array, roots: Array) -> None:
        self.backend, self.graph = backend, graph
        self.member = ops.mask_of(backend, nodes, graph.n_nodes)
        self.roots = roots.copy()

    def counts(self, mask: Array) -> Array:
        counted = self.member & mask & self.graph.train
        return ops.class_counts(self.backend, self.graph.labels, self.graph.n_classes, counted)

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

    The host decides class by class what is due, from one table of class counts; which nodes that means, and whether
    they fit, stays on the backend.

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
    ranked = graph.labels[scores.ranking]
    training = ops.class_counts(backend, graph.labels, graph.n_classes, graph.train)
    listed = ops.class_counts(backend, ranked, graph.n_classes)
    tables = ops.fetch(backend, state.counts(state.roots), state.counts(graph.train), training, listed)
    counts, present, training, listed = (table.astype(np.int64) for table in tables)
    # Cut by lengths that the host knows: selecting class by class would make it wait for each.
    by_class = scores.ranking[backend.xp.argsort(ranked, kind="stable")]
    ends = np.cumsum(listed).tolist()
    classes = [by_class[end - length : end] for end, length in zip(ends, listed.tolist(), strict=True)]
    targets = class_targets(training, int(counts.sum()))
    trimmed = _trim(state, counts, targets, classes, config)
    added = _fill(state, counts, targets, classes, prices, budget, config)
    evicted = 0
    if config.exact and not present.all():  # trimming leaves every class its target, so none has become absent
        evicted, more = _admit_absent(state, scores, prices, budget, feasible=feasible)
        added = added + more
    return Balance(state.nodes(), state.roots, added, trimmed, evicted)


def class_targets(training: np.ndarray, n_target: int) -> np.ndarray:
    """n_c*: the training shares of `n_target` nodes, rounded half to even, at least one.

    Examples
    --------
    >>> class_targets(np.array([30, 10]), 6).tolist()
    [4, 2]
    """
    return np.maximum(1, np.rint(training * n_target / training.sum())).astype(np.int64)


def _trim(state: _State, counts: np.ndarray, targets: np.ndarray, classes: list[Array], config: HeraldConfig) -> int:
    """Remove the lowest-scored roots of over-full classes, where the preset lets roots go.

    The counted nodes are all roots, so without that permission there is nothing to trim.
    """
    if not config.trim_roots:
        return 0
    counted = state.member & state.roots
    trimmed = 0
    for code in np.flatnonzero(counts > config.upper_tolerance * targets + 1):
        worst_first, excess = classes[code][::-1], int(counts[code] - targets[code])
        gone = _first(state, counted[worst_first], excess)
        state.member[worst_first] = state.member[worst_first] & ~gone
        trimmed += excess
        counts[code] = targets[code]
    return trimmed


def _fill(
    state: _State,
    counts: np.ndarray,
    targets: np.ndarray,
    classes: list[Array],
    prices: Prices,
    budget: Budget,
    config: HeraldConfig,
) -> Array:
    """Add the best-ranked absent training nodes of classes below target, largest deficit first."""
    lower = config.lower_tolerance * targets
    short = np.flatnonzero(counts < (lower if config.exact else np.floor(lower)))
    deficits = (targets - counts)[short]
    added = state.backend.xp.zeros((), dtype=state.backend.xp.int64)
    if len(short) == 0:
        return added
    spent = induced_bytes(prices, state.graph.adjacency, state.nodes()) if config.exact else None
    for code in short[np.argsort(-deficits, kind="stable")] if config.exact else short:
        ranking, wanted = classes[code], int(targets[code] - counts[code])
        if config.exact:  # those that are there already add nothing, and count for nothing
            growth = _add_within(state, ranking, prices, budget, spent=spent, quota=wanted)
            added, spent = added + growth.accepted, growth.spent
        else:
            new = _first(state, ~state.member[ranking], wanted)
            state.member[ranking] = state.member[ranking] | new
            state.roots[ranking] = state.roots[ranking] | new
            added = added + new.sum()
    return added


def _first(state: _State, mask: Array, count: int) -> Array:
    """The first `count` true entries of a mask, as a mask: nothing is selected, so nobody waits for a length."""
    return mask & (state.backend.xp.cumsum(mask.astype(state.backend.xp.int64)) <= count)


def _add_within(
    state: _State, candidates: Array, prices: Prices, budget: Budget, *, spent: Array, quota: int
) -> Growth:
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
        spent=spent,
        quota=quota,
    )
    state.roots = state.roots | (growth.member & ~before)
    state.member = growth.member
    return growth


def _admit_absent(
    state: _State, scores: NodeScores, prices: Prices, budget: Budget, *, feasible: bool
) -> tuple[Array, Array]:
    """Give every absent class its cheapest training node: (evicted, added).

    Room is made by evicting the worst-ranked training node of the largest class, again and again but never the
    last of a class, then unlabelled nodes by falling price; if even that is not enough, what is left gives way to
    the cheapest training node of every class, which is known to fit.
    """
    backend, graph, xp = state.backend, state.graph, state.backend.xp
    (counts,) = ops.fetch(backend, state.counts(graph.train))
    absent = np.flatnonzero(counts == 0)
    if len(absent) == 0:
        return 0, 0
    cheapest = cheapest_nodes(backend, graph, prices)
    new = cheapest[backend.asarray(absent)]
    if not feasible:
        by_price = new[xp.argsort(prices.node[new], kind="stable")]
        spent = induced_bytes(prices, graph.adjacency, state.nodes())
        return 0, _add_within(state, by_price, prices, budget, spent=spent, quota=len(absent)).accepted
    before = state.member.sum()
    state.member[new] = True
    nodes = state.nodes()
    position = _eviction_order(state, nodes, scores, prices)
    kept = keep_within(backend, ops.induced(graph.adjacency, nodes), nodes, position, prices, limit=budget.limit)
    fits = induced_bytes(prices, graph.adjacency, kept) <= budget.limit
    enough, least = ops.mask_of(backend, kept, graph.n_nodes), ops.mask_of(backend, cheapest, graph.n_nodes)
    state.member = xp.where(fits, enough, least)
    state.roots = state.roots | xp.where(fits, ops.mask_of(backend, new, graph.n_nodes), least)
    return before + len(absent) - state.member.sum(), len(absent)


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
    counts = ops.class_counts(state.backend, codes, state.graph.n_classes + 1)
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
