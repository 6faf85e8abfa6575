"""Stage 3, second half: which features to keep (eq:fisher, eq:multihop_fisher, eq:density, eq:featselect)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

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
    scatter = _ClassScatter(backend, graph, config)
    ratios = xp.zeros((config.hops + 1, graph.n_features), dtype=xp.float64)

    def walk(low: int, high: int, block: Array) -> None:
        for hop in range(config.hops + 1):
            ratios[hop, low:high] = scatter.fisher(block[scatter.rows])
            if hop < config.hops:
                block = ops.propagate(graph.adjacency, inverse_degree, block)

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
    """Between- and within-class scatter of the training nodes, which stand class by class.

    Attributes
    ----------
    rows : int array
        Training nodes, by class.
    """

    def __init__(self, backend: Backend, graph: Graph, config: HeraldConfig) -> None:
        xp = backend.xp
        nodes = xp.flatnonzero(graph.train)
        codes = graph.labels[nodes]
        (counts,) = ops.fetch(backend, ops.class_counts(backend, codes, graph.n_classes))
        order = xp.argsort(codes, kind="stable")
        self.backend, self.eps = backend, config.fisher_eps
        self.rows = nodes[order]
        bounds = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64).tolist()
        self.spans = [(low, high) for low, high in pairwise(bounds) if high - low >= max(1, config.min_class_size)]

    def fisher(self, rows: Array) -> Array:
        """Fisher ratio of every column of the training rows, which are changed."""
        xp = self.backend.xp
        mean = rows.mean(axis=0)
        between, within = xp.zeros_like(mean), xp.zeros_like(mean)
        for low, high in self.spans:
            part = rows[low:high]
            own = part.mean(axis=0)
            between += (high - low) * (own - mean) ** 2
            part -= own
            part *= part
            within += part.sum(axis=0)
        return between / (within + self.eps)
