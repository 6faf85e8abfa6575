"""LAPACK and BLAS without the interpreter's lock, against NumPy; and SciPy's wrappers where they cannot be called."""

from __future__ import annotations

import numpy as np
import pytest

from herald_gpu.backend import _lapack

ROUTINES = (_lapack.POTRF, _lapack.TRTRS, _lapack.GEMM)


@pytest.fixture(params=["called", "wrapped"], autouse=True)
def _way(request, monkeypatch):
    """Call routines by their addresses, or do without."""
    if request.param == "wrapped":
        monkeypatch.setattr(_lapack, "_routine", lambda *_: None)
    elif any(_lapack._routine(*one) is None for one in ROUTINES):
        pytest.skip("SciPy's routines take other arguments here")


def positive(size, order="C"):
    rows = np.random.default_rng(size).standard_normal((size, size + 3))
    return np.asarray(rows @ rows.T + np.eye(size), order=order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [0, 1, 2, 50, 300])
def test_the_lower_factor(size, order):
    given = positive(size, order)
    before = given.copy()
    found = np.tril(_lapack.cholesky(given))
    np.testing.assert_allclose(found @ found.T, given, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(given, before)


def test_a_part_of_a_matrix():
    given = positive(20)
    part, whole = _lapack.cholesky(given[:8, :8]), _lapack.cholesky(given)[:8, :8]
    np.testing.assert_allclose(np.tril(part), np.tril(whole), rtol=1e-9)


def test_what_has_no_factor_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        _lapack.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize(("size", "columns"), [(1, 1), (1, 3), (7, 1), (12, 5)])
def test_triangular_systems(size, columns, lower, trans):
    """Of the first rows and columns of a matrix; nobody looks at its other half."""
    draw = np.random.default_rng(size)
    whole = draw.standard_normal((15, 15)) + 5 * np.eye(15)
    half = np.tril(whole) if lower else np.triu(whole)
    given = np.where(half == 0, 1e6, half)[:size, :size]
    right = draw.standard_normal((size, columns))
    before = right.copy()
    found = _lapack.solve_triangular(given, right, trans, lower=lower)
    matrix = half[:size, :size].T if trans else half[:size, :size]
    np.testing.assert_allclose(matrix @ found, right, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(right, before)


def test_a_singular_system_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        _lapack.solve_triangular(np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones((2, 1)), lower=True)


@pytest.mark.parametrize("columns", [slice(None), slice(3, 10), slice(4, 5), slice(None, None, 2)])
def test_products_are_added_to_a_part_of_a_table(columns):
    draw = np.random.default_rng(0)
    rows = draw.standard_normal((30, 12)).astype(np.float32)[:, columns]
    table = draw.standard_normal((30, 30)).astype(np.float32)
    wanted = table.copy()
    wanted[10:25, :20] += rows[10:25] @ rows[:20].T
    _lapack.add_product(table[10:25, :20], rows[10:25], rows[:20])
    np.testing.assert_allclose(table, wanted, rtol=1e-5, atol=1e-5)


def test_what_takes_other_arguments_is_not_called():
    module, name, _ = _lapack.POTRF
    assert _lapack._routine(module, name, "void (char *, long *, d *, long *, long *)") is None
    assert _lapack._routine(module, "no_such_routine", "void ()") is None
