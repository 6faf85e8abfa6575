"""Sparse matrices of the strict device: what stands for `cupyx.scipy.sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from support.strict_arrays import LEDGER, StrictArray, device, index, wrap

SPARSE_DTYPES = tuple(np.dtype(kind) for kind in "?fdFD")


class StrictMatrix:
    """A CSR, CSC or COO matrix on the strict device.

    As in CuPy, products and sums first bring their operands to canonical format, in place: duplicates are summed
    in the matrix that was handed in. Picked columns come in no order within a row.
    """

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, matrix: Any) -> None:
        if matrix.dtype not in SPARSE_DTYPES:
            msg = "Only bool, float32, float64, complex64 and complex128 are supported"
            raise ValueError(msg)
        self._matrix = matrix

    shape = property(lambda self: self._matrix.shape)
    dtype = property(lambda self: self._matrix.dtype)
    ndim = property(lambda _: 2)
    nnz = property(lambda self: int(self._matrix.nnz))
    format = property(lambda self: self._matrix.format)
    T = property(lambda self: StrictMatrix(self._matrix.T))

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        msg = "Implicit conversion to a NumPy array is not allowed. Please use `.get()`"
        raise TypeError(msg)

    def __getattr__(self, name: str) -> StrictArray:
        parts = {"coo": ("data", "row", "col")}.get(self._matrix.format, ("data", "indices", "indptr"))
        if name not in parts:
            msg = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(msg)
        return StrictArray(getattr(self._matrix, name))

    def __repr__(self) -> str:
        return f"Strict{self._matrix!r}"

    def get(self) -> Any:
        """Copy to the host."""
        LEDGER.to_host += 1
        return self._matrix.copy()

    def copy(self) -> StrictMatrix:
        """Copy on the device."""
        return StrictMatrix(self._matrix.copy())

    def astype(self, dtype: Any) -> StrictMatrix:
        """Copy with another type of values."""
        return StrictMatrix(self._matrix.astype(dtype))

    def toarray(self, order: str = "C") -> StrictArray:
        """Dense; C-ordered unless asked for otherwise, as CuPy does it."""
        return StrictArray(np.asarray(self._matrix.toarray(), order=order))

    def tocsr(self) -> StrictMatrix:
        """Convert to CSR; duplicates of COO are summed."""
        return self if self.format == "csr" else StrictMatrix(self._matrix.tocsr())

    def tocsc(self) -> StrictMatrix:
        """Convert to CSC."""
        return self if self.format == "csc" else StrictMatrix(self._matrix.tocsc())

    def sum_duplicates(self) -> None:
        """Bring to canonical format; arrays that were handed out before keep their contents."""
        if not self._matrix.has_canonical_format:
            self._matrix = self._matrix.copy()
            self._matrix.sum_duplicates()

    def sort_indices(self) -> None:
        """Sort the indices of each row."""
        if not self._matrix.has_sorted_indices:
            self._matrix = self._matrix.sorted_indices()

    def eliminate_zeros(self) -> None:
        """Drop stored zeros."""
        self._matrix = self._matrix.copy()
        self._matrix.eliminate_zeros()

    def __getitem__(self, key: object) -> Any:
        part = self._matrix[index(key)]
        if not scipy.sparse.issparse(part):
            return wrap(np.asarray(part))
        picked = isinstance(key, tuple) and isinstance(key[-1], StrictArray)
        return StrictMatrix(_backwards(part) if picked and part.format == "csr" else part)

    def __add__(self, other: object) -> StrictMatrix:
        right = self._canonical_pair(other)
        return StrictMatrix(self._matrix + right)

    def __matmul__(self, other: object) -> Any:
        if isinstance(other, StrictMatrix):
            right = self._canonical_pair(other)
            return StrictMatrix(self._matrix @ right)
        dense = device(other)
        self._arithmetic(dense.dtype)
        self.sum_duplicates()
        return StrictArray(np.asfortranarray(self._matrix @ dense))

    def __rmatmul__(self, other: object) -> StrictArray:
        dense = device(other)
        self._arithmetic(dense.dtype)
        return StrictArray(np.ascontiguousarray(dense @ self._matrix))

    def _canonical_pair(self, other: object) -> Any:
        if not isinstance(other, StrictMatrix):
            msg = f"Unsupported type {type(other)}"
            raise TypeError(msg)
        self._arithmetic(other.dtype)
        self.sum_duplicates()
        other.sum_duplicates()
        return other._matrix

    def _arithmetic(self, dtype: np.dtype) -> None:
        if np.promote_types(self.dtype, dtype).kind == "b":
            msg = "boolean sparse matrices have no arithmetic"
            raise TypeError(msg)


def _backwards(matrix: Any) -> Any:
    """Turn the entries of every row around."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-np.arange(matrix.nnz), rows))
    return scipy.sparse.csr_matrix((matrix.data[order], matrix.indices[order], matrix.indptr), shape=matrix.shape)


class StrictSparse:
    """What stands for `cupyx.scipy.sparse`."""

    @staticmethod
    def csr_matrix(arg: Any, shape: tuple[int, int] | None = None) -> StrictMatrix:
        """CSR from parts ``(data, indices, indptr)``, a dense array, or another matrix (SciPy's: a transfer)."""
        if isinstance(arg, StrictMatrix):
            return arg.tocsr().copy()
        if scipy.sparse.issparse(arg):
            LEDGER.to_device += 1
            return StrictMatrix(scipy.sparse.csr_matrix(arg, copy=True))
        parts = device(arg) if not isinstance(arg, tuple) else _parts(arg)
        return StrictMatrix(scipy.sparse.csr_matrix(parts, shape=shape))

    @staticmethod
    def coo_matrix(arg: Any, shape: tuple[int, int] | None = None) -> StrictMatrix:
        """COO from ``(data, (row, column))`` or a dense array."""
        parts = (_parts(arg[:1])[0], _parts(arg[1])) if isinstance(arg, tuple) else device(arg)
        return StrictMatrix(scipy.sparse.coo_matrix(parts, shape=shape))

    @staticmethod
    def vstack(blocks: list[Any], format: str | None = None) -> StrictMatrix:  # noqa: A002 - as CuPy calls it
        """CSR matrices of this device, one below the other."""
        if not all(isinstance(block, StrictMatrix) and block.format == "csr" for block in blocks):
            msg = "blocks must be CSR matrices of this device"
            raise TypeError(msg)
        return StrictMatrix(scipy.sparse.vstack([block._matrix for block in blocks], format=format))

    @staticmethod
    def issparse(value: object) -> bool:
        """Whether this is a sparse matrix of this device; SciPy's are not."""
        return isinstance(value, StrictMatrix)


def _parts(parts: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
    if not all(isinstance(part, StrictArray) and part.ndim == 1 for part in parts):
        msg = "data, indices, and indptr must be 1-D arrays of this device"
        raise ValueError(msg)
    return tuple(part._array for part in parts)
