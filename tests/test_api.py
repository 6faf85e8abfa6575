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
from outcomes import HOMOPHILIC, LANDMARKS, RATIO, assert_same, plain, small_graph, storage_ratio

from herald_gpu import CondensedGraph, HeraldConfig, condense
from herald_gpu.errors import InputError, UnsupportedInputError
from herald_gpu.pipeline import STAGES

GRAPH = small_graph(**HOMOPHILIC)
WORDS = small_graph("bag_of_words", **HOMOPHILIC)
N = GRAPH.n_nodes
EDGES, NODES = GRAPH.to_frames()
LETTERS = np.array([f"n{i:02d}" for i in range(N)])
LINKED = HeraldConfig(**LANDMARKS)
"""Landmarks, and a link for every exemplar."""
PRESETS = {
    "default": HeraldConfig(),
    "linked": LINKED,
    "paper": HeraldConfig.paper(),
    "published": HeraldConfig.published("scaled"),
}


def arrays(graph=GRAPH, **options):
    return condense(graph.edge_index, graph.features, graph.labels, graph.train, **{"ratio": RATIO, **options})


@pytest.fixture(scope="module", params=["default", "linked", "paper"])
def options(request):
    return {"ratio": RATIO, "config": PRESETS[request.param]}


@pytest.fixture(scope="module")
def expected(options):
    return arrays(**options)


@pytest.fixture(scope="module")
def pyg():
    return pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")


def assert_same_graph(found, expected):
    """Compare the graphs alone: kinds, names and reports may differ."""
    a, b = found._contents, expected._contents
    assert_array_equal(a.node_ids, b.node_ids)
    assert_array_equal(a.adjacency.toarray(), b.adjacency.toarray())
    assert_array_equal(plain(a.features), plain(b.features))
    for name in ("codes", "train_mask", "is_root", "is_landmark", "edge_is_synthetic", "feature_positions"):
        assert_array_equal(getattr(a, name), getattr(b, name))


def test_the_signature_is_the_promised_one():
    parameters = inspect.signature(condense).parameters
    defaults = {name: p.default for name, p in parameters.items() if p.default is not inspect.Parameter.empty}
    assert list(parameters)[:4] == ["edges", "feats", "labels", "train"]
    assert defaults == {
        **dict.fromkeys(("feats", "labels", "train", "config", "csv", "resume")),
        "ratio": 0.01,
        "source": "src",
        "target": "dst",
        "node": "node",
        "label": "label",
        "train_column": "train",
        "unlabelled": -1,
        "drop": (),
        "categorical": (),
        "scale": "auto",
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


def codes_of(labels):
    """Give labels as numbers, nulls as -1."""
    return [-1 if pd.isna(value) else int(value) for value in labels]


def test_pandas_in_pandas_out(expected, options):
    result = condense(EDGES, NODES, **options)
    assert_same_graph(result, expected)
    names = [f"f{i}" for i in expected.feature_ids]
    index = pd.Index(expected.node_ids, name="node")
    assert list(result.edges) == ["src", "dst"]
    assert_array_equal(result.edges.to_numpy().T, expected.edges)
    pd.testing.assert_frame_equal(result.features, pd.DataFrame(expected.features, index=index, columns=names))
    assert codes_of(result.labels) == expected.labels.tolist()
    for series in (result.labels, result.train_mask, result.is_root, result.is_landmark, result.node_ids):
        assert isinstance(series, pd.Series)
        assert series.index.equals(index)
    assert result.feature_ids.tolist() == names
    assert isinstance(result.edge_index, np.ndarray)
    assert isinstance(result.edge_is_synthetic, pd.Series)
    assert result.edge_is_synthetic.tolist() == expected.edge_is_synthetic.tolist()


@pytest.mark.parametrize("name", ["polars", "arrow", "stream"])
def test_other_tables_mirror(name, expected, options):
    frame_of, frame, column = {
        "polars": (polars_of, pl.DataFrame, pl.Series),
        "arrow": (pa.Table.from_pandas, pa.Table, pa.Array),
        "stream": (lambda frame: strangers.Stream(pa.Table.from_pandas(frame)), pa.Table, pa.Array),
    }[name]
    result = condense(*tables(frame_of), **options)
    assert_same_graph(result, expected)
    for table in (result.edges, result.features, result.scores):
        assert isinstance(table, frame)
    for part in ("labels", "train_mask", "is_root", "is_landmark", "node_ids", "edge_is_synthetic"):
        assert isinstance(getattr(result, part), column)
    assert_array_equal(plain(result.features), expected.features)
    assert codes_of(np.asarray(result.labels)) == expected.labels.tolist()


def test_arrays_in_arrays_out(expected):
    assert expected.edge_index.shape[0] == 2
    assert expected.edges.shape == expected.edge_index.shape
    assert_array_equal(expected.edges, expected.node_ids[expected.edge_index])
    for name in ("features", "labels", "train_mask", "is_root", "is_landmark", "node_ids", "edge_is_synthetic"):
        assert isinstance(getattr(expected, name), np.ndarray)
    assert expected.features.dtype == np.float32


def test_tensors_in_tensors_out(expected, options):
    given = (torch.tensor(v) for v in (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train))
    result = condense(*given, **options)
    assert_same_graph(result, expected)
    for name in ("edges", "edge_index", "features", "labels", "train_mask", "is_landmark", "node_ids"):
        value = getattr(result, name)
        assert isinstance(value, torch.Tensor)
        assert_array_equal(value.numpy(), getattr(expected, name))


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "torch", "pandas"])
def test_sparse_in_sparse_out(kind, options):
    words = arrays(WORDS, **options)
    if kind == "pandas":
        result = condense(*WORDS.to_frames(), **options)
        assert all(dtype == pd.SparseDtype(np.float32, 0) for dtype in result.features.dtypes)
    else:
        make = {
            "csr_matrix": scipy.sparse.csr_matrix,
            "csr_array": scipy.sparse.csr_array,
            "torch": lambda x: torch.tensor(x.toarray()).to_sparse_coo(),
        }[kind]
        result = condense(WORDS.edge_index, make(WORDS.features), WORDS.labels, WORDS.train, **options)
        assert result.features.is_sparse if kind == "torch" else scipy.sparse.issparse(result.features)
    assert_same_graph(result, words)
    assert_array_equal(plain(result.features), words.features.toarray())


def test_a_full_csr_matrix_comes_back_as_one(expected, options):
    result = condense(GRAPH.edge_index, scipy.sparse.csr_matrix(GRAPH.features), GRAPH.labels, GRAPH.train, **options)
    assert scipy.sparse.issparse(result.features)
    assert_same(result, expected)


def test_pyg_data_alone(pyg, expected, options):
    x, edge_index, y, mask = (torch.tensor(v) for v in (GRAPH.features, GRAPH.edge_index, GRAPH.labels, GRAPH.train))
    result = condense(pyg.Data(x=x, edge_index=edge_index, y=y, train_mask=mask), **options)
    assert_same_graph(result, expected)
    assert isinstance(result.features, torch.Tensor)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_networkx_graphs(kind, expected, options):
    graph = kind()
    graph.add_nodes_from(range(N))
    source, target = GRAPH.edge_index
    graph.add_edges_from(GRAPH.edge_index[:, source < target].T.tolist())
    result = condense(graph, GRAPH.features, GRAPH.labels, GRAPH.train, **options)
    assert_same_graph(result, expected)
    assert isinstance(result.edges, np.ndarray)


def test_networkx_ids_may_be_tuples(expected, options):
    pairs = [(i // 8, i % 8) for i in range(N)]
    graph = nx.Graph()
    graph.add_nodes_from(pairs)
    graph.add_edges_from((pairs[u], pairs[v]) for u, v in GRAPH.edge_index.T.tolist())
    result = condense(graph, GRAPH.features, GRAPH.labels, GRAPH.train, **options)
    landmarks = [f"landmark-{code}{turn}" for turn in ("", "-2") for code in (0, 1, 2)] * bool(
        expected.report.n_landmarks
    )
    assert result.node_ids.tolist() == [pairs[i] for i in expected.node_ids[~expected.is_landmark]] + landmarks
    assert set(result.to_networkx().nodes) == set(result.node_ids.tolist())


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "coo_matrix"])
def test_adjacency_matrices(kind, expected, options):
    ones = np.ones(GRAPH.n_edges)
    adjacency = getattr(scipy.sparse, kind)(scipy.sparse.coo_matrix((ones, GRAPH.edge_index), shape=(N, N)))
    result = condense(adjacency, GRAPH.features, GRAPH.labels, GRAPH.train, **options)
    assert_same_graph(result, expected)


def test_frames_and_arrays_may_meet(expected, options):
    result = condense(torch.tensor(GRAPH.edge_index), NODES, **options)
    assert_same_graph(result, expected)
    assert isinstance(result.edges, torch.Tensor)
    assert isinstance(result.features, pd.DataFrame)


# Device types, through doubles


def test_cudf_in_cudf_out(monkeypatch, expected, options):
    strangers.install(monkeypatch)
    result = condense(strangers.DataFrame(EDGES), strangers.DataFrame(NODES), **options, backend="cpu")
    assert_same_graph(result, expected)
    for table in (result.edges, result.features, result.scores):
        assert isinstance(table, strangers.DataFrame)
    for vector in (result.labels, result.train_mask, result.node_ids):
        assert isinstance(vector, strangers.Series)
    assert_array_equal(result.features.to_pandas().to_numpy(), expected.features)


def test_cupy_in_cupy_out(monkeypatch, expected, options):
    strangers.install(monkeypatch)
    given = (strangers.ndarray(v) for v in (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train))
    result = condense(*given, **options, backend="cpu")
    for name in ("edges", "edge_index", "features", "labels", "train_mask", "edge_is_synthetic", "node_ids"):
        assert_array_equal(getattr(result, name).get(), getattr(expected, name))
    assert isinstance(result.scores, pd.DataFrame)


def test_cupy_sparse_stays_sparse(monkeypatch, options):
    strangers.install(monkeypatch)
    x = strangers.csr_matrix(scipy.sparse.csr_matrix(WORDS.features))
    edges, labels, train = (strangers.ndarray(v) for v in (WORDS.edge_index, WORDS.labels, WORDS.train))
    result = condense(edges, x, labels, train, **options, backend="cpu")
    assert isinstance(result.features, strangers.csr_matrix)
    assert_array_equal(result.features.get().toarray(), arrays(WORDS, backend="cpu", **options).features.toarray())


def test_proxies_of_cudf_pandas_are_read_as_pandas(expected, options):
    result = condense(strangers.Proxy(EDGES), strangers.Proxy(NODES), **options)
    assert_same_graph(result, expected)
    assert isinstance(result.features, pd.DataFrame)
    own = result.node_ids[~result.is_landmark]
    assert_array_equal(result.transform(strangers.Proxy(NODES)), result.transform(NODES))
    if options["config"].encoding == "graph":
        assert_array_equal(result.transform(strangers.Proxy(NODES)).loc[own], result.features.loc[own])


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
def test_output_type_overrides(output_type, frames, monkeypatch, expected, options):
    strangers.install(monkeypatch)
    given = (EDGES, NODES) if frames else (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train)
    result = condense(*given, **options, backend="cpu", output_type=output_type)
    table, matrix, vector = TYPES[output_type]
    assert isinstance(result.edges, table)
    assert isinstance(result.features, matrix)
    for name in ("labels", "train_mask", "is_root", "is_landmark", "node_ids", "edge_is_synthetic"):
        assert isinstance(getattr(result, name), vector)
    assert_same_graph(result, expected)


def test_polars_columns_are_named_by_strings(options):
    assert arrays(output_type="polars", **options).features.columns == [str(i) for i in arrays(**options).feature_ids]


# Ids and labels


def test_string_ids_and_labels_come_back(options):
    words = np.array(["red", "green", "blue"], dtype=object)
    edges = EDGES.apply(lambda ends: LETTERS[ends])
    nodes = NODES.assign(node=LETTERS, label=words[NODES["label"]])
    result = condense(edges, nodes, **options)
    assert set(result.node_ids[~result.is_landmark]) <= set(LETTERS)
    assert not set(result.node_ids[result.is_landmark]) & set(LETTERS)
    assert result.features.index.tolist() == result.node_ids.tolist()
    truth = nodes.set_index("node")["label"]
    known = result.labels[~result.is_landmark].dropna()
    assert (known == truth[known.index]).all()
    if result.is_landmark.any():
        assert result.labels[result.is_landmark].tolist() == 2 * sorted(words)
    assert list(result.report.class_counts) == sorted(words)
    assert set(result.edges["src"]) | set(result.edges["dst"]) <= set(result.node_ids)


def test_class_values_need_not_be_contiguous(expected, options):
    values = np.array([-7, 100, 5000])
    result = condense(GRAPH.edge_index, GRAPH.features, values[GRAPH.labels], GRAPH.train, **options)
    assert_same_graph(result, expected)
    assert set(np.unique(result.labels)) <= {-7, 100, 5000, -1}
    assert list(result.report.class_counts) == [-7, 100, 5000]


def test_rows_in_any_order(expected, options):
    order = np.random.default_rng(0).permutation(N)
    assert_same_graph(condense(EDGES, NODES.iloc[order], **options), expected)


def test_unlabelled_nodes_are_null_in_tables_and_the_named_value_in_arrays():
    options = {"ratio": 0.9, "config": PRESETS["paper"]}  # exemplars are training nodes, all of them
    frames = condense(EDGES, NODES, **options)
    outside = ~frames.train_mask.to_numpy()
    assert outside.any()
    assert frames.labels.isna().to_numpy().tolist() == outside.tolist()
    assert (arrays(**options).labels[outside] == -1).all()
    assert (arrays(**options, unlabelled=77).labels[outside] == 77).all()
    words = np.array(["a", "b", "c"])[GRAPH.labels]
    named = condense(GRAPH.edge_index, GRAPH.features, words, GRAPH.train, **options, unlabelled="?")
    assert (named.labels[outside] == "?").all()
    bare = condense(GRAPH.edge_index, GRAPH.features, words, GRAPH.train, **options)
    assert all(value is None for value in bare.labels[outside])


def test_training_nodes_by_mask_by_id_and_by_known_labels(expected, options):
    ids = np.flatnonzero(GRAPH.train)
    hidden = np.where(GRAPH.train, GRAPH.labels, np.nan)
    for labels, train in ((GRAPH.labels, ids), (GRAPH.labels, ids.tolist()), (hidden, None), (hidden, GRAPH.train)):
        assert_same(condense(GRAPH.edge_index, GRAPH.features, labels, train, **options), expected)


def test_labels_that_mean_unknown_are_counted_in_the_report(expected, options):
    hidden = np.where(GRAPH.train, GRAPH.labels, -1)
    result = condense(GRAPH.edge_index, GRAPH.features, hidden, **options)
    note = f"{int((~GRAPH.train).sum())} nodes have the label -1 and count as unlabelled"
    assert result.report.warnings[0] == note
    result.report.warnings.remove(note)
    assert_same(result, expected)


@pytest.mark.parametrize("train", [None, GRAPH.train])
def test_a_target_of_minus_one_and_one_is_explained(train):
    signs = np.where(GRAPH.labels > 0, 1, -1)
    with pytest.raises(
        InputError, match=r"nodes have the label -1, which means unlabelled: pass unlabelled=None if it"
    ):
        condense(GRAPH.edge_index, GRAPH.features, signs, train, ratio=0.4)
    small = condense(GRAPH.edge_index, GRAPH.features, signs, train, ratio=0.4, unlabelled=None)
    assert list(small.report.class_counts) == [-1, 1]
    assert "count as unlabelled" not in str(small.report)


@pytest.mark.parametrize("dtype", [None, pl.List(pl.Int64), pl.Array(pl.Int64, 2)], ids=["pandas", "list", "array"])
def test_labels_in_lists_are_refused_as_matrices_are(dtype):
    lists = [[int(value), 0] for value in GRAPH.labels]
    nodes = NODES.assign(label=lists)
    if dtype is not None:
        nodes = pl.from_pandas(NODES).with_columns(pl.Series("label", lists, dtype=dtype))
    with pytest.raises(
        UnsupportedInputError, match="feats column 'label' holds lists or the like: multi-label targets"
    ):
        condense(EDGES, nodes, ratio=0.4)


def test_a_class_without_training_node_does_not_exist(options):
    train = GRAPH.train & (GRAPH.labels != 2)
    result = condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, train, **options)
    assert list(result.report.class_counts) == [0, 1]
    assert set(np.unique(result.labels)) <= {-1, 0, 1}


# The graph


def test_directions_and_isolated_nodes(expected, options):
    source, target = GRAPH.edge_index
    once = GRAPH.edge_index[:, source < target]
    assert_same(condense(once, GRAPH.features, GRAPH.labels, GRAPH.train, **options), expected)
    assert len(np.unique(GRAPH.edge_index)) < N


def test_what_was_dropped_is_counted(expected, options):
    extra = np.array([[0, 1, 2, *GRAPH.edge_index[0, :2]], [0, 1, 2, *GRAPH.edge_index[1, :2]]])
    edges = np.concatenate([GRAPH.edge_index, extra], axis=1)
    result = condense(edges, GRAPH.features, GRAPH.labels, GRAPH.train, **options)
    assert_same_graph(result, expected)
    assert result.report.warnings[:2] == ["3 self loops dropped", "2 duplicate edges dropped"]


def test_weights_and_attributes_are_ignored_with_a_warning(expected, options):
    result = condense(EDGES.assign(weight=2.0), NODES, **options)
    assert_same_graph(result, expected)
    assert result.report.warnings[0].startswith("edge columns ['weight'] are ignored")


def test_inputs_are_left_alone(options):
    matrix = scipy.sparse.csr_matrix(WORDS.features)
    matrix.data[0] = 0  # a stored zero that cleaning drops from its own copy
    before = matrix.copy()
    condense(WORDS.edge_index, matrix, WORDS.labels, WORDS.train, **options)
    assert matrix.nnz == before.nnz
    assert_array_equal(matrix.indices, before.indices)
    frame = NODES.copy()
    condense(EDGES, frame, **options)
    pd.testing.assert_frame_equal(frame, NODES)


# Presets and options


@pytest.mark.parametrize("graph", [GRAPH, WORDS], ids=["dense", "words"])
@pytest.mark.parametrize("preset", ["default", "linked", "paper"])
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
    config = HeraldConfig.paper(node_ranking="random")
    assert_same(arrays(config=config, random_state=3), arrays(config=config, random_state=3))
    ranks = {tuple(arrays(config=config, random_state=seed).scores["rank"]) for seed in range(4)}
    assert len(ranks) == 4


@pytest.mark.parametrize("preset", PRESETS)
def test_repeats_are_identical(preset):
    assert_same(arrays(config=PRESETS[preset]), arrays(config=PRESETS[preset]))


def test_options_may_be_numpy_scalars(expected, options):
    assert_same(arrays(**{**options, "ratio": np.float64(RATIO), "random_state": np.int64(0)}), expected)


# Progress and messages


def test_a_bar_is_shown_only_when_asked_for(capsys, options):
    arrays(**options)
    assert "stage" not in capsys.readouterr().err
    arrays(**options, verbose=True)
    shown, total = capsys.readouterr().err, len(STAGES[options["config"].selection]) + 1
    assert "assembly" in shown
    assert f"{total}/{total}" in shown


def test_the_bar_is_closed_when_something_fails(capsys):
    with pytest.raises(ValueError, match="edges is empty"):
        condense(GRAPH.edge_index[:, :0], GRAPH.features, GRAPH.labels, verbose=True)
    assert capsys.readouterr().err.endswith("\n")


def test_messages_go_through_the_logger(caplog, options):
    with caplog.at_level(logging.DEBUG, logger="herald_gpu"):
        result = condense(EDGES.assign(weight=1.0), NODES, **options)
    assert {record.name for record in caplog.records} == {"herald_gpu"}
    chosen = [r for r in caplog.records if r.levelno == logging.INFO]
    assert any(r.getMessage().startswith(f"backend: {result.report.backend}") for r in chosen)
    warned = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert warned == result.report.warnings
    timed = [r.getMessage() for r in caplog.records if r.levelno == logging.DEBUG]
    stages = ("reading", *STAGES[options["config"].selection])
    assert all(any(message.startswith(f"stage {stage}:") for message in timed) for stage in stages)


def test_nothing_is_printed(capsys, options):
    arrays(**options)
    assert capsys.readouterr().out == ""


def test_a_condensed_graph_can_be_condensed_again(options):
    first = arrays(**{**options, "ratio": 0.9})
    given = (first.edge_index, first.features, first.labels, first.train_mask)
    config = HeraldConfig(landmarks=False) if first.is_landmark.any() else options["config"]
    again = condense(*given, ratio=0.2 if config.selection == "exemplars" else 0.5, config=config)
    assert isinstance(again, CondensedGraph)
    assert again.report.n_nodes < first.report.n_nodes


def test_the_default_is_the_default_preset():
    assert_same(arrays(), arrays(config=HeraldConfig()))


# Landmarks and links


@pytest.mark.parametrize("graph", [GRAPH, WORDS], ids=["dense", "words"])
def test_landmarks_and_links_are_told_from_what_is_real(graph):
    result = arrays(graph, config=LINKED)
    report, n = result.report, int((~result.is_landmark).sum())
    assert (report.n_landmarks, result.is_landmark.tolist()) == (6, [False] * n + [True] * 6)
    assert result.labels[n:].tolist() == [0, 1, 2, 0, 1, 2]
    assert result.train_mask[n:].all()
    assert not result.is_root[n:].any()
    assert not set(result.node_ids[n:].tolist()) & set(range(N))
    assert (np.diff(result.node_ids) > 0).all()
    real = result.edges[:, ~result.edge_is_synthetic]
    kept = set(result.node_ids[:n].tolist())
    assert set(map(tuple, real.T.tolist())) == {(u, v) for u, v in graph.edge_index.T.tolist() if {u, v} <= kept}
    source, target = result.edge_index[:, result.edge_is_synthetic]
    assert len(source) == report.n_synthetic_edges > 0
    assert_array_equal(result.labels[source], result.labels[target])


def test_without_landmarks_and_links_the_result_is_an_induced_subgraph():
    result = arrays(config=HeraldConfig(landmarks=False, edges="real", encoding="graph"))
    assert (result.report.n_landmarks, result.report.n_synthetic_edges) == (0, 0)
    assert not result.is_landmark.any()
    assert not result.edge_is_synthetic.any()
    kept = set(result.node_ids.tolist())
    assert set(map(tuple, result.edges.T.tolist())) == {
        (u, v) for u, v in GRAPH.edge_index.T.tolist() if {u, v} <= kept
    }
    assert_array_equal(result.features, GRAPH.features[np.ix_(result.node_ids, result.feature_ids)])
    assert_array_equal(result.labels, GRAPH.labels[result.node_ids])
