"""The CPU backend: nearest neighbours by every path, PageRank, trees and components."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse
from support import reference
from support.graphs import random_raw

from herald_gpu.backend import cpu
from herald_gpu.backend.cpu import CpuBackend

BACKEND = CpuBackend()
PATHS = ("dense", "sparse tiles", "posting lists")


def inverse_norms(x):
    lengths = np.linalg.norm(x.astype(np.float64), axis=1)
    return np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0)


def nearest(x, k, path, monkeypatch, reference_rows=None):
    """Distances by one of the paths."""
    matrix = np.ascontiguousarray(x, dtype=np.float32)
    if path != "dense":
        matrix = scipy.sparse.csr_matrix(matrix)
        monkeypatch.setattr(cpu, "GEMM_ADVANTAGE", 0.0 if path == "posting lists" else np.inf)
    return BACKEND.nearest_distances(matrix, inverse_norms(x), k, reference_rows)


@pytest.mark.parametrize("tile", [2048, 16, 7, 1])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_every_path_against_brute_force(kind, path, tile, monkeypatch):
    monkeypatch.setattr(cpu, "TILE", tile)
    x = random_raw(kind, 50, seed=1).x.copy()
    x[3] = 0
    x[10:14] = x[20]
    found = nearest(x, 10, path, monkeypatch)
    expected = reference.sorted_distances(reference.unit_rows(x))[:, :10]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("tile", [2048, 4])
@pytest.mark.parametrize("path", PATHS)
def test_a_row_is_never_its_own_neighbour(path, tile, monkeypatch):
    # Two copies of each of five directions: the twin is at distance 0, the row itself must not be there too.
    monkeypatch.setattr(cpu, "TILE", tile)
    x = np.repeat(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]), 2, axis=0)
    found = nearest(x, 2, path, monkeypatch)
    assert (found[:, 0] == 0).all()
    assert (found[:, 1] > 0.1).all()


@pytest.mark.parametrize("path", PATHS)
def test_duplicates_up_to_length_are_duplicates(path, monkeypatch):
    x = np.array([[1, 2, 0], [2, 4, 0], [3, 6, 0], [0, 0, 1]])
    found = nearest(x, 2, path, monkeypatch)
    assert (found[:3] < 1e-12).all()
    np.testing.assert_allclose(found[3], 1)


@pytest.mark.parametrize("path", PATHS)
def test_zero_rows_are_at_one_from_everything(path, monkeypatch):
    x = np.array([[0, 0], [0, 0], [1, 0], [-1, 0]])
    found = nearest(x, 3, path, monkeypatch)
    assert found[0].tolist() == found[1].tolist() == [1, 1, 1]
    assert found[2].tolist() == found[3].tolist() == [1, 1, 2]


@pytest.mark.parametrize("path", PATHS)
def test_as_many_neighbours_as_there_are_others(path, monkeypatch):
    x = random_raw("dense", 12, seed=3).x
    found = nearest(x, 11, path, monkeypatch)
    np.testing.assert_allclose(found, reference.sorted_distances(reference.unit_rows(x)), rtol=1e-9)


@pytest.mark.parametrize("path", PATHS)
def test_near_duplicates_are_measured_in_float64(path, monkeypatch):
    # Seven directions, each with a neighbour some 1e-10 away: float32 sees them at 0.
    rng = np.random.default_rng(0)
    base = rng.random((7, 6)).astype(np.float32)
    x = np.concatenate([base, base * (1 + 2e-5 * rng.random((7, 6))).astype(np.float32)])
    found = nearest(x, 3, path, monkeypatch)
    expected = reference.sorted_distances(reference.unit_rows(x))[:, :3]
    assert (expected[:, 0] < 1e-9).all()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("tile", [2048, 8])
@pytest.mark.parametrize("path", ["dense", "sparse tiles"])
def test_a_sample_as_reference(path, tile, monkeypatch):
    monkeypatch.setattr(cpu, "TILE", tile)
    x = random_raw("counts", 40, seed=4).x
    rows = np.array([30, 2, 17, 9, 21, 5, 38, 11])
    found = nearest(x, 5, path, monkeypatch, rows)
    unit = reference.unit_rows(x)
    for u in range(40):
        row = [0.5 * ((unit[u] - unit[v]) ** 2).sum() if unit[u].any() and unit[v].any() else 1.0 for v in rows]
        np.testing.assert_allclose(found[u], sorted(row)[:5], rtol=1e-9, atol=1e-15)
    for u in rows:
        assert found[u, 0] == 0 or not unit[u].any()  # a row of the sample finds itself


def test_posting_lists_are_taken_where_they_pay():
    thin = scipy.sparse.random(200, 500, density=0.005, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    assert cpu._posting_lists_pay(thin)
    assert not cpu._posting_lists_pay(scipy.sparse.csr_matrix(np.ones((50, 20), dtype=np.float32)))


@pytest.mark.parametrize("path", PATHS)
def test_the_number_of_threads_does_not_matter(path, monkeypatch):
    x = random_raw("counts", 60, seed=6).x
    many = nearest(x, 10, path, monkeypatch)
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        np.testing.assert_array_equal(nearest(x, 10, path, monkeypatch), many)
    finally:
        numba.set_num_threads(before)


def test_pagerank_sums_to_one_and_stops():
    given = random_raw("binary", 40, seed=7, mean_degree=5.0)
    around = reference.neighbours(given)
    linked = [v for v in range(40) if around[v]]
    place = {v: i for i, v in enumerate(linked)}
    weights = np.zeros((len(linked), len(linked)))
    for u in linked:
        for v in around[u]:
            weights[place[u], place[v]] = 1 + (u + v) % 3
    restart = np.zeros(len(linked))
    restart[:4] = 0.25
    adjacency = scipy.sparse.csr_matrix(weights)
    by_node = {i: {j: weights[i, j] for j in np.flatnonzero(weights[i])} for i in range(len(linked))}
    for steps in (1, 3, 100):
        found = BACKEND.pagerank(adjacency, restart, probability=0.15, tol=1e-6, max_iter=steps)
        expected = reference.pagerank(by_node, {0, 1, 2, 3}, steps=steps)
        assert found.sum() == pytest.approx(1)
        assert found.tolist() == pytest.approx([expected[i] for i in range(len(linked))], abs=1e-14)
    assert (adjacency.toarray() == weights).all()


def test_tree_features_are_ascending_and_distinct():
    x = np.array([[0, 5, 0], [0, 5, 1], [1, 5, 0], [1, 5, 1]], dtype=np.float32)
    codes = np.array([0, 1, 1, 0])
    for matrix in (x, scipy.sparse.csr_matrix(x)):
        found = BACKEND.tree_features(matrix, codes, max_depth=50, seed=42)
        assert found.tolist() == [0, 2]
        assert found.dtype == np.int64


def test_arrays_pass_through():
    array = np.arange(3)
    assert BACKEND.asarray(array) is array
    assert BACKEND.to_host(array) is array
    assert BACKEND.asarray([1, 2], dtype=np.float32).dtype == np.float32


def test_versions_and_memory():
    assert {"python", "numpy", "scipy", "scikit-learn", "numba"} <= set(BACKEND.versions())
    assert BACKEND.peak_memory() > 1_000_000
