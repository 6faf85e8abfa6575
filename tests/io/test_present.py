"""Results come in the caller's kind of object, or in the one asked for."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import strangers
import torch
from numpy.testing import assert_array_equal

from herald_gpu.errors import ConfigError, MissingDependencyError
from herald_gpu.io import present
from herald_gpu.io.read import Style

IDS = pd.Index(["a", "b", "c"], name="node")
NUMBERS = np.array([1.5, 2.5, 3.5])
WORDS = np.array(["x", "y", "z"], dtype=object)


# Style


@pytest.mark.parametrize(
    ("given", "settled"),
    [
        ("pandas", "pandas"),
        ("scipy", "numpy"),
        ("networkx", "numpy"),
        ("other", "numpy"),
        ("cupyx", "cupy"),
        ("torch", "torch"),
    ],
)
def test_results_mirror_the_input(given, settled):
    assert present.choose_style(Style(given, given, sparse=True), "input") == Style(settled, settled, sparse=True)


@pytest.mark.parametrize("kind", present.OUTPUT_TYPES[1:])
def test_the_type_asked_for_wins(kind):
    assert present.choose_style(Style("pandas", "numpy", sparse=False), kind) == Style(kind, kind, sparse=False)


def test_an_unknown_type_is_refused():
    with pytest.raises(ConfigError, match="output_type='excel' is not known: pass one of"):
        present.choose_style(Style("pandas", "pandas", sparse=False), "excel")


# Vectors


def test_vectors_of_every_kind():
    series = present.vector("pandas", NUMBERS, name="v", index=IDS)
    pd.testing.assert_series_equal(series, pd.Series(NUMBERS, index=IDS, name="v"))
    assert present.vector("polars", NUMBERS, name="v").equals(pl.Series("v", NUMBERS))
    assert present.vector("arrow", NUMBERS).equals(pa.array(NUMBERS))
    assert torch.equal(present.vector("torch", NUMBERS), torch.tensor(NUMBERS))
    assert present.vector("numpy", NUMBERS) is NUMBERS


def test_strings_stay_numpy_where_the_library_has_none(monkeypatch):
    strangers.install(monkeypatch)
    assert present.vector("torch", WORDS) is WORDS
    assert present.vector("cupy", WORDS) is WORDS


def test_vectors_on_a_device(monkeypatch):
    strangers.install(monkeypatch)
    assert_array_equal(present.vector("cupy", NUMBERS).get(), NUMBERS)
    series = present.vector("cudf", NUMBERS, name="v", index=IDS)
    pd.testing.assert_series_equal(series.to_pandas(), pd.Series(NUMBERS, index=IDS, name="v"))


def test_a_device_type_without_its_library_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cudf", None)
    with pytest.raises(MissingDependencyError, match="cudf is needed for this and is not installed"):
        present.vector("cudf", NUMBERS)


# Labels

CODES = np.array([1, -1, 0])


def labels(kind, classes, unlabelled=-1):
    return present.labels(kind, CODES, np.asarray(classes), unlabelled=unlabelled, name="label", index=IDS)


@pytest.mark.parametrize(
    ("classes", "dtype", "expected"),
    [
        ([3, 7], "Int64", [7, None, 3]),
        (["no", "yes"], "str", ["yes", None, "no"]),
        ([False, True], "boolean", [True, None, False]),
    ],
)
def test_unknown_labels_are_null_in_tables(classes, dtype, expected, monkeypatch):
    strangers.install(monkeypatch)
    found = labels("pandas", classes)
    assert found.dtype == dtype
    assert found.name == "label"
    assert found.index.equals(IDS)
    assert found.isna().tolist() == [False, True, False]
    assert found.dropna().tolist() == [expected[0], expected[2]]
    assert labels("polars", classes).to_list() == expected
    assert labels("arrow", classes).to_pylist() == expected
    pd.testing.assert_series_equal(labels("cudf", classes).to_pandas(), found)


@pytest.mark.parametrize(
    ("classes", "unlabelled", "expected"),
    [
        ([3, 7], -1, [7, -1, 3]),
        ([3, 7], 99, [7, 99, 3]),
        ([3, 7], np.int64(-1), [7, -1, 3]),
        ([3, 7], None, [7, None, 3]),
        ([3, 7], float("nan"), [7, None, 3]),
        (["no", "yes"], -1, ["yes", None, "no"]),
        (["no", "yes"], "?", ["yes", "?", "no"]),
        ([False, True], -1, [True, None, False]),
    ],
)
def test_unknown_labels_are_the_named_value_or_null_in_arrays(classes, unlabelled, expected):
    found = labels("numpy", classes, unlabelled)
    assert found.tolist() == expected


def test_numeric_labels_are_tensors_and_the_classes_are_left_alone():
    classes = np.array([3, 7])
    found = present.labels("torch", CODES, classes, unlabelled=-1, name="label", index=IDS)
    assert torch.equal(found, torch.tensor([7, -1, 3]))
    assert classes.tolist() == [3, 7]


# Matrices

X = np.array([[1, 0], [0, 0], [0, 2]], dtype=np.float32)
CSR = scipy.sparse.csr_matrix(X)
FEATURES = np.array(["f0", "f7"])


def matrix(kind, x, *, sparse):
    return present.matrix(Style(kind, kind, sparse=sparse), x, names=FEATURES, index=IDS)


@pytest.mark.parametrize("x", [X, CSR], ids=["held dense", "held sparse"])
def test_dense_matrices_of_every_kind(x, monkeypatch):
    strangers.install(monkeypatch)
    pd.testing.assert_frame_equal(matrix("pandas", x, sparse=False), pd.DataFrame(X, index=IDS, columns=FEATURES))
    assert matrix("polars", x, sparse=False).equals(pl.DataFrame({"f0": X[:, 0], "f7": X[:, 1]}))
    assert matrix("arrow", x, sparse=False).to_pydict() == {"f0": [1, 0, 0], "f7": [0, 0, 2]}
    assert torch.equal(matrix("torch", x, sparse=False), torch.tensor(X))
    assert_array_equal(matrix("numpy", x, sparse=False), X)
    assert_array_equal(matrix("cupy", x, sparse=False).get(), X)
    pd.testing.assert_frame_equal(
        matrix("cudf", x, sparse=False).to_pandas(), pd.DataFrame(X, index=IDS, columns=FEATURES)
    )


def test_sparse_matrices_stay_sparse(monkeypatch):
    strangers.install(monkeypatch)
    assert matrix("numpy", CSR, sparse=True) is CSR
    tensor = matrix("torch", CSR, sparse=True)
    assert tensor.layout == torch.sparse_coo
    assert_array_equal(tensor.to_dense().numpy(), X)
    assert matrix("cupy", CSR, sparse=True).get().nnz == 2


def test_sparse_columns_hold_zeros_not_gaps():
    frame = matrix("pandas", CSR, sparse=True)
    assert all(dtype == pd.SparseDtype(np.float32, 0) for dtype in frame.dtypes)
    assert frame.sparse.density == pytest.approx(2 / 6)
    assert_array_equal(frame.to_numpy(), X)
    assert frame.index.equals(IDS)


@pytest.mark.parametrize("kind", ["polars", "arrow", "cudf"])
def test_tables_without_sparse_columns_are_dense(kind, monkeypatch):
    strangers.install(monkeypatch)
    frame = matrix(kind, CSR, sparse=True)
    found = frame.to_pandas() if kind != "polars" else pd.DataFrame(frame.to_dict(as_series=False))
    assert_array_equal(found.to_numpy(), X)


@pytest.mark.parametrize("kind", ["numpy", "torch", "pandas"])
def test_reduced_features_are_dense_whatever_the_input_was(kind):
    assert_array_equal(np.asarray(matrix(kind, X, sparse=True)), X)


# Tables and edges


@pytest.mark.parametrize("kind", ["numpy", "torch", "pandas"])
def test_kinds_without_tables_get_pandas(kind):
    assert isinstance(present.table(kind, {"a": NUMBERS}), pd.DataFrame)


def test_edges_of_every_kind():
    source, target = np.array(["a", "b"], dtype=object), np.array(["b", "c"], dtype=object)

    def edges(kind, u=source, v=target):
        return present.edges(Style(kind, kind, sparse=False), u, v, names=("from", "to"))

    pd.testing.assert_frame_equal(edges("pandas"), pd.DataFrame({"from": ["a", "b"], "to": ["b", "c"]}))
    assert edges("polars").to_dict(as_series=False) == {"from": ["a", "b"], "to": ["b", "c"]}
    assert edges("arrow").to_pydict() == {"from": ["a", "b"], "to": ["b", "c"]}
    assert edges("numpy").tolist() == [["a", "b"], ["b", "c"]]
    numbers = np.array([0, 1]), np.array([1, 2])
    assert torch.equal(edges("torch", *numbers), torch.tensor([[0, 1], [1, 2]]))
