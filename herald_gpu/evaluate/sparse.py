"""Products of sparse matrices with dense tensors that gradients flow through."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
import torch
from torch.autograd import Function

if TYPE_CHECKING:
    from scipy.sparse import csr_array
    from torch import Tensor

DENSE_SHARE = 0.15
"""Share of non-zeros from which a dense product is the faster one (measured on one CPU core, 500 columns)."""
CHUNK = 1 << 18
"""Entries whose gradients are worked out at a time, since each takes two rows of the dense matrix."""

with warnings.catch_warnings():
    # torch tells once per process that CSR tensors are new; nothing here can act on it.
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 0], [], [], (1, 1), check_invariants=False)


class SparseMatrix:
    """A sparse matrix in CSR form on a device; its entries may be replaced from product to product.

    Parameters
    ----------
    matrix : CSR array
    device : torch.device or str

    Attributes
    ----------
    shape : tuple of int
    values : (nnz,) float32 tensor
        The entries, row by row.

    Examples
    --------
    >>> eye = SparseMatrix(scipy.sparse.csr_array(np.eye(2)))
    >>> (eye @ torch.ones(2, 1)).tolist()
    [[1.0], [1.0]]
    >>> eye.product(torch.ones(2, 1), torch.tensor([3.0, 4.0])).tolist()
    [[3.0], [4.0]]
    """

    def __init__(self, matrix: csr_array, device: torch.device | str = "cpu") -> None:
        host = scipy.sparse.csr_array(matrix).astype(np.float32)  # a copy: the caller's order stays
        host.sort_indices()
        self._host = host
        self.device = torch.device(device)
        self.shape: tuple[int, int] = (int(host.shape[0]), int(host.shape[1]))
        self.values = torch.from_numpy(host.data).to(self.device)
        self._indptr, self._indices = self._place(host.indptr), self._place(host.indices)
        self._fixed = self._tensor(self.values)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Multiply by a dense matrix."""
        return self.product(dense)

    def product(self, dense: Tensor, values: Tensor | None = None) -> Tensor:
        """Multiply by a dense matrix, with other entries at the same places if `values` are given."""
        result: Tensor = _Product.apply(self, dense, values)  # type: ignore[no-untyped-call]
        return result

    @property
    def tensor(self) -> Tensor:
        """The matrix as a torch CSR tensor."""
        return self._fixed

    @cached_property
    def rows(self) -> Tensor:
        """Row of every entry."""
        return torch.from_numpy(np.repeat(np.arange(self.shape[0]), np.diff(self._host.indptr))).to(self.device)

    @cached_property
    def columns(self) -> Tensor:
        """Column of every entry."""
        return self._indices.long()

    def _place(self, indices: np.ndarray) -> Tensor:
        # 32-bit indices make the product up to twice as fast.
        kind = np.int32 if self._host.nnz <= np.iinfo(np.int32).max else np.int64
        return torch.from_numpy(indices.astype(kind)).to(self.device)

    def _tensor(self, values: Tensor) -> Tensor:
        return torch.sparse_csr_tensor(self._indptr, self._indices, values, self.shape, check_invariants=False)

    def _multiply(self, dense: Tensor, values: Tensor | None) -> Tensor:
        return (self._fixed if values is None else self._tensor(values)) @ dense

    @cached_property
    def _turned(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Transpose: (indptr, indices, order of the entries, the matrix itself); only training needs it."""
        n_rows, n_columns = self.shape
        places = np.arange(1, self._host.nnz + 1, dtype=np.int64)  # from one, since zeros might be dropped
        turned = scipy.sparse.csr_array(
            scipy.sparse.csr_array((places, self._host.indices, self._host.indptr), shape=self.shape).T
        )
        turned.sort_indices()
        indptr, indices = self._place(turned.indptr), self._place(turned.indices)
        order = torch.from_numpy(turned.data - 1).to(self.device)
        fixed = torch.sparse_csr_tensor(
            indptr, indices, self.values[order], (n_columns, n_rows), check_invariants=False
        )
        return indptr, indices, order, fixed

    def _multiply_turned(self, dense: Tensor, values: Tensor | None) -> Tensor:
        indptr, indices, order, fixed = self._turned
        if values is None:
            return fixed @ dense
        shape = (self.shape[1], self.shape[0])
        return torch.sparse_csr_tensor(indptr, indices, values[order], shape, check_invariants=False) @ dense


class _Product(Function):
    """torch's own gradient of this product transposes the matrix anew in every step."""

    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor, values: Tensor | None) -> Tensor:  # noqa: ANN401
        ctx.matrix = matrix
        ctx.save_for_backward(dense, values)
        return matrix._multiply(dense, values)  # noqa: SLF001 - the other half of the class

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:  # noqa: ANN401
        matrix: SparseMatrix = ctx.matrix
        dense, values = ctx.saved_tensors
        grad = grad.contiguous()
        for_dense = matrix._multiply_turned(grad, values) if ctx.needs_input_grad[1] else None  # noqa: SLF001
        for_values = _entry_gradients(matrix, grad, dense) if ctx.needs_input_grad[2] else None
        return None, for_dense, for_values


def _entry_gradients(matrix: SparseMatrix, grad: Tensor, dense: Tensor) -> Tensor:
    """Inner product of a row of the gradient with a row of the dense matrix, for every entry."""
    rows, columns = torch.split(matrix.rows, CHUNK), torch.split(matrix.columns, CHUNK)
    parts = [(grad[row] * dense[column]).sum(dim=1) for row, column in zip(rows, columns, strict=True)]
    return torch.cat(parts) if parts else grad.new_zeros(0)


def place(matrix: np.ndarray | csr_array, device: torch.device | str = "cpu") -> Tensor | SparseMatrix:
    """Bring a matrix to a device in whichever form multiplies faster.

    Parameters
    ----------
    matrix : array or sparse array
    device : torch.device or str

    Examples
    --------
    >>> type(place(scipy.sparse.csr_array(np.eye(100)))).__name__, type(place(np.ones((3, 3)))).__name__
    ('SparseMatrix', 'Tensor')
    """
    if scipy.sparse.issparse(matrix):
        if matrix.nnz < DENSE_SHARE * matrix.shape[0] * matrix.shape[1]:
            return SparseMatrix(scipy.sparse.csr_array(matrix), device)
        matrix = matrix.toarray()
    return torch.from_numpy(np.ascontiguousarray(matrix, dtype=np.float32)).to(device)
