"""A strict stand-in device: NumPy and SciPy underneath, CuPy's manners on the surface.

Code that leaks arrays to the host, mixes them with NumPy's, or asks for names that CuPy 14 does not have works
by luck on the CPU and fails on a GPU. Here it fails on a laptop. Where CuPy transfers silently (an index or a
value that lives on the host, iteration) this device refuses, so that every transfer is spelled out and counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.backend.cpu import CpuBackend
from support.strict_arrays import LEDGER, Ledger, StrictArray, counted, device, operand, wrap
from support.strict_names import MISSING, StrictNamespace, StrictTriangles
from support.strict_sparse import StrictMatrix, StrictSparse

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from herald_gpu.backend import Growth
    from herald_gpu.budget import Prices

__all__ = ["LEDGER", "MISSING", "Ledger", "StrictArray", "StrictBackend", "StrictMatrix", "counted"]


class StrictBackend:
    """The CPU backend behind a wall: strict arrays in, strict arrays out."""

    name = "strict"
    tree_name = CpuBackend.tree_name
    all_pairs_limit = CpuBackend.all_pairs_limit
    cached_elements: int | None = CpuBackend.cached_elements
    workers = 1
    index_name = CpuBackend.index_name
    xp: Any = StrictNamespace()
    sparse: Any = StrictSparse()
    linalg: Any = StrictTriangles()

    def __init__(self) -> None:
        self._cpu = CpuBackend()

    def read(self, *given: Any, **options: Any) -> Any:
        """See `Backend`."""
        return self._cpu.read(*given, **options)

    def read_kept(self, feats: Any, **options: Any) -> Any:
        """See `Backend`."""
        return self._cpu.read_kept(feats, **options)

    def presenter(self, given: Any, style: Any) -> Any:
        """See `Backend`: nobody passes strict arrays in, so that none go out."""
        return self._cpu.presenter(given, style)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """Bring a host array (or SciPy CSR) over; counted."""
        if isinstance(value, StrictArray):
            return value if dtype is None else value.astype(dtype, copy=False)
        if isinstance(value, StrictMatrix) or scipy.sparse.issparse(value):
            return value if isinstance(value, StrictMatrix) else self.sparse.csr_matrix(value)
        LEDGER.to_device += 1
        return StrictArray(np.array(value, dtype=dtype))

    def to_host(self, value: StrictArray | StrictMatrix) -> Any:
        """Copy to the host; counted."""
        return value.get()

    def nearest_distances(
        self, x: Any, inverse_norm: Any, k: int, reference: Any = None, *, rows: Any = None, **options: Any
    ) -> StrictArray:
        """See `Backend`."""
        near, asked = (None if ids is None else device(ids) for ids in (reference, rows))
        found = self._cpu.nearest_distances(_matrix(x), device(inverse_norm), k, near, rows=asked, **options)
        return StrictArray(found)

    def grow(
        self,
        adjacency: StrictMatrix,
        roots: StrictArray,
        prices: Prices,
        *,
        member: Any = None,
        spent: Any = 0.0,
        **options: Any,
    ) -> Growth:
        """See `Backend`."""
        growth = self._cpu.grow(
            _matrix(adjacency),
            device(roots),
            replace(prices, node=device(prices.node)),
            member=None if member is None else device(member),
            spent=operand(spent),
            **options,
        )
        return replace(growth, **{name: wrap(np.asarray(value)) for name, value in vars(growth).items()})

    def exemplar_places(self, similarity: StrictArray, sizes: list[int], free: StrictArray, **options: Any) -> Any:
        """See `Backend`."""
        return StrictArray(self._cpu.exemplar_places(device(similarity), sizes, device(free), **options))

    def pagerank(self, adjacency: StrictMatrix, restart: StrictArray, **options: Any) -> StrictArray:
        """See `Backend`."""
        return StrictArray(self._cpu.pagerank(_matrix(adjacency), device(restart), **options))

    def tree_features(self, x: Any, codes: StrictArray, *, on_host: bool = False, **options: Any) -> StrictArray:
        """See `Backend`; a tree on the host is a transfer like any other."""
        if on_host:
            return self.asarray(self._cpu.tree_features(self.to_host(x), self.to_host(codes), **options))
        return StrictArray(self._cpu.tree_features(_matrix(x), device(codes), **options))

    def principal_components(self, x: Any, variance: float) -> tuple[StrictArray, StrictArray]:
        """See `Backend`."""
        mean, components = self._cpu.principal_components(_matrix(x), variance)
        return StrictArray(mean), StrictArray(components)

    def stage(self, name: str) -> AbstractContextManager[None]:
        """See `Backend`."""
        return self._cpu.stage(name)

    def start_run(self) -> None:
        """See `Backend`."""

    @property
    def compile_seconds(self) -> float:
        """See `Backend`."""
        return self._cpu.compile_seconds

    def peak_memory(self) -> int | None:
        """See `Backend`."""
        return None

    def versions(self) -> dict[str, str]:
        """See `Backend`."""
        return self._cpu.versions()


def _matrix(value: Any) -> Any:
    return value._matrix if isinstance(value, StrictMatrix) else device(value)
