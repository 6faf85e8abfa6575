"""The condensed graph put together, priced, described, and its shortfalls explained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from herald_gpu import encoding, ops
from herald_gpu.budget import encoded_bytes, graph_bytes, stored_total
from herald_gpu.graph import edge_total
from herald_gpu.guidance import LANDMARKS, landmark_codes, with_landmarks
from herald_gpu.stages.links import Edges
from herald_gpu.stages.reduction import reduce_features
from herald_gpu.stages.statistics import count_classes, describe, variance_ratios
from herald_gpu.stages.survey import survey_degrees, survey_ratios, surveyed

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget
    from herald_gpu.config import HeraldConfig
    from herald_gpu.encoding import Encoding
    from herald_gpu.graph import Graph
    from herald_gpu.search import Trial
    from herald_gpu.stages.expansion import Expansion
    from herald_gpu.stages.heterophily import Heterophily
    from herald_gpu.stages.pruning import Pruning
    from herald_gpu.stages.reduction import Reduction
    from herald_gpu.stages.scaling import Scaling
    from herald_gpu.stages.scoring import NodeScores
    from herald_gpu.stages.statistics import Statistics
    from herald_gpu.stages.survey import Survey
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
class Picked:
    """What the condensed graph is to be made of.

    Attributes
    ----------
    nodes : int array
        Ascending.
    roots : bool array of length N
        Nodes chosen for their own sake.
    columns : int array
        Kept features, ascending.
    kept : (N, k) matrix
        Those features of all nodes.
    coded : Encoding
    scores : NodeScores
    edges : Edges, optional
        Where there may be others than those of the graph.
    landmarks : (2 x classes, k) float32 array, optional
    trials, trial
        What was tried, and what was chosen.
    majority : float, optional
        Share of the largest class among the nodes that trials were judged by.
    validation_nodes : int, optional
        Training nodes that trials were judged on.
    weights, tree, scaling, expansion, pruning, added
        How neighbourhoods came about.
    """

    nodes: Array
    roots: Array
    columns: Array
    kept: Matrix
    coded: Encoding
    scores: NodeScores
    edges: Edges | None = None
    landmarks: Array | None = None
    trials: tuple[Trial, ...] = ()
    trial: Trial | None = None
    majority: float | None = None
    validation_nodes: int | None = None
    weights: ScoreWeights | None = None
    tree: str | None = None
    scaling: Scaling | None = None
    expansion: Expansion | None = None
    pruning: Pruning | None = None
    added: Array | int = 0


@dataclass(frozen=True)
class Condensed:
    """What the pipeline hands back, on the backend; the caller's types are none of its business.

    Attributes
    ----------
    nodes : int array
        Kept nodes, ascending; landmarks are not among them.
    adjacency : CSR matrix
        Undirected; the last rows are landmarks.
    synthetic : bool array
        For each entry of `adjacency` whether it is no edge of the graph.
    n_synthetic : int
        How many are not.
    features : matrix
        Kept (and reduced) features of kept nodes and landmarks.
    feature_indices : int array
        Kept columns, ascending.
    labels : int array
        Class codes of training nodes and landmarks; -1 for all others.
    train_mask, is_root, is_landmark : bool arrays
    scores : NodeScores
    scales : (k*,) float32 array, optional
        What int8 values of each column are multiplied by.
    scaling, reduction : Scaling, Reduction, optional
        What was done to features before and after selection.
    picked, hetero, statistics, sizes, before
        For the report.
    missing : tuple of int
        Classes without a node.
    warnings : tuple of str
    """

    nodes: Array
    adjacency: Matrix
    synthetic: Array
    n_synthetic: int
    features: Matrix
    feature_indices: Array
    labels: Array
    train_mask: Array
    is_root: Array
    is_landmark: Array
    scores: NodeScores
    scales: Array | None
    scaling: Scaling | None
    reduction: Reduction | None
    picked: Picked
    hetero: Heterophily
    statistics: Statistics
    sizes: Sizes
    before: Survey
    missing: tuple[int, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Whole:
    """What is told of the full graph beside the condensed one.

    Attributes
    ----------
    n_nodes, n_edges, n_features : int
        Edges are directed, every one there once each way.
    counts : tuple of arrays
        Training nodes by class, nodes by degree, the largest degree (:func:`herald_gpu.stages.survey.survey`).
    variances : (k*,) float64 array
        Of every kept feature in the training set.
    """

    n_nodes: int
    n_edges: int
    n_features: int
    counts: tuple[Array, ...]
    variances: Array


def take_stock(backend: Backend, graph: Graph, kept: Matrix, config: HeraldConfig) -> Whole:
    """Count over the full graph; figures are left on the backend, to cross over with the rest of the report."""
    undirected = _undirected(backend, graph.adjacency, config)
    counts = (
        ops.class_counts(backend, graph.labels, graph.n_classes, graph.train),
        *survey_degrees(backend, backend.xp.diff(undirected.indptr)),
    )
    variances = ops.column_variances(backend, kept[backend.xp.flatnonzero(graph.train)])
    return Whole(graph.n_nodes, int(undirected.nnz), graph.n_features, counts, variances)


def assemble(
    backend: Backend,
    graph: Graph,
    picked: Picked,
    *,
    hetero: Heterophily,
    budget: Budget,
    config: HeraldConfig,
    whole: Whole | None = None,
) -> Condensed:
    """Cut out the condensed graph and take stock of it.

    Parameters
    ----------
    backend, graph, picked, hetero, budget, config
        As everywhere.
    whole : Whole, optional
        What is told of the full graph, where `graph` is no more than the part that was picked from.
    """
    whole = take_stock(backend, graph, picked.kept, config) if whole is None else whole
    xp, nodes, coded = backend.xp, picked.nodes, picked.coded
    edges = picked.edges or _real_edges(backend, graph, nodes, config)
    raw, reduction = picked.kept[nodes], None
    features, scales = encoding.stored(backend, raw, coded)
    features = with_landmarks(backend, features, picked.landmarks)
    n_landmarks = 0 if picked.landmarks is None else int(picked.landmarks.shape[0])
    landmark = xp.arange(int(nodes.shape[0]) + n_landmarks) >= int(nodes.shape[0])
    train = xp.concatenate([graph.train[nodes], landmark[int(nodes.shape[0]) :]])
    is_root = xp.concatenate([picked.roots[nodes], xp.zeros(n_landmarks, dtype=bool)])
    warnings = []
    if hetero.n_edges == 0:
        warnings.append("no edge joins two training nodes: heterophily is taken as 0")
    n_nodes, n_edges, n_columns = int(landmark.shape[0]), int(edges.adjacency.nnz), int(picked.columns.shape[0])
    own = raw
    if picked.scaling is not None:
        own = ops.take_columns(backend, graph.features[nodes], picked.columns)
    priced = [encoded_bytes(backend, coded, own).sum()]
    if n_landmarks:
        priced[0] = priced[0] + encoded_bytes(backend, encoding.OF_LANDMARKS, picked.landmarks).sum()
    if not config.exact:
        priced += [stored_total(backend, budget.kind, graph.features), edge_total(graph.adjacency)]
    added = xp.zeros(()) + picked.added
    ratios = variance_ratios(backend, picked.kept[nodes], whole.variances)
    told = (*whole.counts, survey_ratios(backend, ratios))
    result = (count_classes(backend, graph, nodes), ratios.mean(), added, edges.synthetic.sum(), *priced)
    # All that the report says of the graph and of the result crosses over at once.
    found = ops.fetch(backend, *told, *result)
    before, found = surveyed(whole, whole.n_edges, found[: len(told)]), found[len(told) :]
    counts, variance, added, n_synthetic, *totals = found[0].astype(int), *(value.item() for value in found[1:])
    sizes = _sizes(whole, (n_nodes, n_edges, n_columns), totals, budget, coded, config)
    if config.pca_variance is not None:
        limit = budget.limit_beside(n_columns) if config.exact else float("inf")
        outcome = reduce_features(backend, features, n_edges, variance=config.pca_variance, limit=limit)
        if isinstance(outcome, str):
            warnings.append(outcome)
        else:
            reduction, features, total = outcome
            total += budget.column_bytes * n_columns
            sizes = replace(sizes, storage_bytes=total, kind="dense", encoding=encoding.OF_KIND["dense"])
    warnings += _doubts(picked)
    warnings += _explain(sizes, picked, int(added), config)
    if picked.scores.search is not None and picked.scores.search.warning is not None:
        warnings.append(picked.scores.search.warning)
    codes = landmark_codes(backend, graph.labels[nodes], picked.landmarks, graph.n_classes)
    return Condensed(
        nodes=nodes,
        adjacency=edges.adjacency,
        synthetic=edges.synthetic,
        n_synthetic=int(n_synthetic),
        features=features,
        feature_indices=picked.columns,
        labels=xp.where(train, codes, -1),
        train_mask=train if config.exact else train & is_root,
        is_root=is_root,
        is_landmark=landmark,
        scores=picked.scores,
        scales=scales,
        scaling=graph.scaling if picked.scaling is None else picked.scaling,
        reduction=reduction,
        picked=picked,
        hetero=hetero,
        statistics=describe(
            counts, variance, n_nodes=n_nodes, n_edges=n_edges, full_nodes=whole.n_nodes, full_edges=whole.n_edges
        ),
        sizes=sizes,
        before=before,
        missing=tuple(code for code, count in enumerate(counts.tolist()) if count == 0),
        warnings=tuple(warnings),
    )


def _real_edges(backend: Backend, graph: Graph, nodes: Array, config: HeraldConfig) -> Edges:
    adjacency = _undirected(backend, ops.induced(graph.adjacency, nodes), config)
    return Edges(adjacency, backend.xp.zeros(int(adjacency.nnz), dtype=bool))


def _undirected(backend: Backend, adjacency: Matrix, config: HeraldConfig) -> Matrix:
    """Make a graph kept as stored undirected; a self loop stays one directed edge."""
    if config.exact:
        return adjacency
    return ops.both_ways(backend, adjacency)


def _sizes(
    whole: Whole,
    shape: tuple[int, int, int],
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
    once = coded.table_bytes(n_columns) + budget.column_bytes * n_columns
    ours = int(totals[0]) + once + graph_bytes(budget.kind, 0, n_edges)
    if config.exact:
        return Sizes(ours, int(budget.full_bytes), int(budget.limit), budget.kind, coded, None)
    _, full_values, stored = (int(total) for total in totals)
    full = graph_bytes(budget.kind, full_values, whole.n_edges)
    published = graph_bytes("dense", n_nodes * n_columns, n_edges) / graph_bytes(
        "dense", whole.n_nodes * whole.n_features, stored
    )
    ratio = budget.limit / budget.full_bytes
    return Sizes(ours, full, int(ratio * full), budget.kind, coded, published)


def _doubts(picked: Picked) -> list[str]:
    """Say if no trial has learned anything: models that are trained on the graph would not either."""
    scores = [trial.score for trial in picked.trials if trial.score is not None]
    if not scores or picked.majority is None or picked.majority == 1.0 or max(scores) > picked.majority:
        return []
    doubt = (
        f"the best trial ({max(scores):.2f}) is no better than always answering the largest class "
        f"({picked.majority:.2f}): features or labels may be wrong, unscaled or unrelated; check them before you "
        "train on this graph"
    )
    return [doubt]


def _explain(sizes: Sizes, picked: Picked, added: int, config: HeraldConfig) -> list[str]:
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
    expansion, pruning = picked.expansion, picked.pruning
    share = sizes.storage_bytes / sizes.budget_bytes if sizes.budget_bytes else 1.0
    if sizes.storage_bytes == 0:
        notes.append(
            "the budget holds neither a feature value nor an edge, only nodes that have none of the kept features: no "
            "model can learn from them, ask for a larger ratio"
        )
        return notes
    if expansion is None or pruning is None:
        guided = picked.trial is not None and picked.trial.rule == LANDMARKS
        if share < FULL_USE and not guided:  # of landmarks, fewer bytes are expected to do
            whole = int(picked.nodes.shape[0]) >= int(picked.scores.ranking.shape[0])
            why = "it holds every training node and their neighbours" if whole else "no further exemplar fits"
            notes.append(f"only {100 * share:.0f} % of the budget used: {why}")
        return notes
    if expansion.depth < config.depth:
        notes.append(
            f"no neighbourhood of {config.depth} hops fits in {config.expansion_factor} times the budget: "
            f"the expansion used {expansion.depth}"
        )
    if share < FULL_USE:
        notes.append(
            f"only {100 * share:.0f} % of the budget used: pruning took {pruning.removed} nodes out by PageRank, down "
            f"to the roots or to the {expansion.target_size} nodes that the expansion gathers at exactly the budget; "
            f"balancing classes added {added}, and no further node is due"
        )
    return notes
