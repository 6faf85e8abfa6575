"""Dask collections taken apart, and those that are refused, in plain words."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from outcomes import small_graph
from support.crew import Here

from herald_gpu import HeraldConfig, condense
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.distributed.collections import is_table, take_apart
from herald_gpu.distributed.front import condense_collections
from herald_gpu.errors import ClusterError, ColumnError, ConfigError, InputError, UnsupportedInputError
from herald_gpu.io.kinds import any_dask, is_dask, kind_of
from herald_gpu.io.read import Columns

GRAPH = small_graph()
EDGES, NODES = GRAPH.to_frames()
N = GRAPH.n_nodes
OPTIONS = {"columns": Columns(), "unlabelled": -1, "backend": "cpu", "output_type": "input", "seed": 0}


def tables(edges=EDGES, nodes=NODES, labels=None, train=None):
    return dd.from_pandas(edges, npartitions=2), dd.from_pandas(nodes, npartitions=3), labels, train


def arrays(edges=GRAPH.edge_index, features=GRAPH.features, labels=GRAPH.labels, train=GRAPH.train):
    return da.from_array(edges, chunks=(2, 50)), da.from_array(features, chunks=(20, 4)), labels, train


def parted(graph, config=None, **changes):
    return condense_collections(
        graph, 0.3, config=config or HeraldConfig(), crew=Here(CpuBackend()), **(OPTIONS | changes)
    )


def test_kinds():
    assert [kind_of(one) for one in (*tables()[:2], *arrays()[:2])] == ["dask"] * 4
    assert is_dask(tables()[0])
    assert not is_dask(EDGES)
    assert (is_table(tables()[0]), is_table(arrays()[0])) == (True, False)
    assert any_dask(*arrays())
    assert not any_dask(EDGES, NODES, None, None)


@pytest.mark.parametrize("which", [(0,), (1,)])
def test_half_a_graph_in_collections_is_refused(which):
    graph = [tables()[place] if place in which else one for place, one in enumerate((EDGES, NODES))]
    with pytest.raises(UnsupportedInputError, match=r"is a Dask collection but .* is a DataFrame"):
        condense(*graph)


def test_without_a_client_it_is_told_how_to_have_one():
    with pytest.raises(ClusterError, match=r"no active Client.*Client\(cluster\)"):
        condense(*arrays())


def test_resume_is_for_collections():
    with pytest.raises(ConfigError, match="resume='here' is for Dask collections"):
        condense(EDGES, NODES, resume="here")


def test_a_backend_is_named():
    with pytest.raises(ConfigError, match="cannot be sent to workers"):
        parted(arrays(), backend=CpuBackend())


def test_the_published_presets_are_refused():
    with pytest.raises(ConfigError, match="accounting='scaled'"):
        parted(arrays(), HeraldConfig.published("scaled"))


def test_approximate_neighbours_are_refused():
    with pytest.raises(ConfigError, match="lid='approximate'"):
        parted(arrays(), HeraldConfig.paper(lid="approximate", feature_count=3))


def test_labels_and_marks_may_be_arrays_of_either_kind():
    lazy = arrays(labels=da.from_array(GRAPH.labels, chunks=7), train=da.from_array(GRAPH.train, chunks=11))
    ids = arrays(train=np.flatnonzero(GRAPH.train))
    expected = parted(arrays())
    for graph in (lazy, ids):
        np.testing.assert_array_equal(parted(graph).edges, expected.edges)


def test_training_nodes_of_a_table_may_be_named():
    nodes = NODES.drop(columns="train", errors="ignore")
    named = nodes["node"].to_numpy()[GRAPH.train] if "node" in nodes else np.flatnonzero(GRAPH.train)
    small = parted(tables(nodes=nodes, train=named))
    whole = condense(EDGES, nodes, train=named, ratio=0.3, backend="cpu")
    pd.testing.assert_frame_equal(small.edges, whole.edges)


WITH_NAN = GRAPH.features.copy()
WITH_NAN[7, 2] = np.nan
FAULTS = {
    "no edge column": (lambda: tables(edges=EDGES.rename(columns={"src": "from"})), ColumnError, "no column 'src'"),
    "edges of another shape": (lambda: arrays(edges=GRAPH.edge_index.T), InputError, "pass its transpose"),
    "no labels": (lambda: arrays(labels=None), ColumnError, "no labels"),
    "short labels": (lambda: arrays(labels=GRAPH.labels[:-1]), InputError, "entries but there are"),
    "short lazy labels": (lambda: arrays(labels=da.from_array(GRAPH.labels[:-1])), InputError, "one entry a node"),
    "labels beside a table": (lambda: tables(labels=GRAPH.labels), ColumnError, "pass one of them"),
    "unknown ends": (lambda: arrays(edges=GRAPH.edge_index + N), InputError, "nodes that feats does not have"),
    "not a number": (lambda: arrays(features=WITH_NAN), InputError, "column 2 of node 7"),
    "no training node": (lambda: arrays(train=np.zeros(N, dtype=bool)), InputError, "train marks no node"),
    "one class": (lambda: arrays(labels=np.zeros(N, dtype=int)), InputError, "one class only"),
    "loops alone": (lambda: arrays(edges=np.tile(np.arange(4), (2, 1))), InputError, "self loops"),
    "ids twice": (lambda: tables(nodes=pd.concat([NODES, NODES.tail(2)])), InputError, "duplicate node ids"),
    "no feature": (lambda: arrays(features=GRAPH.features[:, :0]), UnsupportedInputError, "no columns"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_a_single_machine_refuses_is_refused(name):
    make, error, says = FAULTS[name]
    with pytest.raises(error, match=says):
        parted(make())


def test_a_name_for_nodes_needs_a_table():
    with pytest.raises(ColumnError, match="node='id' names a column"):
        parted(arrays(), columns=Columns(node="id"))


def categorical():
    rng = np.random.default_rng(0)
    nodes = NODES.assign(name=[f"x{i}" for i in range(N)], size=rng.choice([1, 2, 10], N))
    nodes.insert(4, "color", np.where(np.arange(N) < N // 2, "red", rng.choice(["green", "blue"], N)))
    return nodes.assign(color=nodes["color"].where(nodes.index > 1))


CATEGORIES = {"drop": ("name",), "categorical": ("color", "size")}


@pytest.mark.parametrize("as_categories", [False, True])
def test_levels_are_those_of_all_partitions(as_categories):
    """No partition of the rows has all colors: the first has red ones only."""
    nodes = categorical()
    if as_categories:
        nodes = nodes.astype({"color": "category"})
    small = parted(tables(nodes=nodes), columns=Columns(**CATEGORIES))
    whole = condense(EDGES, nodes, ratio=0.3, backend="cpu", **CATEGORIES)
    assert small.categories == whole.categories == {"color": ["blue", "green", "red"], "size": [1, 2, 10]}
    assert list(small.feature_ids) == list(whole.feature_ids)
    assert small.report.warnings == whole.report.warnings
    assert "column 'color': 2 of" in small.report.warnings[0]
    pd.testing.assert_frame_equal(small.edges, whole.edges)
    pd.testing.assert_frame_equal(small.features, whole.features)
    pd.testing.assert_frame_equal(small.transform(nodes), whole.transform(nodes))


@pytest.mark.parametrize(
    ("columns", "error", "says"),
    [
        ({"drop": "name"}, UnsupportedInputError, r"\['color'\] are text: pass categorical="),
        ({"drop": "nam"}, ColumnError, r"no columns \['nam'\]"),
        ({"categorical": ("color", "name")}, ColumnError, "like an id or free text"),
        ({"drop": "label"}, ColumnError, "holds the labels"),
    ],
)
def test_what_cannot_be_encoded_is_refused(columns, error, says):
    with pytest.raises(error, match=says):
        parted(tables(nodes=categorical()), columns=Columns(**columns))


def test_names_of_columns_need_a_table():
    with pytest.raises(ColumnError, match="whose columns have no names"):
        parted(arrays(), columns=Columns(drop="f0"))


def test_options_of_files_are_not_for_collections():
    with pytest.raises(ConfigError, match="is for paths of CSV files"):
        condense(*tables()[:2], csv={"decimal": ","})


def test_series_beside_arrays_are_refused():
    with pytest.raises(UnsupportedInputError, match="to_dask_array"):
        parted(arrays(labels=dd.from_pandas(pd.Series(GRAPH.labels), npartitions=2)))


def test_arrays_of_unknown_length_are_refused():
    features = dd.from_pandas(pd.DataFrame(GRAPH.features), npartitions=2).to_dask_array()
    with pytest.raises(InputError, match="compute_chunk_sizes"):
        parted((arrays()[0], features, GRAPH.labels, GRAPH.train))


def test_columns_besides_are_told():
    given = take_apart(Here(CpuBackend()), *tables(edges=EDGES.assign(weight=1.0)), columns=Columns(), unlabelled=-1)
    assert "weight" in given.warnings[0]


# Ids


MIXED = np.random.default_rng(5).permutation(N)
UNNAMED = NODES.iloc[MIXED].reset_index(drop=True).rename(columns={"node": "id"})
BARE = NODES.drop(columns="node")
NUMBERED = "the table of nodes has no column 'node': rows are numbered from 0 and these numbers are the node ids"


def apart(graph, columns=None):
    return take_apart(Here(CpuBackend()), *graph, columns=columns or Columns(), unlabelled=-1)


def restarted(nodes):
    """Give a table whose partitions all count from 0, as those of several files do."""
    parts = [nodes.iloc[:15], nodes.iloc[15:30], nodes.iloc[30:]]
    return tables()[0], dd.from_delayed([delayed(part.reset_index(drop=True)) for part in parts]), None, None


def assert_whole(small, nodes=NODES, **options):
    pd.testing.assert_frame_equal(small.edges, condense(EDGES, nodes, ratio=0.3, backend="cpu", **options).edges)


@pytest.mark.parametrize("make", [lambda nodes: tables(nodes=nodes), restarted], ids=["counted", "restarted"])
@pytest.mark.parametrize("kind", ["numbers", "text", "floats"])
def test_ids_in_another_column_are_refused_and_named(make, kind):
    nodes, edges = UNNAMED, tables()[0]
    if kind == "text":
        nodes, edges = (
            nodes.assign(id=nodes["id"].map("n{}".format)),
            edges.map_partitions(lambda e: e.map("n{}".format)),
        )
    elif kind == "floats":
        nodes = nodes.assign(id=nodes["id"].astype(float))
    with pytest.raises(ColumnError, match=r"column 'id' looks like node ids \(it holds every node .*pass node='id' if"):
        apart((edges, *make(nodes)[1:]))
    if kind == "numbers":
        assert_whole(parted(make(nodes), columns=Columns(node="id")), UNNAMED, node="id")


def test_an_index_that_was_shuffled_with_its_rows_is_no_better_than_a_column():
    nodes = UNNAMED.sample(frac=1, random_state=0)
    given = dd.from_delayed([delayed(nodes.iloc[:20]), delayed(nodes.iloc[20:])])
    with pytest.raises(ColumnError, match="both its index and its column 'id' hold every node"):
        apart((tables()[0], given, None, None))


def test_rows_that_are_numbered_are_announced():
    small = parted(tables(nodes=BARE))
    assert_whole(small)
    assert small.report.warnings[0] == NUMBERED


@pytest.mark.parametrize("make", [lambda nodes: tables(nodes=nodes), restarted], ids=["counted", "restarted"])
def test_rows_are_numbered_through_all_partitions_where_asked_for(make):
    small = parted(make(BARE), columns=Columns(node=None))
    assert_whole(small)
    assert NUMBERED not in small.report.warnings


def test_partitions_that_all_count_from_0_are_refused():
    with pytest.raises(
        ColumnError, match="its index repeats values: name the column of ids with node=, or pass node=None"
    ):
        apart(restarted(BARE))


def test_columns_that_cannot_hold_ids_are_not_fetched():
    crew = Here(CpuBackend())
    take_apart(crew, *tables(nodes=BARE), columns=Columns(), unlabelled=-1)
    assert "piece_columns" not in {name for _, name in crew.done}
    crew = Here(CpuBackend())
    take_apart(crew, *tables(), columns=Columns(), unlabelled=-1)
    assert crew.done == []


@pytest.mark.parametrize("nodes", [NODES, BARE], ids=["ids", "numbered"])
def test_stored_row_numbers_are_no_features(nodes):
    small = parted(tables(nodes=nodes.assign(**{"Unnamed: 0": range(N)})))
    assert_whole(small)
    assert "columns ['Unnamed: 0'] are not used as features" in small.report.warnings[0]


def test_edges_beyond_the_rows_are_explained():
    with pytest.raises(InputError, match="feats is an array of 40 rows, so that ids are the row numbers 0 to 39"):
        parted(arrays(edges=GRAPH.edge_index + N))
    with pytest.raises(InputError, match="feats has 40 rows and no column 'node', so that ids are the row numbers"):
        parted(tables(edges=EDGES + N, nodes=BARE))


# Training marks and labels


@pytest.mark.parametrize(
    ("yes", "no", "note"),
    [
        (1, 0, "is read as 0/1: {} of 40 nodes are for training"),
        ("Yes", "no", "is read as yes/no: {} of 40 nodes are for training"),
        ("train", "unused", "is read as words: {} train, "),
    ],
)
def test_marks_are_read_as_on_a_single_machine(yes, no, note):
    values = np.where(GRAPH.train, yes, no)
    expected = f"column 'train' {note.format(GRAPH.train.sum())}"
    small = parted(tables(nodes=NODES.assign(train=values)))
    assert_whole(small)
    assert [text.startswith(expected) for text in small.report.warnings][:1] == [True]


@pytest.mark.parametrize("lazy", [False, True])
def test_a_vector_of_zeros_and_ones_is_a_mask(lazy):
    marks = GRAPH.train.astype(int)
    small = parted(arrays(train=da.from_array(marks, chunks=7) if lazy else marks))
    np.testing.assert_array_equal(small.edges, parted(arrays()).edges)
    assert f"train is read as 0/1: {GRAPH.train.sum()} of 40 nodes are for training" in small.report.warnings


@pytest.mark.parametrize("values", [np.arange(N) % 3, ["y"] * 20 + ["train"] * 20], ids=["codes", "two vocabularies"])
def test_marks_that_are_not_understood_are_refused(values):
    with pytest.raises(InputError, match=r"feats column 'train' has the values .*: write 0/1"):
        parted(tables(nodes=NODES.assign(train=values)))


def test_labels_that_mean_unknown_are_counted():
    nodes = NODES.assign(label=np.where(GRAPH.train, GRAPH.labels, -1))
    note = f"{int((~GRAPH.train).sum())} nodes have the label -1 and count as unlabelled"
    assert parted(tables(nodes=nodes)).report.warnings[0] == note
    signs = NODES.drop(columns="train").assign(label=np.where(GRAPH.labels > 0, 1, -1))
    with pytest.raises(InputError, match="which means unlabelled: pass unlabelled=None if it is a class"):
        parted(tables(nodes=signs))


def test_labels_that_are_lists_are_refused(tmp_path):
    NODES.assign(label=[[0]] * N).to_parquet(tmp_path / "nodes.parquet")
    with pytest.raises(UnsupportedInputError, match="feats column 'label' holds lists or the like"):
        parted((tables()[0], dd.read_parquet(tmp_path / "nodes.parquet"), None, None))
