"""Reading what is trained on: condensed graphs of every kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch

import herald_gpu
from herald_gpu import HeraldConfig
from herald_gpu.datasets import make_graph
from herald_gpu.errors import InputError
from herald_gpu.evaluate import Trainable, paper_split
from herald_gpu.evaluate.full import read_full
from herald_gpu.evaluate.inputs import read_small, whole

N = 200


@dataclass
class Plain:
    """A condensed graph of some other method: two nodes, the first two features."""

    labels: Any = field(default_factory=lambda: np.array([2, 0]))
    features: Any = field(default_factory=lambda: np.array([[1.0, 2.0], [3.0, 4.0]]))
    adjacency: Any = field(default_factory=lambda: scipy.sparse.csr_matrix([[0.0, 0.5], [0.25, 0.0]]))
    train_mask: Any = field(default_factory=lambda: np.array([True, True]))
    node_ids: Any = field(default_factory=lambda: np.array([], dtype=np.int64))

    def transform(self, feats):
        return feats[:, :2]


@pytest.fixture(scope="module")
def graph():
    return make_graph(N, n_classes=3, n_features=8, seed=1)


@pytest.fixture(scope="module")
def full(graph):
    return read_full(graph, paper_split(N))


def condensed(graph, mask, labels=None, **options):
    labels = graph.labels if labels is None else labels
    return herald_gpu.condense(graph.edge_index, graph.features, labels, mask, ratio=0.2, backend="cpu", **options)


CONFIGS = {
    "default": HeraldConfig(),
    "linked": HeraldConfig(exemplar_rule="landmarks"),
    "paper": HeraldConfig.paper(),
}
configured = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


@configured
@pytest.mark.parametrize("output_type", ["numpy", "pandas", "torch", "polars"])
def test_a_condensed_graph_of_any_output_type(output_type, config):
    graph = make_graph(N, n_classes=3, n_features=8, homophily=0.9, seed=1)
    full = read_full(graph, paper_split(N))
    result = condensed(graph, full.train, output_type=output_type, config=config)
    plain = result.as_type("numpy")
    assert plain.is_landmark.any() == (config.selection == "exemplars")
    small = read_small(result, full)
    np.testing.assert_array_equal(small.features, plain.features)
    np.testing.assert_array_equal(small.adjacency.toarray(), plain.adjacency.toarray())
    own = ~plain.is_landmark
    ids = plain.node_ids[own]
    np.testing.assert_array_equal(small.codes[own], np.where(plain.train_mask[own], graph.labels[ids], -1))
    assert small.codes[~own].tolist() == [0, 1, 2, 0, 1, 2][: (~own).sum()]
    np.testing.assert_array_equal(small.full_features, plain.transform(graph.features))
    assert small.storage_ratio == result.report.storage_ratio
    assert not small.ready


def test_labels_are_matched_by_value(graph):
    names = np.array(["x", "a", "m"])[graph.labels]
    made = make_graph(N, n_classes=3, n_features=8, seed=1)
    full = read_full(type("G", (), vars(made) | {"labels": names}), paper_split(N))
    result = condensed(graph, full.train, names)
    small, own = read_small(result, full), ~result.is_landmark
    kept = own & (small.codes >= 0)
    assert full.classes.tolist() == ["a", "m", "x"]
    np.testing.assert_array_equal(full.classes[small.codes[kept]], names[result.node_ids[kept]])
    np.testing.assert_array_equal(full.classes[small.codes[~own]], result.labels[~own])


def test_sparse_features_stay_sparse():
    made = make_graph(N, n_classes=3, n_features=30, features="bag_of_words", mean_words=4, seed=1)
    own = read_full(made, paper_split(N))
    small = read_small(condensed(made, own.train), own)
    assert scipy.sparse.issparse(small.features)
    assert scipy.sparse.issparse(small.full_features)
    assert scipy.sparse.issparse(whole(own).features)


def test_other_methods_and_their_weights(graph, full):
    assert isinstance(Plain(), Trainable)
    small = read_small(Plain(), full)
    assert small.adjacency.toarray().tolist() == [[0, 0.5], [0.25, 0]]
    assert small.codes.tolist() == [2, 0]
    assert np.isnan(small.storage_ratio)
    np.testing.assert_array_equal(small.full_features, graph.features[:, :2])


def test_tensors_of_other_methods(full):
    small = read_small(
        Plain(
            labels=torch.tensor([1, -1]),
            features=torch.ones(2, 2),
            adjacency=torch.eye(2).to_sparse_coo(),
            train_mask=torch.tensor([True, False]),
        ),
        full,
    )
    assert small.codes.tolist() == [1, -1]
    assert small.adjacency.toarray().tolist() == [[1, 0], [0, 1]]


def test_what_other_methods_say_of_themselves(full):
    result = Plain()
    result.storage_ratio, result.normalised = 0.125, True
    small = read_small(result, full)
    assert small.storage_ratio == 0.125
    assert small.ready


def test_unknown_labels_are_not_trained_on(full):
    small = read_small(Plain(labels=np.array([1, -1]), train_mask=np.array([True, False])), full)
    assert small.codes.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"train_mask": np.zeros(2, dtype=bool)}, "no node is marked in train_mask"),
        ({"labels": np.array([0, 7])}, "labels hold classes that the full graph lacks"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(full, changes, message):
    with pytest.raises(InputError, match=message):
        read_small(Plain(**changes), full)


def test_other_objects_are_refused(full):
    with pytest.raises(InputError, match=r"result is a list: pass a CondensedGraph"):
        read_small([1], full)


@configured
def test_a_graph_condensed_with_another_split_is_refused(graph, full, config):
    with pytest.raises(InputError, match=r"nodes outside the training set.*pass the split"):
        read_small(condensed(graph, paper_split(N, draw_seed=1).train, config=config), full)


def test_what_landmarks_learned_from_is_known_to_a_file_without_scores(graph, full, tmp_path):
    def saved(train, *, with_scores):
        path = tmp_path / f"{train.sum()}-{with_scores}.herald"
        small = condensed(graph, train, config=CONFIGS["linked"])
        assert small.report.n_landmarks
        small.save(path, with_scores=with_scores)
        return herald_gpu.load(path)

    part, more = full.train.copy(), full.train.copy()
    part[np.flatnonzero(part)[-1]] = False
    # Far from all kept nodes, so that nothing but landmarks can know it.
    kept = saved(full.train, with_scores=False)
    more[np.setdiff1d(np.flatnonzero(~full.train), kept.node_ids)[:1]] = True
    assert read_small(kept, full).codes.size == kept.report.n_nodes
    assert read_small(saved(part, with_scores=True), full).codes.size
    with pytest.raises(InputError, match=r"another training set than that of this split.*save it with its scores"):
        read_small(saved(part, with_scores=False), full)
    with pytest.raises(InputError, match="training set"):
        read_small(saved(more, with_scores=False), full)


def test_ids_that_are_no_rows_are_no_leak(full):
    outside = np.flatnonzero(~full.train)[:2]
    wrong = (full.labels[outside] + 1) % 3
    assert read_small(Plain(node_ids=outside, labels=wrong), full).codes.tolist() == wrong.tolist()


def test_the_whole_graph(graph, full):
    small = whole(full)
    assert small.storage_ratio == 1
    np.testing.assert_array_equal(small.codes, np.where(full.train, graph.labels, -1))
    assert small.features is small.full_features


def test_the_whole_graph_scaled(full):
    scaled = whole(full, scaled=True).features
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.std(axis=0), 1, rtol=1e-5)
