"""Factors of the host against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from herald_gpu.backend import _linalg


def positive(size, order="C"):
    rows = np.random.default_rng(size).standard_normal((size, size + 3))
    return np.asarray(rows @ rows.T + np.eye(size), order=order)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [1, 2, 50, 300])
def test_the_lower_factor(size, order):
    given = positive(size, order)
    before = given.copy()
    found = _linalg.cholesky(given)
    np.testing.assert_allclose(found, np.linalg.cholesky(given), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(given, before)
    assert not np.triu(found, 1).any()


def test_a_part_of_a_matrix():
    given = positive(20)
    np.testing.assert_allclose(_linalg.cholesky(given[:8, :8]), _linalg.cholesky(given)[:8, :8], rtol=1e-9)


def test_what_has_no_factor_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        _linalg.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))
