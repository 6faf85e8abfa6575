"""The clean graph: edges made simple, features brought to the container their values call for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from support import reference
from support.graphs import build, edge_set, host, random_raw, raw

from herald_gpu.errors import ConfigError
from herald_gpu.graph import Dropped, cheapest_kind, check_storage, clean_edges, clean_features, stored_edges


def ends(backend, pairs, dtype=np.int64):
    array = np.array(pairs, dtype=dtype).reshape(-1, 2)
    return backend.asarray(array[:, 0].copy()), backend.asarray(array[:, 1].copy())


def on_backend(backend, matrix):
    """Bring a SciPy CSR matrix over, part by part."""
    parts = (backend.asarray(part) for part in (matrix.data, matrix.indices, matrix.indptr))
    return backend.sparse.csr_matrix(tuple(parts), shape=matrix.shape)


# Edges


@pytest.mark.parametrize(
    ("pairs", "expected", "dropped"),
    [
        ([(0, 1), (1, 2)], {(0, 1), (1, 2)}, Dropped(0, 0)),
        ([(0, 1), (1, 0)], {(0, 1)}, Dropped(0, 0)),  # both directions: no duplicate
        ([(0, 1), (0, 1), (0, 1)], {(0, 1)}, Dropped(0, 2)),
        ([(0, 1), (1, 0), (1, 0)], {(0, 1)}, Dropped(0, 1)),
        ([(2, 2), (2, 2), (0, 2)], {(0, 2)}, Dropped(2, 0)),
        ([], set(), Dropped(0, 0)),
        ([(1, 1)], set(), Dropped(1, 0)),
    ],
)
def test_clean_edges(backend, pairs, expected, dropped):
    adjacency, found = clean_edges(backend, *ends(backend, pairs), 4)
    assert found == dropped
    assert edge_set(backend, adjacency) == expected | {(b, a) for a, b in expected}
    assert adjacency.shape == (4, 4)
    assert adjacency.dtype == np.float32
    assert (host(backend, adjacency.data) == 1).all()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_clean_edges_are_sorted_and_symmetric(backend, dtype):
    pairs = np.random.default_rng(0).integers(30, size=(200, 2))
    adjacency, dropped = clean_edges(backend, *ends(backend, pairs, dtype), 30)
    matrix = backend.to_host(adjacency)
    assert matrix.has_canonical_format
    assert (matrix != matrix.T).nnz == 0
    assert matrix.diagonal().sum() == 0
    distinct = {(a, b) for a, b in pairs.tolist() if a != b}
    assert dropped == Dropped(sum(a == b for a, b in pairs.tolist()), 200 - dropped.self_loops - len(distinct))
    assert edge_set(backend, adjacency) == distinct | {(b, a) for a, b in distinct}


def test_stored_edges_keep_everything(backend):
    pairs = [(2, 0), (0, 1), (0, 1), (1, 1), (0, 0)]
    adjacency = stored_edges(backend, *ends(backend, pairs), 3)
    assert host(backend, adjacency).tolist() == [[1, 2, 0], [0, 1, 0], [1, 0, 0]]  # values say how often
    assert build(backend, raw(pairs, np.eye(3), [0, 1, 0]), stored=True).n_edges == 5


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_stored_edges_of_a_large_graph(backend, dtype):
    n = 70_000  # source * n + target needs more than 32 bits
    pairs = [(n - 1, 5), (40_000, 2), (0, 3), (65_000, 9), (1, n - 1)]
    adjacency = stored_edges(backend, *ends(backend, pairs, dtype), n)
    assert edge_set(backend, adjacency) == set(pairs)


# Features

BINARY = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
COUNTS = [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
DENSE = [[0.5, 2, -1], [1, 0, 3], [4, 5, 6]]


@pytest.mark.parametrize(("x", "kind"), [(BINARY, "binary"), (COUNTS, "sparse"), (DENSE, "dense")])
def test_the_container_follows_from_the_values(backend, x, kind):
    dense = np.array(x, dtype=np.float32)
    for given in (backend.asarray(dense), on_backend(backend, scipy.sparse.csr_matrix(dense))):
        features, found = clean_features(backend, given)
        assert found == kind
        assert backend.sparse.issparse(features) == (kind != "dense")
        assert features.dtype == np.float32
        np.testing.assert_array_equal(host(backend, features), dense)


def test_both_containers_end_up_alike(backend):
    given = random_raw("counts", 30, seed=2)
    dense = clean_features(backend, backend.asarray(given.x))[0]
    sparse = clean_features(backend, on_backend(backend, scipy.sparse.csr_matrix(given.x)))[0]
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(host(backend, getattr(dense, part)), host(backend, getattr(sparse, part)))


def test_explicit_zeros_duplicates_and_disorder_are_cleaned(backend):
    parts = (np.array([0.5, 0.0, 0.5, 1.0], dtype=np.float64), np.array([2, 1, 2, 0]), np.array([0, 4]))
    messy = scipy.sparse.csr_matrix(parts, shape=(1, 3))
    brought = on_backend(backend, messy)
    features, kind = clean_features(backend, brought)
    assert kind == "binary"  # 0.5 + 0.5
    assert host(backend, features.indices).tolist() == [0, 2]
    assert host(backend, features.data).tolist() == [1, 1]
    assert brought.nnz == 4  # the caller's matrix is as it was
    assert host(backend, brought.data).tolist() == [0.5, 0.0, 0.5, 1.0]


def test_wide_values_become_float32(backend):
    features, kind = clean_features(backend, backend.asarray(np.array([[1, 2], [3, 4]], dtype=np.int64)))
    assert features.dtype == np.float32
    assert kind == "dense"


def test_a_matrix_of_zeros_is_binary(backend):
    features, kind = clean_features(backend, backend.asarray(np.zeros((3, 2))))
    assert kind == "binary"
    assert features.nnz == 0


@pytest.mark.parametrize(
    ("shape", "stored", "binary", "kind"),
    [
        ((2, 3), 6, True, "binary"),  # an index costs half of a float
        ((2, 3), 4, False, "sparse"),  # 3 * 4 against 2 * 6
        ((2, 3), 5, False, "dense"),
        ((100_000, 70_000), 1, False, "sparse"),
    ],
)
def test_cheapest_kind(shape, stored, binary, kind):
    assert cheapest_kind(shape, stored, binary=binary) == kind


@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_cheapest_kind_against_the_reference(backend, kind):
    given = random_raw(kind, 30, seed=4)
    assert build(backend, given).kind == reference.cheapest_kind(given.x)


def test_storage_override():
    assert check_storage("sparse", "auto") == "sparse"
    assert check_storage("sparse", "dense") == "dense"
    assert check_storage("binary", "sparse") == "sparse"
    assert check_storage("binary", "binary") == "binary"
    with pytest.raises(ConfigError, match="non-zero values other than 1"):
        check_storage("dense", "binary")


# The graph


def test_counts(tiny):
    graph = tiny["path"]
    assert (graph.n_nodes, graph.n_features, graph.n_edges, graph.n_classes) == (5, 2, 8, 2)


def test_isolated_nodes_stay(backend):
    graph = build(backend, raw([(0, 1)], np.eye(4), [0, 1, 0, 1]))
    assert graph.n_nodes == 4
    assert host(backend, graph.adjacency.indptr).tolist() == [0, 1, 2, 2, 2]


def test_labels_outside_the_training_set_are_not_there(backend, tiny):
    assert host(backend, tiny["path"].labels).tolist() == [0, 0, 1, 1, -1]


def test_a_graph_cannot_be_changed(tiny):
    with pytest.raises(AttributeError):
        tiny["path"].n_classes = 3
    assert replace(tiny["path"], n_classes=3).n_classes == 3
