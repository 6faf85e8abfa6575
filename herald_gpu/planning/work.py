"""Work of each stage: arithmetic and memory traffic, counted as the stages do it.

Arithmetic counts an addition and a multiplication as one operation each. Traffic counts every array that is written
once and read where it is used; gathers are counted without cache reuse, sorts by their passes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.planning.batches import KNN_ROWS, approximate, candidates, growth_batches
from herald_gpu.planning.exemplar_work import most_work
from herald_gpu.planning.tasks import Work

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.planning.batches import Footprint
    from herald_gpu.planning.sizes import Sizes

SORT_BYTES = 250
"""Traffic of one 64-bit key through a radix sort and the removal of repeats, with the arrays on its way."""
SCATTER_OPERATIONS = 7
"""Operations of eq:fisher per training row and feature: class sum (2), mean, difference, square, weight, sum."""
LOOKUP_BYTES = 80
"""Traffic of one end of an edge looked up among the node ids: the search and the arrays on its way."""
DESCENT_ROWS, DESCENT_PAIRS = 20 * 128, 20 * 2 * 64 * 64
"""Rows read and pairs compared for a node by NN-descent: 20 rounds of 64 new and 64 old neighbours' neighbours."""


def all_work(s: Sizes, config: HeraldConfig, memory: dict[str, Footprint]) -> dict[str, Work]:
    """Work of every stage that there is memory for."""
    work = {
        "reading": _reading(s),
        "budget": Work(bytes=24 * s.nodes),
        "heterophily": _class_table(s),
        "assembly": _assembly(s),
    }
    if s.fisher:
        work["features/fisher"] = _fisher(s, config, memory["features/fisher"].batches)
    if s.exemplars is not None:
        return work | most_work(s, s.exemplars) | {"scoring": _scores(s)}
    if s.tree:
        work["features/tree"] = _tree(s, config, memory["features/tree"].batches)
    return work | {
        "scoring/scores": _scores(s),
        "scoring/neighbours": _neighbours(s, config),
        "expansion": _expansion(s, config, memory["expansion"]),
        "pruning": _pruning(s, config),
        "rebalance": _rebalance(s),
    }


def _reading(s: Sizes) -> Work:
    sorting = 370 * s.edges
    features = 60 * s.values if s.sparse else 14 * s.values
    note = "edges given both ways; what the caller holds on the device, and the way there, come on top"
    if s.on_device:  # ends looked up among the ids, features copied from columns to rows
        sorting, features = sorting + 2 * s.edges * LOOKUP_BYTES, features + 16 * s.values
        note = "edges given both ways; what the caller holds on the device comes on top; node ids are numbers"
    return Work(bytes=sorting + features, note=note)


def _class_table(s: Sizes) -> Work:
    """One sparse product with one-hot classes."""
    products = s.edges * s.classes
    traffic = s.edges * (8 + 4 * s.classes) + 24 * s.nodes * s.classes + 8 * s.train * s.classes
    return Work(flops32=2 * products, bytes=traffic, counts={"multiply_adds": products})


def _tree(s: Sizes, config: HeraldConfig, batches: int) -> Work:
    """Smoothing by one sparse product, then a histogram tree, level by level."""
    dense = s.train * s.features
    levels = min(config.tree_depth, 2 * math.ceil(math.log2(max(2, s.train))))
    if s.sparse:
        products = math.ceil(s.train_edges * s.values / s.nodes)
        smoothing = 24 * products + 100 * min(dense, products)
    else:
        products = s.train_edges * s.features
        smoothing = 8 * products + 12 * s.train_edges * batches + 28 * s.values + 68 * dense
    return Work(
        flops32=levels * dense,
        flops64=2 * products + 3 * dense,
        bytes=smoothing + 4 * levels * dense + 20 * s.edges,
        counts={"multiply_adds": products, "tree_updates": levels * dense},
        note=f"the tree is counted at {levels} levels; feature_count= leaves it out",
    )


def _fisher(s: Sizes, config: HeraldConfig, batches: int) -> Work:
    """Sparse products of all feature columns with the adjacency, in float64, and class scatters after each hop.

    After the last hop the training rows alone are asked for.
    """
    hops, dense = config.hops, s.nodes * s.features
    edges = (hops - 1) * s.edges + s.train_edges if hops else 0
    products = edges * s.features
    scatter = (hops + 1) * s.train * s.features
    per_hop = 8 * products + 32 * edges * batches + 40 * hops * dense
    traffic = per_hop + 140 * scatter + 12 * dense + 36 * s.train * s.features
    return Work(
        flops64=2 * products + hops * dense + SCATTER_OPERATIONS * scatter,
        bytes=traffic,
        counts={"multiply_adds": products, "scattered_values": scatter},
    )


def _scores(s: Sizes) -> Work:
    """Norms, centroids and cosines in float64 on densified rows; neighbours' classes as in stage 1."""
    dense, table = s.nodes * s.kept, _class_table(s)
    products = dense * s.classes
    return Work(
        flops32=table.flops32,
        flops64=2 * products + 4 * dense + 2 * s.train * s.kept,
        bytes=table.bytes + 60 * dense + 40 * s.nodes * s.classes + 300 * s.nodes,
        counts={"multiply_adds": products, "table_multiply_adds": s.edges * s.classes},
    )


def _neighbours(s: Sizes, config: HeraldConfig) -> Work:
    """All pairs in float32 (or those that a descent looks at), then the candidates' distances again in float64."""
    pool, _, width = candidates(s, config)
    exact = s.nodes * width
    pairs, row = s.nodes * pool, s.kept_values / s.nodes
    if approximate(s, config):
        pairs = s.nodes * DESCENT_PAIRS
        return Work(
            flops32=2.0 * pairs * s.kept,
            flops64=5.0 * exact * row,
            bytes=(2.0 * DESCENT_ROWS * s.kept + 24 * s.kept + 8 * width * row + 100 * width) * s.nodes,
            counts={"pairs": pairs, "exact_distances": exact},
            note="NN-descent is counted at its full 20 rounds; it usually stops before",
        )
    meeting = row * row / s.kept if s.sparse else float(s.kept)  # values that two rows have in common
    steps = 2 * row if s.sparse else float(s.kept)
    reread = math.ceil(s.nodes / KNN_ROWS) * pool * (8 if s.sparse else 4) * row
    note = "sparse rows: pairs are counted by the values they share, spread evenly" if s.sparse else ""
    return Work(
        flops32=2 * pairs * meeting,
        flops64=5 * exact * steps,
        bytes=16 * pairs + reread + 8 * exact * row + 24 * s.kept_values + 100 * exact,
        counts={"pairs": pairs, "exact_distances": exact},
        note=note,
    )


def _expansion(s: Sizes, config: HeraldConfig, memory: Footprint) -> Work:
    """Neighbourhoods of batches of roots, sorted; one pass over the nodes of each root, and over the edges of new ones.

    Done twice: within the enlarged budget and within the budget itself.
    """
    around, followed = s.reach(config.depth)
    looked = gathered = 0
    for part in (s.wide, s.final):
        considered = s.roots_considered(part, config)
        _, _, roots = growth_batches(s, considered, memory.batch)
        looked, gathered = looked + considered, gathered + roots
    priced = s.wide.reach + s.final.reach
    return Work(
        flops64=looked * around + 2 * priced,
        bytes=SORT_BYTES * gathered * followed + 20 * looked * around + 10 * priced + 56 * s.edges,
        counts={
            "roots_considered": looked,
            "edges_followed": math.ceil(looked * followed),
            "edges_gathered": math.ceil(gathered * followed),
        },
        note="sizes depend on the graph; one thread block decides the roots in order, so the time is a lower bound",
    )


def _pruning(s: Sizes, config: HeraldConfig) -> Work:
    """PageRank at most until the restart alone has made the change small enough."""
    steps = config.ppr_max_iter
    if config.restart < 1 and config.ppr_tol < 1:
        steps = min(steps, math.ceil(math.log(config.ppr_tol) / math.log1p(-config.restart)))
    nodes, edges = s.wide.nodes, s.wide.edges
    return Work(
        flops64=steps * (2 * edges + 6 * nodes),
        bytes=steps * (20 * edges + 48 * nodes) + 24 * s.wide.reach + 200 * edges,
        counts={"steps": steps, "multiply_adds": steps * edges},
        note="sizes depend on the graph; the steps are the most there can be",
    )


def _rebalance(s: Sizes) -> Work:
    traffic = 8 * s.edges + 100 * s.nodes + 20 * s.train * s.classes + 24 * s.final.reach + 100 * s.final.edges
    return Work(bytes=traffic, note="one thread block decides the candidates in order: a lower bound")


def _assembly(s: Sizes) -> Work:
    rows = s.train + s.final.nodes
    traffic = 72 * rows * s.kept + 12 * s.final.nodes * s.features + 24 * s.final.reach + 24 * s.final.edges
    return Work(flops64=4 * rows * s.kept, bytes=traffic)
