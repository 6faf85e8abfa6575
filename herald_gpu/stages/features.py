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
    step = ops.walk(backend, graph.adjacency) if config.hops else graph.adjacency
    scatter = _ClassScatter(backend, graph, config)
    ratios = xp.zeros((config.hops + 1, graph.n_features), dtype=xp.float64)

    def walk(low: int, high: int, block: Array) -> None:
        for hop in range(config.hops + 1):
            ratios[hop, low:high] = scatter.fisher(block[scatter.rows])
            if hop < config.hops:
                block = ops.propagate(step, block)

    for _ in ops.for_column_blocks(backend, graph.features, walk):
        pass
    total = xp.zeros(graph.n_features, dtype=xp.float64)
    for hop in range(config.hops + 1):
        total += (1.0 - h) ** hop * ops.scaled_by_max(backend, ratios[hop])
    return ops.scaled_by_max(backend, total)


def activation_density(backend: Backend, graph: Graph) -> Array:
    """Mean absolute value of each feature over the training nodes, maximum 1."""
    rows = backend.xp.flatnonzero(graph.train)
    return ops.scaled_by_max(backend, ops.column_abs_sums(backend, graph.features[rows]))


class _ClassScatter:
    """Between- and within-class scatter of the training nodes.

    Attributes
    ----------
    rows : int array
        The training nodes.
    """

    def __init__(self, backend: Backend, graph: Graph, config: HeraldConfig) -> None:
        xp = backend.xp
        self.backend, self.eps = backend, config.fisher_eps
        self.rows = xp.flatnonzero(graph.train)
        self.codes = graph.labels[self.rows]
        self.indicator = ops.class_indicator(backend, self.codes, graph.n_classes)
        counts = ops.class_counts(backend, self.codes, graph.n_classes).astype(xp.float64)
        self.inverse = ops.inverse(backend, counts)[:, None]
        self.total = counts.sum()
        self.counts = counts[:, None]
        large = counts >= config.min_class_size
        self.used = xp.where(large, counts, 0.0)[:, None]
        self.row_used = None if config.min_class_size <= 1 else large[self.codes].astype(xp.float64)[:, None]

    def fisher(self, rows: Array) -> Array:
        """Fisher ratio of every column of the training rows, which are changed."""
        xp = self.backend.xp
        means = (self.indicator @ rows) * self.inverse
        mean = (self.counts * means).sum(axis=0) / self.total
        between = (self.used * (means - mean) ** 2).sum(axis=0)
        rows -= means[self.codes]
        if self.row_used is not None:
            rows *= self.row_used
        return between / (xp.einsum("ij,ij->j", rows, rows) + self.eps)
