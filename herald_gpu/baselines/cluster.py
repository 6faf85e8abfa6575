"""Propagate and cluster: synthetic nodes without training, in the manner of CGC (Gao et al., WWW 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from herald_gpu import ops
from herald_gpu.baselines.kmeans import cluster_means, kmeans
from herald_gpu.baselines.options import require, require_int, require_number
from herald_gpu.baselines.selection import Selection, infeasible
from herald_gpu.baselines.shares import apportion
from herald_gpu.baselines.spaces import propagated_rows
from herald_gpu.baselines.synthetic import cheaper_layout, smooth_features, strongest_entries, strongest_pairs
from herald_gpu.budget import EDGE_UNITS, UNIT_BYTES
from herald_gpu.encoding import LAYOUTS, Encoding, stored

if TYPE_CHECKING:
    import scipy.sparse

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget
    from herald_gpu.encoding import Values
    from herald_gpu.graph import Graph

PAIR_BYTES = 2 * UNIT_BYTES * EDGE_UNITS
"""An undirected edge, both directions."""


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Options of the propagate-and-cluster condenser.

    Attributes
    ----------
    hops : int
        Features are propagated this often, by D~^-1/2 (A + I) D~^-1/2.
    links : {"similar", "none"}
        Join synthetic nodes that are alike (CGC), or leave out edges (CGC-X).
    threshold : float
        Cosine above which two synthetic nodes are alike.
    edge_share : float
        Share of the budget set aside for edges where they do not fit beside the most nodes; if there are still too
        many, the most similar pairs stay.
    smoothness : float
        Weight of the Dirichlet energy when features are solved for.
    top : int, optional
        Keep only this many entries of each synthetic node, those of largest magnitude; features are then stored
        sparse where that is cheaper. By default dense, as CGC has them.
    """

    hops: int = 2
    links: Literal["similar", "none"] = "similar"
    threshold: float = 0.9
    edge_share: float = 0.1
    smoothness: float = 1.0
    top: int | None = None

    def __post_init__(self) -> None:
        require_int("hops", self.hops, 0)
        require("links", self.links, self.links in ("similar", "none"), "'similar' or 'none'")
        require_number("threshold", self.threshold, -1, 1)
        require_number("edge_share", self.edge_share, 0, 1)
        require_number("smoothness", self.smoothness, 0, low_open=True)
        if self.top is not None:
            require_int("top", self.top, 1)


def select(backend: Backend, graph: Graph, budget: Budget, *, seed: int, options: ClusterOptions) -> Selection:
    """Replace every class by the means of its clusters, join those that are alike, and solve for features.

    Nodes take the whole budget if the edges fit beside them; else they leave the edges their share of it.
    """
    nodes = backend.xp.flatnonzero(graph.train)
    labels = graph.labels[nodes]
    rows = propagated_rows(backend, graph, nodes, options.hops)
    sizes = backend.to_host(ops.class_counts(backend, labels, graph.n_classes))
    linked = options.links == "similar"
    for share in (0.0, options.edge_share):
        places = apportion(sizes, _count(graph, budget, int(sizes.sum()), share, options))
        means, codes, members = class_means(backend, rows, labels, places, seed=seed)
        left = int(budget.limit) - _table_bytes(graph, budget) - _node_bytes(graph, budget, options) * len(codes)
        room = left // PAIR_BYTES
        adjacency, alike = strongest_pairs(means, threshold=options.threshold, most=room if linked else 0)
        if not linked or alike <= room:
            break
    features = means
    if linked:
        features = smooth_features(adjacency, means, hops=options.hops, smoothness=options.smoothness)
    held: np.ndarray | scipy.sparse.csr_matrix = features.astype(np.float32)
    if options.top is not None and options.top < graph.n_features:
        held = strongest_entries(features, options.top)
    taken, coded = cheaper_layout(held, float_type(budget))
    details = {"cluster_sizes": members, "stored": coded.layout, "hops": options.hops, "links": options.links}
    return Selection(
        nodes=None,
        adjacency=backend.asarray(adjacency),
        features=stored(backend, backend.asarray(held), coded)[0],
        labels=backend.asarray(codes),
        train=backend.asarray(np.ones(len(codes), dtype=bool)),
        storage_bytes=taken + UNIT_BYTES * EDGE_UNITS * int(adjacency.nnz),
        encoding=coded.name,
        details=details,
    )


def class_means(
    backend: Backend, rows: Matrix, labels: Array, places: np.ndarray, *, seed: int
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Mean row of every cluster of every class, on the host: (means, class codes, cluster sizes).

    Parameters
    ----------
    backend : Backend
    rows : (n, d) matrix
    labels : int array
        Class of each row.
    places : int array
        Clusters of each class; those that come out empty are left out.
    seed : int
    """
    xp, rng = backend.xp, np.random.default_rng(seed)
    parts, codes, sizes = [], [], []
    for code, k in enumerate(places):
        mine = rows[xp.flatnonzero(labels == code)]
        x = ops.dense_rows(backend, mine, 0, int(mine.shape[0]))
        means, counts = cluster_means(backend, x, kmeans(backend, x, int(k), rng=rng), int(k))
        found = backend.to_host(counts)
        parts.append(backend.to_host(means)[found > 0])
        sizes += found[found > 0].astype(int).tolist()
        codes += [code] * int((found > 0).sum())
    return np.concatenate(parts), np.array(codes, dtype=np.int32), sizes


def float_type(budget: Budget) -> Values:
    """Type of the values of synthetic nodes: float32, unless an encoding was asked for."""
    return "float32" if budget.encoding is None else budget.encoding.values


def _node_bytes(graph: Graph, budget: Budget, options: ClusterOptions) -> int:
    """The most that the features of one synthetic node can take."""
    filled = graph.n_features if options.top is None else min(options.top, graph.n_features)
    layouts = LAYOUTS[:1] if filled == graph.n_features else LAYOUTS
    sizes = [Encoding(layout, float_type(budget)).bytes_of_rows(filled, graph.n_features) for layout in layouts]
    return int(min(sizes))


def _table_bytes(graph: Graph, budget: Budget) -> int:
    return Encoding("dense", float_type(budget)).table_bytes(graph.n_features)


def _count(graph: Graph, budget: Budget, n_train: int, edge_share: float, options: ClusterOptions) -> int:
    """Synthetic nodes that fit beside the edges; at least one a class, edges or not."""
    each, once = _node_bytes(graph, budget, options), _table_bytes(graph, budget)
    if each * graph.n_classes + once > budget.limit:
        what = f"one synthetic node of each of the {graph.n_classes} classes with {graph.n_features} float features"
        raise infeasible(budget, each * graph.n_classes + once, what)
    return min(n_train, max(graph.n_classes, int((1 - edge_share) * (budget.limit - once)) // each))
