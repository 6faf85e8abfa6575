"""Random adjacency matrices for tests of the backends."""

from __future__ import annotations

import numpy as np
import scipy.sparse


def random_adjacency(n, seed, *, mean_degree=3.0, symmetric=True):
    """Draw a CSR matrix with values 1 to 3, some isolated nodes and, if it is not symmetric, self loops."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(n, size=(int(n * mean_degree), 2))
    ends = ends[~np.isin(ends, rng.choice(n, n // 8, replace=False)).any(axis=1)]
    values = rng.integers(1, 4, len(ends)).astype(np.float32)
    if symmetric:
        values, ends = values[ends[:, 0] != ends[:, 1]], ends[ends[:, 0] != ends[:, 1]]
    matrix = scipy.sparse.coo_matrix((values, ends.T), shape=(n, n)).tocsr()
    if symmetric:
        matrix = (matrix + matrix.T).tocsr()
    matrix.sum_duplicates()
    return matrix


def linked(n, seed, **options):
    """Draw a symmetric graph without isolated nodes."""
    matrix = random_adjacency(n, seed, **options)
    kept = np.flatnonzero(np.diff(matrix.indptr))
    return matrix[kept][:, kept].tocsr()
