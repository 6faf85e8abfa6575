"""Linear algebra of the host that NumPy does not have, or has slower."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scipy.linalg
from scipy.linalg import solve_triangular

if TYPE_CHECKING:
    from herald_gpu.backend import Array

__all__ = ["cholesky", "solve_triangular"]


def cholesky(a: Array) -> Array:
    """Give the lower factor of a symmetric positive definite matrix.

    LAPACK has matrices column by column: to it, this is the upper factor of the matrix turned, and nothing is turned.
    `numpy.linalg.cholesky` turns the matrix and takes twice as long.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    """
    return scipy.linalg.cholesky(a.T, lower=False, check_finite=False).T
