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


def measure(backend: Backend, graph: Graph, kept: Matrix, nodes: Array) -> tuple[Array, Array]:
    """Measure the condensed graph: training nodes by class, feature variance; both left on the backend.

    Parameters
    ----------
    backend, graph
        As everywhere.
    kept : (N, k*) matrix
        Kept features of all nodes.
    nodes : int array
        Nodes of the condensed graph.
    """
    whole = ops.column_variances(backend, kept[backend.xp.flatnonzero(graph.train)])
    return count_classes(backend, graph, nodes), variance_ratios(backend, kept[nodes], whole).mean()


def count_classes(backend: Backend, graph: Graph, nodes: Array) -> Array:
    """Count the training nodes among `nodes` by class."""
    return ops.class_counts(backend, graph.labels[nodes], graph.n_classes, graph.train[nodes])


def variance_ratios(backend: Backend, rows: Matrix, whole: Array) -> Array:
    """Variance of every kept feature over rows of the condensed graph, over that in the training set."""
    return ops.column_variances(backend, rows) / (whole + VARIANCE_EPS)


def describe(
    counts: np.ndarray, variance: float, *, n_nodes: int, n_edges: int, full_nodes: int, full_edges: int
) -> Statistics:
    """Put the figures together.

    Parameters
    ----------
    counts, variance : int array, float
        What :func:`measure` found, on the host.
    n_nodes, n_edges : int
        Of the condensed graph; edges are directed.
    full_nodes, full_edges : int
        Of the whole graph.
    """
    shares = counts[counts > 0] / max(1, counts.sum())
    return Statistics(
        n_nodes=n_nodes,
        n_edges=n_edges,
        node_ratio=n_nodes / full_nodes,
        edge_ratio=n_edges / full_edges if full_edges else 0.0,
        class_counts=tuple(int(count) for count in counts),
        class_entropy=float(-(shares * np.log(shares)).sum()) + 0.0,
        feature_variance=float(variance),
        mean_degree=n_edges / n_nodes,
        density=n_edges / (n_nodes * (n_nodes - 1)) if n_nodes > 1 else 0.0,
    )
