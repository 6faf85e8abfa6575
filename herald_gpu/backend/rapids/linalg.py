"""Linear algebra of CuPy under the names that the host has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cupy as cp
import cupyx.scipy.linalg
import numpy as np

from herald_gpu.backend.rapids import kernels

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix


_cosine_sums = cp.RawKernel(kernels.COSINE_SUMS, "cosine_sums", options=kernels.OPTIONS)


def cholesky(a: Array) -> Array:
    """Give the lower factor of a symmetric positive definite matrix (cuSOLVER)."""
    return cp.linalg.cholesky(a)


def solve_triangular(a: Array, b: Array, trans: int = 0, *, lower: bool = False) -> Array:
    """Solve a triangular system (cuBLAS); the other half of the matrix is not read."""
    return cupyx.scipy.linalg.solve_triangular(a, b, trans=trans, lower=lower)


def add_product(table: Array, left: Array, right: Array) -> None:
    """Add the products of rows with others to a part of a table (cuBLAS)."""
    table += left @ right.T


def multiply(a: Matrix, x: Array) -> Array:
    """Multiply a CSR matrix with a dense block (cuSPARSE)."""
    return a @ x


def reorder_columns(x: Array, order: Array) -> Array:
    """Give all columns of a dense array in another order."""
    return cp.take(x, order, axis=1)


def take_columns(x: Array, columns: Array) -> Array:
    """Give columns of a dense array, row by row as before; all must be there."""
    return cp.take(x, columns, axis=1)


def cosine_sums(tables: Array, factors: Array, out: Array, low: int, high: int) -> None:
    """Add up the cosines of three tables, scaled and rounded: rows up to the diagonal, and their columns."""
    cells = (high - low) * high
    given = (tables, factors, np.int64(out.shape[0]), np.int64(low), np.int64(high), out)
    _cosine_sums((-(-cells // kernels.THREADS),), (kernels.THREADS,), given)


def class_scatter(
    table: Array, places: Array | None, members: Matrix, codes: Array, used: Array
) -> tuple[Array, Array]:
    """Sum rows by class (cuSPARSE), and their squared distances to the mean of their class where it counts."""
    rows = table.copy() if places is None else table[places]
    sums, counts = members @ rows, cp.diff(members.indptr)
    rows -= (sums * (1.0 / cp.maximum(counts, 1))[:, None])[codes]
    rows *= used[codes][:, None]
    return sums, cp.einsum("ij,ij->j", rows, rows)
