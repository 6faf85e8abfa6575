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
    from herald_gpu.lid import Lid
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
    return combine_scores(backend, graph.train, prototype, boundary, lid, weights, config, seed=seed)


def combine_scores(
    backend: Backend,
    train: Array,
    prototype: Array,
    boundary: Array,
    lid: Lid,
    weights: ScoreWeights,
    config: HeraldConfig,
    *,
    seed: int,
) -> NodeScores:
    """Combine the three scores of all nodes, each scaled over all of them, and rank the training nodes (finish)."""
    scaled_lid = (ops.rank_scale if config.lid_scaling == "rank" else ops.min_max)(backend, lid.values)
    combined = (
        weights.alpha * ops.min_max(backend, prototype)
        + weights.beta * ops.min_max(backend, boundary)
        + weights.gamma * scaled_lid
    )
    score = ops.min_max(backend, combined)
    ranking = _ranking(backend, train, score, config, seed)
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
    codes = backend.xp.where(graph.train, graph.labels, -1)
    sums = class_sums(backend, kept, codes, inverse_norm, graph.n_classes)
    return centroid_cosines(backend, kept, graph.labels, inverse_norm, centroids_of(backend, sums))


def centroids_of(backend: Backend, sums: Array) -> Array:
    """Class centroids (eq:centroid) from sums over all training nodes, which are those of their parts added up."""
    return sums * ops.inverse(backend, backend.xp.sqrt((sums**2).sum(axis=1)))[:, None]


def centroid_cosines(backend: Backend, kept: Matrix, labels: Array, inverse_norm: Array, centroids: Array) -> Array:
    """Cosine of some nodes to the centroid of their class, or to the best one where the class is unknown."""
    xp = backend.xp

    def nearest(low: int, high: int, block: Array) -> Array:
        cosines = block @ centroids.T * inverse_norm[low:high][:, None]
        own = labels[low:high]
        return xp.where(own >= 0, ops.own_class(backend, cosines, own), cosines.max(axis=1))

    return xp.concatenate([xp.zeros(0), *ops.for_row_blocks(backend, kept, nearest)])


def class_sums(backend: Backend, kept: Matrix, codes: Array, inverse_norm: Array, n_classes: int) -> Array:
    """Sums of normalised rows by class (partial); rows of code -1 are left out."""
    xp = backend.xp
    indicator = ops.class_indicator(backend, codes, n_classes, inverse_norm)
    if backend.sparse.issparse(kept):
        return (indicator @ ops.with_data(backend, kept, kept.data.astype(xp.float64))).toarray()
    sums = xp.zeros((indicator.shape[0], kept.shape[1]), dtype=xp.float64)
    for low, high in ops.blocks(*kept.shape):
        sums += indicator[:, low:high] @ ops.dense_rows(backend, kept, low, high)
    return sums


def boundary_scores(backend: Backend, graph: Graph) -> Array:
    """Share of labelled neighbours with another label; 0 without any, and for unlabelled nodes (eq:boundary)."""
    table = ops.neighbour_classes(backend, graph.adjacency, graph.labels, graph.n_classes)
    return boundary_shares(backend, table, graph.labels)


def boundary_shares(backend: Backend, table: Array, labels: Array) -> Array:
    """Share of other classes in the neighbours of some nodes, which a table counts by class."""
    table = table.astype(backend.xp.float64)
    total = table.sum(axis=1)
    other = total - ops.own_class(backend, table, labels)
    return backend.xp.where(labels >= 0, other * ops.inverse(backend, total), 0.0)


def _ranking(backend: Backend, train: Array, score: Array, config: HeraldConfig, seed: int) -> Array:
    nodes = backend.xp.flatnonzero(train)
    if config.node_ranking == "random":
        order = np.random.default_rng(seed).permutation(int(nodes.shape[0]))
        return nodes[backend.asarray(order)]
    return nodes[ops.descending(backend, score[nodes])]
