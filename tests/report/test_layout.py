"""Places of nodes: always the same, apart from each other, quick, and tidy."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial import cKDTree

from herald_gpu.report import drawing, forces
from herald_gpu.report.drawing import draw
from herald_gpu.report.packing import lay_out


def graph(n, pairs):
    pairs = np.asarray(pairs).reshape(-1, 2)
    half = scipy.sparse.coo_matrix((np.ones(len(pairs)), pairs.T), shape=(n, n))
    both = ((half + half.T) > 0).astype(np.float32).tocsr()
    both.setdiag(0)
    both.eliminate_zeros()
    return both


def drawn(n, m, seed=0):
    return graph(n, np.random.default_rng(seed).integers(n, size=(m, 2)))


@pytest.mark.parametrize(("n", "m"), [(30, 40), (900, 2000)])
def test_the_same_graph_gives_the_same_places(n, m):
    codes = np.arange(n) % 3
    one, two = (lay_out(drawn(n, m), codes, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert np.isfinite(one).all()
    assert not np.array_equal(one, lay_out(drawn(n, m), codes, seed=5))


def test_nodes_do_not_lie_on_one_another():
    places = lay_out(drawn(900, 2000), np.zeros(900, dtype=int))
    near, _ = cKDTree(places).query(places, k=2)
    assert near[:, 1].min() > 0.1
    assert np.median(near[:, 1]) > 0.5


def test_neighbours_are_nearer_than_others():
    ring = [(i, (i + 1) % 60) for i in range(60)]
    places = forces.arrange(graph(60, ring), np.random.default_rng(0))
    edges = np.array(ring)
    along = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    across = np.linalg.norm(places[:30] - places[30:], axis=1)
    assert along.max() < across.min()


def test_the_grid_pushes_as_all_pairs_do():
    places = np.random.default_rng(1).normal(scale=20, size=(700, 2))
    one, two = forces._all_pairs(places), forces._through_grid(places)
    cosine = (one * two).sum(axis=1) / (np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1))
    assert np.median(cosine) > 0.98


@pytest.mark.parametrize("pairs", [[(0, 1)], [(0, 1), (1, 2)], [(0, 1), (0, 2), (0, 3)], [(0, 1), (1, 2), (2, 0)]])
def test_small_components(pairs):
    n = 1 + max(max(pair) for pair in pairs)
    places = lay_out(graph(n, pairs), np.zeros(n, dtype=int))
    assert len(np.unique(places.round(3), axis=0)) == n


def test_components_do_not_overlap():
    first = [(i, i + 1) for i in range(20)]
    second = [(30 + i, 31 + i) for i in range(10)]
    places = lay_out(graph(41, first + second), np.zeros(41, dtype=int))
    one, two = places[:21], places[30:41]
    apart = (one.max(axis=0) < two.min(axis=0)) | (two.max(axis=0) < one.min(axis=0))
    assert apart.any()


def test_single_nodes_stand_in_blocks_by_class_below():
    codes = np.array([0, 0, 0, *([1] * 10), *([-1] * 5), *([0] * 7)])
    places = lay_out(graph(25, [(0, 1), (1, 2)]), codes)
    alone = np.arange(3, 25)
    assert places[alone, 1].min() > places[:3, 1].max()
    spans = [(places[alone][codes[alone] == c, 0].min(), places[alone][codes[alone] == c, 0].max()) for c in (0, 1, -1)]
    assert spans[0][1] < spans[1][0]
    assert spans[1][1] < spans[2][0]
    assert len(np.unique(places[alone], axis=0)) == len(alone)


@pytest.mark.slow
def test_thousands_of_nodes_take_seconds():
    start = time.perf_counter()
    lay_out(drawn(5000, 25000), np.zeros(5000, dtype=int))
    assert time.perf_counter() - start < 60


def test_the_drawing_fits_its_sheet(result):
    made = draw(result._host)
    assert (made.places >= 0).all()
    assert (made.places <= (made.width, made.height)).all()
    assert made.left_out == ""
    assert len(made.ids) == result.report.n_nodes


def test_what_is_too_much_is_left_out_and_said(make, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_NODES", 8)
    monkeypatch.setattr(drawing, "MOST_EDGES", 2)
    result = make("linked")
    made = draw(result._host)
    assert len(made.ids) == 8
    assert made.is_landmark.sum() == result.report.n_landmarks
    assert len(made.edges) <= 2
    assert f"{result.report.n_nodes - 8:,} nodes of lower rank" in made.description
