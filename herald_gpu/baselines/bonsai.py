"""BONSAI: exemplar computation trees by reverse nearest neighbours (Gupta et al., ICLR 2025)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from herald_gpu import ops
from herald_gpu.baselines.classes import match_classes
from herald_gpu.baselines.coverage import cover_greedily, nearest_rows, reverse_neighbours
from herald_gpu.baselines.options import LINKS, Links, NodeOptions, require, require_int, require_number
from herald_gpu.baselines.selection import EXACT, Selection, cut_out, fill, seats
from herald_gpu.baselines.trees import gather
from herald_gpu.budget import (
    EDGE_UNITS,
    FEATURE_UNITS,
    UNIT_BYTES,
    induced_bytes,
    keep_within,
    make_prices,
)
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.feature_budget import smoothed_rows
from herald_gpu.stages.pruning import PAGERANK_DECIMALS, central_to_roots

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.baselines.selection import CutGraph
    from herald_gpu.budget import Budget, Prices
    from herald_gpu.graph import Graph

Slip = Literal["patience", "removal"]
SLIPS = ("patience", "removal")
Accounting = Literal["exact", "citation", "pubmed", "scaled"]
ACCOUNTINGS = get_args(Accounting)


@dataclass(frozen=True, kw_only=True)
class BonsaiOptions:
    """Options of BONSAI; the defaults are those of its public code, without its slips.

    Attributes
    ----------
    links : {"expanded", "induced", "none"}
        Take the trees of the exemplars, pruned and balanced; or only the exemplars themselves in the order of their
        ranking, with or without the edges among them.
    k : int
        Neighbours of each node, the node itself among them.
    sample : float
        Share of the training nodes whose neighbours are looked for, drawn at random.
    depth : int
        Hops of a computation tree.
    headroom : float
        The trees may use this multiple of the budget before PageRank prunes them back.
    patience : int
        Stop after more than this many trees in a row that do not fit.
    slips : tuple of {"patience", "removal"}
        Slips of the public code to repeat. `"patience"`: rejected trees are counted from the start, an accepted one
        does not set the count back. `"removal"`: pruning takes a node out even where none is due.
    accounting : {"exact", "citation", "pubmed", "scaled"}
        `"exact"` charges eq:budget and keeps it. The others are the branches of the published code, see
        :meth:`herald_gpu.HeraldConfig.published`: the graph as stored, dense prices for it, a node at the sum of its
        kept values (`"pubmed"`: three units a non-zero), four bytes a pair of neighbours, and no check at the end; the
        result then takes more than was asked for, and says so. `"scaled"` standard-scales features first.
    """

    links: Links = "expanded"
    k: int = 5
    sample: float = 1.0
    depth: int = 1
    headroom: float = 10.0
    patience: int = 100
    slips: tuple[Slip, ...] = ()
    accounting: Accounting = "exact"

    def __post_init__(self) -> None:
        require("links", self.links, self.links in LINKS, f"one of {LINKS}")
        require_int("k", self.k, 1)
        require_number("sample", self.sample, 0, 1, low_open=True)
        require_int("depth", self.depth, 0)
        require_number("headroom", self.headroom, 1)
        require_int("patience", self.patience, 0)
        good = all(slip in SLIPS for slip in self.slips)
        require("slips", self.slips, good, f"a tuple of names out of {SLIPS}")
        require("accounting", self.accounting, self.accounting in ACCOUNTINGS, f"one of {ACCOUNTINGS}")
        published = self.accounting != "exact" and self.links != "expanded"
        require("accounting", self.accounting, not published, "'exact', or links='expanded' with it")


def select(backend: Backend, graph: CutGraph, budget: Budget, *, seed: int, options: BonsaiOptions) -> Selection:
    """Take the computation trees of the best exemplars, prune them by PageRank, and match the class shares."""
    ranking = rank_exemplars(backend, graph, seed=seed, options=options)
    if options.links != "expanded":
        return fill(backend, graph, ranking, budget, NodeOptions(links=options.links, patience=options.patience))
    spending, prices = _accounts(backend, graph, budget, options)
    exact = options.accounting == "exact"
    seated = seats(backend, graph, ranking, prices, spending) if exact else ranking[:0]
    start = ops.mask_of(backend, seated, graph.n_nodes)
    spent = induced_bytes(prices, graph.adjacency, seated) if exact else 0.0

    def trees(limit: float) -> tuple[Array, Array]:
        return gather(
            backend,
            graph.adjacency,
            ranking,
            prices,
            limit=limit,
            depth=options.depth,
            patience=options.patience,
            member=start,
            spent=spent,
            total_patience="patience" in options.slips,
        )

    plain, _ = trees(spending.limit)
    wide, roots = trees(options.headroom * spending.limit)
    roots = roots | start
    target = int(plain.sum())
    kept = _prune(backend, graph, wide, roots, start, prices, spending, target=target, options=options)
    nodes = match_classes(backend, graph, kept, ranking, start, prices, spending if exact else None)
    details = {
        "k": options.k,
        "depth": options.depth,
        "exemplars": int((roots & ops.mask_of(backend, nodes, graph.n_nodes)).sum()),
        "gathered": int(wide.sum()),
        "target_size": target,
        "pruned": int(wide.sum()) - int(kept.shape[0]),
        "accounting": options.accounting,
        "slips": options.slips,
    }
    made = cut_out(backend, graph, nodes, budget, links="induced", details=details)
    return made if exact else replace(made, adjacency=ops.both_ways(backend, made.adjacency))


def rank_exemplars(backend: Backend, graph: Graph, *, seed: int, options: BonsaiOptions) -> Array:
    """All training nodes: greedy coverage of reverse neighbours between the smoothed rows, Euclidean distance."""
    nodes = backend.xp.flatnonzero(graph.train)
    n = int(nodes.shape[0])
    rows = smoothed_rows(backend, graph, nodes)
    drawn = np.arange(n)
    if options.sample < 1:
        count = max(1, int(options.sample * n))
        drawn = np.sort(np.random.default_rng(seed).choice(n, count, replace=False))
    asking = backend.asarray(drawn)
    near = nearest_rows(backend, rows, min(options.k, n), asking)
    order = cover_greedily(reverse_neighbours(backend, near, asking, n))
    return nodes[backend.asarray(order)]


def _accounts(backend: Backend, graph: CutGraph, budget: Budget, options: BonsaiOptions) -> tuple[Budget, Prices]:
    """Budget and prices in which the trees are charged."""
    if options.accounting == "exact":
        return budget, make_prices(backend, graph.features, budget, EXACT)
    config = HeraldConfig.published(options.accounting)
    units = FEATURE_UNITS["binary" if options.accounting == "citation" else "dense"]
    full = float(UNIT_BYTES * (units * graph.n_nodes * graph.n_input_features + EDGE_UNITS * graph.n_edges))
    spending = replace(budget, full_bytes=full, limit=float(budget.ratio or 1.0) * full)
    # The code counts pairs, whether they are stored one way or both.
    loops = int((ops.row_ids(backend, graph.adjacency) == graph.adjacency.indices).sum())
    pairs = (int(ops.both_ways(backend, graph.adjacency).nnz) + loops) / 2
    edge = UNIT_BYTES * EDGE_UNITS * pairs / graph.n_edges
    return spending, replace(make_prices(backend, graph.features, budget, config), edge=edge, edge_to_member=edge)


def _prune(
    backend: Backend,
    graph: Graph,
    member: Array,
    roots: Array,
    seated: Array,
    prices: Prices,
    budget: Budget,
    *,
    target: int,
    options: BonsaiOptions,
) -> Array:
    """Remove the nodes least central to the exemplars, down to `target`, and on until the budget holds."""
    xp = backend.xp
    nodes = xp.flatnonzero(member)
    count = int(nodes.shape[0])
    part = ops.induced(graph.adjacency, nodes)
    central = central_to_roots(backend, part, roots[nodes], EXACT)
    free = xp.flatnonzero(~seated[nodes])[::-1]
    order = free[xp.argsort(xp.round(central, PAGERANK_DECIMALS)[free], kind="stable")]
    position = xp.full(count, count, dtype=xp.int64)
    position[order] = xp.arange(order.shape[0], dtype=xp.int64)
    due = max(count - target, 1 if "removal" in options.slips else 0)
    due = min(due, int(order.shape[0]))
    if options.accounting != "exact":
        return nodes[position >= due]
    return keep_within(backend, part, nodes, position, prices, limit=budget.limit, start=due)
