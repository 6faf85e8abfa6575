"""Tables of nodes and edges, whatever library they come from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import strangers
from numpy.testing import assert_array_equal

from herald_gpu.errors import ColumnError, InputError, UnsupportedInputError
from herald_gpu.io.frames import read_edge_columns, read_node_table, some, to_pandas

COLUMNS = {"node": "node", "label": "label", "train": "train"}
NODES = pd.DataFrame(
    {
        "node": ["b", "a", "c"],
        "label": [1, 0, 1],
        "train": [True, False, True],
        "f0": [1, 0, 2],
        "f1": [0.5, 0.0, 1.5],
        "f2": [True, False, True],
    }
)


def sparse_frame(fill, kind=np.float64):
    matrix = np.array([[1, 0, 0], [0, 0, 2], [3, 0, 0]], dtype=kind)
    columns = {f"f{i}": pd.arrays.SparseArray(matrix[:, i], fill_value=kind(fill)) for i in range(3)}
    return pd.DataFrame({"node": [5, 6, 7]}).join(pd.DataFrame(columns)), matrix


# Any frame to pandas


@pytest.mark.parametrize(
    "frame",
    [
        NODES,
        pl.DataFrame(NODES.to_dict("list")),
        pa.Table.from_pandas(NODES),
        pa.RecordBatch.from_pandas(NODES),
        pa.table(NODES.to_dict("list")).to_reader(),
        strangers.Stream(pa.Table.from_pandas(NODES)),
        strangers.DataFrame(NODES),
    ],
    ids=["pandas", "polars", "arrow table", "arrow batch", "arrow reader", "arrow stream", "cudf"],
)
def test_every_frame_arrives_with_columns_and_values(frame):
    pd.testing.assert_frame_equal(to_pandas(frame), NODES)


def test_a_series_is_a_table_of_one_column():
    assert to_pandas(pd.Series([1, 2], name="f")).shape == (2, 1)


def test_a_lazy_frame_is_sent_back_to_collect():
    with pytest.raises(UnsupportedInputError, match=r"LazyFrame holds no data yet.*\.collect\(\)"):
        to_pandas(pl.DataFrame({"a": [1]}).lazy())


def test_what_is_no_table_is_refused():
    with pytest.raises(UnsupportedInputError, match="Schema is not a table"):
        to_pandas(pa.schema([("a", pa.int64())]))


# Edges


def test_edge_columns_are_found_by_name():
    frame = pd.DataFrame({"to": [1, 2], "from": [0, 1]})
    source, target, warnings = read_edge_columns(frame, "from", "to")
    assert_array_equal(source, [0, 1])
    assert_array_equal(target, [1, 2])
    assert warnings == []


def test_further_edge_columns_are_ignored_with_a_warning():
    frame = pd.DataFrame({"src": [0], "dst": [1], "weight": [0.5], "kind": ["x"]})
    *_, warnings = read_edge_columns(frame, "src", "dst")
    assert warnings == ["edge columns ['weight', 'kind'] are ignored: edges carry no weights or attributes here"]


@pytest.mark.parametrize(("source", "target", "argument"), [("from", "dst", "source"), ("src", "to", "target")])
def test_a_missing_edge_column_is_named(source, target, argument):
    frame = pd.DataFrame({"src": [0], "dst": [1]})
    with pytest.raises(ColumnError, match=rf"edges has no column .*it has \['src', 'dst'\].*{argument}="):
        read_edge_columns(frame, source, target)


def test_missing_ends_are_counted():
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, None, None]})
    with pytest.raises(InputError, match="edges column 'dst' has 2 missing values: drop those rows"):
        read_edge_columns(frame, "src", "dst")


# Nodes


def test_ids_labels_and_marks_come_from_their_columns():
    table = read_node_table(NODES, **COLUMNS)
    assert table.ids.tolist() == ["b", "a", "c"]
    assert table.labels.tolist() == [1, 0, 1]
    assert table.train.tolist() == [True, False, True]
    assert table.names == ["f0", "f1", "f2"]
    assert_array_equal(table.features, [[1, 0.5, 1], [0, 0, 0], [2, 1.5, 1]])
    assert table.features.dtype == np.float32
    assert not table.sparse


def test_without_the_column_the_index_holds_the_ids():
    table = read_node_table(NODES.set_index("node"), **COLUMNS)
    assert table.ids.tolist() == ["b", "a", "c"]
    assert table.names == ["f0", "f1", "f2"]


def test_labels_and_marks_may_be_absent():
    table = read_node_table(NODES[["f0", "f1"]], **COLUMNS)
    assert table.labels is None
    assert table.train is None
    assert table.ids.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (pd.array([3, 1, 2], dtype="Int64"), "i"),
        (np.array([3, 1, 2], dtype=object), "i"),
        (pd.Categorical([3, 1, 2]), "i"),
        (np.array([3, 1, 2], dtype=np.uint8), "u"),
        (pd.array(["x", "y", "z"], dtype="string"), "O"),
    ],
    ids=["nullable", "object", "categorical", "unsigned", "string"],
)
def test_ids_take_their_plain_type(ids, kind):
    table = read_node_table(NODES.assign(node=ids), **COLUMNS)
    assert table.ids.dtype.kind == kind
    assert table.ids.tolist() == list(ids)


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "boolean", "int64[pyarrow]", "uint8", "float16", "int64"])
def test_every_numeric_column_becomes_float32(dtype):
    frame = pd.DataFrame({"f0": pd.Series([1, 0, 1]).astype(dtype), "f1": [1.0, 2.0, 3.0]})
    table = read_node_table(frame, **COLUMNS)
    assert table.features.dtype == np.float32
    assert_array_equal(table.features[:, 0], [1, 0, 1])


def test_missing_and_huge_values_arrive_as_nan_and_infinity():
    frame = pd.DataFrame({"f0": pd.array([1, None], dtype="Int64"), "f1": [1e300, 1.0]})
    features = read_node_table(frame, **COLUMNS).features
    assert np.isnan(features[1, 0])
    assert np.isinf(features[0, 1])


@pytest.mark.parametrize("fill", [0, np.nan])
def test_gaps_of_sparse_columns_are_zeros_and_stay_sparse(fill):
    frame, _ = sparse_frame(0)
    matrix = scipy.sparse.csr_matrix(np.array([[1, 0, 0], [0, 0, 2], [3, 0, 0]], dtype=np.float32))
    gaps = pd.DataFrame.sparse.from_spmatrix(matrix, columns=["f0", "f1", "f2"])
    if fill == 0:
        gaps = frame[["f0", "f1", "f2"]]
    table = read_node_table(gaps, **COLUMNS)
    assert table.sparse
    assert scipy.sparse.issparse(table.features)
    assert table.features.nnz == 3
    assert_array_equal(table.features.toarray(), matrix.toarray())


def test_sparse_columns_that_leave_out_another_value_are_read_right():
    frame, matrix = sparse_frame(3, np.int64)
    table = read_node_table(frame, **COLUMNS)
    assert table.sparse
    assert_array_equal(table.features.toarray(), matrix)


def test_sparse_and_dense_columns_together_are_dense():
    frame, matrix = sparse_frame(0)
    table = read_node_table(frame.assign(f3=[1, 2, 3]), **COLUMNS)
    assert not table.sparse
    assert_array_equal(table.features, np.column_stack([matrix, [1, 2, 3]]))


def test_a_stored_nan_of_a_sparse_column_is_kept_to_be_reported():
    frame = pd.DataFrame({"f0": pd.arrays.SparseArray([0.0, np.nan, 1.0], fill_value=0.0)})
    assert np.isnan(read_node_table(frame, **COLUMNS).features.toarray()[1, 0])


@pytest.mark.parametrize(
    ("frame", "error", "match"),
    [
        (NODES[["node", "label"]], UnsupportedInputError, "feats has no feature columns: graphs without features"),
        (NODES.assign(f9="text"), UnsupportedInputError, r"\['f9'\] are text: pass categorical=\['f9'\].*drop="),
        (NODES.assign(f9=pd.Timestamp(0)), UnsupportedInputError, r"\['f9'\] are dates: turn them.*drop=\['f9'\]"),
        (NODES.assign(f9=1j), UnsupportedInputError, r"\['f9'\] are not numeric"),
        (NODES.assign(f9=pd.Categorical([1, 2, 1])), UnsupportedInputError, r"\['f9'\] are text: pass categorical="),
        (NODES.assign(node=["a", "a", "c"]), InputError, r"feats has duplicate node ids \['a'\]: keep one row"),
        (NODES.assign(node=[7, 7, 8]), InputError, r"duplicate node ids \[7\]"),
        (NODES.assign(node=["a", None, "c"]), InputError, "feats has 1 missing node ids"),
        (pd.concat([NODES, NODES[["f0"]]], axis=1), ColumnError, r"repeated column names \['f0'\]: rename"),
        (NODES.set_index(["node", "label"]), ColumnError, "MultiIndex and no column 'node'.*node="),
    ],
    ids=lambda value: None if isinstance(value, pd.DataFrame | type) else value[:40],
)
def test_a_bad_table_is_refused_by_name(frame, error, match):
    with pytest.raises(error, match=match):
        read_node_table(frame, **COLUMNS)


def test_long_lists_are_cut_and_plain():
    assert some(range(9)) == "[0, 1, 2, 3, 4, ...]"
    assert some(np.arange(2)) == "[0, 1]"
    assert some(np.array(["a"])) == "['a']"
