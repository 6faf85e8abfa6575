"""The condensed graph put together, priced, described, and its shortfalls explained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from herald_gpu import encoding, ops
from herald_gpu.budget import encoded_bytes, graph_bytes, stored_total
from herald_gpu.graph import edge_total
from herald_gpu.stages.reduction import reduce_features
from herald_gpu.stages.statistics import describe, measure

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget
    from herald_gpu.config import HeraldConfig
    from herald_gpu.encoding import Encoding
    from herald_gpu.graph import Graph
    from herald_gpu.stages.expansion import Expansion
    from herald_gpu.stages.feature_budget import FeatureBudget
    from herald_gpu.stages.features import KeptFeatures
    from herald_gpu.stages.heterophily import Heterophily
    from herald_gpu.stages.pruning import Pruning
    from herald_gpu.stages.rebalance import Balance
    from herald_gpu.stages.reduction import Reduction, Scaling
    from herald_gpu.stages.scoring import NodeScores
    from herald_gpu.stages.statistics import Statistics
    from herald_gpu.stages.weights import ScoreWeights

FULL_USE = 0.9
"""Below this share of the budget the report says where the rest went."""


@dataclass(frozen=True)
class Sizes:
    """Storage of the result and of the whole graph, in nominal bytes (eq:budget).

    Attributes
    ----------
    storage_bytes, full_bytes, budget_bytes : int
    kind : str
        How the full graph's features are priced.
    encoding : Encoding
        How the result's are stored.
    published_ratio : float, optional
        The paper's storage ratio (dense pricing), where its accounting was asked for.
    """

    storage_bytes: int
    full_bytes: int
    budget_bytes: int
    kind: str
    encoding: Encoding
    published_ratio: float | None


@dataclass(frozen=True)
class Condensed:
    """What the pipeline hands back, on the backend; the caller's types are none of its business.

    Attributes
    ----------
    nodes : int array
        Kept nodes, ascending.
    adjacency : CSR matrix
        Induced, undirected.
    features : matrix
        Kept (and reduced) features of the kept nodes.
    feature_indices : int array
        Kept columns, ascending.
    labels : int array
        Class codes of training nodes; -1 for all others.
    train_mask, is_root : bool arrays
    scores : NodeScores
    scales : (k*,) float32 array, optional
        What int8 values of each column are multiplied by.
    scaling, reduction : Scaling, Reduction, optional
        What was done to features before and after selection.
    hetero, weights, expansion, statistics, sizes
        For the report.
    tree : str, optional
        The decision tree that counted the features.
    missing : tuple of int
        Classes without a node.
    warnings : tuple of str
    """

    nodes: Array
    adjacency: Matrix
    features: Matrix
    feature_indices: Array
    labels: Array
    train_mask: Array
    is_root: Array
    scores: NodeScores
    scales: Array | None
    scaling: Scaling | None
    reduction: Reduction | None
    hetero: Heterophily
    weights: ScoreWeights
    expansion: Expansion
    statistics: Statistics
    sizes: Sizes
    tree: str | None
    missing: tuple[int, ...]
    warnings: tuple[str, ...]


def assemble(
    backend: Backend,
    graph: Graph,
    *,
    kept: Matrix,
    chosen: KeptFeatures,
    anchor: FeatureBudget,
    hetero: Heterophily,
    weights: ScoreWeights,
    scores: NodeScores,
    scaling: Scaling | None,
    expansion: Expansion,
    pruning: Pruning,
    balance: Balance,
    budget: Budget,
    coded: Encoding,
    config: HeraldConfig,
) -> Condensed:
    """Cut out the condensed graph and take stock of it."""
    xp, nodes = backend.xp, balance.nodes
    adjacency = _undirected(backend, ops.induced(graph.adjacency, nodes), config)
    raw, reduction = kept[nodes], None
    features, scales = encoding.stored(backend, raw, coded)
    is_root, train = balance.roots[nodes], graph.train[nodes]
    warnings = []
    if hetero.n_edges == 0:
        warnings.append("no edge joins two training nodes: heterophily is taken as 0")
    n_nodes, n_edges = int(nodes.shape[0]), int(adjacency.nnz)
    full_edges = int(_undirected(backend, graph.adjacency, config).nnz)
    own = raw if scaling is None else ops.take_columns(backend, graph.features[nodes], chosen.indices)
    priced = [encoded_bytes(backend, coded, own).sum()]
    if not config.exact:
        priced += [stored_total(backend, budget.kind, graph.features), edge_total(graph.adjacency)]
    # All that the report says of the result crosses over at once.
    found = ops.fetch(backend, *measure(backend, graph, kept, nodes), balance.added, *priced)
    counts, variance, added, *totals = found[0].astype(int), *(value.item() for value in found[1:])
    sizes = _sizes(graph, (n_nodes, n_edges, int(chosen.indices.shape[0])), full_edges, totals, budget, coded, config)
    if config.pca_variance is not None:
        limit = sizes.budget_bytes if config.exact else float("inf")
        outcome = reduce_features(backend, features, n_edges, variance=config.pca_variance, limit=limit)
        if isinstance(outcome, str):
            warnings.append(outcome)
        else:
            reduction, features, total = outcome
            sizes = replace(sizes, storage_bytes=total, kind="dense", encoding=encoding.OF_KIND["dense"])
    warnings += _explain(sizes, expansion, pruning, int(added), config)
    if scores.search.warning is not None:
        warnings.append(scores.search.warning)
    return Condensed(
        nodes=nodes,
        adjacency=adjacency,
        features=features,
        feature_indices=chosen.indices,
        labels=xp.where(train, graph.labels[nodes], -1),
        train_mask=train if config.exact else train & is_root,
        is_root=is_root,
        scores=scores,
        scales=scales,
        scaling=scaling,
        reduction=reduction,
        hetero=hetero,
        weights=weights,
        expansion=expansion,
        statistics=describe(
            counts, variance, n_nodes=n_nodes, n_edges=n_edges, full_nodes=graph.n_nodes, full_edges=full_edges
        ),
        sizes=sizes,
        tree=anchor.tree_name,
        missing=tuple(code for code, count in enumerate(counts.tolist()) if count == 0),
        warnings=tuple(warnings),
    )


def _undirected(backend: Backend, adjacency: Matrix, config: HeraldConfig) -> Matrix:
    """Make a graph kept as stored undirected; a self loop stays one directed edge."""
    if config.exact:
        return adjacency
    return ops.both_ways(backend, adjacency)


def _sizes(
    graph: Graph,
    shape: tuple[int, int, int],
    full_edges: int,
    totals: list[float],
    budget: Budget,
    coded: Encoding,
    config: HeraldConfig,
) -> Sizes:
    """Price result and graph by eq:budget, whatever the accounting was.

    `shape` counts nodes, directed edges and kept features of the result. `totals` are the bytes of the result's
    features and, where the accounting is not exact, the stored values of the graph, and its edges as they were stored.
    """
    n_nodes, n_edges, n_columns = shape
    ours = int(totals[0]) + coded.table_bytes(n_columns) + graph_bytes(budget.kind, 0, n_edges)
    if config.exact:
        return Sizes(ours, int(budget.full_bytes), int(budget.limit), budget.kind, coded, None)
    _, full_values, stored = (int(total) for total in totals)
    full = graph_bytes(budget.kind, full_values, full_edges)
    published = graph_bytes("dense", n_nodes * n_columns, n_edges) / graph_bytes(
        "dense", graph.n_nodes * graph.n_features, stored
    )
    ratio = budget.limit / budget.full_bytes
    return Sizes(ours, full, int(ratio * full), budget.kind, coded, published)


def _explain(sizes: Sizes, expansion: Expansion, pruning: Pruning, added: int, config: HeraldConfig) -> list[str]:
    """Say what a user would otherwise wonder about."""
    notes = []
    if not config.exact:
        notes.append("the published preset reads the labels of all nodes: accuracies on them are no test results")
        if sizes.storage_bytes > sizes.budget_bytes:
            times = sizes.storage_bytes / max(1, sizes.budget_bytes)
            notes.append(
                f"the published accounting does not keep the budget: the result takes {sizes.storage_bytes} bytes, "
                f"{times:.1f} times the {sizes.budget_bytes} asked for"
            )
        return notes
    if expansion.depth < config.depth:
        notes.append(
            f"no neighbourhood of {config.depth} hops fits in {config.expansion_factor} times the budget: "
            f"the expansion used {expansion.depth}"
        )
    share = sizes.storage_bytes / sizes.budget_bytes if sizes.budget_bytes else 1.0
    if share < FULL_USE:
        notes.append(
            f"only {100 * share:.0f} % of the budget used: pruning took {pruning.removed} nodes out by PageRank, down "
            f"to the roots or to the {expansion.target_size} nodes that the expansion gathers at exactly the budget; "
            f"balancing classes added {added}, and no further node is due"
        )
    return notes
