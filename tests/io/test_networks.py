"""NetworkX graphs in and out."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from herald_gpu.io.networks import as_ids, read_networkx, to_networkx

PAIRS = [("a", "b"), ("b", "c")]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_every_kind_of_graph_gives_its_nodes_and_edges(kind):
    graph = kind(PAIRS)
    graph.add_node("alone")
    ids, source, target, warnings = read_networkx(graph)
    assert ids.tolist() == ["a", "b", "c", "alone"]
    assert set(zip(source.tolist(), target.tolist(), strict=True)) == set(PAIRS)
    assert warnings == []


def test_parallel_edges_are_all_given():
    graph = nx.MultiGraph([("a", "b"), ("a", "b")])
    _, source, _, _ = read_networkx(graph)
    assert len(source) == 2


def test_attributes_of_any_edge_are_ignored_with_a_warning():
    graph = nx.Graph(PAIRS)
    graph.edges["b", "c"]["weight"] = 2
    *_, warnings = read_networkx(graph)
    assert warnings == ["edge attributes ['weight'] are ignored"]


def test_a_graph_without_edges_is_read():
    ids, source, target, _ = read_networkx(nx.empty_graph(2))
    assert ids.tolist() == [0, 1]
    assert len(source) == len(target) == 0


@pytest.mark.parametrize(
    ("values", "kind"),
    [([1, 2], "i"), (["a", "bb"], "U"), ([(0, 1), (2, 3)], "O"), ([1, "a"], "O"), ([1, (2, 3)], "O"), ([], "O")],
)
def test_ids_stay_what_they_are(values, kind):
    array = as_ids(values)
    assert array.ndim == 1
    assert array.dtype.kind == kind
    assert array.tolist() == values


def test_the_way_out_keeps_isolated_nodes_and_attributes():
    edge_index = np.array([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]])
    graph = to_networkx(np.array(["x", "y", "z", "w"]), edge_index, {"label": [1, 2, None, 4]})
    assert set(graph.edges) == {("x", "y"), ("y", "z"), ("z", "z")}
    assert dict(graph.nodes(data="label")) == {"x": 1, "y": 2, "z": None, "w": 4}
    assert not graph.is_directed()
