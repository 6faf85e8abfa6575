"""Nearest neighbours on the host: by every path the same distances."""

from __future__ import annotations

import numba
import numpy as np
import pytest
import scipy.sparse
from support import reference
from support.graphs import random_raw

from herald_gpu.backend import _index, _kernels, _similarity, _tiles
from herald_gpu.backend.cpu import CpuBackend

BACKEND = CpuBackend()
DENSE_SHARES = {"sparse tiles": -1.0, "posting lists": 1.0, "both": 0.5}
"""Share of rows above which a feature is multiplied densely: all features, none, and some."""
PATHS = ("dense", *DENSE_SHARES)


def inverse_norms(x):
    lengths = np.linalg.norm(x.astype(np.float64), axis=1)
    return np.where(lengths > 0, 1 / np.where(lengths > 0, lengths, 1), 0)


def nearest(x, k, path, monkeypatch, reference_rows=None):
    """Distances by one of the paths."""
    matrix = np.ascontiguousarray(x, dtype=np.float32)
    if path != "dense":
        matrix = scipy.sparse.csr_matrix(matrix)
        monkeypatch.setattr(_similarity, "DENSE_SHARE", DENSE_SHARES[path])
    keep = reference_rows is not None
    return BACKEND.nearest_distances(matrix, inverse_norms(x), k, reference_rows, keep_self=keep)


@pytest.mark.parametrize("tile", [2048, 16, 7, 1])
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_every_path_against_brute_force(kind, path, tile, monkeypatch):
    monkeypatch.setattr(_tiles, "TILE", tile)
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
    monkeypatch.setattr(_tiles, "TILE", tile)
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
    monkeypatch.setattr(_tiles, "TILE", tile)
    x = random_raw("counts", 40, seed=4).x
    rows = np.array([30, 2, 17, 9, 21, 5, 38, 11])
    found = nearest(x, 5, path, monkeypatch, rows)
    unit = reference.unit_rows(x)
    for u in range(40):
        row = [0.5 * ((unit[u] - unit[v]) ** 2).sum() if unit[u].any() and unit[v].any() else 1.0 for v in rows]
        np.testing.assert_allclose(found[u], sorted(row)[:5], rtol=1e-9, atol=1e-15)
    for u in rows:
        assert found[u, 0] == 0 or not unit[u].any()  # a row of the sample finds itself


def test_only_frequent_features_are_made_dense(monkeypatch):
    """Of 300 features 3 are in half of the rows, the others in one of a hundred: a block of 200 rows is 200 x 3."""
    rng, taken, real = np.random.default_rng(0), [], _tiles.Buffers.take
    x = (rng.random((400, 300)) < np.where(np.arange(300) < 3, 0.5, 0.01)).astype(np.float32)
    monkeypatch.setattr(_tiles, "TILE", 200)

    def take(self, name, n_rows, n_columns):
        taken.append((name, n_rows, n_columns))
        return real(self, name, n_rows, n_columns)

    monkeypatch.setattr(_tiles.Buffers, "take", take)
    found = BACKEND.nearest_distances(scipy.sparse.csr_matrix(x), inverse_norms(x), 5)
    assert set(taken) == {("rows", 200, 3), ("columns", 200, 3), ("tile", 200, 200)}
    np.testing.assert_array_equal(found, BACKEND.nearest_distances(scipy.sparse.csr_matrix(x), inverse_norms(x), 5))
    np.testing.assert_allclose(found, reference.sorted_distances(reference.unit_rows(x))[:, :5], rtol=1e-9, atol=1e-15)


def best_of(similarity, count):
    """Most similar others of each row by definition: of equal ones those with the lowest ids."""
    masked = similarity.astype(np.float64)
    np.fill_diagonal(masked, -np.inf)
    return np.argsort(-masked, axis=1, kind="stable")[:, :count]


@pytest.mark.parametrize("n", [5, 31, 32, 33, 70, 100])
def test_ties_go_to_the_lower_id_in_whatever_order_tiles_come(n, monkeypatch):
    monkeypatch.setattr(_tiles, "TILE", 16)
    rng = np.random.default_rng(n)
    half = rng.integers(0, 4, (n, n))  # few values: nearly every list ends in a tie
    similarity = (half + half.T).astype(np.float32)
    starts = range(0, n, 16)
    pairs = [(low, left) for low in starts for left in starts if low <= left]
    expected = best_of(similarity, 4)
    for _ in range(3):
        rng.shuffle(pairs)
        nearest = _tiles.Nearest(n, 4)
        for low, left in pairs:
            nearest.offer_tile(np.ascontiguousarray(similarity[low : low + 16, left : left + 16]), low, left)
        np.testing.assert_array_equal(nearest.ids, expected)


@pytest.mark.parametrize("width", [1, 31, 32, 64, 90])
def test_offers_to_chosen_rows(width):
    rng = np.random.default_rng(width)
    similarity = rng.integers(0, 4, (90, 90)).astype(np.float32)
    rows, nearest = np.array([3, 4, 40, 89]), _tiles.Nearest(90, 4)
    for ids in np.split(rng.permutation(90), range(width, 90, width)):
        nearest.offer_rows(np.ascontiguousarray(similarity[np.ix_(rows, ids)]), rows, rows, ids)
    np.testing.assert_array_equal(nearest.ids[rows], best_of(similarity, 4)[rows])
    assert (np.delete(nearest.ids, rows, axis=0) == -1).all()


@pytest.mark.parametrize("width", [1, 3, 4, 5, 9])
def test_distances_are_summed_in_the_order_of_features(width):
    """Four candidates at once give the bits of one at a time."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, 7)).astype(np.float32)
    x[5] = 0
    inverse, candidates, out = inverse_norms(x), rng.integers(-1, 12, (12, width)), np.empty((12, width))
    _kernels.dense_distances(x, inverse, np.arange(12), candidates, out)
    for u in range(12):
        for j, v in enumerate(candidates[u].tolist()):
            total = 0.0
            for f in range(7):
                step = float(x[u, f]) * inverse[u] - float(x[v, f]) * inverse[v]
                total += step * step
            expected = np.inf if v < 0 else 1.0 if inverse[u] * inverse[v] == 0 else 0.5 * total
            assert out[u, j] == expected


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
    monkeypatch.setattr(_tiles, "TILE", tile)
    rows = np.array([39, 3, 0, 12, 12, 7, 25])
    matrix = np.ascontiguousarray(x, dtype=np.float32)
    matrix = matrix if path == "dense" else scipy.sparse.csr_matrix(matrix)
    found = BACKEND.nearest_distances(matrix, inverse_norms(x), 5, rows=rows)
    np.testing.assert_allclose(found, every[rows], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("path", ["dense", "sparse tiles"])
def test_a_sample_without_the_row_itself(path, monkeypatch):
    x = np.repeat(np.eye(6), 2, axis=0)  # each row has one twin
    rows = np.array([0, 1, 2, 4])
    monkeypatch.setattr(_tiles, "TILE", 3)
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


@pytest.mark.parametrize("approximate", [False, True])
def test_the_same_bits_at_every_run_and_on_any_number_of_threads(approximate, monkeypatch):
    import faiss

    monkeypatch.setattr(_tiles, "TILE", 256)
    x, before, runs = clustered(3000), numba.get_num_threads(), []
    try:
        for threads in (before, before, 1):
            numba.set_num_threads(threads)
            faiss_threads = faiss.omp_get_max_threads()
            runs.append(BACKEND.nearest_distances(x, inverse_norms(x), 10, approximate=approximate))
            assert faiss.omp_get_max_threads() == faiss_threads
    finally:
        numba.set_num_threads(before)
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
