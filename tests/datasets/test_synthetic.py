"""Synthetic graphs: what is promised about edges, labels, training sets and features."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from herald_gpu.datasets import SyntheticGraph, make_graph
from herald_gpu.datasets import _wiring as wiring
from herald_gpu.errors import ConfigError


def keys_of(graph):
    source, target = graph.edge_index
    return source * graph.n_nodes + target


def degrees(graph):
    return np.bincount(graph.edge_index[0], minlength=graph.n_nodes)


def assert_simple_and_symmetric(graph):
    source, target = graph.edge_index
    keys = keys_of(graph)
    assert (source != target).all()
    assert np.unique(keys).size == keys.size
    assert np.array_equal(np.sort(keys), np.sort(target * graph.n_nodes + source))


@pytest.mark.parametrize("features", ["dense", "bag_of_words"])
def test_shapes_and_dtypes(features):
    graph = make_graph(300, n_classes=4, n_features=60, mean_degree=6, features=features)
    assert graph.edge_index.shape == (2, 1800)
    assert graph.edge_index.dtype == np.int64
    assert graph.features.shape == (300, 60)
    assert graph.features.dtype == np.float32
    assert graph.labels.shape == (300,)
    assert graph.labels.dtype == np.int64
    assert set(graph.labels.tolist()) == {0, 1, 2, 3}
    assert graph.train.dtype == np.bool_
    assert graph.n_edges == 1800


@pytest.mark.parametrize("features", ["dense", "bag_of_words"])
def test_a_seed_means_the_same_graph(features):
    first, again, other = (make_graph(400, n_features=50, features=features, seed=s) for s in (7, 7, 8))
    for field in dataclasses.fields(SyntheticGraph):
        a, b = getattr(first, field.name), getattr(again, field.name)
        assert (a != b).nnz == 0 if sparse.issparse(a) else np.array_equal(a, b)
    assert not np.array_equal(first.edge_index, other.edge_index)


def test_the_kind_of_features_leaves_the_rest_alone():
    dense = make_graph(200, n_features=50)
    words = make_graph(200, n_features=50, features="bag_of_words")
    assert np.array_equal(dense.edge_index, words.edge_index)
    assert np.array_equal(dense.labels, words.labels)
    assert np.array_equal(dense.train, words.train)


def test_chunks_are_joined_into_one_simple_graph(monkeypatch):
    monkeypatch.setattr(wiring, "CHUNK", 97)
    graph = make_graph(300, n_features=4, homophily=0.4)
    assert_simple_and_symmetric(graph)
    assert graph.homophily == pytest.approx(0.4)


@settings(max_examples=30, deadline=None)
@given(
    n_nodes=st.integers(120, 400),
    n_classes=st.integers(2, 6),
    homophily=st.floats(0, 1),
    mean_degree=st.floats(0.5, 10),
    power_law=st.none() | st.floats(2.1, 4),
    class_imbalance=st.floats(0, 0.4),
    seed=st.integers(0, 2**32),
)
def test_any_graph_is_simple_symmetric_and_as_homophilic_as_asked(n_nodes, n_classes, homophily, **options):
    graph = make_graph(n_nodes, n_classes=n_classes, n_features=2, homophily=homophily, **options)
    assert_simple_and_symmetric(graph)
    assert graph.n_edges == 2 * round(n_nodes * options["mean_degree"] / 2)
    assert abs(graph.homophily - homophily) <= 1.01 / (graph.n_edges // 2)
    assert np.bincount(graph.labels, minlength=n_classes).min() >= 2


def test_a_nearly_complete_graph_can_be_drawn():
    graph = make_graph(40, n_classes=2, n_features=2, mean_degree=36, homophily=0.5)
    assert_simple_and_symmetric(graph)
    assert graph.n_edges == 40 * 36


def test_no_edges():
    graph = make_graph(20, n_features=2, mean_degree=0)
    assert graph.edge_index.shape == (2, 0)
    assert np.isnan(graph.homophily)


def test_power_law_gives_hubs():
    flat = degrees(make_graph(3000, n_features=2))
    heavy = degrees(make_graph(3000, n_features=2, power_law=2.2))
    assert flat.max() < 40
    assert heavy.max() > 150
    assert heavy.mean() == flat.mean() == 10


def test_isolated_nodes():
    lonely = degrees(make_graph(1000, n_features=2, isolated_share=0.2, mean_degree=20)) == 0
    assert lonely.sum() == 200
    assert lonely[:500].any()
    assert lonely[500:].any()


def test_class_imbalance():
    even = np.bincount(make_graph(1000, n_classes=4, n_features=2).labels)
    assert even.tolist() == [250] * 4
    steep = np.bincount(make_graph(1000, n_classes=4, n_features=2, class_imbalance=0.5).labels)
    assert steep.sum() == 1000
    assert steep[1:] / steep[:-1] == pytest.approx([0.5] * 3, abs=0.02)


def test_training_set_holds_its_share_of_every_class():
    graph = make_graph(1000, n_classes=4, n_features=2, train_share=0.3, class_imbalance=0.4)
    sizes, chosen = np.bincount(graph.labels), np.bincount(graph.labels[graph.train])
    assert chosen == pytest.approx(0.3 * sizes, abs=0.51)
    rare = make_graph(1000, n_classes=4, n_features=2, train_share=1e-6)
    assert np.bincount(rare.labels[rare.train]).tolist() == [1] * 4
    assert make_graph(50, n_features=2, train_share=1).train.all()


def test_dense_class_means_lie_where_the_signal_says():
    graph = make_graph(20_000, n_classes=2, n_features=20, signal=5, informative_share=0.25, mean_degree=1)
    means = np.stack([graph.features[graph.labels == c].mean(axis=0) for c in range(2)])
    assert np.linalg.norm(means, axis=1) == pytest.approx([5, 5], abs=0.1)
    assert (np.abs(means).max(axis=0) > 0.06).sum() == 5
    assert graph.features.std() == pytest.approx(np.sqrt(1 + 25 / 20), abs=0.1)


def test_bags_of_words_stay_sparse_and_binary():
    graph = make_graph(3000, n_features=2000, features="bag_of_words", mean_words=25)
    words = graph.features
    assert sparse.issparse(words)
    assert words.format == "csr"
    assert words.has_canonical_format
    assert (words.data == 1).all()
    assert words.nnz / 3000 == pytest.approx(25, rel=0.03)
    frequencies = np.sort(np.asarray(words.sum(axis=0)).ravel())[::-1]
    assert frequencies[:20].sum() > 5 * frequencies[-1000:].mean() * 20


def test_features_do_not_depend_on_where_chunks_end(monkeypatch):
    def draw():
        words = make_graph(400, n_features=100, features="bag_of_words", mean_words=10).features
        return make_graph(400, n_features=100).features, words.toarray()

    whole = draw()
    monkeypatch.setattr("herald_gpu.datasets._attributes.CHUNK", 500)
    for one, other in zip(whole, draw(), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("features", ["dense", "bag_of_words"])
def test_signal_makes_classes_tell_apart(features):
    from sklearn.naive_bayes import GaussianNB

    def accuracy(signal):
        graph = make_graph(1500, n_features=100, features=features, signal=signal)
        x = graph.features.toarray() if sparse.issparse(graph.features) else graph.features
        model = GaussianNB().fit(x[graph.train], graph.labels[graph.train])
        return model.score(x[~graph.train], graph.labels[~graph.train])

    assert accuracy(0) < 0.3
    assert accuracy(4) > 0.8


@pytest.mark.parametrize("features", ["dense", "bag_of_words"])
def test_to_frames(features):
    graph = make_graph(60, n_features=40, features=features, mean_words=5)
    edges, nodes = graph.to_frames()
    assert np.array_equal(edges[["src", "dst"]].to_numpy().T, graph.edge_index)
    assert list(nodes.columns[:3]) == ["node", "label", "train"]
    assert list(nodes.columns[3:]) == [f"f{i}" for i in range(40)]
    assert nodes["node"].tolist() == list(range(60))
    assert np.array_equal(nodes["label"], graph.labels)
    assert np.array_equal(nodes["train"], graph.train)
    expected = graph.features.toarray() if features == "bag_of_words" else graph.features
    assert np.array_equal(nodes.iloc[:, 3:].to_numpy(), expected)
    assert hasattr(nodes["f0"].dtype, "fill_value") == (features == "bag_of_words")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_nodes", 3),
        ("n_nodes", 100.0),
        ("n_classes", 1),
        ("n_features", 0),
        ("homophily", 1.1),
        ("homophily", "high"),
        ("homophily", float("nan")),
        ("mean_degree", -1),
        ("mean_degree", 2000),
        ("power_law", 2),
        ("isolated_share", 1),
        ("class_imbalance", -0.1),
        ("train_share", 0),
        ("signal", float("inf")),
        ("informative_share", 2),
        ("features", "images"),
        ("seed", -1),
        ("seed", True),
    ],
)
def test_errors_name_the_argument_and_what_was_seen(name, value):
    with pytest.raises(ConfigError, match=rf"^{name}={value!r} is not valid: pass "):
        make_graph(**{name: value})


def test_mean_words_is_checked_where_it_is_read():
    make_graph(20, n_features=4, mean_words=100)
    with pytest.raises(ConfigError, match=r"^mean_words=100 .*\(0, 2\.0\]"):
        make_graph(20, n_features=4, mean_words=100, features="bag_of_words")


def test_too_many_edges():
    with pytest.raises(ConfigError, match="edges inside classes, with 950 pairs: lower mean_degree"):
        make_graph(100, n_features=2, mean_degree=20, homophily=1)


def test_a_graph_that_rejection_cannot_fill_is_refused(monkeypatch):
    monkeypatch.setattr(wiring, "ROUNDS", 1)
    with pytest.raises(ConfigError, match="were found in 1 rounds"):
        make_graph(100, n_features=2, mean_degree=15, homophily=0.9)
