"""The RAPIDS backend: CuPy arrays throughout; cuML and cuGraph where they have the algorithm."""

from __future__ import annotations

import platform
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import cupy as cp
import cupyx.scipy.sparse as cusparse
import numpy as np

from herald_gpu.backend._tree import exact_tree_features
from herald_gpu.backend.probe import installed_versions
from herald_gpu.backend.rapids import (
    allocation,
    device,
    exemplars,
    graphs,
    indexing,
    learning,
    linalg,
    neighbours,
    presenting,
    reading,
)
from herald_gpu.backend.rapids import pagerank as ranks
from herald_gpu.io import present
from herald_gpu.io.kinds import check_devices, is_proxy, kind_of
from herald_gpu.io.read import Style, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import Array, Growth, Matrix, Memory
    from herald_gpu.budget import Prices
    from herald_gpu.io.categories import Levels
    from herald_gpu.io.present import Presenter
    from herald_gpu.io.read import Columns, Kept, Source


class RapidsBackend:
    """Everything on the current CUDA device.

    Parameters
    ----------
    memory : {"default", "pool", "managed"}
        Where device memory comes from; see :func:`herald_gpu.get_backend`.
    """

    name = "rapids"
    tree_name = "cuML, histogram splits"
    all_pairs_limit = 1e14  # 2e14 operations, 40 s at 5 TFLOP/s: a small card, predicted
    cached_elements: int | None = None
    workers = 1
    xp: Any = cp
    sparse: Any = cusparse
    linalg: Any = linalg

    def __init__(self, *, memory: Memory = "default") -> None:
        if memory != "default":
            allocation.use_rmm(managed=memory == "managed")

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
        given = reading.behind_proxies((edges, feats, given_labels, given_train))
        place = check_devices(**dict(zip(("edges", "feats", "labels", "train"), given, strict=True)))
        reader = reading.read_device if place == "cuda" else read
        found = reader(*given, columns=columns, unlabelled=unlabelled)
        # A proxy passes for pandas, and pandas is what its owner expects back.
        kinds = [
            kind_of(v) if is_proxy(v) else known
            for v, known in ((edges, found.style.edges), (feats, found.style.nodes))
        ]
        return replace(found, style=Style(kinds[0], kinds[1], found.style.sparse))

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
        return reading.read_kept(feats, names=names, positions=positions, width=width, levels=levels)

    def presenter(self, given: Source, style: Style) -> Presenter:
        """See :class:`~herald_gpu.backend.Backend`."""
        stays = given.on_device and {style.edges, style.nodes} <= set(present.DEVICE_KINDS)
        return presenting if stays else present

    def asarray(self, value: Any, dtype: Any = None) -> Array:  # noqa: ANN401 - anything array-like
        """See :class:`~herald_gpu.backend.Backend`; a SciPy CSR matrix becomes a CuPy one."""
        if hasattr(value, "indptr"):
            return value if cusparse.issparse(value) else cusparse.csr_matrix(value, dtype=dtype)
        return cp.asarray(value, dtype=dtype)

    def to_host(self, value: Any) -> Any:  # noqa: ANN401 - array or CSR matrix in, its host twin out
        """See :class:`~herald_gpu.backend.Backend`."""
        return value.get() if hasattr(value, "get") else np.asarray(value)

    @property
    def index_name(self) -> str | None:
        """See :class:`~herald_gpu.backend.Backend`; cuVS comes with both extras."""
        return indexing.NAME

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
            return indexing.nearest_distances(x, inverse_norm, k)
        return neighbours.nearest_distances(x, inverse_norm, k, reference, rows, keep_self=keep_self)

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

    def exemplar_places(
        self, similarity: Array, sizes: list[int], free: Array, *, rule: Literal["cover", "herd"], most: int
    ) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        return exemplars.exemplar_places(similarity, sizes, free, herd=rule == "herd", most=most)

    def pagerank(self, adjacency: Matrix, restart: Array, *, probability: float, tol: float, max_iter: int) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        return ranks.pagerank(adjacency, restart, probability=probability, tol=tol, max_iter=max_iter)

    def tree_features(self, x: Matrix, codes: Array, *, max_depth: int, seed: int, on_host: bool = False) -> Array:
        """See :class:`~herald_gpu.backend.Backend`; with `on_host` rows and classes cross to the host."""
        if on_host:
            found = exact_tree_features(self.to_host(x), self.to_host(codes), max_depth=max_depth, seed=seed)
            return self.asarray(found)
        return learning.tree_features(x, codes, max_depth=max_depth, seed=seed)

    def principal_components(self, x: Matrix, variance: float) -> tuple[Array, Array]:
        """See :class:`~herald_gpu.backend.Backend`."""
        return learning.principal_components(x, variance)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """See :class:`~herald_gpu.backend.Backend`: an NVTX range, and advice when memory runs out."""
        cp.cuda.nvtx.RangePush(f"herald.{name}")
        try:
            with device.advice(name), allocation.GAUGE.counting():
                yield
                cp.cuda.get_current_stream().synchronize()
        finally:
            cp.cuda.nvtx.RangePop()

    def start_run(self) -> None:
        """See :class:`~herald_gpu.backend.Backend`: memory is counted anew, where RMM counts it.

        What the caller has queued is waited for, so that the first stage is not charged with it.
        """
        allocation.GAUGE.reset()
        cp.cuda.get_current_stream().synchronize()

    @property
    def compile_seconds(self) -> float:
        """See :class:`~herald_gpu.backend.Backend`: none, because CuPy does not tell what it compiles."""
        return 0.0

    def peak_memory(self) -> int | None:
        """See :class:`~herald_gpu.backend.Backend`: bytes from RMM, or else what CuPy's pool has taken so far."""
        return device.peak_bytes()

    def versions(self) -> dict[str, str]:
        """See :class:`~herald_gpu.backend.Backend`."""
        return {"python": platform.python_version(), "numpy": np.__version__, **installed_versions()}
