"""The spaces in which nodes are compared, against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import build, host, random_raw

from herald_gpu.baselines.spaces import propagated_rows, smoothing, training_rows, turned, unit_rows

KINDS = ("binary", "counts", "dense")


def dense_smoothing(adjacency):
    loops = adjacency + np.eye(len(adjacency))
    root = np.diag(loops.sum(axis=1) ** -0.5)
    return root @ loops @ root


@pytest.mark.parametrize("kind", KINDS)
def test_smoothing_is_the_renormalised_adjacency(backend, kind):
    graph = build(backend, random_raw(kind, 30, seed=1))
    expected = dense_smoothing(host(backend, graph.adjacency).astype(np.float64))
    np.testing.assert_allclose(host(backend, smoothing(backend, graph.adjacency)), expected, atol=1e-15)


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_propagated(backend, kind, hops):
    graph = build(backend, random_raw(kind, 30, seed=1))
    nodes = np.array([3, 0, 17])
    step = dense_smoothing(host(backend, graph.adjacency).astype(np.float64))
    expected = np.linalg.matrix_power(step, hops) @ host(backend, graph.features).astype(np.float64)
    found = host(backend, propagated_rows(backend, graph, backend.asarray(nodes), hops))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected[nodes], atol=1e-12)


@pytest.mark.parametrize("space", ["raw", "propagated"])
@pytest.mark.parametrize("kind", KINDS)
def test_training_rows_have_length_one_or_are_zero(backend, kind, space):
    graph = build(backend, random_raw(kind, 40, seed=6))
    rows = host(backend, training_rows(backend, graph, space))
    assert rows.shape == (int(host(backend, graph.train).sum()), 14)
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)


def test_zero_rows_stay_zero(backend):
    rows = unit_rows(backend, backend.asarray(np.array([[3.0, 4.0], [0.0, 0.0]])))
    np.testing.assert_allclose(host(backend, rows), [[0.6, 0.8], [0.0, 0.0]])


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_left_as_it_was(backend, kind):
    graph = build(backend, random_raw(kind, 30, seed=1))
    before = host(backend, graph.features).copy(), host(backend, graph.adjacency).copy()
    for space in ("raw", "propagated"):
        training_rows(backend, graph, space)
    np.testing.assert_array_equal(host(backend, graph.features), before[0])
    np.testing.assert_array_equal(host(backend, graph.adjacency), before[1])


def test_turned_is_the_transpose(backend):
    x = np.arange(6.0).reshape(2, 3)
    dense = backend.asarray(x)
    for given in (dense, backend.sparse.csr_matrix(dense)):
        np.testing.assert_array_equal(host(backend, turned(backend, given)), x.T)
