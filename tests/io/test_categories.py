"""Text and categories: encoded one-hot where they are named, dropped, or refused with both remedies."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

import herald_gpu
from herald_gpu.datasets import make_graph
from herald_gpu.errors import ColumnError, InputError, UnsupportedInputError
from herald_gpu.io import categories, parquet
from herald_gpu.io.read import Columns, read

N = 120
GRAPH = make_graph(N, n_features=6, seed=3)
OPTIONS = {"ratio": 0.5, "backend": "cpu"}
LEVELS = ["blue", "green", "red"]


def tables():
    edges, nodes = GRAPH.to_frames()
    rng = np.random.default_rng(0)
    nodes.insert(4, "color", rng.choice(LEVELS, N))
    nodes["size"] = rng.choice([1, 2, 10], N)
    return edges, nodes


def by_hand(nodes):
    """The same table, encoded by its owner."""
    made = {}
    for name in nodes.columns:
        if name in ("color", "size"):
            for level in LEVELS if name == "color" else [1, 2, 10]:
                made[f"{name}={level}"] = (nodes[name] == level).astype(float)
        else:
            made[name] = nodes[name]
    return pd.DataFrame(made)


def same(one, other):
    assert list(one.feature_ids) == list(other.feature_ids)
    assert one.as_type("numpy").node_ids.tolist() == other.as_type("numpy").node_ids.tolist()
    assert_array_equal(one.as_type("numpy").features, other.as_type("numpy").features)


# What comes out


def parquet_of(nodes, folder):
    nodes.to_parquet(folder / "nodes.parquet")
    return folder / "nodes.parquet"


@pytest.mark.parametrize(
    "make",
    [
        lambda nodes, _: nodes,
        lambda nodes, _: nodes.astype({"color": object}),
        lambda nodes, _: nodes.astype({"color": "category", "size": "category"}),
        lambda nodes, _: nodes.astype({"color": "string[pyarrow]", "size": "Int64"}),
        lambda nodes, _: pl.from_pandas(nodes),
        lambda nodes, _: pl.from_pandas(nodes).with_columns(pl.col("color").cast(pl.Categorical)),
        lambda nodes, _: pa.Table.from_pandas(nodes),
        lambda nodes, _: pa.Table.from_pandas(nodes.astype({"color": "category"})),
        parquet_of,
        lambda nodes, folder: parquet_of(nodes.astype({"color": "category"}), folder),
    ],
    ids=[
        "text",
        "objects",
        "category",
        "nullable",
        "polars",
        "polars category",
        "arrow",
        "dictionary",
        "file",
        "files",
    ],
)
def test_every_container_gives_what_encoding_by_hand_gives(make, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 7)
    edges, nodes = tables()
    given = make(nodes, tmp_path)
    pairs = edges if isinstance(given, pd.DataFrame) or hasattr(given, "suffix") else type(given)
    pairs = (
        pl.from_pandas(edges) if pairs is pl.DataFrame else pa.Table.from_pandas(edges) if pairs is pa.Table else edges
    )
    small = herald_gpu.condense(pairs, given, categorical=["color", "size"], **OPTIONS)
    same(small, herald_gpu.condense(edges, by_hand(nodes), **OPTIONS))
    assert small.categories == {"color": LEVELS, "size": [1, 2, 10]}


def test_columns_stand_in_the_place_of_the_original_and_have_its_name():
    edges, nodes = tables()
    found = read(edges, nodes, columns=Columns(categorical="color"))
    assert found.feature_ids.tolist()[:4] == ["f0", "color=blue", "color=green", "color=red"]
    assert found.features.dtype == np.float32
    assert_array_equal(found.features[:, 1:4].sum(axis=1), np.ones(N))


def test_rows_do_not_decide_the_order_of_levels():
    _, nodes = tables()
    one, other = (categories.encode(part, Columns(categorical=("color",))).levels for part in (nodes, nodes[::-1]))
    assert one == other == {"color": LEVELS}


def test_declared_levels_that_no_row_has_are_left_out():
    edges, nodes = tables()
    nodes["color"] = pd.Categorical(nodes["color"], categories=["violet", *LEVELS])
    assert read(edges, nodes, columns=Columns(categorical="color")).categories == {"color": LEVELS}


def test_missing_values_are_zeros_and_counted(tmp_path):
    edges, nodes = tables()
    nodes.loc[[3, 7], "color"] = None
    nodes["size"] = nodes["size"].astype(float)  # as whole numbers are beside missing ones
    nodes.loc[5, "size"] = np.nan
    notes = [
        "column 'color': 2 of 120 rows have no value; they are all zeros",
        "column 'size': 1 of 120 rows have no value; they are all zeros",
    ]
    for given in (nodes, parquet_of(nodes, tmp_path)):
        found = read(edges, given, columns=Columns(categorical=("color", "size")))
        assert found.warnings == notes
        assert found.categories["size"] == [1, 2, 10]
        assert_array_equal(found.features[[3, 7], 1:4], np.zeros((2, 3)))
        assert_array_equal(found.features[5, -3:], np.zeros(3))
    small = herald_gpu.condense(edges, nodes, categorical=["color", "size"], **OPTIONS)
    assert notes == small.report.warnings[:2]


def test_booleans_are_numbers_unless_they_are_named():
    edges, nodes = tables()
    nodes = nodes.drop(columns=["color", "size"]).assign(flag=nodes["size"] > 1)
    assert "flag" in read(edges, nodes, columns=Columns()).feature_ids
    assert read(edges, nodes, columns=Columns(categorical="flag")).categories == {"flag": [False, True]}


def test_sparse_tables_stay_sparse():
    matrix = scipy.sparse.random(N, 5, density=0.2, format="csr", random_state=0, dtype=np.float32)
    wide = pd.DataFrame.sparse.from_spmatrix(matrix, columns=[f"w{i}" for i in range(5)])
    edges, nodes = tables()
    frame = pd.concat([nodes[["node", "label", "train", "color"]], wide], axis=1)
    found = read(edges, frame, columns=Columns(categorical="color"))
    assert found.style.sparse
    assert_array_equal(found.features.toarray()[:, 3:], matrix.toarray())
    assert_array_equal(found.features.toarray()[:, 0], frame["color"] == "blue")


def test_a_table_of_nothing_but_categories(tmp_path):
    edges, nodes = tables()
    nodes = nodes[["node", "label", "train", "color", "size"]]
    one, other = (
        read(edges, given, columns=Columns(categorical=("color", "size")))
        for given in (nodes, parquet_of(nodes, tmp_path))
    )
    assert one.features.shape == (N, 6)
    assert_array_equal(one.features, other.features)


def test_dropped_columns_are_gone(tmp_path):
    edges, nodes = tables()
    wanted = herald_gpu.condense(edges, nodes.drop(columns=["color", "f2"]), **OPTIONS)
    for given in (nodes, parquet_of(nodes, tmp_path)):
        same(herald_gpu.condense(edges, given, drop=["color", "f2"], **OPTIONS), wanted)


def test_a_single_name_is_one_column():
    assert Columns(drop="abc", categorical=["x"]) == Columns(drop=("abc",), categorical=("x",))


def test_training_marks_may_be_dropped():
    edges, nodes = tables()
    found = read(edges, nodes, columns=Columns(drop=("train", "color")))
    assert found.train.all()


# transform


@pytest.fixture(scope="module")
def small():
    edges, nodes = tables()
    return herald_gpu.condense(edges, nodes, categorical=["color", "size"], **OPTIONS)


def test_transform_encodes(small, tmp_path):
    _, nodes = tables()
    wanted = by_hand(nodes)[list(small.feature_ids)].astype(np.float32)
    assert {"color=red", "size=10"} <= set(small.feature_ids)
    for given in (nodes, parquet_of(nodes, tmp_path), by_hand(nodes)):
        pd.testing.assert_frame_equal(small.transform(given), wanted)
    assert_array_equal(small.transform(pl.from_pandas(nodes)).to_numpy(), wanted)
    assert_array_equal(small.transform(by_hand(nodes).iloc[:, 3:].to_numpy()), wanted)


def test_transform_counts_levels_that_were_never_seen(small, caplog):
    _, nodes = tables()
    nodes.loc[:2, "color"] = "teal"
    with caplog.at_level(logging.WARNING, logger="herald_gpu"):
        out = small.transform(nodes)
    assert caplog.messages == [
        "column 'color': 3 of 120 rows have levels that the condensed graph never saw ('teal'); they are all zeros"
    ]
    assert_array_equal(out.loc[:2, ["color=blue", "color=green", "color=red"]], np.zeros((3, 3)))


def test_a_level_that_was_seen_but_not_kept_is_no_news(caplog):
    edges, nodes = tables()
    config = herald_gpu.HeraldConfig(feature_count=4)
    small = herald_gpu.condense(edges, nodes, categorical=["color", "size"], config=config, **OPTIONS)
    with caplog.at_level(logging.WARNING, logger="herald_gpu"):
        assert small.transform(nodes).shape == (N, len(small.feature_ids))
    assert len(small.feature_ids) < 12
    assert caplog.messages == []


def test_transform_of_an_array_wants_the_encoded_columns(small):
    with pytest.raises(
        InputError, match=r"had 12 after its columns \['color', 'size'\] were encoded one-hot: pass a table"
    ):
        small.transform(np.zeros((3, 8)))


def test_transform_names_the_column_that_is_missing(small):
    _, nodes = tables()
    with pytest.raises(InputError, match=r"lacks the columns \['color'\]"):
        small.transform(nodes.drop(columns="color"))


def test_categories_are_saved(small, tmp_path):
    _, nodes = tables()
    small.save(tmp_path / "small.herald")
    again = herald_gpu.CondensedGraph.load(tmp_path / "small.herald")
    assert again.categories == small.categories
    assert again.columns == small.columns
    pd.testing.assert_frame_equal(again.transform(nodes), small.transform(nodes))


def test_known_levels_are_used_instead_of_those_of_the_table(caplog):
    edges, nodes = tables()
    with caplog.at_level(logging.WARNING, logger="herald_gpu"):
        found = read(edges, nodes, columns=Columns(drop="size", categorical="color"), levels={"color": ["red", "teal"]})
    assert found.feature_ids.tolist()[1:3] == ["color=red", "color=teal"]
    assert_array_equal(found.features[:, 1], nodes["color"] == "red")
    assert "never saw ('green', 'blue')" in caplog.text or "never saw ('blue', 'green')" in caplog.text


# What is refused


@pytest.mark.parametrize(
    ("change", "options", "error", "says"),
    [
        (
            {},
            {},
            UnsupportedInputError,
            r"\['color'\] are text: pass categorical=\['color'\] to encode.*drop=\['color'\]",
        ),
        ({}, {"drop": "colour"}, ColumnError, r"no columns \['colour'\] \(it has \['node'.*correct drop="),
        ({}, {"categorical": ["colour"]}, ColumnError, r"no columns \['colour'\] .*correct categorical="),
        ({}, {"drop": "color", "categorical": "color"}, ColumnError, r"\['color'\] are named in drop= and in categ"),
        ({}, {"drop": "node"}, ColumnError, "'node' holds the node ids: leave it out of drop="),
        ({}, {"drop": "label"}, ColumnError, "'label' holds the labels: leave it out of drop="),
        ({}, {"categorical": "label"}, ColumnError, "'label' holds the labels: leave it out of categorical="),
        ({}, {"categorical": "train"}, ColumnError, "'train' holds the training marks"),
        ({"color=red": 1.0}, {"categorical": "color"}, ColumnError, r"named as encoded levels are, \['color=red'\]"),
        ({"color": range(N)}, {"categorical": "color"}, ColumnError, r"120 levels in 120 rows.*drop=\['color'\]"),
        ({"color": 0.5}, {"categorical": "color"}, ColumnError, "values such as 0.5: categories are text"),
        ({"color": pd.Timestamp(0)}, {"categorical": "color"}, ColumnError, "'color' holds values such as Timestamp"),
        ({"color": [[1]] * N}, {"categorical": "color"}, ColumnError, r"'color' holds values such as \[1\]"),
        ({"color": pd.Timestamp(0)}, {}, UnsupportedInputError, r"\['color'\] are dates.*drop=\['color'\]"),
    ],
)
def test_what_cannot_be_encoded_is_refused(change, options, error, says, tmp_path):
    edges, nodes = tables()
    nodes = nodes.assign(**change)
    with pytest.raises(error, match=says):
        herald_gpu.condense(edges, nodes, **options, **OPTIONS)
    if not isinstance(nodes["color"].iloc[0], list | pd.Timestamp):
        with pytest.raises(error, match=says):
            herald_gpu.condense(edges, parquet_of(nodes, tmp_path), **options, **OPTIONS)


def test_too_many_levels_for_any_number_of_rows():
    many = {"word": [f"w{i}" for i in range(1001)]}
    with pytest.raises(ColumnError, match="more than 1,000 levels in 9,000 rows, like an id or free text"):
        categories.settle(many, ["word"], 9000)
    assert len(categories.settle({"word": many["word"][:1000]}, ["word"], 9000)["word"]) == 1000
    assert categories.settle({"few": list(range(20))}, ["few"], 20)["few"] == list(range(20))


def test_names_need_a_table():
    for option in ({"drop": "f0"}, {"categorical": ["f0"]}):
        with pytest.raises(ColumnError, match="names columns, but feats is a ndarray, whose columns have no names"):
            herald_gpu.condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, **option, **OPTIONS)
