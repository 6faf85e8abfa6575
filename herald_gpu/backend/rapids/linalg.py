"""Linear algebra of CuPy under the names that the host has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cupy as cp
import cupyx.scipy.linalg

if TYPE_CHECKING:
    from herald_gpu.backend import Array


def cholesky(a: Array) -> Array:
    """Give the lower factor of a symmetric positive definite matrix (cuSOLVER)."""
    return cp.linalg.cholesky(a)


def solve_triangular(a: Array, b: Array, trans: int = 0, *, lower: bool = False) -> Array:
    """Solve a triangular system (cuBLAS); the other half of the matrix is not read."""
    return cupyx.scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower)
