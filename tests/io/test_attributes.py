"""Features, labels and training marks from the node attributes of NetworkX graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from numpy.testing import assert_array_equal
from outcomes import RATIO, small_graph

from herald_gpu import condense
from herald_gpu.errors import ColumnError, InputError, UnsupportedInputError
from herald_gpu.io.read import Columns, read

GRAPH = small_graph()
N = GRAPH.n_nodes
MARKS = {"label": GRAPH.labels.tolist(), "train": GRAPH.train.tolist()}
SHUFFLED = np.random.default_rng(2).permutation(N).tolist()


def network(**attributes):
    """Build the graph with these node attributes, its nodes in another order than that of their ids."""
    graph = nx.Graph()
    for node in SHUFFLED:
        graph.add_node(node, **{name: values[node] for name, values in attributes.items()})
    graph.add_edges_from(GRAPH.edge_index.T.tolist())
    return graph


def found(graph, *given, unlabelled=-1, **columns):
    return read(graph, *given, columns=Columns(**columns), unlabelled=unlabelled)


def assert_read(source):
    assert_array_equal(source.node_ids, np.arange(N))
    assert_array_equal(source.features, GRAPH.features)
    assert_array_equal(source.class_values[source.codes], GRAPH.labels)
    assert_array_equal(source.train, GRAPH.train)


@pytest.mark.parametrize(
    "values",
    [GRAPH.features, GRAPH.features.tolist(), list(map(tuple, GRAPH.features.tolist())), torch.tensor(GRAPH.features)],
    ids=["arrays", "lists", "tuples", "tensors"],
)
@pytest.mark.parametrize("feats", ["x", ["x"], None])
def test_one_attribute_holds_vectors(values, feats):
    source = found(network(x=values, **MARKS), feats)
    assert_read(source)
    assert source.feature_ids.tolist() == [f"x{place}" for place in range(6)]
    assert source.style.nodes == "pandas"


def test_several_attributes_hold_a_number_each():
    names = ["age", "income", "a", "b", "c", "d"]
    columns = dict(zip(names, GRAPH.features.T.tolist(), strict=True))
    source = found(network(**columns, **MARKS, other=["text"] * N), names)
    assert_read(source)
    assert source.feature_ids.tolist() == names


def test_numbers_and_vectors_may_meet():
    source = found(network(age=GRAPH.features[:, 0].tolist(), x=GRAPH.features[:, 1:], **MARKS), ("age", "x"))
    assert_read(source)
    assert source.feature_ids.tolist() == ["age", "x0", "x1", "x2", "x3", "x4"]


def test_names_of_labels_and_marks_are_the_callers():
    graph = network(x=GRAPH.features, club=MARKS["label"], seen=MARKS["train"], label=["wrong"] * N)
    assert_read(found(graph, "x", label="club", train="seen"))


def test_what_is_given_apart_goes_before_attributes():
    graph = network(x=GRAPH.features, label=["wrong"] * N, train=[False] * N)
    assert_read(found(graph, "x", GRAPH.labels[SHUFFLED], GRAPH.train[SHUFFLED]))
    assert_read(found(graph, GRAPH.features[SHUFFLED], GRAPH.labels[SHUFFLED], GRAPH.train[SHUFFLED]))


@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_matrix, torch.tensor])
def test_a_matrix_of_features_meets_labels_and_marks_of_nodes(kind):
    source = found(network(**MARKS), kind(GRAPH.features[SHUFFLED]))
    dense = source.features.toarray() if scipy.sparse.issparse(source.features) else source.features
    assert_array_equal(dense, GRAPH.features)
    assert_array_equal(source.class_values[source.codes], GRAPH.labels)
    assert_array_equal(source.train, GRAPH.train)


def test_a_table_has_labels_and_marks_of_its_own():
    _, nodes = GRAPH.to_frames()
    assert_read(found(network(label=["wrong"] * N, train=[False] * N), nodes))
    with pytest.raises(ColumnError, match="no labels"):
        found(network(**MARKS), nodes.drop(columns="label"))


def test_a_path_is_the_path_of_a_table(tmp_path):
    _, nodes = GRAPH.to_frames()
    nodes.to_parquet(tmp_path / "nodes.parquet")
    assert_read(found(network(), tmp_path / "nodes.parquet"))
    with pytest.raises(ColumnError, match=r"correct feats=, or pass the path of a file as a pathlib.Path"):
        found(network(**MARKS), str(tmp_path / "nodes.parquet"))


def test_nodes_without_a_label_are_unlabelled():
    graph = network(x=GRAPH.features, label=MARKS["label"])
    del graph.nodes[3]["label"]
    graph.nodes[4]["label"] = None
    graph.nodes[5]["label"] = -1
    source = found(graph)
    assert_array_equal(np.flatnonzero(~source.train), [3, 4, 5])
    assert_array_equal(source.codes[3:6], -1)


def test_without_marks_all_labelled_nodes_train():
    assert found(network(x=GRAPH.features, label=MARKS["label"])).train.all()


def test_ids_may_be_tuples_or_text():
    graph = network(x=GRAPH.features, **MARKS)
    for names in ([f"n{i:02d}" for i in range(N)], [(i // 8, i % 8) for i in range(N)]):
        source = found(nx.relabel_nodes(graph, dict(enumerate(names))))
        assert source.node_ids.tolist() == names
        assert_array_equal(source.features, GRAPH.features)


def test_an_empty_list_names_nothing():
    with pytest.raises(InputError, match="feats"):
        found(network(**MARKS), [])


def without(name, *nodes):
    graph = network(x=GRAPH.features, age=[1.0] * N, **MARKS)
    for node in nodes:
        del graph.nodes[node][name]
    return graph


@pytest.mark.parametrize(
    ("graph", "feats", "columns", "error", "match"),
    [
        (
            without("x", 7, 9),
            None,
            {},
            InputError,
            r"2 of 40 nodes of the NetworkX graph have no attribute 'x', such as node [79]: set it on every node",
        ),
        (without("age", 7), ["x", "age"], {}, InputError, "1 of 40 nodes .* no attribute 'age', such as node 7"),
        (without("train", 5), "x", {}, InputError, "no attribute 'train', such as node 5.* or correct train_column="),
        (
            without("x", *range(N)),
            None,
            {},
            UnsupportedInputError,
            r"feats is missing, .*nodes have \['age', 'label', 'train'\]\): name the attributes",
        ),
        (without("x"), "y", {}, ColumnError, r"no node .* has an attribute 'y' \(nodes have .*\): correct feats=$"),
        (without("x"), "x", {"label": "y"}, ColumnError, "no labels: no node .* 'y' .*name the attribute with label="),
        (without("x"), "x", {"train": "y"}, ColumnError, "no node .* 'y' .*correct train_column="),
        (without("x"), ["x", "label"], {}, ColumnError, r"feats names \['label'\]: ids, labels and training marks"),
        (without("x"), "x", {"node": None}, ColumnError, "node=None is for tables without ids"),
        (
            network(x=[[1.0] * (2 + i % 2) for i in range(N)], **MARKS),
            "x",
            {},
            InputError,
            r"'x' has values of the shapes \[\(2,\), \(3,\)\]: give all nodes vectors of one length",
        ),
        (network(x=[[[1.0]]] * N, **MARKS), "x", {}, InputError, r"'x' has values of the shapes \[\(1, 1\)\]"),
        (nx.Graph(), "x", {}, ColumnError, "no node of the NetworkX graph has an attribute 'x'"),
    ],
)
def test_what_nodes_do_not_have_is_named(graph, feats, columns, error, match):
    with pytest.raises(error, match=match):
        found(graph, feats, **columns)


def test_a_condensed_graph_goes_around():
    first = condense(network(x=GRAPH.features, **MARKS), ratio=RATIO)
    assert isinstance(first.features, pd.DataFrame)
    again = first.to_networkx()
    source = found(again)
    assert source.node_ids.tolist() == sorted(again.nodes)
    assert_array_equal(source.features, first.features.to_numpy())
    assert_array_equal(source.train, first.train_mask)
    assert condense(again, ratio=0.9).report.storage_ratio <= 0.9


def test_the_graph_that_attributes_make_is_that_of_arrays():
    ours = condense(network(x=GRAPH.features, **MARKS), ratio=RATIO)
    theirs = condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO)
    assert_array_equal(ours.node_ids, theirs.node_ids)
    assert_array_equal(ours.features.to_numpy(), theirs.features)
    assert_array_equal(ours.transform(GRAPH.features), theirs.transform(GRAPH.features))
