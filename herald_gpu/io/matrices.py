"""Arrays and sparse matrices: NumPy, SciPy, CuPy, and anything NumPy can read."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.io import torch
from herald_gpu.io.kinds import kind_of, library

DIMENSIONS = 2


def to_numpy(value: Any) -> np.ndarray:  # noqa: ANN401 - any array
    """Bring any dense array to NumPy."""
    kind = kind_of(value)
    if kind in ("cupy", "cupyx"):
        return value.get()
    if kind == "torch":
        return torch.to_numpy(value)
    if kind == "cudf":
        return value.to_pandas().to_numpy()
    if kind == "arrow":
        return _from_arrow(value)
    if kind == "polars":
        return value.to_numpy()
    return np.asarray(value)


def _from_arrow(value: Any) -> np.ndarray:  # noqa: ANN401 - a column, a table, or a stream of either
    if hasattr(value, "to_numpy"):
        return value.to_numpy(zero_copy_only=False)
    stream = library("pyarrow", "arrow").chunked_array(value)
    if str(stream.type).startswith("struct"):  # a table streams its rows
        return np.stack([column.to_numpy(zero_copy_only=False) for column in stream.combine_chunks().flatten()], axis=1)
    return stream.to_numpy()


def is_sparse(value: Any) -> bool:  # noqa: ANN401 - any object
    """Tell sparse matrices (SciPy, CuPy, torch) from all else."""
    kind = kind_of(value)
    if kind == "torch":
        return str(value.layout) != "torch.strided"
    return kind in ("scipy", "cupyx")


def to_csr(value: Any) -> scipy.sparse.csr_matrix:  # noqa: ANN401 - any sparse matrix
    """Bring any sparse matrix to a SciPy CSR matrix."""
    if kind_of(value) == "torch":
        coo = value.detach().cpu().to_sparse_coo().coalesce()
        rows, columns = coo.indices().numpy()
        return scipy.sparse.csr_matrix((coo.values().numpy(), (rows, columns)), shape=tuple(value.shape))
    if kind_of(value) == "cupyx":
        value = value.get()
    return scipy.sparse.csr_matrix(value)


def to_host(value: Any) -> np.ndarray | scipy.sparse.csr_matrix:  # noqa: ANN401 - any matrix
    """Bring any matrix to NumPy, or to a SciPy CSR matrix if it is sparse."""
    return to_csr(value) if is_sparse(value) else to_numpy(value)


def read_feature_matrix(value: Any) -> np.ndarray | scipy.sparse.csr_matrix:  # noqa: ANN401 - any matrix
    """Take features from a dense or sparse matrix."""
    matrix = to_host(value)
    check_features(matrix)
    with np.errstate(over="ignore"):  # beyond float32 becomes infinite, which is reported by place later
        return matrix.astype(np.float32, copy=False)


def check_features(matrix: Any) -> None:  # noqa: ANN401 - a matrix of any library
    """Refuse features that are no matrix of real numbers."""
    if matrix.ndim != DIMENSIONS:
        msg = f"feats has shape {matrix.shape}: pass a 2-D matrix with one row a node"
        raise InputError(msg)
    if matrix.shape[1] == 0:
        msg = "feats has no columns: graphs without features are not supported, add at least one"
        raise UnsupportedInputError(msg)
    if matrix.dtype.kind not in "biuf":
        msg = f"feats has dtype {matrix.dtype}: pass real numbers"
        raise UnsupportedInputError(msg)


def read_edge_array(value: Any) -> tuple[np.ndarray, np.ndarray]:  # noqa: ANN401 - any array
    """Take the two ends of every edge from a (2, E) array."""
    array = to_numpy(value)
    check_edge_shape(array)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # what is no integer is reported below
            whole = array.astype(np.int64)
        if not np.array_equal(whole, array):
            msg = f"edges has dtype {array.dtype} with fractional or missing values: pass integer node ids"
            raise InputError(msg)
        array = whole
    return array[0], array[1]


def check_edge_shape(array: Any) -> None:  # noqa: ANN401 - an array of any library
    """Refuse edges that are not (2, E)."""
    if array.ndim != DIMENSIONS or array.shape[0] != DIMENSIONS:
        advice = "pass its transpose" if array.ndim == DIMENSIONS and array.shape[1] == DIMENSIONS else "pass (2, E)"
        msg = f"edges has shape {array.shape}: {advice}, sources in the first row and targets in the second"
        raise InputError(msg)


def read_edge_matrix(value: Any, n_nodes: int) -> tuple[np.ndarray, np.ndarray, list[str]]:  # noqa: ANN401
    """Take the edges of a square sparse adjacency matrix: (source, target, warnings)."""
    # A SciPy matrix is not made canonical first: entries given twice are duplicates, not weights.
    matrix = value.tocoo() if kind_of(value) == "scipy" else to_csr(value).tocoo()
    warnings = check_adjacency(matrix, n_nodes)
    stored = matrix.data != 0
    return matrix.row[stored], matrix.col[stored], warnings


def check_adjacency(matrix: Any, n_nodes: int) -> list[str]:  # noqa: ANN401 - a sparse matrix of any library
    """Refuse an adjacency of the wrong shape; tell if it has weights."""
    if matrix.shape != (n_nodes, n_nodes):
        msg = f"edges is a sparse matrix of shape {matrix.shape}, but feats has {n_nodes} rows: pass an N x N adjacency"
        raise InputError(msg)
    weighted = bool(((matrix.data != 0) & (matrix.data != 1)).any())
    return ["edge weights are ignored: only whether an entry is non-zero counts"] if weighted else []
