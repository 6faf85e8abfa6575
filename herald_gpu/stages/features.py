"""Stage 3, second half: which features to keep (eq:fisher, eq:multihop_fisher, eq:density, eq:featselect)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.feature_budget import FeatureBudget


@dataclass(frozen=True)
class KeptFeatures:
    """The kept features.

    Attributes
    ----------
    indices : int array
        Ascending column numbers.
    score : (F,) float64 array, optional
        Fisher x density of every feature; None where the tree chose.
    """

    indices: Array
    score: Array | None


def choose_features(
    backend: Backend, graph: Graph, h: float, budget: FeatureBudget, config: HeraldConfig
) -> KeptFeatures:
    """Keep the features that separate classes on their own and after propagation, and that are often active."""
    if config.feature_ranking == "tree":
        return KeptFeatures(budget.tree, None)
    score = score_features(backend, graph, h, config)
    best = ops.descending(backend, score)[: budget.count]
    return KeptFeatures(backend.xp.sort(best), score)


def score_features(backend: Backend, graph: Graph, h: float, config: HeraldConfig) -> Array:
    """Multi-hop Fisher of every feature, times its density where that is asked for."""
    fisher = multihop_fisher(backend, graph, h, config)
    return fisher * activation_density(backend, graph) if config.feature_density else fisher


def multihop_fisher(backend: Backend, graph: Graph, h: float, config: HeraldConfig) -> Array:
    """Fisher ratios of ``P^k X`` over the training nodes, hops weighted by ``(1 - h)^k``, maximum 1.

    Columns are independent, so they pass by in dense float64 blocks; the feature matrix is never copied whole.
    """
    xp = backend.xp
    inverse_degree = ops.inverse(backend, ops.degrees(backend, graph.adjacency))
    rows = xp.flatnonzero(graph.train)
    scatter = _ClassScatter(backend, graph.labels[rows], graph.n_classes, config)
    ratios = xp.zeros((config.hops + 1, graph.n_features), dtype=xp.float64)
    for low, high, start in ops.dense_column_blocks(backend, graph.features):
        block = start
        for hop in range(config.hops + 1):
            ratios[hop, low:high] = scatter.fisher(block[rows])
            if hop < config.hops:
                block = ops.propagate(graph.adjacency, inverse_degree, block)
    total = xp.zeros(graph.n_features, dtype=xp.float64)
    for hop in range(config.hops + 1):
        total += (1.0 - h) ** hop * ops.scaled_by_max(backend, ratios[hop])
    return ops.scaled_by_max(backend, total)


def activation_density(backend: Backend, graph: Graph) -> Array:
    """Mean absolute value of each feature over the training nodes, maximum 1."""
    rows = backend.xp.flatnonzero(graph.train)
    return ops.scaled_by_max(backend, ops.column_abs_sums(backend, graph.features[rows]))


class _ClassScatter:
    """Between- and within-class scatter of rows with fixed class codes."""

    def __init__(self, backend: Backend, codes: Array, n_classes: int, config: HeraldConfig) -> None:
        xp = backend.xp
        counts = ops.class_counts(backend, codes, n_classes).astype(xp.float64)
        self.used = (counts >= config.min_class_size).astype(xp.float64) * counts
        self.inverse = ops.inverse(backend, counts)
        self.indicator = ops.class_indicator(backend, codes, n_classes)
        self.codes = codes
        self.row_used = (self.used > 0)[codes].astype(xp.float64)
        self.eps = config.fisher_eps

    def fisher(self, rows: Array) -> Array:
        means = (self.indicator @ rows) * self.inverse[:, None]
        between = (self.used[:, None] * (means - rows.mean(axis=0)) ** 2).sum(axis=0)
        within = (self.row_used[:, None] * (rows - means[self.codes]) ** 2).sum(axis=0)
        return between / (within + self.eps)
