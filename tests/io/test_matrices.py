"""Arrays and sparse matrices of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import strangers
import torch
from numpy.testing import assert_array_equal

from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.io.matrices import (
    is_sparse,
    read_edge_array,
    read_edge_matrix,
    read_feature_matrix,
    to_csr,
    to_numpy,
)

X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]], dtype=np.float32)
SPARSE = {
    "csr_matrix": scipy.sparse.csr_matrix(X),
    "csr_array": scipy.sparse.csr_array(X),
    "csc_matrix": scipy.sparse.csc_matrix(X),
    "coo_array": scipy.sparse.coo_array(X),
    "lil_matrix": scipy.sparse.lil_matrix(X),
    "torch coo": torch.tensor(X).to_sparse_coo(),
    "cupyx": strangers.csr_matrix(scipy.sparse.csr_matrix(X)),
}
DENSE = {
    "float64": X.astype(np.float64),
    "float16": X.astype(np.float16),
    "int": X.astype(np.int64),
    "list": X.tolist(),
    "fortran": np.asfortranarray(X),
    "torch": torch.tensor(X),
    "torch double": torch.tensor(X).double(),
    "torch bfloat16": torch.tensor(X).bfloat16(),
    "torch with gradient": torch.tensor(X, requires_grad=True),
    "cupy": strangers.ndarray(X),
}


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning")
def test_torch_csr_is_sparse():
    tensor = torch.tensor(X).to_sparse_csr()
    assert is_sparse(tensor)
    assert_array_equal(to_csr(tensor).toarray(), X)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_features_stay_sparse(name):
    assert is_sparse(SPARSE[name])
    features = read_feature_matrix(SPARSE[name])
    assert scipy.sparse.issparse(features)
    assert features.format == "csr"
    assert features.dtype == np.float32
    assert_array_equal(features.toarray(), X)


@pytest.mark.parametrize("name", DENSE)
def test_dense_features_become_float32(name):
    assert not is_sparse(DENSE[name])
    features = read_feature_matrix(DENSE[name])
    assert type(features) is np.ndarray
    assert features.dtype == np.float32
    assert_array_equal(features, X)


def test_booleans_are_numbers():
    assert_array_equal(read_feature_matrix(X > 0), X > 0)
    assert_array_equal(read_feature_matrix(scipy.sparse.csr_array(X > 0)).toarray(), X > 0)


def test_values_beyond_float32_become_infinite_and_are_reported_later():
    assert np.isinf(read_feature_matrix(np.array([[1e300, 1.0]]))).sum() == 1


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (np.zeros(3), InputError, r"feats has shape \(3,\): pass a 2-D matrix"),
        (np.zeros((2, 2, 2)), InputError, r"feats has shape \(2, 2, 2\)"),
        (np.float32(1), InputError, r"feats has shape \(\)"),
        (np.zeros((3, 0)), UnsupportedInputError, "feats has no columns: graphs without features are not supported"),
        (scipy.sparse.csr_matrix((3, 0)), UnsupportedInputError, "feats has no columns"),
        (np.array([["a", "b"]]), UnsupportedInputError, "feats has dtype .*: pass real numbers"),
        (np.array([[1j]]), UnsupportedInputError, "feats has dtype complex128: pass real numbers"),
        (np.array([[1, None]]), UnsupportedInputError, "feats has dtype object: pass real numbers"),
    ],
)
def test_what_is_no_feature_matrix_is_refused(value, error, match):
    with pytest.raises(error, match=match):
        read_feature_matrix(value)


# Vectors


@pytest.mark.parametrize(
    "value",
    [
        [1, 2, 3],
        np.array([1, 2, 3]),
        pd.Series([1, 2, 3]),
        pd.array([1, 2, 3], dtype="Int64"),
        pl.Series([1, 2, 3]),
        pa.array([1, 2, 3]),
        pa.chunked_array([[1, 2], [3]]),
        strangers.Stream(pa.chunked_array([[1, 2], [3]])),
        torch.tensor([1, 2, 3]),
        strangers.ndarray(np.array([1, 2, 3])),
        strangers.Series(pd.Series([1, 2, 3])),
    ],
    ids=lambda value: f"{type(value).__module__.partition('.')[0]} {type(value).__name__}",
)
def test_vectors_of_every_kind_arrive_as_numpy(value):
    array = to_numpy(value)
    assert type(array) is np.ndarray
    assert array.tolist() == [1, 2, 3]


@pytest.mark.parametrize("wrap", [lambda table: table, strangers.Stream])
def test_arrow_tables_arrive_column_by_column(wrap):
    assert to_numpy(wrap(pa.table({"a": [1, 2], "b": [3, 4]}))).tolist() == [[1, 3], [2, 4]]


# Edges


@pytest.mark.parametrize(
    "value",
    [
        np.array([[0, 1], [1, 2]], dtype=np.int32),
        np.array([[0.0, 1.0], [1.0, 2.0]]),
        [[0, 1], [1, 2]],
        torch.tensor([[0, 1], [1, 2]]),
        strangers.ndarray(np.array([[0, 1], [1, 2]])),
    ],
)
def test_edge_arrays_give_sources_and_targets(value):
    source, target = read_edge_array(value)
    assert source.tolist() == [0, 1]
    assert target.tolist() == [1, 2]
    assert source.dtype.kind == "i"


def test_edge_arrays_may_hold_strings():
    source, target = read_edge_array(np.array([["a", "b"], ["b", "c"]]))
    assert source.tolist() == ["a", "b"]
    assert target.tolist() == ["b", "c"]


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (np.zeros((5, 2), dtype=int), r"edges has shape \(5, 2\): pass its transpose"),
        (np.zeros((5, 5), dtype=int), r"edges has shape \(5, 5\): pass \(2, E\)"),
        (np.zeros(4, dtype=int), r"edges has shape \(4,\): pass \(2, E\)"),
        (np.array([[0, 1.5], [1, 2]]), "edges has dtype float64 with fractional or missing values: pass integer"),
        (np.array([[0, np.nan], [1, 2]]), "edges has dtype float64 with fractional or missing values"),
        (np.array([[0, np.inf], [1, 2]]), "edges has dtype float64 with fractional or missing values"),
    ],
)
def test_what_is_no_edge_array_is_refused(value, match):
    with pytest.raises(InputError, match=match):
        read_edge_array(value)


ADJACENCY = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    "matrix",
    [
        scipy.sparse.csr_matrix(ADJACENCY),
        scipy.sparse.csr_array(ADJACENCY),
        scipy.sparse.coo_matrix(ADJACENCY),
        scipy.sparse.coo_array(ADJACENCY),
        scipy.sparse.csc_array(ADJACENCY.astype(bool)),
        torch.tensor(ADJACENCY).to_sparse_coo(),
        strangers.csr_matrix(scipy.sparse.csr_matrix(ADJACENCY)),
    ],
    ids=lambda matrix: f"{type(matrix).__module__.partition('.')[0]} {type(matrix).__name__}",
)
def test_edges_of_an_adjacency_matrix(matrix):
    source, target, warnings = read_edge_matrix(matrix, 3)
    assert set(zip(source.tolist(), target.tolist(), strict=True)) == {(0, 1), (1, 2), (2, 0)}
    assert warnings == []


def test_edge_weights_are_ignored_with_a_warning():
    *_, warnings = read_edge_matrix(scipy.sparse.csr_matrix(ADJACENCY * 2.5), 3)
    assert warnings == ["edge weights are ignored: only whether an entry is non-zero counts"]


def test_stored_zeros_are_no_edges():
    matrix = scipy.sparse.csr_matrix(([1, 0], [1, 2], [0, 2, 2, 2]), shape=(3, 3))
    source, target, warnings = read_edge_matrix(matrix, 3)
    assert (source.tolist(), target.tolist(), warnings) == ([0], [1], [])


def test_an_entry_given_twice_is_a_duplicate_not_a_weight():
    matrix = scipy.sparse.coo_matrix(([1, 1, 1], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    source, target, warnings = read_edge_matrix(matrix, 3)
    assert sorted(zip(source.tolist(), target.tolist(), strict=True)) == [(0, 1), (0, 1), (1, 2)]
    assert warnings == []


@pytest.mark.parametrize("shape", [(3, 2), (4, 4)])
def test_an_adjacency_of_another_size_is_refused(shape):
    with pytest.raises(InputError, match=r"edges is a sparse matrix of shape .*feats has 3 rows: pass an N x N"):
        read_edge_matrix(scipy.sparse.csr_matrix(shape), 3)
