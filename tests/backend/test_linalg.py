"""Passes over tables against sums by hand, and products with sparse matrices, on every backend."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from support.graphs import host

from herald_gpu import ops
from herald_gpu.backend import _linalg


def summed_by_hand(tables, factors):
    """Cosines in float32, one table after another, scaled by the row first; above a diagonal is what is below it."""
    total = np.zeros(tables.shape[1:], dtype=np.float32)
    for table, factor in zip(tables, factors, strict=True):
        whole = np.tril(table) + np.tril(table, -1).T
        total += whole * factor[:, None] * factor[None, :]
    return np.rint(total).astype(np.int16)


@pytest.mark.parametrize("step", [1, 7, 64, 1000])
@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 150])
def test_cosines_are_added_up_by_rows(backend, size, step):
    draw = np.random.default_rng(size)
    rows = draw.standard_normal((3, size, 5)).astype(np.float32)
    rows[:, size // 2] = 0  # a row of zeros is like nobody
    tables = np.tril(rows @ rows.transpose(0, 2, 1))
    tables += np.triu(np.full((size, size), 1e9, dtype=np.float32), 1)  # nobody may look there
    out = backend.xp.full((size, size), 99, dtype=np.int16)
    squares = np.diagonal(tables, axis1=1, axis2=2)
    factors = np.sqrt(np.where(squares > 0, 4096 / np.where(squares > 0, squares, 1), 0)).astype(np.float32)
    given = (backend.asarray(tables), backend.asarray(factors))
    for low in range(0, size, step):
        backend.linalg.cosine_sums(*given, out, low, min(size, low + step))
    found = host(backend, out)
    np.testing.assert_array_equal(found, summed_by_hand(tables, factors))
    assert not found[size // 2].any()


@pytest.mark.parametrize("used", [[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]])
@pytest.mark.parametrize("some", [False, True])
def test_scatter_of_classes(backend, some, used):
    draw = np.random.default_rng(3)
    table, codes = draw.standard_normal((40, 6)) + 5, draw.integers(0, 3, 25).astype(np.int32)  # the last has no rows
    places = np.sort(draw.choice(40, 25, replace=False))
    rows = table[places]
    members = ops.class_indicator(backend, backend.asarray(codes), 4)
    given = (backend.asarray(table), backend.asarray(places)) if some else (backend.asarray(rows), None)
    sums, within = backend.linalg.class_scatter(*given, members, backend.asarray(codes), backend.asarray(used))
    wanted = np.array([rows[codes == code].sum(axis=0) for code in range(4)])
    apart = [((rows[codes == code] - rows[codes == code].mean(axis=0)) ** 2).sum(axis=0) for code in range(3)]
    np.testing.assert_allclose(host(backend, sums), wanted, rtol=1e-12)
    np.testing.assert_allclose(host(backend, within), sum(u * a for u, a in zip(used, apart, strict=False)), rtol=1e-12)
    np.testing.assert_array_equal(host(backend, given[0]), table if some else rows)  # nothing is changed


def test_columns_in_any_order(backend):
    x, columns = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([3, 0, 1])
    found = backend.linalg.take_columns(backend.asarray(x), backend.asarray(columns))
    np.testing.assert_array_equal(host(backend, found), x[:, columns])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 5, 64])
def test_a_sparse_matrix_times_a_dense_block(backend, width, dtype):
    draw = np.random.default_rng(width)
    matrix = draw.standard_normal((30, 20)).astype(dtype) * (draw.random((30, 20)) < 0.3)
    matrix[7] = 0  # a row that names nobody
    block = draw.standard_normal((20, width)).astype(dtype)
    found = backend.linalg.multiply(ops.to_csr(backend, backend.asarray(matrix)), backend.asarray(block))
    assert found.dtype == dtype
    wanted = matrix.astype(np.float64) @ block.astype(np.float64)
    np.testing.assert_allclose(host(backend, found), wanted, rtol=0, atol=1e-5 if dtype == np.float32 else 1e-13)
    assert not host(backend, found)[7].any()


def test_a_product_on_the_host_has_the_bits_of_scipy():
    draw = np.random.default_rng(1)
    matrix = scipy.sparse.csr_matrix(scipy.sparse.random_array((200, 90), density=0.1, rng=draw, dtype=np.float32))
    block = draw.standard_normal((90, 40)).astype(np.float32)
    np.testing.assert_array_equal(_linalg.multiply(matrix, np.asfortranarray(block)), matrix @ block)
    np.testing.assert_array_equal(_linalg.multiply(matrix, block[:, 3:9]), matrix @ block[:, 3:9])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_in_another_order(backend, dtype):
    draw = np.random.default_rng(2)
    given, order = draw.standard_normal((9, 13)).astype(dtype), draw.permutation(13)
    found = backend.linalg.reorder_columns(backend.asarray(given.copy()), backend.asarray(order))
    np.testing.assert_array_equal(host(backend, found), given[:, order])
