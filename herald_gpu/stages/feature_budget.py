"""Stage 3, first half: how many features to keep (the budget anchor)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.backend import EXACT_TREE

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph


@dataclass(frozen=True)
class FeatureBudget:
    """The number of features to keep and, if a tree was grown, those it splits on.

    Attributes
    ----------
    count : int
    tree : int array, optional
        Ascending; None if the number was given and no tree was needed.
    tree_name : str, optional
        Which tree that was.
    """

    count: int
    tree: Array | None
    tree_name: str | None = None


def count_features(backend: Backend, graph: Graph, config: HeraldConfig) -> FeatureBudget:
    """Count the features that a deep decision tree on smoothed training rows splits on."""
    if config.feature_count is not None:
        return FeatureBudget(min(config.feature_count, graph.n_features), None)
    rows, on_host = backend.xp.flatnonzero(graph.train), config.feature_tree == "host"
    tree = backend.tree_features(
        smoothed_rows(backend, graph, rows),
        graph.labels[rows],
        max_depth=config.tree_depth,
        seed=config.tree_seed,
        on_host=on_host,
    )
    if int(tree.shape[0]) == 0:  # one leaf: no feature separates the classes, keep the first
        tree = backend.xp.zeros(1, dtype=tree.dtype)
    return FeatureBudget(int(tree.shape[0]), tree, EXACT_TREE if on_host else backend.tree_name)


def smoothed_rows(backend: Backend, graph: Graph, rows: Array) -> Matrix:
    """Rows of ``D~^-1 (A + I) D~^-1 X`` as float32, D~ being the degrees of A + I."""
    inverse = 1.0 / (ops.degrees(backend, graph.adjacency) + 1.0)
    return smooth(backend, graph.adjacency[rows], graph.features, rows, inverse)


def smooth(backend: Backend, around: Matrix, features: Matrix, rows: Array, inverse: Array) -> Matrix:
    """Smooth some rows (partial: every row needs its neighbours alone).

    Parameters
    ----------
    backend : Backend
    around : (n, m) CSR matrix
        Neighbours of the rows among m nodes.
    features : (m, F) matrix
        Features of these.
    rows : int array
        Where the rows themselves stand among them.
    inverse : (m,) float64 array
        One over their degrees in A + I.
    """
    xp = backend.xp
    around = ops.scaled_columns(backend, around, inverse)
    if backend.sparse.issparse(features):
        wide = ops.with_data(backend, features, features.data.astype(xp.float64))
        total = (around @ wide + _scale_rows(backend, wide[rows], inverse[rows])).tocsr()
        return _scale_rows(backend, total, inverse[rows]).astype(xp.float32)
    out = xp.empty((rows.shape[0], features.shape[1]), dtype=xp.float32)
    for low, high, block in ops.dense_column_blocks(backend, features):
        total = around @ block + block[rows] * inverse[rows][:, None]
        out[:, low:high] = total * inverse[rows][:, None]
    return out


def _scale_rows(backend: Backend, matrix: Matrix, factors: Array) -> Matrix:
    return ops.with_data(backend, matrix, matrix.data * factors[ops.row_ids(backend, matrix)])
