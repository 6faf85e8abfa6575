"""Nearest neighbours on the host: by every path the same distances."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse
from support import reference
from support.graphs import random_raw

from herald_gpu.backend import _index, _neighbours
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
        monkeypatch.setattr(_neighbours, "GEMM_ADVANTAGE", 0.0 if path == "posting lists" else np.inf)
    keep = reference_rows is not None
    return BACKEND.nearest_distances(matrix, inverse_norms(x), k, reference_rows, keep_self=keep)


@pytest.mark.parametrize("tile", [2048, 16, 7, 1])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_every_path_against_brute_force(kind, path, tile, monkeypatch):
    monkeypatch.setattr(_neighbours, "TILE", tile)
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
    monkeypatch.setattr(_neighbours, "TILE", tile)
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
    monkeypatch.setattr(_neighbours, "TILE", tile)
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
    assert _neighbours._posting_lists_pay(thin)
    assert not _neighbours._posting_lists_pay(scipy.sparse.csr_matrix(np.ones((50, 20), dtype=np.float32)))


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


@pytest.mark.parametrize("tile", [2048, 8])
@pytest.mark.parametrize("path", ["dense", "sparse tiles"])
def test_chosen_rows_are_those_of_all(path, tile, monkeypatch):
    x = random_raw("counts", 40, seed=4).x.copy()
    x[[3, 7]] = 0
    every = nearest(x, 5, path, monkeypatch)
    monkeypatch.setattr(_neighbours, "TILE", tile)
    rows = np.array([39, 3, 0, 12, 12, 7, 25])
    matrix = np.ascontiguousarray(x, dtype=np.float32)
    matrix = matrix if path == "dense" else scipy.sparse.csr_matrix(matrix)
    found = BACKEND.nearest_distances(matrix, inverse_norms(x), 5, rows=rows)
    np.testing.assert_allclose(found, every[rows], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("path", ["dense", "sparse tiles"])
def test_a_sample_without_the_row_itself(path, monkeypatch):
    x = np.repeat(np.eye(6), 2, axis=0)  # each row has one twin
    rows = np.array([0, 1, 2, 4])
    monkeypatch.setattr(_neighbours, "TILE", 3)
    matrix = x.astype(np.float32) if path == "dense" else scipy.sparse.csr_matrix(x.astype(np.float32))
    found = BACKEND.nearest_distances(matrix, inverse_norms(x), 3, rows)
    assert found[:6, 0].tolist() == [0, 0, 1, 0, 1, 0]  # 0 and 1 are twins in the sample; 2 and 4 are alone in it
    assert (found[:, 1:] == 1).all()


# Through an index


def clustered(n=900, seed=0):
    rng = np.random.default_rng(seed)
    x = np.abs(rng.normal(size=(30, 12)))[rng.integers(30, size=n)] + 0.1 * rng.random((n, 12))
    x[rng.random(x.shape) < 0.3] = 0
    x[::50] = 0
    return x.astype(np.float32)


@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_an_index_finds_nearly_all(container):
    x = clustered()
    found = BACKEND.nearest_distances(container(x), inverse_norms(x), 10, approximate=True)
    expected = reference.sorted_distances(reference.unit_rows(x))[:, :10]
    assert (found >= expected - 1e-12).all()
    assert np.isclose(found, expected, rtol=1e-9, atol=1e-15).mean() > 0.95


def test_the_same_index_at_every_run_and_on_any_number_of_threads():
    import faiss

    x, before = clustered(2000), faiss.omp_get_max_threads()
    runs = []
    try:
        for threads in (2, 2, 1):
            faiss.omp_set_num_threads(threads)
            runs.append(BACKEND.nearest_distances(x, inverse_norms(x), 10, approximate=True))
            assert faiss.omp_get_max_threads() == threads
    finally:
        faiss.omp_set_num_threads(before)
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


@pytest.mark.parametrize("lost", ["all", "most", "duplicates of itself"])
def test_rows_for_which_an_index_finds_too_few_are_compared_with_all(lost, monkeypatch):
    x, real = clustered(300), _index.nearest_positions

    def poor(unit, count):
        found = real(unit, count)
        if lost == "all":
            found[::3] = -1
        elif lost == "most":
            found[::3, 4:] = -1
        else:
            found[::3] = np.arange(len(unit))[::3, None]
        return found

    monkeypatch.setattr(_index, "nearest_positions", poor)
    # As many zero rows as neighbours would fill the gap with ones: here there are too few of them.
    x[x.any(axis=1).argmin() :: 50] = x[1]
    found = BACKEND.nearest_distances(x, inverse_norms(x), 10, approximate=True)
    expected = reference.sorted_distances(reference.unit_rows(x))[:, :10]
    filled = np.flatnonzero(x.any(axis=1))
    np.testing.assert_allclose(found[filled[::3]], expected[filled[::3]], rtol=1e-9, atol=1e-15)


def test_zero_rows_compete_with_what_an_index_finds():
    """Opposite rows are at distance 2: zero rows, at 1, are nearer."""
    x = np.zeros((60, 2), dtype=np.float32)
    x[:20], x[20:40] = [1, 0], [-1, 0]
    found = BACKEND.nearest_distances(x, inverse_norms(x), 30, approximate=True)
    assert found[0].tolist() == [0] * 19 + [1] * 11
    assert (found[40:] == 1).all()


@pytest.mark.parametrize("n_filled", [0, 1, 5, 11])
def test_hardly_any_row_for_an_index(n_filled):
    x = np.zeros((30, 3), dtype=np.float32)
    x[:n_filled] = np.random.default_rng(0).random((n_filled, 3))
    found = BACKEND.nearest_distances(x, inverse_norms(x), 10, approximate=True)
    expected = reference.sorted_distances(reference.unit_rows(x))[:, :10]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)
