"""condense(): the caller's types in, the same condensed graph out, whatever the types."""

from __future__ import annotations

import inspect
import logging
from dataclasses import replace

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
from outcomes import RATIO, assert_same, plain, small_graph, storage_ratio

from herald_gpu import CondensedGraph, HeraldConfig, condense
from herald_gpu.pipeline import STAGES

GRAPH = small_graph()
WORDS = small_graph("bag_of_words")
N = GRAPH.n_nodes
EDGES, NODES = GRAPH.to_frames()
LETTERS = np.array([f"n{i:02d}" for i in range(N)])
PRESETS = {
    "default": HeraldConfig(),
    "paper": HeraldConfig.paper(),
    "published": HeraldConfig.published("scaled"),
}


def arrays(graph=GRAPH, **options):
    return condense(graph.edge_index, graph.features, graph.labels, graph.train, **{"ratio": RATIO, **options})


@pytest.fixture(scope="module")
def expected():
    return arrays()


@pytest.fixture(scope="module")
def pyg():
    return pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")


def assert_same_graph(found, expected, ids=None):
    """Compare the graphs alone: kinds, names and reports may differ."""
    a, b = found._contents, expected._contents
    assert_array_equal(a.node_ids, b.node_ids if ids is None else np.asarray(ids)[b.node_ids])
    assert_array_equal(a.adjacency.toarray(), b.adjacency.toarray())
    assert_array_equal(plain(a.features), plain(b.features))
    for name in ("codes", "train_mask", "is_root", "is_landmark", "feature_positions"):
        assert_array_equal(getattr(a, name), getattr(b, name))


def test_the_signature_is_the_promised_one():
    parameters = inspect.signature(condense).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.default is not inspect.Parameter.empty}
    assert list(parameters)[:4] == ["edges", "feats", "labels", "train"]
    assert defaults == {
        **dict.fromkeys(("feats", "labels", "train", "config")),
        "ratio": 0.01,
        "source": "src",
        "target": "dst",
        "node": "node",
        "label": "label",
        "train_column": "train",
        "unlabelled": -1,
        "backend": "auto",
        "output_type": "input",
        "random_state": 0,
        "verbose": False,
    }
    assert all(p.kind is p.KEYWORD_ONLY for name, p in parameters.items() if name not in list(parameters)[:4])


# Kinds in and out


def tables(frame_of):
    return frame_of(EDGES), frame_of(NODES)


def polars_of(frame):
    return pl.DataFrame(frame.to_dict("list"))


def test_pandas_in_pandas_out(expected):
    result = condense(EDGES, NODES, ratio=RATIO)
    assert_same_graph(result, expected)
    names = [f"f{i}" for i in expected.feature_ids]
    index = pd.Index(expected.node_ids, name="node")
    assert list(result.edges) == ["src", "dst"]
    assert_array_equal(result.edges.to_numpy().T, expected.edges)
    pd.testing.assert_frame_equal(result.features, pd.DataFrame(expected.features, index=index, columns=names))
    assert result.labels.tolist() == expected.labels.tolist()
    for series in (result.labels, result.train_mask, result.is_root, result.is_landmark, result.node_ids):
        assert isinstance(series, pd.Series)
        assert series.index.equals(index)
    assert result.feature_ids.tolist() == names
    assert isinstance(result.edge_index, np.ndarray)


@pytest.mark.parametrize("name", ["polars", "arrow", "stream"])
def test_other_tables_mirror(name, expected):
    frame_of, frame, column = {
        "polars": (polars_of, pl.DataFrame, pl.Series),
        "arrow": (pa.Table.from_pandas, pa.Table, pa.Array),
        "stream": (lambda frame: strangers.Stream(pa.Table.from_pandas(frame)), pa.Table, pa.Array),
    }[name]
    result = condense(*tables(frame_of), ratio=RATIO)
    assert_same_graph(result, expected)
    for table in (result.edges, result.features, result.scores):
        assert isinstance(table, frame)
    for vector in (result.labels, result.train_mask, result.is_root, result.is_landmark, result.node_ids):
        assert isinstance(vector, column)
    assert_array_equal(plain(result.features), expected.features)
    assert np.asarray(result.labels).tolist() == expected.labels.tolist()


def test_arrays_in_arrays_out(expected):
    assert expected.edge_index.shape[0] == 2
    assert expected.edges.shape == expected.edge_index.shape
    assert_array_equal(expected.edges, expected.node_ids[expected.edge_index])
    for value in (expected.features, expected.labels, expected.train_mask, expected.is_root, expected.node_ids):
        assert isinstance(value, np.ndarray)
    assert expected.features.dtype == np.float32


def test_tensors_in_tensors_out(expected):
    given = (torch.tensor(v) for v in (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train))
    result = condense(*given, ratio=RATIO)
    assert_same_graph(result, expected)
    for name in ("edges", "edge_index", "features", "labels", "train_mask", "is_root", "node_ids"):
        value = getattr(result, name)
        assert isinstance(value, torch.Tensor)
        assert_array_equal(value.numpy(), getattr(expected, name))


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "torch", "pandas"])
def test_sparse_in_sparse_out(kind):
    words = arrays(WORDS)
    if kind == "pandas":
        result = condense(*WORDS.to_frames(), ratio=RATIO)
        assert all(dtype == pd.SparseDtype(np.float32, 0) for dtype in result.features.dtypes)
    else:
        make = {
            "csr_matrix": scipy.sparse.csr_matrix,
            "csr_array": scipy.sparse.csr_array,
            "torch": lambda x: torch.tensor(x.toarray()).to_sparse_coo(),
        }[kind]
        result = condense(WORDS.edge_index, make(WORDS.features), WORDS.labels, WORDS.train, ratio=RATIO)
        assert result.features.is_sparse if kind == "torch" else scipy.sparse.issparse(result.features)
    assert_same_graph(result, words)
    assert_array_equal(plain(result.features), words.features.toarray())


def test_a_full_csr_matrix_comes_back_as_one(expected):
    result = condense(GRAPH.edge_index, scipy.sparse.csr_matrix(GRAPH.features), GRAPH.labels, GRAPH.train, ratio=RATIO)
    assert scipy.sparse.issparse(result.features)
    assert_same(result, expected)


def test_pyg_data_alone(pyg, expected):
    x, edge_index, y, mask = (torch.tensor(v) for v in (GRAPH.features, GRAPH.edge_index, GRAPH.labels, GRAPH.train))
    result = condense(pyg.Data(x=x, edge_index=edge_index, y=y, train_mask=mask), ratio=RATIO)
    assert_same_graph(result, expected)
    assert isinstance(result.features, torch.Tensor)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_networkx_graphs(kind, expected):
    graph = kind()
    graph.add_nodes_from(range(N))
    source, target = GRAPH.edge_index
    graph.add_edges_from(GRAPH.edge_index[:, source < target].T.tolist())
    result = condense(graph, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO)
    assert_same_graph(result, expected)
    assert isinstance(result.edges, np.ndarray)


def test_networkx_ids_may_be_tuples(expected):
    pairs = [(i // 8, i % 8) for i in range(N)]
    graph = nx.Graph()
    graph.add_nodes_from(pairs)
    graph.add_edges_from((pairs[u], pairs[v]) for u, v in GRAPH.edge_index.T.tolist())
    result = condense(graph, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO)
    assert result.node_ids.tolist() == [pairs[i] for i in expected.node_ids]
    assert set(result.to_networkx().nodes) == set(result.node_ids.tolist())


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "coo_matrix"])
def test_adjacency_matrices(kind, expected):
    ones = np.ones(GRAPH.n_edges)
    adjacency = getattr(scipy.sparse, kind)(scipy.sparse.coo_matrix((ones, GRAPH.edge_index), shape=(N, N)))
    result = condense(adjacency, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO)
    assert_same_graph(result, expected)


def test_frames_and_arrays_may_meet(expected):
    result = condense(torch.tensor(GRAPH.edge_index), NODES, ratio=RATIO)
    assert_same_graph(result, expected)
    assert isinstance(result.edges, torch.Tensor)
    assert isinstance(result.features, pd.DataFrame)


# Device types, through doubles


def test_cudf_in_cudf_out(monkeypatch, expected):
    strangers.install(monkeypatch)
    result = condense(strangers.DataFrame(EDGES), strangers.DataFrame(NODES), ratio=RATIO, backend="cpu")
    assert_same_graph(result, expected)
    for table in (result.edges, result.features, result.scores):
        assert isinstance(table, strangers.DataFrame)
    for vector in (result.labels, result.train_mask, result.node_ids):
        assert isinstance(vector, strangers.Series)
    assert_array_equal(result.features.to_pandas().to_numpy(), expected.features)


def test_cupy_in_cupy_out(monkeypatch, expected):
    strangers.install(monkeypatch)
    given = (strangers.ndarray(v) for v in (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train))
    result = condense(*given, ratio=RATIO, backend="cpu")
    for name in ("edges", "edge_index", "features", "labels", "train_mask", "is_root", "node_ids"):
        assert_array_equal(getattr(result, name).get(), getattr(expected, name))
    assert isinstance(result.scores, pd.DataFrame)


def test_cupy_sparse_stays_sparse(monkeypatch):
    strangers.install(monkeypatch)
    x = strangers.csr_matrix(scipy.sparse.csr_matrix(WORDS.features))
    edges, labels, train = (strangers.ndarray(v) for v in (WORDS.edge_index, WORDS.labels, WORDS.train))
    result = condense(edges, x, labels, train, ratio=RATIO, backend="cpu")
    assert isinstance(result.features, strangers.csr_matrix)
    assert_array_equal(result.features.get().toarray(), arrays(WORDS, backend="cpu").features.toarray())


def test_proxies_of_cudf_pandas_are_read_as_pandas(expected):
    result = condense(strangers.Proxy(EDGES), strangers.Proxy(NODES), ratio=RATIO)
    assert_same_graph(result, expected)
    assert isinstance(result.features, pd.DataFrame)
    assert_array_equal(result.transform(strangers.Proxy(NODES)).loc[result.node_ids], result.features)


# output_type

TYPES = {
    "numpy": (np.ndarray, np.ndarray, np.ndarray),
    "pandas": (pd.DataFrame, pd.DataFrame, pd.Series),
    "polars": (pl.DataFrame, pl.DataFrame, pl.Series),
    "arrow": (pa.Table, pa.Table, pa.Array),
    "torch": (torch.Tensor, torch.Tensor, torch.Tensor),
    "cudf": (strangers.DataFrame, strangers.DataFrame, strangers.Series),
    "cupy": (strangers.ndarray, strangers.ndarray, strangers.ndarray),
}


@pytest.mark.parametrize("output_type", TYPES)
@pytest.mark.parametrize("frames", [True, False], ids=["from frames", "from arrays"])
def test_output_type_overrides(output_type, frames, monkeypatch, expected):
    strangers.install(monkeypatch)
    given = (EDGES, NODES) if frames else (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train)
    result = condense(*given, ratio=RATIO, backend="cpu", output_type=output_type)
    table, matrix, vector = TYPES[output_type]
    assert isinstance(result.edges, table)
    assert isinstance(result.features, matrix)
    for value in (result.labels, result.train_mask, result.is_root, result.is_landmark, result.node_ids):
        assert isinstance(value, vector)
    assert_same_graph(result, expected)


def test_polars_columns_are_named_by_strings():
    assert arrays(output_type="polars").features.columns == [str(i) for i in arrays().feature_ids]


# Ids and labels


def test_string_ids_and_labels_come_back():
    words = np.array(["red", "green", "blue"], dtype=object)
    edges = EDGES.apply(lambda ends: LETTERS[ends])
    nodes = NODES.assign(node=LETTERS, label=words[NODES["label"]])
    result = condense(edges, nodes, ratio=RATIO)
    assert set(result.node_ids) <= set(LETTERS)
    assert result.features.index.tolist() == result.node_ids.tolist()
    truth = nodes.set_index("node")["label"]
    known = result.labels.dropna()
    assert (known == truth[known.index]).all()
    assert list(result.report.class_counts) == sorted(words)
    assert set(result.edges["src"]) | set(result.edges["dst"]) <= set(result.node_ids)


def test_class_values_need_not_be_contiguous(expected):
    values = np.array([-7, 100, 5000])
    result = condense(GRAPH.edge_index, GRAPH.features, values[GRAPH.labels], GRAPH.train, ratio=RATIO)
    assert_same_graph(result, expected)
    assert set(np.unique(result.labels)) <= {-7, 100, 5000, -1}
    assert list(result.report.class_counts) == [-7, 100, 5000]


def test_rows_in_any_order(expected):
    order = np.random.default_rng(0).permutation(N)
    assert_same_graph(condense(EDGES, NODES.iloc[order], ratio=RATIO), expected)


def test_unlabelled_nodes_are_null_in_tables_and_the_named_value_in_arrays():
    ratio = 0.9
    frames = condense(EDGES, NODES, ratio=ratio)
    outside = ~frames.train_mask.to_numpy()
    assert outside.any()
    assert frames.labels.isna().to_numpy().tolist() == outside.tolist()
    assert (arrays(ratio=ratio).labels[outside] == -1).all()
    assert (arrays(ratio=ratio, unlabelled=77).labels[outside] == 77).all()
    words = np.array(["a", "b", "c"])[GRAPH.labels]
    named = condense(GRAPH.edge_index, GRAPH.features, words, GRAPH.train, ratio=ratio, unlabelled="?")
    assert (named.labels[outside] == "?").all()
    bare = condense(GRAPH.edge_index, GRAPH.features, words, GRAPH.train, ratio=ratio)
    assert all(value is None for value in bare.labels[outside])


def test_training_nodes_by_mask_by_id_and_by_known_labels(expected):
    ids = np.flatnonzero(GRAPH.train)
    hidden = np.where(GRAPH.train, GRAPH.labels, -1)
    for labels, train in ((GRAPH.labels, ids), (GRAPH.labels, ids.tolist()), (hidden, None), (hidden, GRAPH.train)):
        assert_same(condense(GRAPH.edge_index, GRAPH.features, labels, train, ratio=RATIO), expected)


def test_a_class_without_training_node_does_not_exist():
    train = GRAPH.train & (GRAPH.labels != 2)
    result = condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, train, ratio=RATIO)
    assert list(result.report.class_counts) == [0, 1]
    assert set(np.unique(result.labels)) <= {-1, 0, 1}


# The graph


def test_directions_and_isolated_nodes(expected):
    source, target = GRAPH.edge_index
    once = GRAPH.edge_index[:, source < target]
    assert_same(condense(once, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO), expected)
    assert len(np.unique(GRAPH.edge_index)) < N


def test_what_was_dropped_is_counted(expected):
    extra = np.array([[0, 1, 2, *GRAPH.edge_index[0, :2]], [0, 1, 2, *GRAPH.edge_index[1, :2]]])
    edges = np.concatenate([GRAPH.edge_index, extra], axis=1)
    result = condense(edges, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=RATIO)
    assert_same_graph(result, expected)
    assert result.report.warnings[:2] == ["3 self loops dropped", "2 duplicate edges dropped"]


def test_weights_and_attributes_are_ignored_with_a_warning(expected):
    result = condense(EDGES.assign(weight=2.0), NODES, ratio=RATIO)
    assert_same_graph(result, expected)
    assert result.report.warnings[0].startswith("edge columns ['weight'] are ignored")


def test_inputs_are_left_alone():
    matrix = scipy.sparse.csr_matrix(WORDS.features)
    matrix.data[0] = 0  # a stored zero that cleaning drops from its own copy
    before = matrix.copy()
    condense(WORDS.edge_index, matrix, WORDS.labels, WORDS.train, ratio=RATIO)
    assert matrix.nnz == before.nnz
    assert_array_equal(matrix.indices, before.indices)
    frame = NODES.copy()
    condense(EDGES, frame, ratio=RATIO)
    pd.testing.assert_frame_equal(frame, NODES)


# Presets and options


@pytest.mark.parametrize("graph", [GRAPH, WORDS], ids=["dense", "words"])
@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("ratio", [0.1, 0.4, 1.0])
def test_the_budget_holds(graph, preset, ratio):
    result = arrays(graph, config=PRESETS[preset], ratio=ratio)
    assert storage_ratio(result, graph.edge_index, graph.features) <= ratio
    assert result.report.missing_classes == []


def test_published_says_loudly_by_how_much_it_exceeds_the_budget():
    report = arrays(config=PRESETS["published"]).report
    assert report.storage_ratio > RATIO
    assert report.published_storage_ratio is not None
    assert any("published accounting does not keep the budget" in warning for warning in report.warnings)
    assert f"{report.storage_bytes / report.budget_bytes:.1f} times" in str(report)


def test_other_options_reach_the_method():
    few = arrays(config=HeraldConfig(feature_count=2))
    assert few.report.feature_count == 2
    assert few.features.shape[1] == 2
    assert few.report.feature_tree is None
    dense = arrays(WORDS, config=HeraldConfig(storage="dense"))
    assert dense.report.storage_kind == "dense"


ABLATIONS = {
    "fixed weights": {"fixed_weights": (1, 1, 1)},
    "prototype alone": {"fixed_weights": (1, 0, 0)},
    "boundary alone": {"fixed_weights": (0, 1, 0)},
    "LID alone": {"fixed_weights": (0, 0, 1)},
    "prototype and boundary": {"fixed_weights": (1, 1, 0)},
    "tree features": {"feature_ranking": "tree"},
    "random ranking": {"node_ranking": "random"},
    "PCA": {"pca_variance": 0.9},
}


@pytest.mark.parametrize("name", ABLATIONS)
def test_ablations_are_configurations(name):
    result = arrays(config=replace(HeraldConfig.paper(), **ABLATIONS[name]))
    assert result.report.storage_ratio <= RATIO
    if "fixed_weights" in ABLATIONS[name]:
        given = np.array(ABLATIONS[name]["fixed_weights"]) / sum(ABLATIONS[name]["fixed_weights"])
        weights = result.report.weights
        np.testing.assert_allclose([weights.alpha, weights.beta, weights.gamma], given)


def test_random_ranking_follows_the_seed():
    config = HeraldConfig(node_ranking="random")
    assert_same(arrays(config=config, random_state=3), arrays(config=config, random_state=3))
    ranks = {tuple(arrays(config=config, random_state=seed).scores["rank"]) for seed in range(4)}
    assert len(ranks) == 4


@pytest.mark.parametrize("preset", PRESETS)
def test_repeats_are_identical(preset):
    assert_same(arrays(config=PRESETS[preset]), arrays(config=PRESETS[preset]))


def test_options_may_be_numpy_scalars(expected):
    assert_same(arrays(ratio=np.float64(RATIO), random_state=np.int64(0)), expected)


# Progress and messages


def test_a_bar_is_shown_only_when_asked_for(capsys):
    arrays()
    assert "stage" not in capsys.readouterr().err
    arrays(verbose=True)
    shown = capsys.readouterr().err
    assert "assembly" in shown
    assert f"{len(STAGES) + 1}/{len(STAGES) + 1}" in shown


def test_the_bar_is_closed_when_something_fails(capsys):
    with pytest.raises(ValueError, match="edges is empty"):
        condense(GRAPH.edge_index[:, :0], GRAPH.features, GRAPH.labels, verbose=True)
    assert capsys.readouterr().err.endswith("\n")


def test_messages_go_through_the_logger(caplog):
    with caplog.at_level(logging.DEBUG, logger="herald_gpu"):
        result = condense(EDGES.assign(weight=1.0), NODES, ratio=RATIO)
    assert {record.name for record in caplog.records} == {"herald_gpu"}
    chosen = [r for r in caplog.records if r.levelno == logging.INFO]
    assert any(r.getMessage().startswith(f"backend: {result.report.backend}") for r in chosen)
    warned = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert warned == result.report.warnings
    timed = [r.getMessage() for r in caplog.records if r.levelno == logging.DEBUG]
    assert all(any(message.startswith(f"stage {stage}:") for message in timed) for stage in ("reading", *STAGES))


def test_nothing_is_printed(capsys):
    arrays()
    assert capsys.readouterr().out == ""


def test_a_condensed_graph_can_be_condensed_again():
    first = arrays(ratio=0.9)
    again = condense(first.edge_index, first.features, first.labels, first.train_mask, ratio=0.5)
    assert isinstance(again, CondensedGraph)
    assert again.report.n_nodes < first.report.n_nodes
