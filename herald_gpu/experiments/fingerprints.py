"""Telling equal condensed graphs: where a budget does not bind, several ratios give the same one, trained on once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import CondensedGraph
from herald_gpu.io import matrices

if TYPE_CHECKING:
    from herald_gpu.experiments.condensers import Made

SIZE = 12
"""Bytes of a fingerprint: two different graphs share one in less than one of 10^14 experiments with a million each."""


def fingerprint(made: Made) -> str:
    """Give a digest of everything that training and testing on a condensed graph depends on.

    Parameters
    ----------
    made : Made

    Examples
    --------
    >>> from herald_gpu.experiments.condensers import Made
    >>> fingerprint(Made("full", "clean", scaled=False))
    'full clean'
    """
    if made.graph == "full":
        return f"full {made.graph_as}{' scaled' if made.scaled else ''}"
    graph = made.graph.as_type("numpy") if isinstance(made.graph, CondensedGraph) else made.graph
    sums = hashlib.blake2b(made.graph_as.encode(), digest_size=SIZE)
    labels = np.where(graph.train_mask, graph.labels, -1)
    for part in (graph.adjacency, graph.features, graph.train_mask, labels, graph.feature_ids):
        for array in _arrays(part):
            sums.update(f"{array.dtype}{array.shape}".encode())
            sums.update(np.ascontiguousarray(array).tobytes())
    return sums.hexdigest()


def _arrays(part: Any) -> list[np.ndarray]:  # noqa: ANN401 - array or sparse matrix
    if matrices.is_sparse(part):
        whole = matrices.to_csr(part)
        return [whole.indptr.astype(np.int64), whole.indices.astype(np.int64), whole.data]
    array = np.asarray(part)
    return [np.array([str(value) for value in array]) if array.dtype.kind == "O" else array]
