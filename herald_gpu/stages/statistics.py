"""What the condensed graph looks like (eq:class_ent, eq:feat_var, eq:sr)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.graph import Graph

VARIANCE_EPS = 1e-12


@dataclass(frozen=True)
class Statistics:
    """Figures of a condensed graph.

    Attributes
    ----------
    n_nodes, n_edges : int
        Edges are directed: every undirected edge counts twice.
    node_ratio, edge_ratio : float
        Shares of the whole graph.
    class_counts : tuple of int
        Training nodes by class.
    class_entropy : float
        Of the training nodes' classes, natural logarithm.
    feature_variance : float
        Mean over kept features of their variance in the condensed graph over that in the training set.
    mean_degree : float
        Directed edges per node.
    density : float
        Directed edges over possible ones.
    """

    n_nodes: int
    n_edges: int
    node_ratio: float
    edge_ratio: float
    class_counts: tuple[int, ...]
    class_entropy: float
    feature_variance: float
    mean_degree: float
    density: float


def describe(
    backend: Backend, graph: Graph, kept: Matrix, nodes: Array, adjacency: Matrix, full_edges: int
) -> Statistics:
    """Measure the condensed graph.

    Parameters
    ----------
    backend, graph
        As everywhere.
    kept : (N, k*) matrix
        Kept features of all nodes.
    nodes : int array
        Nodes of the condensed graph.
    adjacency : CSR matrix
        Its edges.
    full_edges : int
        Directed edges of the full graph.
    """
    n, edges = int(nodes.shape[0]), int(adjacency.nnz)
    codes = graph.labels[nodes][graph.train[nodes]]
    counts = backend.to_host(ops.class_counts(backend, codes, graph.n_classes))
    shares = counts[counts > 0] / max(1, counts.sum())
    ours = ops.column_variances(backend, kept[nodes])
    whole = ops.column_variances(backend, kept[backend.xp.flatnonzero(graph.train)])
    return Statistics(
        n_nodes=n,
        n_edges=edges,
        node_ratio=n / graph.n_nodes,
        edge_ratio=edges / full_edges if full_edges else 0.0,
        class_counts=tuple(int(count) for count in counts),
        class_entropy=float(-(shares * np.log(shares)).sum()) + 0.0,
        feature_variance=ops.scalar((ours / (whole + VARIANCE_EPS)).mean()),
        mean_degree=edges / n,
        density=edges / (n * (n - 1)) if n > 1 else 0.0,
    )
