"""Linear algebra of the host that NumPy does not have, or has slower."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.backend._lapack import add_product, cholesky, solve_triangular

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

__all__ = [
    "add_product",
    "cholesky",
    "class_scatter",
    "cosine_sums",
    "multiply",
    "reorder_columns",
    "solve_triangular",
    "take_columns",
]


def multiply(a: Matrix, x: Array) -> Array:
    """Multiply a CSR matrix with a dense block; the same sums as SciPy's, in the same order.

    SciPy reads and writes a row of the result for every value of the matrix, in vectors of the oldest processors.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> multiply(csr_matrix(np.array([[0.0, 2.0], [1.0, 1.0]])), np.array([[1.0], [3.0]]))
    array([[6.],
           [4.]])
    """
    from herald_gpu.backend import _table_kernels

    out = np.empty((a.shape[0], x.shape[1]), dtype=np.result_type(a.dtype, x.dtype))
    _table_kernels.multiply(a.indptr, a.indices, a.data, np.ascontiguousarray(x), out)
    return out


def reorder_columns(x: Array, order: Array) -> Array:
    """Put all columns of a dense array in another order; the array itself is changed: a copy takes twice as long.

    Examples
    --------
    >>> import numpy as np
    >>> reorder_columns(np.array([[1, 2, 3], [4, 5, 6]]), np.array([2, 0, 1]))
    array([[3, 1, 2],
           [6, 4, 5]])
    """
    from herald_gpu.backend import _table_kernels

    _table_kernels.reorder_columns(x, order)
    return x


def take_columns(x: Array, columns: Array) -> Array:
    """Give columns of a dense array, row by row as before.

    All must be there: NumPy takes seven times as long where it has to look for some that are not, and an index would
    put columns first, to be turned afterwards.

    Examples
    --------
    >>> import numpy as np
    >>> take_columns(np.array([[1, 2, 3], [4, 5, 6]]), np.array([2, 0]))
    array([[3, 1],
           [6, 4]])
    """
    return np.take(x, columns, axis=1, mode="clip")


def cosine_sums(tables: Array, factors: Array, out: Array, low: int, high: int) -> None:
    """Add up the cosines of three tables, in whole numbers: scaled and rounded.

    Parameters
    ----------
    tables : (3, n, n) float32 array
        Products of rows with one another; what is above a diagonal is not read.
    factors : (3, n) float32 array
        What products are multiplied by, once for the row and once for the column: roots of a scale over the diagonal.
    out : (n, n) int16 array
        Changed: these rows up to the diagonal, and these columns down to it.
    low, high : int
        The rows, and the columns.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.zeros((2, 2), dtype=np.int16)
    >>> tables, factors = np.array([[[4, 0], [3, 9]]] * 3), np.array([[5, 10 / 3]] * 3)
    >>> cosine_sums(tables.astype(np.float32), factors.astype(np.float32), out, 0, 2)
    >>> out
    array([[300, 150],
           [150, 300]], dtype=int16)
    """
    from herald_gpu.backend import _table_kernels

    _table_kernels.add_cosines(*tables, factors, low, high, out)


def class_scatter(
    table: Array, places: Array | None, members: Matrix, codes: Array, used: Array
) -> tuple[Array, Array]:
    """Sum rows by class, and their squared distances to the mean of their class over the classes that count.

    Parameters
    ----------
    table : (n, F) float64 array
    places : int array, optional
        Of the rows in the table; all of them by default.
    members : (classes, rows) CSR matrix
        Ones where a row is of a class.
    codes : int array
        Classes of the rows.
    used : (classes,) float64 array
        1 for classes that count, else 0.

    Returns
    -------
    sums : (classes, F) float64 array
    within : (F,) float64 array

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> rows, codes = np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])
    >>> class_scatter(rows, None, csr_matrix([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), codes, np.ones(2))
    (array([[4.],
           [5.]]), array([2.]))
    """
    from herald_gpu.backend import _table_kernels

    counts = np.diff(members.indptr)
    sums, within = np.zeros((len(counts), table.shape[1])), np.zeros(table.shape[1])
    places = np.arange(len(table)) if places is None else places
    _table_kernels.add_scatter(table, places, codes, counts, used, sums, within)
    return sums, within
