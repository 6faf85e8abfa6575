"""The CPU backend: NumPy, SciPy, scikit-learn and numba."""

from __future__ import annotations

import importlib.metadata
import itertools
import platform
import sys
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse

from herald_gpu import threads
from herald_gpu.backend import EXACT_TREE, Growth, _compiling, _index, _linalg, _neighbours, _threads
from herald_gpu.backend._tree import exact_tree_features
from herald_gpu.io import present
from herald_gpu.io.read import read, read_kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import Array, Matrix
    from herald_gpu.budget import Prices
    from herald_gpu.io.categories import Levels
    from herald_gpu.io.present import Presenter
    from herald_gpu.io.read import Columns, Kept, Source, Style

_version = lru_cache(importlib.metadata.version)  # reads a file

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
    tree_name = EXACT_TREE
    all_pairs_limit = 5e12  # 50 s on two cores, which take 120 s for 200,000 rows of 300 features (1.2e13)
    cached_elements: int | None = 2**20  # 8 MB of float64
    xp: Any = np
    sparse: Any = scipy.sparse
    linalg: Any = _linalg

    @property
    def workers(self) -> int:
        """See :class:`~herald_gpu.backend.Backend`: as many as numba has, which NUMBA_NUM_THREADS sets."""
        return _threads.count()

    @property
    def index_name(self) -> str | None:
        """See :class:`~herald_gpu.backend.Backend`."""
        return _index.NAME if _index.available() else None

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

    def read_kept(
        self,
        feats: Any,  # noqa: ANN401 - any matrix
        *,
        names: Array,
        positions: Array,
        width: int,
        levels: Levels | None = None,
    ) -> Kept:
        """See :class:`~herald_gpu.backend.Backend`."""
        return read_kept(feats, names=names, positions=positions, width=width, levels=levels)

    def presenter(self, given: Source, style: Style) -> Presenter:  # noqa: ARG002 - there is one place only
        """See :class:`~herald_gpu.backend.Backend`."""
        return present

    def asarray(self, value: Any, dtype: Any = None) -> Array:  # noqa: ANN401 - anything array-like
        """See :class:`~herald_gpu.backend.Backend`; SciPy matrices pass."""
        return value if scipy.sparse.issparse(value) else np.asarray(value, dtype=dtype)

    def to_host(self, value: Any) -> Any:  # noqa: ANN401 - arrays and CSR matrices pass through
        """See :class:`~herald_gpu.backend.Backend`."""
        return value

    def nearest_distances(
        self,
        x: Matrix,
        inverse_norm: Array,
        k: int,
        reference: Array | None = None,
        *,
        rows: Array | None = None,
        keep_self: bool = False,
        approximate: bool = False,
    ) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        if approximate:
            return _neighbours.approximate_nearest(x, inverse_norm, k)
        return _neighbours.exact_nearest(x, inverse_norm, k, reference, rows, keep_self=keep_self)

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
        spent: Array = 0.0,
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

    def exemplar_places(
        self, similarity: Array, sizes: list[int], free: Array, *, rule: Literal["cover", "herd"], most: int
    ) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        from herald_gpu.backend import _table_kernels

        places = np.full(free.shape, -1, dtype=np.int32)
        jobs = np.array(list(itertools.product(range(len(free)), range(len(sizes)))), dtype=np.int64)
        work = np.asarray(sizes, dtype=np.float64)[jobs[:, 1]] ** 2
        ends = np.searchsorted(np.cumsum(work), np.arange(1, self.workers + 1) * work.sum() / self.workers)

        def some(part: Array) -> None:
            _table_kernels.place_exemplars(similarity, np.asarray(sizes), free, part, rule == "herd", most, places)

        # Threads, not a parallel kernel: that takes many seconds to compile.
        list(threads.spread(self, some, np.split(jobs, ends[:-1] + 1)))
        return places

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

    def tree_features(
        self,
        x: Matrix,
        codes: Array,
        *,
        max_depth: int,
        seed: int,
        on_host: bool = False,  # noqa: ARG002 - it is in any case
    ) -> Array:
        """See :class:`~herald_gpu.backend.Backend`: scikit-learn's exact tree."""
        return exact_tree_features(x, codes, max_depth=max_depth, seed=seed)

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

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:  # noqa: ARG002 - the host has no profiler to tell
        """See :class:`~herald_gpu.backend.Backend`: nothing is queued on the host.

        BLAS has one thread meanwhile: stages spread their work themselves. Threads of BLAS that wait for one another
        keep cores busy; beside other processes, many small products took five times as long with two of them.
        """
        with _threads.alone():
            yield

    def start_run(self) -> None:
        """See :class:`~herald_gpu.backend.Backend`: nothing to do, the system does not forget a process's peak."""

    @property
    def compile_seconds(self) -> float:
        """See :class:`~herald_gpu.backend.Backend`: none if numba found all kernels on disk."""
        return _compiling.SPENT.seconds

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
        found = {name: _version(name) for name in LIBRARIES}
        return {"python": platform.python_version(), **found, **_index.versions()}


def _dense(x: Matrix) -> Array:
    return x.toarray() if hasattr(x, "toarray") else x
