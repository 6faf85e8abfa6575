"""What baselines give back."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse
from outcomes import RATIO, small_graph

from herald_gpu.baselines import run
from herald_gpu.errors import InputError

GRAPH = small_graph("bag_of_words")


def condensed(**options):
    given = (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train)
    return run("herding", *given, **{"ratio": RATIO, "backend": "cpu", "features": "tree", **options})


def test_figures_fit_the_parts():
    small = condensed()
    assert small.n_nodes == len(small.node_ids) == small.features.shape[0] == small.adjacency.shape[0]
    assert small.n_edges == small.adjacency.nnz == small.edge_index.shape[1]
    assert small.n_features == small.features.shape[1] == len(small.feature_positions)
    assert small.storage_ratio == small.storage_bytes / small.full_bytes <= RATIO
    assert small.seconds > 0
    assert "herding" in repr(small)


def test_edge_index_and_adjacency_agree():
    small = condensed(ratio=1.0)
    dense = np.zeros(small.adjacency.shape)
    dense[tuple(small.edge_index)] = 1
    np.testing.assert_array_equal(dense, small.adjacency.toarray())


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_transform_keeps_the_same_columns(container):
    small = condensed()
    x = GRAPH.features.toarray() if scipy.sparse.issparse(GRAPH.features) else GRAPH.features
    found = small.transform(container(x))
    assert scipy.sparse.issparse(found) == (container is not np.asarray)
    plain = found.toarray() if scipy.sparse.issparse(found) else found
    np.testing.assert_array_equal(plain, x[:, small.feature_positions])
    np.testing.assert_array_equal(plain[small.node_ids], _dense(small.features))


def test_transform_takes_tables_by_name():
    edges, nodes = GRAPH.to_frames()
    small = run("random", edges, nodes, ratio=RATIO, backend="cpu", features="tree")
    shuffled = nodes[list(nodes.columns[::-1])]
    found = _dense(small.transform(shuffled))
    np.testing.assert_array_equal(found, nodes[list(small.feature_ids)].to_numpy(dtype=np.float32))


def test_transform_refuses_another_width():
    with pytest.raises(InputError, match="feats has 2 columns"):
        condensed().transform(np.ones((3, 2)))


def test_it_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        condensed().name = "other"


def test_labels_are_the_callers():
    words = np.array(["red", "green", "blue"])[GRAPH.labels]
    small = condensed(links="expanded")
    given = (GRAPH.edge_index, GRAPH.features, words, GRAPH.train)
    named = run("herding", *given, ratio=RATIO, backend="cpu", features="tree", links="expanded")
    train = GRAPH.train[small.node_ids]
    np.testing.assert_array_equal(small.labels, np.where(train, GRAPH.labels[small.node_ids], -1))
    np.testing.assert_array_equal(small.train_mask, train)
    assert named.labels.tolist() == [words[i] if GRAPH.train[i] else None for i in named.node_ids]
    assert None in named.labels


def _dense(x):
    return x.toarray() if scipy.sparse.issparse(x) else x
