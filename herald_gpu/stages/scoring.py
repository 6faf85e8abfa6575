"""Stage 4: prototype, boundary and LID scores of nodes, and the ranking of roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.weights import ScoreWeights

REFERENCE_SEED = 42
"""Seed of the reference draw where LID is measured against a sample."""
LARGEST_MEAN_LOG = -1e-8
"""Cap of the mean log ratio in the clipped rule of the published code."""


@dataclass(frozen=True)
class NodeScores:
    """Raw component values, combined score in [0, 1], and the training nodes from best to worst.

    Attributes
    ----------
    prototype, boundary, lid, score : (N,) float64 arrays
    ranking : int array
        Training nodes, best first.
    """

    prototype: Array
    boundary: Array
    lid: Array
    score: Array
    ranking: Array


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
    lid = lid_scores(backend, kept, inverse_norm, config)
    scaled_lid = (ops.rank_scale if config.lid_scaling == "rank" else ops.min_max)(backend, lid)
    combined = (
        weights.alpha * ops.min_max(backend, prototype)
        + weights.beta * ops.min_max(backend, boundary)
        + weights.gamma * scaled_lid
    )
    score = ops.min_max(backend, combined)
    return NodeScores(prototype, boundary, lid, score, _ranking(backend, graph, score, config, seed))


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


def lid_scores(backend: Backend, kept: Matrix, inverse_norm: Array, config: HeraldConfig) -> Array:
    """Local intrinsic dimensionality from cosine distances to the nearest nodes (eq:lid)."""
    n = int(kept.shape[0])
    if config.lid_reference is None:
        reference, k = None, min(config.lid_neighbours, n - 1)
    else:
        size = min(config.lid_reference, n)
        reference = backend.asarray(np.random.default_rng(REFERENCE_SEED).choice(n, size, replace=False))
        k = min(config.lid_neighbours, size)
    distances = backend.nearest_distances(kept, inverse_norm, k, reference)
    if config.lid_rule == "clipped":
        return _clipped_lid(backend, distances, config.lid_floor)
    lid = lid_from_distances(backend, distances, config.lid_floor)
    return lid if config.lid_zero_rows == "cap" else backend.xp.where(inverse_norm > 0, lid, 0.0)


def lid_from_distances(backend: Backend, distances: Array, floor: float) -> Array:
    """LID of ascending distances.

    k duplicates (largest distance below `floor`) give 0; all distances equal give the largest regular value
    of the graph.
    """
    xp = backend.xp
    first, last = distances[:, 0], distances[:, -1]
    duplicates = last < floor
    level = ~duplicates & (last - first < floor)
    regular = ~(duplicates | level)
    raised = xp.maximum(distances, floor)
    mean_log = xp.log(raised / raised[:, -1:]).mean(axis=1)
    values = xp.where(regular, -1.0 / xp.where(regular, mean_log, -1.0), 0.0)
    return xp.where(level, values.max(), values)


def _clipped_lid(backend: Backend, distances: Array, floor: float) -> Array:
    xp = backend.xp
    raised = xp.maximum(distances, floor)
    mean_log = xp.log(raised / raised[:, -1:]).mean(axis=1)
    return -1.0 / xp.minimum(mean_log, LARGEST_MEAN_LOG)


def _ranking(backend: Backend, graph: Graph, score: Array, config: HeraldConfig, seed: int) -> Array:
    nodes = backend.xp.flatnonzero(graph.train)
    if config.node_ranking == "random":
        order = np.random.default_rng(seed).permutation(int(nodes.shape[0]))
        return nodes[backend.asarray(order)]
    return nodes[ops.descending(backend, score[nodes])]
