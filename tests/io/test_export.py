"""Files for other programs: what they read is what there was."""

from __future__ import annotations

import datetime as dt
import json
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import herald_gpu
from herald_gpu import HeraldConfig
from herald_gpu.datasets import make_graph
from herald_gpu.errors import ConfigError, MissingDependencyError
from herald_gpu.io.export import FORMATS, export, write_folder


def condensed(**names):
    g = make_graph(300, n_classes=3, n_features=16, homophily=0.9, seed=2)
    edges, nodes = g.to_frames()
    if names:
        nodes["label"] = nodes["label"].map(dict(enumerate(names["labels"])))
        for table, columns in ((edges, ["src", "dst"]), (nodes, ["node"])):
            table[columns] = table[columns].map(lambda node: f"n{node}")
    return herald_gpu.condense(edges, nodes, ratio=0.2, backend="cpu")


@pytest.fixture(scope="module")
def small():
    return condensed()


@pytest.fixture(scope="module")
def named():
    return condensed(labels=["red", "green", "blue"])


def test_arrays_under_dgl_names(small, tmp_path):
    assert export(small, tmp_path / "x.npz", "npz") == [tmp_path / "x.npz"]
    plain = small.as_type("numpy")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as found:
        assert_array_equal(np.stack([found["src"], found["dst"]]), plain.edge_index)
        assert found["num_nodes"] == len(plain.node_ids)
        assert_array_equal(found["feat"], plain.features)
        assert_array_equal(found["label"], np.where(plain.train_mask, plain.labels, -1))
        assert_array_equal(found["node_ids"], plain.node_ids)
        for name in ("train_mask", "feature_ids", "is_root", "is_landmark", "edge_is_synthetic"):
            assert_array_equal(found[name], getattr(plain, name))
        assert "class_values" not in found


def test_labels_that_are_words_become_numbers(named, tmp_path):
    export(named, tmp_path / "x.npz", "npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as found:
        known = found["label"] >= 0
        assert_array_equal(found["class_values"][found["label"][known]], named.as_type("numpy").labels[known])


def test_pyg(small, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    export(small, tmp_path / "x.pt", "pyg")
    found, wanted = torch.load(tmp_path / "x.pt", weights_only=False), small.to_pyg()
    assert found.keys() == wanted.keys()
    assert torch.equal(found.x, wanted.x)
    assert torch.equal(found.edge_index, wanted.edge_index)


@pytest.mark.parametrize("to", ["networkx", "graphml"])
@pytest.mark.parametrize("kind", ["small", "named"])
def test_networkx(request, kind, to, tmp_path):
    result = request.getfixturevalue(kind)
    export(result, tmp_path / "x", to)
    wanted = result.to_networkx()
    if to == "networkx":
        found = nx.node_link_graph(json.loads((tmp_path / "x").read_text()), edges="edges")
    else:
        found = nx.read_graphml(tmp_path / "x")
        wanted = nx.relabel_nodes(wanted, str)
    assert not found.is_directed()
    assert set(found.nodes) == set(wanted.nodes)
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in wanted.edges}
    for node, data in wanted.nodes(data=True):
        x = found.nodes[node]["x"]
        assert_array_equal(np.float32(json.loads(x) if to == "graphml" else x), data["x"])
        assert [found.nodes[node].get(name) for name in ("label", "train", "is_landmark")] == [
            *(data["label"], data["train"], data["is_landmark"])
        ]
    assert all("is_synthetic" in data for *_, data in found.edges(data=True))


@pytest.mark.parametrize("to", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["small", "named"])
def test_tables(request, kind, to, tmp_path):
    result = request.getfixturevalue(kind)
    files = export(result, tmp_path / "x", to)
    assert [path.name for path in files] == [f"edges.{to}", f"nodes.{to}"]
    read = pd.read_csv if to == "csv" else pd.read_parquet
    edges, nodes = map(read, files)
    given = result.as_type("pandas")
    assert_array_equal(edges[["src", "dst"]].astype(str), given.edges.astype(str))
    assert_array_equal(nodes["node"].astype(str), given.node_ids.astype(str))
    assert_array_equal(nodes["is_landmark"], given.is_landmark)
    assert list(nodes.columns[:5]) == ["node", "label", "train", "is_root", "is_landmark"]
    assert_array_equal(nodes.iloc[:, 5:].astype("float32"), given.features)
    assert list(nodes.columns[5:]) == list(map(str, given.features.columns))


def test_a_folder_with_everything(small, tmp_path):
    write_folder(small, tmp_path / "x", kind="parquet", archive="g.herald")
    names = ["edges.parquet", "g.herald", "nodes.parquet", "report.json"]
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == names
    assert herald_gpu.CondensedGraph.load(tmp_path / "x" / "g.herald").report.n_nodes == small.report.n_nodes


@pytest.mark.parametrize(("to", "library"), [("pyg", "torch_geometric.data"), ("networkx", "networkx")])
def test_a_missing_library_is_named_and_leaves_nothing(small, tmp_path, monkeypatch, to, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=f"{library} is needed for this and is not installed"):
        export(small, tmp_path / "x", to)
    assert list(tmp_path.iterdir()) == []


def test_formats_are_checked(small, tmp_path):
    with pytest.raises(ConfigError, match=r"to='dgl' is no known format: pass one of pyg, npz"):
        export(small, tmp_path / "x", "dgl")
    assert len(FORMATS) == 6


@pytest.mark.parametrize("to", ["npz", "networkx", "graphml", "csv", "parquet"])
@pytest.mark.parametrize("kind", ["dates", "tuples", "seconds"])
def test_ids_of_every_kind_can_be_exported(tmp_path, to, kind):
    g = make_graph(60, n_classes=2, n_features=6, mean_degree=3, seed=1)
    days = np.datetime64("2020-01-01") + np.arange(60)
    ids = {
        "dates": list(days.astype(object)),
        "tuples": [(row, row % 7) for row in range(60)],
        "seconds": list(days.astype("datetime64[s]")),
    }
    graph = nx.Graph()
    graph.add_nodes_from(ids[kind])
    graph.add_edges_from((ids[kind][u], ids[kind][v]) for u, v in g.edge_index.T.tolist())
    labels = np.where(g.labels > 0, dt.date(2020, 1, 1), dt.date(2021, 1, 1))
    small = herald_gpu.condense(
        graph, g.features, labels, g.train, ratio=0.5, config=HeraldConfig(exemplar_rule="landmarks")
    )
    assert all(path.exists() for path in export(small, tmp_path / "out", to))
    for output_type in ("arrow", "polars"):
        assert len(small.as_type(output_type).edges) == small.report.n_edges
        assert len(small.as_type(output_type).node_ids) == small.report.n_nodes
