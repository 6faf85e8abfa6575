"""Decision tree and principal components with cuML."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import cupy as cp
import cupyx.scipy.sparse as cusparse

from herald_gpu.backend.rapids.device import library_order

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

BINS = 128
"""Histogram bins of the tree: features with more distinct values are split approximately."""
SMALLEST = 2
"""cuML refuses to look for components in fewer rows or columns: there is but one, the first axis."""


def tree_features(x: Matrix, codes: Array, *, max_depth: int, seed: int) -> Array:
    """See :class:`~herald_gpu.backend.Backend`: a random forest of one tree that sees all rows and all features."""
    from cuml.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        n_estimators=1,
        bootstrap=False,
        max_features=1.0,
        max_depth=max_depth,
        n_bins=min(BINS, int(x.shape[0])),
        n_streams=1,
        random_state=seed,
    )
    dense = cp.ascontiguousarray(x.toarray() if cusparse.issparse(x) else x, dtype=cp.float32)
    classes = codes.astype(cp.int32)
    with library_order():
        forest.fit(dense, classes)
    return cp.asarray(split_features(forest.as_treelite()), dtype=cp.int64)


def split_features(model: Any) -> list[int]:  # noqa: ANN401 - a treelite model
    """Give the ascending features that any node of a treelite model splits on."""
    trees = json.loads(model.dump_as_json())["trees"]
    nodes = (node for tree in trees for node in tree["nodes"])
    return sorted({node["split_feature_id"] for node in nodes if "split_feature_id" in node})


def principal_components(x: Matrix, variance: float) -> tuple[Array, Array]:
    """See :class:`~herald_gpu.backend.Backend`; each component's largest entry is positive."""
    from cuml.decomposition import PCA

    dense = cp.ascontiguousarray(x.toarray() if cusparse.issparse(x) else x, dtype=cp.float64)
    if min(dense.shape) < SMALLEST:
        return dense.mean(axis=0).astype(cp.float32), cp.eye(1, dense.shape[1], dtype=cp.float32)
    fitted = PCA(n_components=min(dense.shape), svd_solver="full", output_type="cupy")
    with library_order():
        fitted.fit(dense)
    share = cp.cumsum(cp.asarray(fitted.explained_variance_))
    count = int((share < variance * share[-1] * (1 - 1e-12)).sum()) + 1
    components = cp.asarray(fitted.components_)[: min(count, int(share.shape[0]))]
    largest = cp.take_along_axis(components, cp.abs(components).argmax(axis=1)[:, None], axis=1)
    components = components * cp.sign(largest)
    return cp.asarray(fitted.mean_).astype(cp.float32), components.astype(cp.float32)
