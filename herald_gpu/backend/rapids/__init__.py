"""The RAPIDS backend: CuPy arrays throughout; cuML and cuGraph where they have the algorithm."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import cupy as cp
import cupyx.scipy.sparse as cusparse
import numpy as np

from herald_gpu.backend.probe import installed_versions
from herald_gpu.backend.rapids import device, graphs, learning, neighbours, reading
from herald_gpu.io.kinds import check_devices, unproxy
from herald_gpu.io.read import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import Array, Growth, Matrix, Memory
    from herald_gpu.budget import Prices
    from herald_gpu.io.read import Columns, Source


class RapidsBackend:
    """Everything on the current CUDA device.

    Parameters
    ----------
    memory : {"default", "pool", "managed"}
        Where device memory comes from; see :func:`herald_gpu.get_backend`.
    """

    name = "rapids"
    tree_name = "cuML, histogram splits"
    xp: Any = cp
    sparse: Any = cusparse

    def __init__(self, *, memory: Memory = "default") -> None:
        if memory != "default":
            device.use_rmm(managed=memory == "managed")

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
        """See :class:`~herald_gpu.backend.Backend`: what is on the device stays there."""
        given = tuple(unproxy(value) for value in (edges, feats, given_labels, given_train))
        place = check_devices(**dict(zip(("edges", "feats", "labels", "train"), given, strict=True)))
        reader = reading.read_device if place == "cuda" else read
        return reader(*given, columns=columns, unlabelled=unlabelled)

    def asarray(self, value: Any, dtype: Any = None) -> Array:  # noqa: ANN401 - anything array-like
        """See :class:`~herald_gpu.backend.Backend`; a SciPy CSR matrix becomes a CuPy one."""
        if hasattr(value, "indptr"):
            return value if cusparse.issparse(value) else cusparse.csr_matrix(value, dtype=dtype)
        return cp.asarray(value, dtype=dtype)

    def to_host(self, value: Any) -> Any:  # noqa: ANN401 - array or CSR matrix in, its host twin out
        """See :class:`~herald_gpu.backend.Backend`."""
        return value.get() if hasattr(value, "get") else np.asarray(value)

    def nearest_distances(self, x: Matrix, inverse_norm: Array, k: int, reference: Array | None = None) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        return neighbours.nearest_distances(x, inverse_norm, k, reference)

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
        return graphs.grow(
            adjacency,
            roots,
            prices,
            limit=limit,
            depth=depth,
            patience=patience,
            member=member,
            spent=spent,
            quota=quota,
            stop_when_full=stop_when_full,
        )

    def pagerank(self, adjacency: Matrix, restart: Array, *, probability: float, tol: float, max_iter: int) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        return graphs.pagerank(adjacency, restart, probability=probability, tol=tol, max_iter=max_iter)

    def tree_features(self, x: Matrix, codes: Array, *, max_depth: int, seed: int) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        return learning.tree_features(x, codes, max_depth=max_depth, seed=seed)

    def principal_components(self, x: Matrix, variance: float) -> tuple[Array, Array]:
        """See :class:`~herald_gpu.backend.Backend`."""
        return learning.principal_components(x, variance)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """See :class:`~herald_gpu.backend.Backend`: an NVTX range, and advice when memory runs out."""
        cp.cuda.nvtx.RangePush(f"herald.{name}")
        try:
            with device.advice(name):
                yield
                cp.cuda.get_current_stream().synchronize()
        finally:
            cp.cuda.nvtx.RangePop()

    def peak_memory(self) -> int | None:
        """See :class:`~herald_gpu.backend.Backend`: what CuPy's pool has taken; None where RMM stands in for it."""
        return int(cp.get_default_memory_pool().total_bytes()) or None

    def versions(self) -> dict[str, str]:
        """See :class:`~herald_gpu.backend.Backend`."""
        return {"python": platform.python_version(), "numpy": np.__version__, **installed_versions()}
