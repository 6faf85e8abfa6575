"""Sparse products and their gradients, against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import torch

from herald_gpu.evaluate import sparse
from herald_gpu.evaluate.sparse import SparseMatrix, place


def drawn(seed=0, shape=(7, 5), density=0.4):
    return scipy.sparse.random_array(shape, density=density, rng=np.random.default_rng(seed), format="csr")


def test_product_and_gradient_are_those_of_the_dense_matrix():
    matrix, dense = drawn(), torch.randn(5, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    weights = torch.arange(21.0).reshape(7, 3)
    (SparseMatrix(matrix) @ dense * weights).sum().backward()
    expected = torch.from_numpy(matrix.toarray().astype(np.float32))
    torch.testing.assert_close(dense.grad, expected.T @ weights)
    torch.testing.assert_close(SparseMatrix(matrix) @ dense, expected @ dense)


@pytest.mark.parametrize("chunk", [4, 1 << 18])
def test_gradients_of_entries(monkeypatch, chunk):
    monkeypatch.setattr(sparse, "CHUNK", chunk)
    matrix = SparseMatrix(drawn(1))
    generator = torch.Generator().manual_seed(1)
    values = torch.randn(len(matrix.values), generator=generator, requires_grad=True)
    dense = torch.randn(5, 3, generator=generator, requires_grad=True)
    weights = torch.randn(7, 3, generator=generator)
    (matrix.product(dense, values) * weights).sum().backward()
    found = values.grad.clone(), dense.grad.clone()
    values.grad = dense.grad = None
    full = torch.zeros(7, 5).index_put((matrix.rows, matrix.columns), values)
    (full @ dense * weights).sum().backward()
    torch.testing.assert_close(found[0], values.grad)
    torch.testing.assert_close(found[1], dense.grad)


def test_other_entries_leave_the_matrix_as_it_was():
    matrix, dense = SparseMatrix(drawn(2)), torch.ones(5, 1)
    before = matrix @ dense
    matrix.product(dense, torch.zeros(len(matrix.values)))
    torch.testing.assert_close(matrix @ dense, before)


def test_a_matrix_without_entries():
    dense = torch.ones(4, 2, requires_grad=True)
    made = SparseMatrix(scipy.sparse.csr_array((3, 4))) @ dense
    made.sum().backward()
    assert made.tolist() == [[0, 0]] * 3
    assert dense.grad.tolist() == [[0, 0]] * 4


def test_stored_zeros_and_unsorted_indices_are_borne():
    given = scipy.sparse.csr_array((np.array([1.0, 0.0, 2.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    dense = torch.eye(3, requires_grad=True)
    made = SparseMatrix(given) @ dense
    made.sum().backward()
    assert made.tolist() == [[0, 0, 1], [0, 2, 0]]
    assert dense.grad[:, 0].tolist() == [0, 2, 1]
    assert given.indices.tolist() == [2, 0, 1]


def test_full_matrices_become_dense_and_sparse_ones_stay():
    assert isinstance(place(drawn(density=0.1)), SparseMatrix)
    full = drawn(density=0.5)
    np.testing.assert_allclose(place(full).numpy(), full.toarray(), rtol=1e-6)
