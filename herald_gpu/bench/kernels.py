"""The bare kernels of every part of a run, made from what the run was seen to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.bench import bare
from herald_gpu.bench.clocks import seconds
from herald_gpu.search import ranks_all
from herald_gpu.stages.landmarks import AT_A_TIME, SEEN
from herald_gpu.stages.trials import MOST_ROWS
from herald_gpu.stages.views import HOPS

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix
    from herald_gpu.bench.bare import Kernel
    from herald_gpu.bench.watch import Watched
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.pool import Pool

LEGS_OF_COMPARED, LEGS_OF_HELD = 3, 2
"""Products with the edges of compared nodes (P^2 X, M^2 X, (A + I)^2 X), and of held-out nodes (the last two)."""


def bare_kernels(seen: Watched, graph: Graph, config: HeraldConfig) -> dict[str, Kernel]:
    """Bare kernels by part of a stage; the tree is timed inside its stage, and weights have none.

    Parameters
    ----------
    seen : Watched
        A run on the same graph.
    graph : Graph
    config : HeraldConfig
    """
    picked = seen.made.picked
    table = bare.class_table(graph.adjacency, graph.labels, graph.n_classes)
    scores = bare.together(bare.centroid_product(picked.kept, graph.n_classes), table)
    kernels = {
        "budget": lambda: graph.adjacency.data.sum(dtype=np.float64),
        "heterophily": table,
        "assembly": bare.gathered(graph.adjacency, picked.kept, picked.nodes, np.flatnonzero(graph.train)),
    }
    if config.selection == "neighbourhoods" or not ranks_all(graph.n_features, graph.n_classes):
        kernels["features/fisher"] = fisher_products(graph, config.hops)
    if config.selection == "exemplars":
        return kernels | _exemplars(seen.noted, graph, config) | {"scoring": scores}
    return kernels | _neighbourhoods(seen, graph) | {"scoring/scores": scores}


def fisher_products(graph: Graph, hops: int) -> Kernel:
    """Sparse products of Fisher: dense column blocks, or sparse times sparse where features are and that is faster."""
    blocks = bare.column_products(graph.adjacency, graph.features, hops)
    if not scipy.sparse.issparse(graph.features):
        return blocks
    sparse = bare.sparse_products(graph.adjacency, graph.features, hops)
    return min((blocks, sparse), key=seconds)


def _exemplars(noted: dict[str, Any], graph: Graph, config: HeraldConfig) -> dict[str, Kernel]:
    ranked, pool = noted["walk"]
    count = noted["counts"][-1] if noted["counts"] else 0
    width = max(noted["remembered"], count)
    legs = [graph.adjacency[pool.members[pool.compared]]] * LEGS_OF_COMPARED + [
        graph.adjacency[pool.held]
    ] * LEGS_OF_HELD
    compared = [bare.class_products(pool.sizes, count, HOPS + 1)] if count else []
    found = {
        "exemplars/views": bare.together(
            *(bare.column_products(part, ranked[:, :width], 1, np.float32) for part in (graph.adjacency, *legs)),
            *compared,
        ),
        "exemplars/trials": bare.side_by_side(*_regressions(noted["trials"])),
    }
    if noted["places"]:
        passes = [bare.table_passes(noted["similarity"], pool.sizes, places) for places in noted["places"]]
        found["exemplars/places"] = bare.together(*passes)
    if noted["remembered"]:
        found["exemplars/landmarks"] = bare.together(
            bare.gram_products(lesson_sizes(pool, noted["remembered"], noted["held_out"], config), len(SEEN)),
            bare.system_solves(noted["factorised"], noted["directions"]),
            bare.side_by_side(*_regressions(noted["landmark_trials"])),
        )
    return found


def _regressions(sizes: list[tuple[int, int, int, int]]) -> list[Kernel]:
    return [bare.ridge_solves(min(rows, MOST_ROWS), *rest) for rows, *rest in sizes]


def lesson_sizes(pool: Pool, learnt: int, held_out: list[int], config: HeraldConfig) -> list[tuple[int, int]]:
    """Nodes that landmarks learn from together, and in how many columns: all, then those that each fold holds out."""
    taught = np.concatenate([np.arange(size) < config.smallest_pool for size in pool.sizes])
    outside = (~pool.free[: pool.n_folds, pool.compared[taught]]).sum(axis=1).tolist()
    everybody = [(min(AT_A_TIME, int(taught.sum()) - low), learnt) for low in range(0, int(taught.sum()), AT_A_TIME)]
    return everybody + [(nodes, width) for width in held_out for nodes in outside]


def _neighbourhoods(seen: Watched, graph: Graph) -> dict[str, Kernel]:
    noted, picked = seen.noted, seen.made.picked
    kernels = {
        "scoring/neighbours": bare.all_pairs(bare.unit_rows(noted["neighbours"])),
        "expansion": bare.edge_pass(graph.adjacency, touched(graph.adjacency, noted["grow"])),
        "rebalance": bare.edge_pass(graph.adjacency, picked.nodes),
    }
    if "pagerank" in noted:
        adjacency, restart, options = noted["pagerank"]
        kernels["pruning"] = bare.walk_steps(adjacency, pagerank_steps(adjacency, restart, options))
    return kernels


def touched(adjacency: Matrix, grown: list[tuple[Any, int]]) -> Array:
    """Nodes whose edges an expansion had to look at: those it gathered, and those inside the roots' neighbourhoods."""
    out = np.zeros(adjacency.shape[0], dtype=bool)
    for growth, depth in grown:
        out |= growth.member
        reached = growth.considered.copy() if depth else np.zeros_like(out)
        for _ in range(depth - 1):
            reached |= (adjacency @ reached.astype(np.float32)) > 0
        out |= reached
    return np.flatnonzero(out)


def pagerank_steps(adjacency: Matrix, restart: Array, options: dict[str, Any]) -> int:
    """Count the steps that PageRank takes until it stops."""
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    step = (scipy.sparse.diags_array(1.0 / degree) @ adjacency.astype(np.float64)).T.tocsr()
    rank, alpha = np.full(len(degree), 1.0 / len(degree)), options["probability"]
    for count in range(1, options["max_iter"] + 1):
        moved = alpha * restart + (1.0 - alpha) * (step @ rank)
        moved /= moved.sum()
        if np.abs(moved - rank).sum() < options["tol"]:
            return count
        rank = moved
    return int(options["max_iter"])
