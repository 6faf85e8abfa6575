"""Stage 4: prototype, boundary and LID scores of nodes, and the ranking of roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops
from herald_gpu.lid import Search, measure_lid

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.weights import ScoreWeights


@dataclass(frozen=True)
class NodeScores:
    """Raw component values, combined score in [0, 1], and the training nodes from best to worst.

    Attributes
    ----------
    prototype, boundary : (N,) float64 arrays
    ranking : int array
        Training nodes, best first.
    lid, score : (N,) float64 arrays, optional
        Where nodes were scored, not chosen as exemplars.
    search : Search, optional
        How the neighbours of LID were found.
    """

    prototype: Array
    boundary: Array
    ranking: Array
    lid: Array | None = None
    score: Array | None = None
    search: Search | None = None


def score_nodes(
    backend: Backend, graph: Graph, kept: Matrix, weights: ScoreWeights, config: HeraldConfig, *, seed: int
) -> NodeScores:
    """Score all nodes on their kept features and rank the training nodes.

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    kept : (N, k*) matrix
        Kept features, not normalised.
    weights : ScoreWeights
    seed : int
        Of the permutation, where the ranking is random.
    """
    inverse_norm = ops.inverse(backend, ops.row_norms(backend, kept))
    prototype = prototype_scores(backend, graph, kept, inverse_norm)
    boundary = boundary_scores(backend, graph)
    lid = measure_lid(backend, kept, inverse_norm, config)
    scaled_lid = (ops.rank_scale if config.lid_scaling == "rank" else ops.min_max)(backend, lid.values)
    combined = (
        weights.alpha * ops.min_max(backend, prototype)
        + weights.beta * ops.min_max(backend, boundary)
        + weights.gamma * scaled_lid
    )
    score = ops.min_max(backend, combined)
    ranking = _ranking(backend, graph, score, config, seed)
    return NodeScores(prototype, boundary, ranking, lid.values, score, lid.search)


def describe_nodes(backend: Backend, graph: Graph, kept: Matrix, ranking: Array) -> NodeScores:
    """Give nodes that were ranked otherwise the scores that cost little, for the reader."""
    inverse_norm = ops.inverse(backend, ops.row_norms(backend, kept))
    prototype = prototype_scores(backend, graph, kept, inverse_norm)
    return NodeScores(prototype, boundary_scores(backend, graph), ranking)


def prototype_scores(backend: Backend, graph: Graph, kept: Matrix, inverse_norm: Array) -> Array:
    """Cosine to the own class's centroid; nodes of unknown class take the best centroid (eq:proto).

    Centroids come from training nodes (eq:centroid).
    """
    xp = backend.xp
    codes = xp.where(graph.train, graph.labels, -1)
    sums = _class_sums(backend, kept, ops.class_indicator(backend, codes, graph.n_classes, inverse_norm))
    centroids = sums * ops.inverse(backend, xp.sqrt((sums**2).sum(axis=1)))[:, None]
    parts = []
    for low, high in ops.blocks(*kept.shape):
        cosines = ops.dense_rows(backend, kept, low, high) @ centroids.T * inverse_norm[low:high][:, None]
        own = graph.labels[low:high]
        parts.append(xp.where(own >= 0, ops.own_class(backend, cosines, own), cosines.max(axis=1)))
    return xp.concatenate(parts)


def _class_sums(backend: Backend, kept: Matrix, indicator: Matrix) -> Array:
    xp = backend.xp
    if backend.sparse.issparse(kept):
        return (indicator @ ops.with_data(backend, kept, kept.data.astype(xp.float64))).toarray()
    sums = xp.zeros((indicator.shape[0], kept.shape[1]), dtype=xp.float64)
    for low, high in ops.blocks(*kept.shape):
        sums += indicator[:, low:high] @ ops.dense_rows(backend, kept, low, high)
    return sums


def boundary_scores(backend: Backend, graph: Graph) -> Array:
    """Share of labelled neighbours with another label; 0 without any, and for unlabelled nodes (eq:boundary)."""
    xp = backend.xp
    table = ops.neighbour_classes(backend, graph.adjacency, graph.labels, graph.n_classes).astype(xp.float64)
    total = table.sum(axis=1)
    other = total - ops.own_class(backend, table, graph.labels)
    return xp.where(graph.labels >= 0, other * ops.inverse(backend, total), 0.0)


def _ranking(backend: Backend, graph: Graph, score: Array, config: HeraldConfig, seed: int) -> Array:
    nodes = backend.xp.flatnonzero(graph.train)
    if config.node_ranking == "random":
        order = np.random.default_rng(seed).permutation(int(nodes.shape[0]))
        return nodes[backend.asarray(order)]
    return nodes[ops.descending(backend, score[nodes])]
