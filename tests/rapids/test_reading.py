"""Device objects enter without a bounce over the host, and are read as host objects are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import strangers
from support.backends import DEVICES, FACTORIES
from support.transfers import counted_on_device

from herald_gpu import HeraldConfig, condense
from herald_gpu.datasets.synthetic import make_graph
from herald_gpu.errors import ColumnError, DeviceError, InputError, UnsupportedInputError

CONFIG = HeraldConfig(feature_count=20)
COLUMNS = 24


@pytest.fixture(scope="module", params=DEVICES)
def device(request):
    return FACTORIES[request.param]()


@pytest.fixture(scope="module")
def cp(device):
    return device.xp


@pytest.fixture(scope="module")
def cudf(device):  # noqa: ARG001 - a precondition
    return pytest.importorskip("cudf", reason="cuDF is not installed: pip install '.[cu13]'")


@pytest.fixture(scope="module")
def graph():
    return make_graph(200, n_classes=3, n_features=COLUMNS, seed=4)


def named(numbers):
    return np.array([f"n{number:03d}" for number in numbers])


def tables(graph, *, strings):
    """Node and edge tables, rows shuffled, with labels of test nodes missing."""
    edges, nodes = graph.to_frames()
    nodes["label"] = nodes["label"].where(nodes["train"]).astype("Int64")
    if strings:
        nodes["label"] = nodes["label"].map({0: "red", 1: "green", 2: "blue"}, na_action="ignore").astype("str")
        nodes["node"] = named(nodes["node"])
        edges = pd.DataFrame({name: named(edges[name]) for name in edges})
    order = np.random.default_rng(0).permutation(len(nodes))
    return edges, nodes.iloc[order].reset_index(drop=True)


def host(value):
    return value.to_pandas().to_numpy() if hasattr(value, "to_pandas") else value.get()


def assert_same(found, ours):
    np.testing.assert_array_equal(host(found.node_ids), np.asarray(ours.node_ids))
    np.testing.assert_array_equal(found.feature_ids, ours.feature_ids)
    np.testing.assert_allclose(found.adjacency.get().toarray(), ours.adjacency.toarray())
    np.testing.assert_array_equal(host(found.train_mask), np.asarray(ours.train_mask))
    assert found.report.class_counts == ours.report.class_counts
    assert found.report.heterophily == ours.report.heterophily


def test_arrays(device, cp, graph):
    ours = condense(
        graph.edge_index, graph.features, graph.labels, graph.train, ratio=0.2, config=CONFIG, backend="cpu"
    )
    given = [cp.asarray(part) for part in (graph.edge_index, graph.features, graph.labels, graph.train)]
    found = condense(*given, ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, ours)
    assert all(isinstance(part, cp.ndarray) for part in (found.features, found.labels, found.edges, found.node_ids))


def test_sparse_features_and_adjacency_and_ids_of_training_nodes(device, cp):
    graph = make_graph(200, n_classes=3, n_features=COLUMNS, features="bag_of_words", mean_words=6, seed=4)
    ours = condense(
        graph.edge_index, graph.features, graph.labels, graph.train, ratio=0.2, config=CONFIG, backend="cpu"
    )
    source, target = cp.asarray(graph.edge_index)
    ones = cp.ones(source.shape[0], dtype=cp.float32)
    adjacency = device.sparse.coo_matrix((ones, (source, target)), shape=(200, 200)).tocsr()
    features, ids = device.sparse.csr_matrix(graph.features), cp.flatnonzero(cp.asarray(graph.train))
    found = condense(adjacency, features, cp.asarray(graph.labels), ids, ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, ours)
    assert device.sparse.issparse(found.features)


@pytest.mark.parametrize("strings", [False, True])
def test_tables(device, cudf, graph, strings):
    edges, nodes = tables(graph, strings=strings)
    ours = condense(edges, nodes, ratio=0.2, config=CONFIG, backend="cpu")
    found = condense(cudf.DataFrame(edges), cudf.DataFrame(nodes), ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, ours)
    assert isinstance(found.features, cudf.DataFrame)
    assert list(found.features.columns) == list(ours.features.columns)
    known = host(found.train_mask)
    assert host(found.labels)[known].tolist() == ours.labels[known].tolist()


def test_ids_in_the_index_and_with_gaps(device, cudf, graph):
    edges, nodes = tables(graph, strings=False)
    edges, nodes = edges * 7 + 3, nodes.assign(node=nodes["node"] * 7 + 3).set_index("node")
    ours = condense(edges, nodes, ratio=0.2, config=CONFIG, backend="cpu")
    found = condense(cudf.DataFrame(edges), cudf.DataFrame(nodes), ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, ours)


class Proxy(strangers.Proxy):
    """A proxy of `cudf.pandas` whose object can go to the device, or cannot."""

    def __init__(self, value, there=None):
        super().__init__(value)
        self._there = there

    def as_gpu_object(self):
        if self._there is None:
            msg = "cuDF does not support mixed types"
            raise TypeError(msg)
        return self._there


@pytest.mark.parametrize("holds", [True, False])
def test_proxies_are_read_on_the_device_where_they_can_be(device, cudf, graph, holds):
    from herald_gpu.io.read import Columns

    edges, nodes = tables(graph, strings=False)
    given = [Proxy(frame, cudf.DataFrame(frame) if holds else None) for frame in (edges, nodes)]
    found = device.read(*given, None, None, columns=Columns(), unlabelled=-1)
    assert found.on_device == holds
    assert (found.style.edges, found.style.nodes) == ("pandas", "pandas")
    ours = condense(edges, nodes, ratio=0.2, config=CONFIG, backend="cpu")
    small = condense(*given, ratio=0.2, config=CONFIG, backend=device)
    pd.testing.assert_frame_equal(small.features, ours.features)
    pd.testing.assert_series_equal(small.labels, ours.labels)


def test_a_proxy_beside_an_array_of_the_host_comes_to_the_host(device, cudf, graph):
    edges, nodes = tables(graph, strings=False)
    given = Proxy(edges, cudf.DataFrame(edges)), Proxy(nodes.drop(columns="train"), cudf.DataFrame(nodes))
    small = condense(*given, train=nodes["train"].to_numpy(), ratio=0.2, config=CONFIG, backend=device)
    assert isinstance(small.features, pd.DataFrame)


def categorical(nodes):
    """The table of nodes with text, categories, whole numbers and booleans, of which some are missing."""
    rng = np.random.default_rng(1)
    n = len(nodes)
    nodes = nodes.assign(name=[f"x{i}" for i in range(n)], flag=rng.random(n) < 0.5, size=rng.choice([1, 2, 10], n))
    nodes.insert(5, "color", pd.Series(rng.choice(["red", "green", "blue"], n), dtype=object))
    nodes["kind"] = pd.Categorical(rng.choice(["b", "a"], n), categories=["a", "b", "unused"])
    nodes["size"] = nodes["size"].astype("Int64").where(nodes.index > 1)
    nodes["flag"] = nodes["flag"].astype("boolean").where(nodes.index > 2)
    nodes["color"] = nodes["color"].where(nodes.index > 3)
    return nodes


CATEGORIES = {"drop": "name", "categorical": ["color", "flag", "size", "kind"]}


def test_categories_are_encoded_as_on_the_host(device, cudf, graph, caplog):
    edges, nodes = tables(graph, strings=False)
    nodes = categorical(nodes)
    config = HeraldConfig(feature_count=30)
    ours = condense(edges, nodes, ratio=0.4, config=config, backend="cpu", **CATEGORIES)
    found = condense(
        cudf.DataFrame(edges), cudf.DataFrame(nodes), ratio=0.4, config=config, backend=device, **CATEGORIES
    )
    assert found.categories == ours.categories
    assert found.categories["flag"] == [False, True]
    assert found.categories["size"] == [1, 2, 10]
    assert found.categories["kind"] == ["a", "b"]
    assert found.report.warnings == ours.report.warnings
    assert_same(found, ours)
    np.testing.assert_array_equal(host(found.features), np.asarray(ours.features))
    caplog.clear()
    nodes.loc[10:14, "color"] = "teal"
    there, here = found.transform(cudf.DataFrame(nodes)), ours.transform(nodes)
    np.testing.assert_array_equal(host(there), np.asarray(here))
    assert caplog.messages[0] == caplog.messages[1]
    assert "column 'color': 5 of 200 rows have levels that the condensed graph never saw ('teal')" in caplog.messages[0]


def test_features_of_a_table_are_read_in_the_order_of_its_columns(device, cudf, graph):
    from herald_gpu.io.read import Columns, read

    edges, nodes = tables(graph, strings=False)
    nodes, columns = categorical(nodes), Columns(**CATEGORIES)
    ours = read(edges, nodes, columns=columns)
    found = device.read(cudf.DataFrame(edges), cudf.DataFrame(nodes), None, None, columns=columns, unlabelled=-1)
    assert found.feature_ids.tolist() == ours.feature_ids.tolist()
    np.testing.assert_array_equal(found.features.get(), ours.features)


def test_names_of_columns_need_a_table(device, cp, graph):
    given = [cp.asarray(part) for part in (graph.edge_index, graph.features, graph.labels, graph.train)]
    with pytest.raises(ColumnError, match="whose columns have no names"):
        condense(*given, ratio=0.2, config=CONFIG, backend=device, categorical="f0")


def test_only_class_values_come_to_the_host(device, cp, graph):
    from herald_gpu.io.read import Columns

    given = [cp.asarray(part) for part in (graph.edge_index, graph.features, graph.labels, graph.train)]
    with counted_on_device() as transfers:
        found = device.read(*given, columns=Columns(), unlabelled=-1)
    assert transfers.arrays.total() <= 1
    assert all(isinstance(part, cp.ndarray) for part in (found.source, found.features, found.codes, found.train))
    assert found.class_values.tolist() == [0, 1, 2]


# Ids, training marks and labels that are not what they seem


NUMBERED = "the table of nodes has no column 'node': rows are numbered from 0 and these numbers are the node ids"


@pytest.mark.parametrize("kind", ["numbers", "text", "floats"])
def test_ids_in_another_column_are_refused_and_named(device, cudf, graph, kind):
    edges, nodes = tables(graph, strings=kind == "text")
    nodes = nodes.rename(columns={"node": "id"})
    if kind == "floats":
        nodes["id"] = nodes["id"].astype(float)
    words = ["column 'id' looks like node ids (it holds every node that edges name)", "node='id'", "node=None"]
    refused(device, ColumnError, words, cudf.DataFrame(edges), cudf.DataFrame(nodes))
    found = condense(cudf.DataFrame(edges), cudf.DataFrame(nodes), node="id", ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, condense(edges, nodes, node="id", ratio=0.2, config=CONFIG, backend="cpu"))


def test_an_index_beside_a_column_that_could_hold_the_ids(device, cudf, graph):
    edges, nodes = tables(graph, strings=False)
    nodes = nodes.rename(columns={"node": "id"})
    mixed, beyond = nodes.sample(frac=1, random_state=0), nodes.set_index(nodes.index + 1000)
    twice = nodes.set_index(nodes.index // 2)
    for table, words in (
        (mixed, ["both its index and its column 'id'"]),
        (beyond, ["its index lacks nodes", "pass node='id'"]),
        (twice, ["column 'id' looks like node ids"]),
        (twice.drop(columns="id"), ["its index repeats values"]),
    ):
        refused(device, ColumnError, words, cudf.DataFrame(edges), cudf.DataFrame(table))


@pytest.mark.parametrize("node", ["node", None])
def test_rows_that_are_numbered(device, cudf, graph, node):
    edges, nodes = graph.to_frames()
    ours = condense(edges, nodes, ratio=0.2, config=CONFIG, backend="cpu")
    bare = nodes.drop(columns="node").assign(**{"Unnamed: 0": np.arange(len(nodes))})
    given = cudf.DataFrame(edges), cudf.DataFrame(bare)
    found = condense(*given, node=node, ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, ours)
    dropped, *rest = found.report.warnings
    assert "columns ['Unnamed: 0'] are not used as features" in dropped
    assert rest == ([NUMBERED] if node else [])


@pytest.mark.parametrize(
    ("yes", "no", "how"), [(1.0, 0.0, "0/1"), ("Yes", "No", "yes/no"), ("Train", "unused", "words")]
)
def test_training_marks_are_read_as_on_the_host(device, cudf, graph, yes, no, how):
    edges, nodes = graph.to_frames()
    marked = nodes.assign(train=np.where(graph.train, yes, no))
    ours = condense(edges, marked, ratio=0.2, config=CONFIG, backend="cpu")
    found = condense(cudf.DataFrame(edges), cudf.DataFrame(marked), ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, ours)
    assert found.report.warnings == ours.report.warnings
    assert f"column 'train' is read as {how}" in found.report.warnings[0]


def test_a_vector_of_zeros_and_ones_is_a_mask(device, cp, graph):
    arrays = graph.edge_index, graph.features, graph.labels
    ours = condense(*arrays, graph.train, ratio=0.2, config=CONFIG, backend="cpu")
    given = [cp.asarray(part) for part in (*arrays, graph.train.astype(np.int64))]
    found = condense(*given, ratio=0.2, config=CONFIG, backend=device)
    assert_same(found, ours)
    assert found.report.warnings == [f"train is read as 0/1: {graph.train.sum()} of 200 nodes are for training"]


def test_labels_that_mean_unknown_are_counted(device, cp, graph):
    edges, x = cp.asarray(graph.edge_index), cp.asarray(graph.features)
    hidden = cp.asarray(np.where(graph.train, graph.labels, -1))
    found = condense(edges, x, hidden, ratio=0.2, config=CONFIG, backend=device)
    n = int((~graph.train).sum())
    assert found.report.warnings == [f"{n} nodes have the label -1 and count as unlabelled"]
    signs = cp.asarray(np.where(graph.labels > 0, 1, -1))
    refused(device, InputError, ["one class only", "label -1", "unlabelled=None"], edges, x, signs)


# What is refused


def refused(device, error, words, edges, nodes, *rest, **options):
    with pytest.raises(error) as caught:
        condense(edges, nodes, *rest, ratio=0.2, config=CONFIG, backend=device, **options)
    for word in words:
        assert word in str(caught.value)


def test_tables_that_cannot_be_used(device, cudf, graph):
    edges, nodes = tables(graph, strings=True)

    def check(error, *words, edges=edges, nodes=nodes, **options):
        refused(device, error, words, cudf.DataFrame(edges), cudf.DataFrame(nodes), **options)

    check(ColumnError, "'from'", "source=", source="from")
    check(ColumnError, "'id'", "node=", node="id")
    check(ColumnError, "no labels", "label=", nodes=nodes.drop(columns="label"))
    check(ColumnError, "'fit'", "train_column=", train_column="fit", nodes=nodes.drop(columns="train"))
    check(InputError, "duplicate node ids", nodes=pd.concat([nodes, nodes.head(2)]))
    check(InputError, "missing node ids", nodes=nodes.assign(node=nodes["node"].where(nodes.index > 0)))
    check(InputError, "edges name nodes", nodes=nodes.iloc[:150])
    check(InputError, "missing values", edges=edges.assign(dst=edges["dst"].where(edges.index > 0)))
    check(UnsupportedInputError, "'f0'", "are text: pass categorical=['f0']", nodes=nodes.assign(f0="a"))
    check(ColumnError, "no columns ['f99']", "drop=", drop="f99")
    check(ColumnError, "'label' holds the labels", "drop=", drop=["label"])
    check(ColumnError, "'f0' holds values such as", categorical="f0")
    check(ColumnError, "'f0' has 200 levels in 200 rows", categorical="f0", nodes=nodes.assign(f0=nodes["node"]))
    check(UnsupportedInputError, "no feature columns", nodes=nodes[["node", "label", "train"]])
    check(InputError, "NaN", "'f1'", nodes=nodes.assign(f1=nodes["f1"].where(nodes.index > 0)))
    whole = pd.Series(np.arange(len(nodes))).where(nodes.index > 0).astype("Int64")
    check(InputError, "NaN", "'f1'", nodes=nodes.assign(f1=whole))
    check(InputError, "without a label", nodes=nodes.assign(train=True))
    check(InputError, "'train'", "[0, 1, 2]", "write 0/1", nodes=nodes.assign(train=np.arange(len(nodes)) % 3))
    check(InputError, "'train'", "3 missing", nodes=nodes.assign(train=nodes["train"].where(nodes.index > 2, None)))
    lists = pd.Series([[0]] * len(nodes), dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    check(UnsupportedInputError, "'label'", "lists", "multi-label", nodes=nodes.assign(label=lists))


def test_arrays_that_cannot_be_used(device, cp, graph):
    edges, x, y, train = (cp.asarray(part) for part in (graph.edge_index, graph.features, graph.labels, graph.train))
    refused(device, InputError, ["transpose"], edges.T, x, y, train)
    refused(device, InputError, ["199 entries", "200 nodes"], edges, x, y[1:], train)
    refused(device, InputError, ["entries"], edges, x, y, train[1:])
    refused(
        device,
        UnsupportedInputError,
        ["multi-label"],
        edges,
        x,
        cp.concatenate([y[:, None], y[:, None]], axis=1),
        train,
    )
    refused(device, UnsupportedInputError, ["regression"], edges, x, y + 0.5, train)
    refused(device, InputError, ["one class only"], edges, x, y * 0, train)
    refused(device, InputError, ["no labelled node"], edges, x, y * 0 - 1, train)
    refused(device, InputError, ["train names 1 nodes"], edges, x, y, cp.asarray([0, 1, 500]))
    words = ["edges name nodes", "an array of 200 rows", "row numbers 0 to 199", "from 100 to", "pass feats as a table"]
    refused(device, InputError, words, edges + 100, x, y, train)
    refused(device, InputError, ["train has 1 missing"], edges, x, y, cp.asarray([0.5, np.nan]))
    refused(device, InputError, ["[0.5, 1.0]", "or node ids"], edges, x, y, cp.asarray([0.5, 1.0]))
    refused(device, InputError, ["edges is empty"], edges[:, :0], x, y, train)
    refused(device, DeviceError, ["edges on host", "feats on cuda"], graph.edge_index, x, y, train)


def test_marks_and_labels_on_the_host_are_read_beside_a_device_table(device, cp, graph):
    edges, x = cp.asarray(graph.edge_index), cp.asarray(graph.features)
    ours = condense(
        edges, x, cp.asarray(graph.labels), cp.asarray(graph.train), ratio=0.2, config=CONFIG, backend=device
    )
    words = ["train" if one else "test" for one in graph.train]
    found = condense(edges, x, cp.asarray(graph.labels), words, ratio=0.2, config=CONFIG, backend=device)
    assert found.node_ids.tolist() == ours.node_ids.tolist()
    with pytest.raises(ColumnError, match="names a column, but feats is a ndarray without any"):
        condense(edges, x, cp.asarray(graph.labels), ratio=0.2, node="id", config=CONFIG, backend=device)
