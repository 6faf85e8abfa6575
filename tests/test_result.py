"""CondensedGraph: consistent parts, transform, converters, and files that bring back the same graph."""

from __future__ import annotations

import copy
import pickle
import zipfile

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

from herald_gpu import CondensedGraph, HeraldConfig, condense
from herald_gpu.errors import InputError

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
    saved.save(tmp_path / "graph.herald")
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
    result.save(tmp_path / "graph.herald")
    loaded = CondensedGraph.load(tmp_path / "graph.herald", output_type="pandas")
    assert_equal_parts(loaded, result.as_type("pandas"))


def test_saving_again_replaces_the_file(tmp_path, result):
    path = tmp_path / "graph.herald"
    arrays(WORDS).save(path)
    result.save(path)
    assert_same(CondensedGraph.load(path), result)
    CondensedGraph.load(path).save(tmp_path / "again.herald")
    assert (tmp_path / "again.herald").read_bytes() == path.read_bytes()


def test_a_failed_save_leaves_the_old_graph(tmp_path, result, monkeypatch):
    path = tmp_path / "graph.herald"
    result.save(path)
    calls = []
    write = zipfile.ZipFile.writestr

    def fail_midway(self, *args, **kwargs):
        calls.append(args)
        if len(calls) > 4:
            msg = "disk full"
            raise OSError(msg)
        return write(self, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(zipfile.ZipFile, "writestr", fail_midway)
        with pytest.raises(OSError, match="disk full"):
            arrays(WORDS).save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["graph.herald"]
    assert_same(CondensedGraph.load(path), result)


def test_every_member_loads_without_pickle(tmp_path, result):
    result.save(tmp_path / "graph.herald")
    with np.load(tmp_path / "graph.herald", allow_pickle=False) as archive:
        for name in archive.files:
            if name.endswith(".npy") or not name.endswith(".json"):
                assert archive[name].dtype != object


def test_ids_that_only_pickle_could_hold_are_refused(tmp_path):
    pairs = [(i // 8, i % 8) for i in range(N)]
    graph = nx.Graph()
    graph.add_nodes_from(pairs)
    graph.add_edges_from((pairs[u], pairs[v]) for u, v in GRAPH.edge_index.T.tolist())
    r = condense(graph, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO)
    with pytest.raises(InputError, match="node_ids holds values that are neither numbers nor strings"):
        r.save(tmp_path / "graph.herald")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", KINDS)
def test_a_pickled_graph_is_the_same(name):
    result = KINDS[name]()
    result.features  # noqa: B018 - kept once it was asked for
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):  # noqa: S301 - our own
        assert_same(again, result)
