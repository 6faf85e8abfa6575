"""The CPU backend: NumPy, SciPy, scikit-learn and numba."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.backend import Growth
from herald_gpu.io.read import read

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from herald_gpu.backend import Array, Matrix
    from herald_gpu.budget import Prices
    from herald_gpu.io.read import Columns, Source

TILE = 2048
"""Rows and columns of one tile of similarities: 16 MB of float32."""
MARGIN = 8
"""Candidates found in float32 beyond k, so that the k nearest in float64 are among them."""
GEMM_ADVANTAGE = 24.0
"""One scattered multiply-add of the posting lists costs about this many of a blocked GEMM."""
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


class CpuBackend:
    """Everything on the host; the reference that other backends are compared with.

    Examples
    --------
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> CpuBackend().asarray([1, 2]).sum()
    np.int64(3)
    """

    name = "cpu"
    tree_name = "scikit-learn, exact splits"
    xp: Any = np
    sparse: Any = scipy.sparse

    def read(
        self,
        edges: Any,  # noqa: ANN401 - every type this package reads
        feats: Any,  # noqa: ANN401
        given_labels: Any,  # noqa: ANN401
        given_train: Any,  # noqa: ANN401
        *,
        columns: Columns,
        unlabelled: Any,  # noqa: ANN401
    ) -> Source:
        """See :class:`~herald_gpu.backend.Backend`: what is on a device comes to the host."""
        return read(edges, feats, given_labels, given_train, columns=columns, unlabelled=unlabelled)

    def asarray(self, value: Any, dtype: Any = None) -> Array:  # noqa: ANN401 - anything array-like
        """See :class:`~herald_gpu.backend.Backend`; SciPy matrices pass."""
        return value if scipy.sparse.issparse(value) else np.asarray(value, dtype=dtype)

    def to_host(self, value: Any) -> Any:  # noqa: ANN401 - arrays and CSR matrices pass through
        """See :class:`~herald_gpu.backend.Backend`."""
        return value

    def nearest_distances(self, x: Matrix, inverse_norm: Array, k: int, reference: Array | None = None) -> Array:
        """See :class:`~herald_gpu.backend.Backend`.

        Dense rows meet in tiles of a float32 matrix product, each tile serving both of its sides; sparse rows
        meet through posting lists, unless so many of them overlap that densified tiles are cheaper.
        """
        from herald_gpu.backend import _kernels

        n, sparse = int(x.shape[0]), scipy.sparse.issparse(x)
        others = n - 1 if reference is None else len(reference)
        count = min(others, k + MARGIN)
        candidates = np.zeros((n, count), dtype=np.int64)
        best = np.full((n, count), -np.inf, dtype=np.float32)
        if sparse and reference is None and _posting_lists_pay(x):
            _sparse_candidates(x, inverse_norm, best, candidates)
        else:
            _tile_candidates(x, inverse_norm, reference, best, candidates)
        distances = np.empty((n, count), dtype=np.float64)
        if sparse:
            _kernels.sparse_distances(x.indptr, x.indices, x.data, inverse_norm, candidates, distances)
        else:
            _kernels.dense_distances(x, inverse_norm, candidates, distances)
        distances.sort(axis=1)
        return distances[:, :k]

    def grow(
        self,
        adjacency: Matrix,
        roots: Array,
        prices: Prices,
        *,
        limit: float,
        depth: int,
        patience: int,
        member: Array | None = None,
        spent: float = 0.0,
        quota: int | None = None,
        stop_when_full: bool = False,
    ) -> Growth:
        """See :class:`~herald_gpu.backend.Backend`."""
        from herald_gpu.backend import _kernels

        members = np.zeros(adjacency.shape[0], dtype=bool) if member is None else member.copy()
        considered, accepted, total = _kernels.grow(
            adjacency.indptr,
            adjacency.indices,
            adjacency.data,
            np.asarray(roots, dtype=np.int64),
            prices.node,
            prices.edge,
            prices.edge_to_member,
            float(limit),
            depth,
            patience,
            -1 if quota is None else quota,
            stop_when_full,
            members,
            float(spent),
        )
        return Growth(members, considered, int(accepted), float(total))

    def pagerank(self, adjacency: Matrix, restart: Array, *, probability: float, tol: float, max_iter: int) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        n = adjacency.shape[0]
        weights = adjacency.astype(np.float64)
        weights.data /= np.repeat(np.asarray(weights.sum(axis=1)).ravel(), np.diff(weights.indptr))
        step = weights.T.tocsr()
        rank = np.full(n, 1.0 / n)
        for _ in range(max_iter):
            moved = probability * restart + (1.0 - probability) * (step @ rank)
            moved /= moved.sum()
            change = np.abs(moved - rank).sum()
            rank = moved
            if change < tol:
                break
        return rank

    def tree_features(self, x: Matrix, codes: Array, *, max_depth: int, seed: int) -> Array:
        """See :class:`~herald_gpu.backend.Backend`: scikit-learn's exact tree."""
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(max_depth=max_depth, random_state=seed).fit(x, codes).tree_
        return np.unique(tree.feature[tree.feature >= 0]).astype(np.int64)

    def principal_components(self, x: Matrix, variance: float) -> tuple[Array, Array]:
        """See :class:`~herald_gpu.backend.Backend`; each component's largest entry is positive."""
        dense = _dense(x).astype(np.float64)
        mean = dense.mean(axis=0)
        _, singular, components = np.linalg.svd(dense - mean, full_matrices=False)
        share = np.cumsum(singular**2)
        count = int(np.searchsorted(share, variance * share[-1] * (1 - 1e-12))) + 1
        components = components[: min(count, len(singular))]
        largest = np.abs(components).argmax(axis=1)
        components *= np.sign(components[np.arange(len(components)), largest])[:, None]
        return mean.astype(np.float32), components.astype(np.float32)

    def stage(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - the host has no profiler to tell
        """See :class:`~herald_gpu.backend.Backend`: nothing is queued on the host."""
        return nullcontext()

    def peak_memory(self) -> int | None:
        """See :class:`~herald_gpu.backend.Backend`: the largest resident size of this process so far."""
        try:
            import resource
        except ImportError:  # not a POSIX system
            return None
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024

    def versions(self) -> dict[str, str]:
        """See :class:`~herald_gpu.backend.Backend`."""
        found = {name: importlib.metadata.version(name) for name in LIBRARIES}
        return {"python": platform.python_version(), **found}


def _posting_lists_pay(x: Matrix) -> bool:
    occurrences = np.bincount(x.indices, minlength=x.shape[1]).astype(np.float64)
    return bool(GEMM_ADVANTAGE * (occurrences**2).sum() <= float(x.shape[0]) ** 2 * x.shape[1])


def _sparse_candidates(x: Matrix, inverse_norm: Array, best: Array, candidates: Array) -> None:
    from herald_gpu.backend import _kernels

    unit = x.data * np.repeat(inverse_norm, np.diff(x.indptr))
    postings = scipy.sparse.csr_matrix((unit, x.indices, x.indptr), shape=x.shape).tocsc()
    scratch = _kernels.thread_rows(x.shape[0])
    _kernels.sparse_neighbours(
        x.indptr, x.indices, unit, postings.indptr, postings.indices, postings.data, best, candidates, scratch
    )


def _tile_candidates(x: Matrix, inverse_norm: Array, reference: Array | None, best: Array, candidates: Array) -> None:
    from herald_gpu.backend import _kernels

    n = x.shape[0]
    if reference is not None:
        columns = _unit_rows(x[reference], inverse_norm[reference])
        for low in range(0, n, TILE):
            rows = _unit_rows(x[low : low + TILE], inverse_norm[low : low + TILE])
            _kernels.offer_tile_keeping_self(rows @ columns.T, low, reference, best, candidates)
        return
    for low in range(0, n, TILE):
        rows = _unit_rows(x[low : low + TILE], inverse_norm[low : low + TILE])
        for left in range(low, n, TILE):
            columns = rows if left == low else _unit_rows(x[left : left + TILE], inverse_norm[left : left + TILE])
            tile = rows @ columns.T
            _kernels.offer_tile(tile, low, np.arange(left, left + len(columns)), best, candidates)
            if left != low:  # the other half of the symmetric matrix
                _kernels.offer_tile(tile.T, left, np.arange(low, low + len(rows)), best, candidates)


def _unit_rows(x: Matrix, inverse_norm: Array) -> Array:
    return (_dense(x) * inverse_norm[:, None]).astype(np.float32)


def _dense(x: Matrix) -> Array:
    return x.toarray() if hasattr(x, "toarray") else x
