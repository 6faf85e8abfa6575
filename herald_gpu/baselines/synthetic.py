"""Edges and features of a small synthetic graph, on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

from herald_gpu.encoding import Encoding

if TYPE_CHECKING:
    from herald_gpu.encoding import Values

SIMILARITY_DECIMALS = 9


def strongest_pairs(x: np.ndarray, *, threshold: float, most: int) -> tuple[scipy.sparse.csr_matrix, int]:
    """Join rows whose cosine is above a threshold: a symmetric CSR matrix of ones, and how many such pairs there are.

    Parameters
    ----------
    x : (n, d) array
    threshold : float
    most : int
        Keep at most this many pairs, the most similar ones (ties: lower positions).

    Examples
    --------
    >>> import numpy as np
    >>> joined, alike = strongest_pairs(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), threshold=0.9, most=5)
    >>> alike
    1
    >>> joined.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    length = np.linalg.norm(x, axis=1)
    unit = x / np.where(length > 0, length, 1.0)[:, None]
    cosine = np.round(unit @ unit.T, SIMILARITY_DECIMALS)
    first, second = np.nonzero(np.triu(cosine > threshold, k=1))
    alike, best = len(first), np.argsort(-cosine[first, second], kind="stable")[: max(0, most)]
    first, second = first[best], second[best]
    ones = np.ones(2 * len(best), dtype=np.float32)
    ends = (np.concatenate([first, second]), np.concatenate([second, first]))
    return scipy.sparse.coo_matrix((ones, ends), shape=(len(x), len(x))).tocsr(), alike


def smooth_features(
    adjacency: scipy.sparse.csr_matrix, wanted: np.ndarray, *, hops: int, smoothness: float
) -> np.ndarray:
    """Features that a given graph propagates to wanted rows H, in closed form.

    They minimise ``|S^hops X - H|^2 + smoothness * tr(X^T L X)`` with S = D~^-1/2 (A + I) D~^-1/2 and the normalised
    Laplacian L = D^-1/2 (D - A) D^-1/2.
    """
    a = adjacency.toarray().astype(np.float64)
    n, degree = len(a), a.sum(axis=1)
    root = 1.0 / np.sqrt(degree + 1.0)
    step = root[:, None] * (a + np.eye(n)) * root
    power = np.linalg.matrix_power(step, hops)
    inner = np.where(degree > 0, 1.0 / np.sqrt(np.where(degree > 0, degree, 1.0)), 0.0)
    laplacian = np.diag((degree > 0).astype(np.float64)) - inner[:, None] * a * inner
    return np.linalg.solve(power @ power + smoothness * laplacian, power @ wanted)


def strongest_entries(x: np.ndarray, count: int) -> scipy.sparse.csr_matrix:
    """The `count` entries of largest magnitude of each row, as float32 CSR; ties go to the lower column."""
    order = np.sort(np.argsort(-np.abs(x), axis=1, kind="stable")[:, :count], axis=1)
    rows = np.repeat(np.arange(len(x)), order.shape[1])
    values = x[rows, order.ravel()].astype(np.float32)
    kept = scipy.sparse.coo_matrix((values, (rows, order.ravel())), shape=x.shape).tocsr()
    kept.eliminate_zeros()
    kept.sort_indices()
    return kept


def cheaper_layout(x: np.ndarray | scipy.sparse.csr_matrix, values: Values) -> tuple[int, Encoding]:
    """Nominal bytes of features with values of a type, and how they are stored: rows, or lists where those are smaller.

    Parameters
    ----------
    x : (n, d) array or CSR matrix
        An array stays in rows.
    values : {"float32", "float16", "int8"}
    """
    options = [Encoding("dense", values)]
    if scipy.sparse.issparse(x):
        options.insert(0, Encoding("sparse", values))
    filled = np.diff(x.indptr) if scipy.sparse.issparse(x) else np.full(len(x), x.shape[1])
    sizes = [int(option.bytes_of_rows(filled, x.shape[1]).sum()) + option.table_bytes(x.shape[1]) for option in options]
    return min(zip(sizes, options, strict=True), key=lambda pair: pair[0])
