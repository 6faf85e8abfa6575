"""A graph is read the same, whatever it comes as."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import strangers
import torch
from numpy.testing import assert_array_equal
from outcomes import plain, small_graph

from herald_gpu.errors import ColumnError, DeviceError, InputError, UnsupportedInputError
from herald_gpu.io.read import Columns, Style, read

GRAPH = small_graph()
N = GRAPH.n_nodes
EDGES, NODES = GRAPH.to_frames()
MIXED = np.random.default_rng(5).permutation(N)


def nodes_named(names):
    """Give both frames with node ids replaced by `names[id]`."""
    named = np.asarray(names)
    return EDGES.apply(lambda ends: named[ends]), NODES.assign(node=named)


def read_arrays(edges=GRAPH.edge_index, feats=GRAPH.features, labels=GRAPH.labels, train=GRAPH.train, **options):
    return read(edges, feats, labels, train, columns=Columns(), **options)


def assert_reads_as_arrays(found, feature_ids=None):
    """Compare with what plain arrays give."""
    expected = read_arrays()
    order = np.lexsort((expected.target, expected.source))
    mine = np.lexsort((found.target, found.source))
    assert_array_equal(found.source[mine], expected.source[order])
    assert_array_equal(found.target[mine], expected.target[order])
    assert_array_equal(plain(found.features), expected.features)
    assert_array_equal(found.codes, expected.codes)
    assert_array_equal(found.class_values, expected.class_values)
    assert_array_equal(found.train, expected.train)
    assert_array_equal(found.feature_ids, expected.feature_ids if feature_ids is None else feature_ids)
    assert found.features.dtype == np.float32


# Edges


def networkx_graph(kind):
    graph = kind()
    graph.add_nodes_from(range(N))
    graph.add_edges_from(GRAPH.edge_index.T.tolist())
    return graph


ADJACENCY = scipy.sparse.coo_matrix((np.ones(GRAPH.n_edges), GRAPH.edge_index), shape=(N, N))


@dataclass
class Given:
    """Edges of some kind, and the kind of what is given back."""

    edges: object
    style: str


EDGE_KINDS = {
    "pandas": Given(EDGES, "pandas"),
    "polars": Given(pl.DataFrame(EDGES.to_dict("list")), "polars"),
    "arrow": Given(pa.Table.from_pandas(EDGES), "arrow"),
    "arrow stream": Given(strangers.Stream(pa.Table.from_pandas(EDGES)), "arrow"),
    "array": Given(GRAPH.edge_index, "numpy"),
    "int32 array": Given(GRAPH.edge_index.astype(np.int32), "numpy"),
    "list": Given(GRAPH.edge_index.tolist(), "other"),
    "tensor": Given(torch.tensor(GRAPH.edge_index), "torch"),
    "csr_matrix": Given(ADJACENCY.tocsr(), "scipy"),
    "csr_array": Given(scipy.sparse.csr_array(ADJACENCY), "scipy"),
    "coo_matrix": Given(ADJACENCY, "scipy"),
    "DiGraph": Given(networkx_graph(nx.DiGraph), "networkx"),
    "MultiDiGraph": Given(networkx_graph(nx.MultiDiGraph), "networkx"),
}


@pytest.mark.parametrize("name", EDGE_KINDS)
def test_edges_of_every_kind(name):
    given = EDGE_KINDS[name]
    found = read_arrays(given.edges)
    assert_reads_as_arrays(found)
    assert found.style.edges == given.style
    assert found.warnings == []


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_undirected_networkx_graphs_give_the_same_pairs(kind):
    graph = networkx_graph(nx.Graph) if kind is nx.Graph else nx.MultiGraph(networkx_graph(nx.Graph))
    found = read_arrays(graph)
    pairs = {frozenset(pair) for pair in GRAPH.edge_index.T.tolist()}
    assert {frozenset(pair) for pair in zip(found.source.tolist(), found.target.tolist(), strict=True)} == pairs


# Features


def test_frames_in_two_arguments():
    found = read(EDGES, NODES, columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])
    assert found.style == Style("pandas", "pandas", sparse=False)


@pytest.mark.parametrize("name", ["polars", "arrow", "stream", "cudf", "proxy"])
def test_node_tables_of_every_kind(name):
    table = {
        "polars": lambda frame: pl.DataFrame(frame.to_dict("list")),
        "arrow": pa.Table.from_pandas,
        "stream": lambda frame: strangers.Stream(pa.Table.from_pandas(frame)),
        "cudf": strangers.DataFrame,
        "proxy": strangers.Proxy,
    }[name]
    found = read(table(EDGES), table(NODES), columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])
    assert found.style.nodes == {"stream": "arrow", "proxy": "pandas"}.get(name, name)


@pytest.mark.parametrize(
    ("feats", "style"),
    [
        (GRAPH.features, Style("numpy", "numpy", sparse=False)),
        (GRAPH.features.tolist(), Style("numpy", "numpy", sparse=False)),
        (torch.tensor(GRAPH.features), Style("numpy", "torch", sparse=False)),
        (scipy.sparse.csr_matrix(GRAPH.features), Style("numpy", "numpy", sparse=True)),
        (scipy.sparse.csr_array(GRAPH.features), Style("numpy", "numpy", sparse=True)),
        (scipy.sparse.coo_array(GRAPH.features), Style("numpy", "numpy", sparse=True)),
        (torch.tensor(GRAPH.features).to_sparse_coo(), Style("numpy", "torch", sparse=True)),
    ],
    ids=["array", "list", "tensor", "csr_matrix", "csr_array", "coo_array", "torch sparse"],
)
def test_feature_matrices_of_every_kind(feats, style):
    found = read_arrays(feats=feats)
    assert_reads_as_arrays(found)
    assert found.style == style
    assert scipy.sparse.issparse(found.features) == style.sparse


def test_sparse_columns_stay_sparse():
    words = small_graph("bag_of_words")
    found = read(*words.to_frames(), columns=Columns())
    assert found.style == Style("pandas", "pandas", sparse=True)
    assert scipy.sparse.issparse(found.features)
    assert_array_equal(found.features.toarray(), words.features.toarray())


def test_arrays_on_a_device_come_over():
    found = read_arrays(
        strangers.ndarray(GRAPH.edge_index),
        strangers.csr_matrix(scipy.sparse.csr_matrix(GRAPH.features)),
        strangers.ndarray(GRAPH.labels),
        strangers.ndarray(GRAPH.train),
    )
    assert_reads_as_arrays(found)
    assert found.style == Style("cupy", "cupyx", sparse=True)


def test_proxies_are_never_touched():
    edges, feats = strangers.Proxy(EDGES), strangers.Proxy(NODES.drop(columns=["label", "train"]))
    labels, train = strangers.Proxy(NODES["label"]), strangers.Proxy(NODES["train"])
    found = read(edges, feats, labels, train, columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])


# PyG


@pytest.fixture(scope="module")
def data():
    module = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    return module.Data(
        x=torch.tensor(GRAPH.features),
        edge_index=torch.tensor(GRAPH.edge_index),
        y=torch.tensor(GRAPH.labels),
        train_mask=torch.tensor(GRAPH.train),
    )


def test_pyg_data_needs_nothing_else(data):
    found = read(data, columns=Columns())
    assert_reads_as_arrays(found)
    assert found.style == Style("torch", "torch", sparse=False)


def test_pyg_labels_may_be_a_column_and_weights_are_ignored(data):
    other = data.clone()
    other.y, other.edge_weight = other.y[:, None], torch.ones(GRAPH.n_edges)
    found = read(other, columns=Columns())
    assert_reads_as_arrays(found)
    assert found.warnings == ["edge attributes ['edge_weight'] are ignored"]


def test_parts_that_pyg_data_lacks_may_be_given(data):
    bare = data.clone()
    del bare.x, bare.y, bare.train_mask
    found = read(bare, GRAPH.features, GRAPH.labels, GRAPH.train, columns=Columns())
    assert_reads_as_arrays(found)


def test_train_goes_before_the_mask_of_pyg_data(data):
    other = GRAPH.train.copy()
    other[np.flatnonzero(other)[0]] = False
    assert_array_equal(read(data, None, None, other, columns=Columns()).train, other)


@pytest.mark.parametrize(("name", "value"), [("feats", GRAPH.features), ("labels", GRAPH.labels)])
def test_a_part_given_twice_is_refused(data, name, value):
    feats, labels = (value, None) if name == "feats" else (None, value)
    with pytest.raises(ColumnError, match=f"{name}= is given together with a PyG Data that holds its own"):
        read(data, feats, labels, columns=Columns())


# Ids


def test_ids_in_the_index_and_strings():
    edges, nodes = nodes_named([f"n{i:03d}" for i in range(N)])
    found = read(edges, nodes.set_index("node"), columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])
    assert found.node_ids.tolist() == [f"n{i:03d}" for i in range(N)]


@pytest.mark.parametrize("ids", [range(0, 10 * N, 10), range(-N, 0), [f"n{i:03d}" for i in range(N)]])
def test_rows_in_any_order_with_ids_kept(ids):
    edges, nodes = nodes_named(ids)
    found = read(edges, nodes.iloc[MIXED], columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])
    assert found.node_ids.tolist() == list(ids)


def test_rows_of_an_adjacency_are_rows_of_the_table():
    mixed = NODES.iloc[MIXED]
    adjacency = ADJACENCY.tocsr()[MIXED][:, MIXED]
    found = read(adjacency, mixed, columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])


def test_rows_of_a_matrix_follow_the_order_of_networkx_nodes():
    graph = nx.DiGraph()
    graph.add_nodes_from(MIXED.tolist())
    graph.add_edges_from(GRAPH.edge_index.T.tolist())
    found = read_arrays(graph, GRAPH.features[MIXED], GRAPH.labels[MIXED], GRAPH.train[MIXED])
    assert_reads_as_arrays(found)


def test_networkx_nodes_meet_a_table_by_id():
    found = read(networkx_graph(nx.DiGraph), NODES.iloc[MIXED], columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])


def test_object_columns_of_integers_are_integers():
    nodes = NODES.assign(node=NODES["node"].astype(object))
    found = read(EDGES.astype(object), nodes, columns=Columns())
    assert found.node_ids.dtype == np.int64


def test_float_ends_meet_integer_ids():
    found = read(EDGES.astype(float), NODES, columns=Columns())
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])


def test_columns_may_have_other_names():
    edges = EDGES.rename(columns={"src": "from", "dst": "to"})
    nodes = NODES.rename(columns={"node": "id", "label": "y", "train": "use"})
    found = read(edges, nodes, columns=Columns("from", "to", "id", "y", "use"))
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])


def test_a_named_index_serves_as_node_column():
    nodes = NODES.rename(columns={"node": "id"}).set_index("id")
    found = read(EDGES, nodes, columns=Columns(node="id"))
    assert_reads_as_arrays(found, feature_ids=[f"f{i}" for i in range(6)])


def test_integer_and_mixed_feature_names_are_kept():
    nodes = NODES.rename(columns={f"f{i}": i for i in range(6)})
    assert read(EDGES, nodes, columns=Columns()).feature_ids.tolist() == list(range(6))
    nodes = NODES.rename(columns={"f0": 0})
    assert read(EDGES, nodes, columns=Columns()).feature_ids.tolist() == [0, "f1", "f2", "f3", "f4", "f5"]


# Training nodes


def test_without_marks_all_labelled_nodes_train():
    labels = np.where(GRAPH.train, GRAPH.labels, -1)
    assert_array_equal(read_arrays(labels=labels, train=None).train, GRAPH.train)
    nodes = NODES.drop(columns="train").assign(label=pd.Series(labels).replace(-1, None))
    assert_array_equal(read(EDGES, nodes, columns=Columns()).train, GRAPH.train)


def test_training_nodes_by_id():
    edges, nodes = nodes_named([f"n{i:03d}" for i in range(N)])
    chosen = nodes.loc[nodes["train"], "node"].tolist()
    found = read(edges, nodes.drop(columns="train").iloc[MIXED], None, chosen, columns=Columns())
    assert_array_equal(found.train, GRAPH.train)


def test_labels_are_matched_by_id():
    labels = NODES.set_index("node")["label"].iloc[MIXED[::-1]]
    found = read(EDGES, NODES.drop(columns="label").iloc[MIXED], labels, columns=Columns())
    assert_array_equal(found.codes, read_arrays().codes)


# What is refused


@pytest.mark.parametrize(
    ("edges", "feats", "labels", "train", "columns", "error", "match"),
    [
        (None, GRAPH.features, GRAPH.labels, None, {}, InputError, "edges is missing: pass a table"),
        (EDGES, None, None, None, {}, UnsupportedInputError, "feats is missing: graphs without features"),
        (EDGES, NODES.iloc[:0], None, None, {}, InputError, "feats has no rows: the graph is empty"),
        (EDGES.iloc[:0], NODES, None, None, {}, InputError, "edges is empty: pass at least one edge"),
        (EDGES, NODES, GRAPH.labels, None, {}, ColumnError, "labels= is given together with the feats column 'label'"),
        (EDGES, NODES, None, GRAPH.train, {}, ColumnError, "train= is given together with the feats column 'train'"),
        (EDGES, NODES, None, None, {"label": "y"}, ColumnError, "no labels: pass labels=.*there is no 'y'"),
        (EDGES, NODES, None, None, {"train": "use"}, ColumnError, "feats has no column 'use': correct train_column="),
        (EDGES, NODES, None, None, {"node": "id"}, ColumnError, "feats has no column 'id' .*correct node="),
        (EDGES, GRAPH.features, GRAPH.labels, None, {"node": "id"}, ColumnError, "node='id' names a column.*ndarray"),
        (EDGES, GRAPH.features, None, None, {}, ColumnError, "no labels: pass labels="),
        (EDGES, strangers.DataFrame(NODES), None, None, {}, DeviceError, "edges on host, feats on cuda"),
        (EDGES, NODES.iloc[:-1], None, None, {}, InputError, r"edges name nodes that feats does not have.*\[39\]"),
        (
            networkx_graph(nx.Graph),
            GRAPH.features[:-1],
            GRAPH.labels[:-1],
            None,
            {},
            InputError,
            "feats has 39 rows but the NetworkX graph has 40 nodes",
        ),
        (ADJACENCY, GRAPH.features[:-1], GRAPH.labels[:-1], None, {}, InputError, "feats has 39 rows: pass an N x N"),
    ],
)
def test_what_does_not_fit_together_is_refused(edges, feats, labels, train, columns, error, match):
    with pytest.raises(error, match=match):
        read(edges, feats, labels, train, columns=Columns(**columns))


def test_an_unknown_isolated_node_is_refused():
    graph = networkx_graph(nx.Graph)
    graph.add_node(1000)
    with pytest.raises(InputError, match=r"nodes that feats does not have, such as \[1000\]"):
        read(graph, NODES, columns=Columns())


def test_ids_of_mixed_types_are_refused():
    nodes = NODES.assign(node=[*range(N - 1), "last"])
    with pytest.raises(InputError, match="node ids mix types that do not compare"):
        read(EDGES, nodes, columns=Columns())


def test_ids_of_another_type_are_shown():
    with pytest.raises(InputError, match=r"such as \['0', '10', .*ids of feats are int64, such as \[0, 1, "):
        read(EDGES.astype(str).sort_values("src"), NODES, columns=Columns())


def test_inputs_are_left_as_they_were():
    edges, nodes = EDGES.copy(), NODES.copy()
    matrix = scipy.sparse.csr_matrix(GRAPH.features)
    index, features, labels, train = (np.copy(v) for v in (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train))
    read(edges, nodes, columns=Columns())
    read_arrays(feats=matrix)
    read_arrays(index, features, labels, train)
    pd.testing.assert_frame_equal(edges, EDGES)
    pd.testing.assert_frame_equal(nodes, NODES)
    assert_array_equal(matrix.toarray(), GRAPH.features)
    for changed, original in ((index, GRAPH.edge_index), (features, GRAPH.features), (labels, GRAPH.labels)):
        assert_array_equal(changed, original)
