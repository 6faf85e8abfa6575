"""Edges and features of small synthetic graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from herald_gpu.baselines.synthetic import cheaper_layout, smooth_features, strongest_entries, strongest_pairs
from herald_gpu.encoding import Encoding

ROWS = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.3], [0.0, 2.0], [0.0, 0.0]])


def edges(matrix):
    coo = matrix.tocoo()
    return {(int(i), int(j)) for i, j in zip(coo.row, coo.col, strict=True) if i < j}


def test_similar_rows_are_joined_both_ways():
    joined, alike = strongest_pairs(ROWS, threshold=0.9, most=10)
    assert edges(joined) == {(0, 1), (0, 2), (1, 2)}
    assert alike == 3
    assert (joined != joined.T).nnz == 0
    assert set(joined.data.tolist()) == {1.0}


def test_the_strongest_pairs_stay():
    """Cosines: 0-1 0.995, 1-2 0.981, 0-2 0.958."""
    for most, expected in ((2, {(0, 1), (1, 2)}), (1, {(0, 1)}), (0, set()), (-3, set())):
        joined, alike = strongest_pairs(ROWS, threshold=0.9, most=most)
        assert edges(joined) == expected
        assert alike == 3


@pytest.mark.parametrize("hops", [1, 2])
def test_features_minimise_what_they_should(hops):
    """The same least squares problem, stacked and solved by another routine."""
    graph = nx.gnp_random_graph(9, 0.3, seed=2)
    graph.remove_edges_from(list(graph.edges(0)))  # an isolated node
    adjacency = nx.to_scipy_sparse_array(graph, format="csr", dtype=np.float64)
    wanted = np.random.default_rng(0).normal(size=(9, 4))
    loops = adjacency.toarray() + np.eye(9)
    root = np.diag(loops.sum(axis=1) ** -0.5)
    power = np.linalg.matrix_power(root @ loops @ root, hops)
    laplacian = nx.normalized_laplacian_matrix(graph).toarray()
    values, vectors = np.linalg.eigh(laplacian)
    half = np.sqrt(0.7 * np.clip(values, 0, None))[:, None] * vectors.T
    stacked = np.vstack([power, half]), np.vstack([wanted, np.zeros((9, 4))])
    expected = np.linalg.lstsq(*stacked, rcond=None)[0]
    found = smooth_features(scipy.sparse.csr_matrix(adjacency), wanted, hops=hops, smoothness=0.7)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_without_edges_features_are_what_is_wanted():
    wanted = np.random.default_rng(0).normal(size=(4, 3))
    empty = scipy.sparse.csr_matrix((4, 4), dtype=np.float32)
    np.testing.assert_allclose(smooth_features(empty, wanted, hops=2, smoothness=1.0), wanted)


def test_the_strongest_entries_of_each_row():
    x = np.array([[0.1, -3.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 5.0, 0.0]])
    kept = strongest_entries(x, 2)
    np.testing.assert_array_equal(kept.toarray(), [[0, -3, 2, 0], [1, 1, 0, 0], [0, 0, 5, 0]])
    assert kept.nnz == 5
    assert kept.dtype == np.float32


def test_the_cheaper_layout_is_taken():
    x = np.zeros((3, 10), dtype=np.float32)
    x[:, 0] = 1
    few = scipy.sparse.csr_matrix(x)
    assert cheaper_layout(x, "float32") == (4 * 30, Encoding("dense", "float32"))
    assert cheaper_layout(few, "float32") == (6 * 3, Encoding("sparse", "float32"))
    assert cheaper_layout(few, "int8") == (3 * 3 + 40, Encoding("sparse", "int8"))
    x[:] = 1
    assert cheaper_layout(scipy.sparse.csr_matrix(x), "float16") == (2 * 30, Encoding("dense", "float16"))
