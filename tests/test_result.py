"""CondensedGraph: consistent parts, transform, converters, and files that bring back the same graph."""

from __future__ import annotations

import copy
import html
import io
import multiprocessing
import pickle
import re
import sys
import zipfile
from dataclasses import replace
from fractions import Fraction

import joblib
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
import strangers
import torch
from numpy.testing import assert_allclose, assert_array_equal
from outcomes import HOMOPHILIC, LANDMARKS, RATIO, assert_same, plain, small_graph

import herald_gpu
from herald_gpu import CondensedGraph, HeraldConfig, condense
from herald_gpu.datasets import make_graph
from herald_gpu.errors import InputError, MissingDependencyError
from herald_gpu.io import present
from herald_gpu.io.fingerprint import fingerprint

GRAPH = small_graph(**HOMOPHILIC)
WORDS = small_graph("bag_of_words", **HOMOPHILIC)
N = GRAPH.n_nodes
EDGES, NODES = GRAPH.to_frames()
CONFIGS = {
    "default": HeraldConfig(),
    "linked": HeraldConfig(**LANDMARKS),
    "real": HeraldConfig(landmarks=False, edges="real", encoding="graph"),
    "paper": HeraldConfig.paper(),
    "pca": HeraldConfig.paper(pca_variance=0.9),
    "default with pca": HeraldConfig(pca_variance=0.9),
    "published": HeraldConfig.published("scaled"),
    "published citation": HeraldConfig.published("citation"),
    "published with pca": HeraldConfig.published("scaled", pca_variance=0.9),
}


def arrays(graph=GRAPH, **options):
    return condense(graph.edge_index, graph.features, graph.labels, graph.train, **{"ratio": 0.9, **options})


@pytest.fixture(scope="module")
def result():
    return arrays()


@pytest.fixture(scope="module", params=CONFIGS)
def configured(request):
    return arrays(config=CONFIGS[request.param])


# Parts


def test_all_parts_speak_of_the_same_nodes(configured):
    r = configured
    n = r.report.n_nodes
    assert r.adjacency.shape == (n, n)
    for part in (r.features, r.labels, r.train_mask, r.node_ids, r.is_root, r.is_landmark):
        assert len(part) == n
    assert (np.diff(r.node_ids) > 0).all()
    rows, columns = r.adjacency.nonzero()
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == set(zip(*r.edge_index.tolist(), strict=True))
    assert_array_equal(r.edges, r.node_ids[r.edge_index])
    assert r.edge_is_synthetic.shape == r.edge_index[0].shape
    assert (np.diff(r.is_landmark.astype(int)) >= 0).all()
    assert not (r.node_ids[r.is_landmark] < N).any()
    assert not (r.is_root & r.is_landmark).any()


@pytest.mark.parametrize("name", ["real", "paper"])
def test_edges_are_those_of_the_full_graph_among_kept_nodes(name):
    result = arrays(config=CONFIGS[name])
    kept = set(result.node_ids.tolist())
    expected = {(u, v) for u, v in GRAPH.edge_index.T.tolist() if u in kept and v in kept}
    assert set(map(tuple, result.edges.T.tolist())) == expected
    assert not result.edge_is_synthetic.any()
    assert not result.is_landmark.any()


@pytest.mark.parametrize("name", ["default", "linked"])
def test_other_edges_are_marked(name):
    result = arrays(config=CONFIGS[name])
    kept = set(result.node_ids[~result.is_landmark].tolist())
    expected = {(u, v) for u, v in GRAPH.edge_index.T.tolist() if u in kept and v in kept}
    synthetic = result.edge_is_synthetic
    assert set(map(tuple, result.edges[:, ~synthetic].T.tolist())) == expected
    assert not expected & set(map(tuple, result.edges[:, synthetic].T.tolist()))
    assert result.is_landmark.any() == synthetic.any()
    assert synthetic.any() or name != "linked"


def test_the_adjacency_is_that_of_a_simple_graph(configured):
    assert (abs(configured.adjacency - configured.adjacency.T)).nnz == 0
    assert (configured.adjacency.data == 1).all()
    assert configured.adjacency.diagonal().sum() == 0


@pytest.mark.parametrize("name", ["real", "paper"])
def test_features_are_the_kept_columns(name):
    result = arrays(config=CONFIGS[name])
    assert_array_equal(result.features, GRAPH.features[np.ix_(result.node_ids, result.feature_ids)])


def test_labels_are_those_of_training_nodes_and_landmarks_only(configured):
    own = ~configured.is_landmark
    ids = configured.node_ids[own]
    train = GRAPH.train[ids]
    assert_array_equal(configured.labels[own], np.where(train, GRAPH.labels[ids], -1))
    assert not (configured.train_mask[own] & ~train).any()
    assert configured.labels[~own].tolist() == [0, 1, 2, 0, 1, 2][: (~own).sum()]
    assert configured.train_mask[~own].all()


def test_training_nodes_of_published_are_roots():
    r = arrays(config=CONFIGS["published"])
    assert_array_equal(r.train_mask, GRAPH.train[r.node_ids] & r.is_root)


def test_scores_cover_the_full_graph():
    scores = arrays(config=CONFIGS["paper"]).scores
    assert list(scores) == ["node", "prototype", "boundary", "lid", "score", "rank"]
    assert scores["node"].tolist() == list(range(N))
    assert scores["score"].between(0, 1).all()
    train = scores[GRAPH.train]
    assert sorted(train["rank"]) == list(range(1, GRAPH.train.sum() + 1))
    assert (scores["rank"][~GRAPH.train] == 0).all()
    assert train.sort_values("rank")["score"].round(9).is_monotonic_decreasing
    assert (scores["boundary"][~GRAPH.train] == 0).all()


def test_exemplars_are_ranked_and_described(result):
    scores = result.scores
    assert list(scores) == ["node", "prototype", "boundary", "rank"]
    assert scores["node"].tolist() == list(range(N))
    assert sorted(scores["rank"][GRAPH.train]) == list(range(1, GRAPH.train.sum() + 1))
    assert (scores["rank"][~GRAPH.train] == 0).all()
    scored = arrays(config=HeraldConfig.paper(feature_count=result.report.feature_count)).scores
    assert_array_equal(scores[["prototype", "boundary"]], scored[["prototype", "boundary"]])


def test_scores_speak_in_the_callers_ids():
    names = np.array([f"n{i:02d}" for i in range(N)])
    r = condense(EDGES.apply(lambda ends: names[ends]), NODES.assign(node=names), ratio=RATIO)
    assert r.scores["node"].tolist() == names.tolist()


def test_repr_and_str_are_readable(result):
    assert repr(result).startswith(f"<CondensedGraph: {result.report.n_nodes} nodes")
    assert str(result) == str(result.report)


def test_as_type_changes_the_kind_and_nothing_else(result):
    frames = result.as_type("pandas")
    assert isinstance(frames.features, pd.DataFrame)
    assert_same(frames, result)
    assert_same(frames.as_type("numpy"), result)


# transform


def test_transform_of_the_full_graph_holds_the_condensed_features(configured):
    wide = configured.transform(GRAPH.features)
    assert wide.shape == (N, configured.features.shape[1])
    assert wide.dtype == np.float32
    own = ~configured.is_landmark
    scales = configured._contents.scales
    assert (scales is not None) == configured.report.encoding.endswith("int8")
    loss = 1e-6 if scales is None else 0.5 * scales + 1e-6
    ours = configured.features[own]
    share = 5e-4 if configured.report.encoding.endswith("float16") else 1e-6
    assert (np.abs(wide[configured.node_ids[own]] - ours) <= loss + share * np.abs(ours)).all()


def test_transform_selects_scales_and_reduces_new_nodes():
    new = np.random.default_rng(1).normal(size=(5, 6)).astype(np.float32)
    plain_result = arrays(config=CONFIGS["default"])
    assert_array_equal(plain_result.transform(new), new[:, plain_result.feature_ids])
    scaled = arrays(config=CONFIGS["published"])
    mean, deviation = GRAPH.features.mean(axis=0, dtype=np.float64), GRAPH.features.std(axis=0, dtype=np.float64)
    kept = scaled.feature_ids
    assert_allclose(scaled.transform(new), ((new - mean) / deviation)[:, kept], rtol=1e-5, atol=1e-6)
    reduced = arrays(config=CONFIGS["pca"])
    center, components = reduced._contents.reduction
    assert_allclose(reduced.transform(new), (new[:, reduced.feature_ids] - center) @ components.T, rtol=1e-5, atol=1e-5)
    assert reduced.features.shape[1] == reduced.report.component_count
    assert reduced.transform(new[:0]).shape == (0, reduced.report.component_count)


@pytest.mark.parametrize("name", CONFIGS)
def test_transform_gives_the_same_numbers_for_every_kind(name):
    r = condense(EDGES, NODES, ratio=0.9, config=CONFIGS[name])
    x, names = GRAPH.features, [f"f{i}" for i in range(6)]
    expected = r.transform(x)
    frame = pd.DataFrame(x, columns=names, index=[f"new{i}" for i in range(N)])
    sparse_frame = pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(x), columns=names).fillna(0)
    for given, kind in (
        (x.tolist(), np.ndarray),
        (torch.tensor(x), torch.Tensor),
        (frame[names[::-1]], pd.DataFrame),
        (frame.assign(extra="ignored", label=1), pd.DataFrame),
        (pl.DataFrame({n: x[:, i] for i, n in enumerate(names)}), pl.DataFrame),
        (pa.table({n: x[:, i] for i, n in enumerate(names)}), pa.Table),
        (sparse_frame, pd.DataFrame),
        (strangers.Proxy(frame), pd.DataFrame),
    ):
        found = r.transform(given)
        assert isinstance(found, kind)
        assert_array_equal(plain(found), expected)
    assert r.transform(frame).index.equals(frame.index)
    assert list(r.transform(frame)) == list(r.features)
    for matrix in (scipy.sparse.csr_matrix(x), scipy.sparse.csr_array(x), torch.tensor(x).to_sparse_coo()):
        assert_array_equal(plain(r.transform(matrix)), expected)


def test_transform_keeps_sparse_sparse():
    r = arrays(WORDS)
    found = r.transform(WORDS.features)
    assert scipy.sparse.issparse(found)
    own = ~r.is_landmark
    assert_array_equal(found.toarray()[r.node_ids[own]], r.features.toarray()[own])
    assert r.transform(torch.tensor(WORDS.features.toarray()).to_sparse_coo()).is_sparse
    assert isinstance(arrays(WORDS, config=CONFIGS["published"]).transform(WORDS.features), np.ndarray)


def test_transform_of_device_arrays(monkeypatch, result):
    strangers.install(monkeypatch)
    found = result.transform(strangers.ndarray(GRAPH.features))
    assert_array_equal(found.get(), result.transform(GRAPH.features))


def test_pca_components_are_named_and_its_columns_known():
    r = condense(EDGES, NODES, ratio=0.9, config=CONFIGS["pca"])
    assert list(r.features) == [f"pc{i}" for i in range(r.report.component_count)]
    assert set(r.feature_ids) <= {f"f{i}" for i in range(6)}
    assert r.report.storage_ratio <= 0.9
    center, components = r._contents.reduction
    n, p = r.features.shape
    size = 2 * (2 * n * p + 2 * r.adjacency.nnz) + 4 * (components.size + center.size)
    assert r.report.storage_bytes == size


def test_features_that_were_not_kept_may_be_missing_or_bad():
    r = condense(EDGES, NODES, ratio=RATIO, config=HeraldConfig(feature_count=2))
    unused = next(name for name in (f"f{i}" for i in range(6)) if name not in r.feature_ids)
    expected = r.transform(NODES)
    assert_array_equal(r.transform(NODES.drop(columns=unused)), expected)
    assert_array_equal(r.transform(NODES.assign(**{unused: np.nan})), expected)


# Converters


def test_to_scipy(configured):
    adjacency, features = configured.to_scipy()
    assert scipy.sparse.issparse(adjacency)
    assert scipy.sparse.issparse(features)
    assert adjacency.format == features.format == "csr"
    assert_array_equal(adjacency.toarray(), configured.adjacency.toarray())
    assert_array_equal(features.toarray(), configured.features)


@pytest.mark.parametrize("name", ["linked", "paper"])
def test_to_networkx(name):
    names = np.array([f"n{i:02d}" for i in range(N)])
    options = {"ratio": 0.9, "config": CONFIGS[name]}
    r = condense(EDGES.apply(lambda ends: names[ends]), NODES.assign(node=names), **options)
    graph = r.to_networkx()
    assert type(graph) is nx.Graph
    assert list(graph.nodes) == r.node_ids.tolist()
    assert 2 * graph.number_of_edges() == r.report.n_edges
    for (u, v), synthetic in zip(r.edges.itertuples(index=False), r.edge_is_synthetic, strict=True):
        assert graph.edges[u, v] == {"is_synthetic": synthetic}
    assert r.edge_is_synthetic.any() == r.is_landmark.any() == (name == "linked")
    for node, label, train, root, landmark, row in zip(
        r.node_ids, r.labels, r.train_mask, r.is_root, r.is_landmark, r.features.to_numpy(), strict=True
    ):
        data = graph.nodes[node]
        assert data["label"] == (None if pd.isna(label) else label)
        assert data["train"] is bool(train)
        assert data["is_root"] is bool(root)
        assert data["is_landmark"] is bool(landmark)
        assert_array_equal(data["x"], row)


@pytest.mark.parametrize("name", ["linked", "paper"])
def test_to_pyg(name):
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    result = arrays(config=CONFIGS[name])
    data = result.to_pyg()
    assert data.validate()
    assert data.num_nodes == result.report.n_nodes
    assert data.num_edges == result.report.n_edges
    assert data.is_undirected()
    assert_array_equal(data.x.numpy(), result.features)
    assert_array_equal(data.y.numpy(), result.labels)
    assert_array_equal(data.train_mask.numpy(), result.train_mask)
    assert_array_equal(data.is_landmark.numpy(), result.is_landmark)
    assert_array_equal(data.edge_is_synthetic.numpy(), result.edge_is_synthetic)
    assert_array_equal(data.n_id.numpy(), np.where(result.is_landmark, -1, result.node_ids))
    assert data.y.dtype == data.edge_index.dtype == torch.int64


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64])
def test_to_pyg_has_the_ids_of_tables(dtype):
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    edges, nodes = EDGES.astype(dtype) + 100, NODES.assign(node=NODES["node"].astype(dtype) + 100)
    result = condense(edges, nodes, ratio=RATIO, config=CONFIGS["linked"])
    own, synthetic = result.to_pyg().n_id, result.is_landmark.to_numpy()
    ids = result.node_ids.to_numpy()
    if dtype is np.uint64:  # torch has no such tensors to compute with
        assert own == [None if new else int(node) for node, new in zip(ids, synthetic, strict=True)]
    else:
        assert own.dtype == torch.int64
        assert_array_equal(own, np.where(synthetic, -1, ids.astype(np.int64)))


def test_to_pyg_keeps_class_values_that_are_indices_and_numbers_the_rest():
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    given = {"ratio": 0.9, "config": CONFIGS["paper"]}
    gaps = condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels * 5, GRAPH.train, **given).to_pyg()
    assert set(gaps.y.tolist()) == {-1, 0, 5, 10}
    named = np.array(["x", "y", "z"])[GRAPH.labels]
    words = condense(GRAPH.edge_index, GRAPH.features, named, GRAPH.train, **given).to_pyg()
    assert words.class_values == ["x", "y", "z"]
    assert set(words.y.tolist()) == {-1, 0, 1, 2}
    below = condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels - 5, GRAPH.train, **given).to_pyg()
    assert below.class_values == [-5, -4, -3]
    assert set(below.y.tolist()) == {-1, 0, 1, 2}


def test_to_pyg_with_sparse_features_and_string_ids():
    pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    edges, nodes = WORDS.to_frames()
    names = np.array([f"n{i:02d}" for i in range(N)])
    r = condense(edges.apply(lambda ends: names[ends]), nodes.assign(node=names), ratio=RATIO)
    data = r.to_pyg()
    assert r.is_landmark.any()
    assert data.n_id == [None if synthetic else own for own, synthetic in zip(r.node_ids, r.is_landmark, strict=True)]
    assert_array_equal(data.x.numpy(), r.features.to_numpy())


def test_to_dgl_uses_the_calls_of_dgl(monkeypatch, configured):
    monkeypatch.setitem(sys.modules, "dgl", strangers.dgl())
    graph = configured.to_dgl()
    n, m = configured.report.n_nodes, configured.report.n_edges
    assert (graph.num_nodes(), graph.num_edges()) == (n, m)
    assert_array_equal(torch.stack(graph.edges()).numpy(), configured.edge_index)
    assert graph.ndata.keys() == {"feat", "label", "train_mask", "is_root", "is_landmark"}
    assert_array_equal(graph.ndata["feat"].numpy(), configured.features)
    assert_array_equal(graph.ndata["label"].numpy(), configured.labels)
    for name in ("train_mask", "is_root", "is_landmark"):
        assert graph.ndata[name].dtype == torch.bool
        assert_array_equal(graph.ndata[name].numpy(), getattr(configured, name))
    assert graph.edata.keys() == {"is_synthetic"}
    assert_array_equal(graph.edata["is_synthetic"].numpy(), configured.edge_is_synthetic)
    assert (graph.ndata["feat"].dtype, graph.ndata["label"].dtype) == (torch.float32, torch.int64)


def test_to_dgl_of_sparse_features(monkeypatch):
    monkeypatch.setitem(sys.modules, "dgl", strangers.dgl())
    result = arrays(WORDS)
    assert_array_equal(result.to_dgl().ndata["feat"].numpy(), result.features.toarray())


def test_to_dgl_says_what_is_missing(monkeypatch, result):
    monkeypatch.setitem(sys.modules, "dgl", None)
    with pytest.raises(MissingDependencyError, match="dgl is needed for this and is not installed: pip install dgl"):
        result.to_dgl()


# Notebooks


def test_notebooks_show_a_table(result):
    text = result._repr_html_()
    assert text == result.report._repr_html_()
    (caption,) = re.findall("<caption>(.*?)</caption>", text)
    rows = re.findall("<tr><th>(.*?)</th><td>(.*?)</td></tr>", text)
    title, *lines = str(result).splitlines()
    assert caption == title
    assert [f"  {name:<13}{html.unescape(said)}" for name, said in rows] == lines
    assert re.sub("</?(table|caption|tbody|tr|th|td)>", "", text).count("<") == 0


def test_the_table_for_notebooks_is_escaped():
    odd = np.array(["<script>alert(1)</script>", "a&b", '"'])[GRAPH.labels]
    text = condense(GRAPH.edge_index, GRAPH.features, odd, GRAPH.train, ratio=0.9)._repr_html_()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a&amp;b" in text


def test_a_published_graph_is_shown_too():
    rows = re.findall("<th>(.*?)</th>", arrays(config=CONFIGS["published"])._repr_html_())
    assert rows[:3] == ["storage", "as published", "share"]


# Copies


def through_torch(value):
    stream = io.BytesIO()
    torch.save(value, stream)
    return torch.load(io.BytesIO(stream.getvalue()), weights_only=False)


def through_joblib(value):
    stream = io.BytesIO()
    joblib.dump(value, stream)
    return joblib.load(io.BytesIO(stream.getvalue()))


COPIES = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301 - our own
    "oldest pickle": lambda value: pickle.loads(pickle.dumps(value, protocol=2)),  # noqa: S301
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "torch": through_torch,
    "joblib": through_joblib,
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", ["arrays", "frames", "polars", "tensors", "sparse", "strings", "published with pca"])
def test_copies_are_the_same_graph(kind, way):
    graph = KINDS[kind]()
    _ = graph.features, graph._edge_index, graph._host  # cached
    again = COPIES[way](graph)
    assert vars(again).keys() == {"_contents", "report"}
    assert_same(again, graph)
    assert_equal_parts(again, graph)
    assert again.report == graph.report
    full = WORDS.features if kind == "sparse" else GRAPH.features
    assert_array_equal(plain(again.transform(full)), plain(graph.transform(full)))


def test_a_deep_copy_is_a_graph_of_its_own(result):
    again = copy.deepcopy(result)
    again.features[:] = 0
    again.report.warnings.append("of the copy")
    assert result.features.any()
    assert "of the copy" not in result.report.warnings


def test_a_graph_passes_through_spawned_processes(result):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        again = pool.apply(copy.copy, (result,))
        made = pool.apply(
            condense, (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train), {"ratio": 0.9, "backend": "cpu"}
        )
    assert_same(again, result)
    assert_same(made, result)


def test_joblib_workers_take_and_give_graphs(result):
    (again,) = joblib.Parallel(n_jobs=2)([joblib.delayed(copy.copy)(result)])
    assert_same(again, result)


def test_a_graph_on_a_device_is_copied_to_the_host(result):
    class Elsewhere:
        """A presenter that only its own process has."""

        xp = np

        def __reduce__(self):
            msg = "a presenter must stay behind"
            raise TypeError(msg)

    held = CondensedGraph(replace(result._contents, present=Elsewhere()), result.report)
    for again in (pickle.loads(pickle.dumps(held)), copy.deepcopy(held)):  # noqa: S301 - our own
        assert again._contents.present is present
        assert_same(again, result)


# Files

KINDS = {
    "arrays": arrays,
    "frames": lambda: condense(EDGES, NODES, ratio=0.9),
    "polars": lambda: condense(*(pl.DataFrame(f.to_dict("list")) for f in (EDGES, NODES)), ratio=0.9),
    "arrow": lambda: condense(pa.Table.from_pandas(EDGES), pa.Table.from_pandas(NODES), ratio=0.9),
    "tensors": lambda: condense(
        *(torch.tensor(v) for v in (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train)), ratio=0.9
    ),
    "sparse": lambda: arrays(WORDS),
    "sparse frames": lambda: condense(*WORDS.to_frames(), ratio=0.9),
    "networkx": lambda: condense(nx.DiGraph(GRAPH.edge_index.T.tolist()).to_undirected(), NODES, ratio=0.9),
    "strings": lambda: condense(
        EDGES.apply(lambda ends: np.array([f"n{i:02d}" for i in range(N)])[ends]),
        NODES.assign(node=[f"n{i:02d}" for i in range(N)], label=np.array(["x", "y", "z"])[NODES["label"]]),
        ratio=0.9,
        unlabelled="?",
    ),
    "named unlabelled": lambda: arrays(unlabelled=np.int64(-9)),
    "null unlabelled": lambda: arrays(unlabelled=None),
    "boolean labels": lambda: condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels > 0, GRAPH.train, ratio=0.9),
    "numbers as classes": lambda: condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels * 5, GRAPH.train, ratio=0.9),
    **{name: (lambda config=config: arrays(config=config)) for name, config in CONFIGS.items()},
}


def assert_equal_parts(one, two):
    vectors = ("labels", "train_mask", "node_ids", "is_root", "is_landmark", "edge_is_synthetic")
    for name in ("edges", "edge_index", "features", *vectors, "scores"):
        a, b = getattr(one, name), getattr(two, name)
        assert type(a) is type(b)
        if isinstance(a, pd.DataFrame):
            pd.testing.assert_frame_equal(a, b)
        elif isinstance(a, pd.Series):
            pd.testing.assert_series_equal(a, b)
        elif isinstance(a, pl.DataFrame | pl.Series | pa.Table | pa.Array):
            assert a.equals(b)
        else:
            assert_array_equal(plain(a), plain(b))


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_graph_comes_back_whole(kind, tmp_path):
    saved = KINDS[kind]()
    saved.save(tmp_path / "graph.herald", with_scores=True)
    loaded = CondensedGraph.load(tmp_path / "graph.herald")
    assert_same(saved, loaded)
    assert saved.report == loaded.report
    assert str(saved) == str(loaded)
    assert_equal_parts(saved, loaded)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.herald"]


def test_a_loaded_graph_transforms(tmp_path, configured):
    configured.save(tmp_path / "graph.herald")
    loaded = CondensedGraph.load(str(tmp_path / "graph.herald"))
    assert_array_equal(loaded.transform(GRAPH.features), configured.transform(GRAPH.features))


def test_load_may_change_the_kind(tmp_path, result):
    result.save(tmp_path / "graph.herald", with_scores=True)
    loaded = CondensedGraph.load(tmp_path / "graph.herald", output_type="pandas")
    assert_equal_parts(loaded, result.as_type("pandas"))


@pytest.mark.parametrize("with_scores", [True, False])
def test_saving_again_replaces_the_file_on_request(tmp_path, result, with_scores):
    path = tmp_path / "graph.herald"
    first = arrays(WORDS)
    first.save(path, with_scores=True)
    with pytest.raises(InputError, match=r"path=.*graph.herald' exists: pass overwrite=True to replace it"):
        result.save(path)
    assert_same(CondensedGraph.load(path), first)
    result.save(path, overwrite=True, with_scores=with_scores)
    loaded = CondensedGraph.load(path)
    assert loaded.has_scores == with_scores
    loaded.save(tmp_path / "again.herald", with_scores=with_scores)
    assert (tmp_path / "again.herald").read_bytes() == path.read_bytes()


def test_scores_are_saved_on_request_only(tmp_path, configured):
    small = configured.save(tmp_path / "small.herald")
    large = configured.save(tmp_path / "large.herald", with_scores=True)
    assert (small, large) == tuple((tmp_path / name).stat().st_size for name in ("small.herald", "large.herald"))
    loaded, whole = (CondensedGraph.load(tmp_path / name) for name in ("small.herald", "large.herald"))
    assert_same(whole, configured)
    assert (loaded.has_scores, whole.has_scores, configured.has_scores) == (False, True, True)
    assert loaded.training_mark == whole.training_mark == configured.training_mark
    assert loaded._contents.scores == {}
    with pytest.raises(InputError, match=r"scores are not in the file.*save\(path, with_scores=True\)"):
        _ = loaded.scores
    with pytest.raises(InputError, match="scores are not in the file"):
        loaded.save(tmp_path / "none.herald", with_scores=True)
    assert not (tmp_path / "none.herald").exists()
    assert loaded.report == configured.report
    for name in ("edges", "features", "labels", "train_mask", "node_ids", "is_root", "is_landmark", "adjacency"):
        assert_array_equal(plain(getattr(loaded, name)), plain(getattr(configured, name)))


def test_the_mark_is_that_of_the_training_nodes(result):
    assert result.training_mark == fingerprint(np.flatnonzero(GRAPH.train))
    assert result.training_mark != fingerprint(np.flatnonzero(GRAPH.train)[1:])


def test_a_file_is_not_much_larger_than_its_nominal_bytes(tmp_path):
    g = make_graph(4000, n_classes=2, n_features=8, seed=3)
    small = condense(g.edge_index, g.features, g.labels, g.train, ratio=0.02)
    nominal, size = small.report.storage_bytes, small.save(tmp_path / "small.herald")
    assert size < nominal + 2500
    assert small.save(tmp_path / "large.herald", with_scores=True) > 4 * size


def test_a_folder_that_holds_a_saved_graph_is_read(tmp_path, result):
    (tmp_path / "folder").mkdir()
    result.save(tmp_path / "folder" / "condensed.herald", with_scores=True)
    for path in (tmp_path / "folder", str(tmp_path / "folder")):
        assert_same(herald_gpu.load(path), result)
    assert isinstance(herald_gpu.load(tmp_path / "folder", output_type="pandas").features, pd.DataFrame)
    with pytest.raises(FileNotFoundError, match=r"condensed\.herald"):
        herald_gpu.load(tmp_path)


def test_a_failed_save_leaves_the_old_graph(tmp_path, result, monkeypatch):
    path = tmp_path / "graph.herald"
    result.save(path, with_scores=True)
    calls = []
    write = zipfile.ZipFile.writestr

    def fail_midway(self, *args, **kwargs):
        calls.append(args)
        if len(calls) > 1:
            msg = "disk full"
            raise OSError(msg)
        return write(self, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(zipfile.ZipFile, "writestr", fail_midway)
        with pytest.raises(OSError, match="disk full"):
            arrays(WORDS).save(path, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["graph.herald"]
    assert_same(CondensedGraph.load(path), result)


def test_pairs_as_ids_are_saved(tmp_path):
    r = with_ids([(i // 8, f"{i % 8}") for i in range(N)])
    r.save(tmp_path / "graph.herald", with_scores=True)
    loaded = CondensedGraph.load(tmp_path / "graph.herald")
    assert_same(loaded, r)
    assert all(type(node) is tuple for node in loaded.node_ids[~loaded.is_landmark])
    assert set(loaded.to_networkx().nodes) == set(r.to_networkx().nodes)


def test_ids_that_only_pickle_could_hold_are_refused(tmp_path):
    r = with_ids([Fraction(i, 7) for i in range(N)])
    with pytest.raises(InputError, match=r"node_ids holds values such as Fraction.*cannot hold without pickle: use"):
        r.save(tmp_path / "graph.herald")
    assert list(tmp_path.iterdir()) == []


def with_ids(pairs):
    graph = nx.Graph()
    graph.add_nodes_from(pairs)
    graph.add_edges_from((pairs[u], pairs[v]) for u, v in GRAPH.edge_index.T.tolist())
    return condense(graph, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=0.9)
