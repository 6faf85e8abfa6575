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
    step = ops.walk(backend, graph.adjacency)
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
        self.spans = [(low, high) for low, high in pairwise(bounds) if high > low]
        self.fewest = config.min_class_size

    def fisher(self, rows: Array) -> Array:
        """Fisher ratio of every column of the training rows, which are changed."""
        xp = self.backend.xp
        within = xp.zeros(rows.shape[1], dtype=xp.float64)
        means = []
        for low, high in self.spans:
            part = rows[low:high]
            means.append(part.mean(axis=0))
            if high - low >= self.fewest:
                part -= means[-1]
                within += xp.einsum("ij,ij->j", part, part)
        sizes = [high - low for low, high in self.spans]
        mean = sum(size * own for size, own in zip(sizes, means, strict=True)) / sum(sizes)
        used = [size if size >= self.fewest else 0 for size in sizes]
        between = sum(size * (own - mean) ** 2 for size, own in zip(used, means, strict=True))
        return between / (within + self.eps)
