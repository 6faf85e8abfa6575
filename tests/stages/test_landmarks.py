"""Landmarks: directions against least squares by hand, and the signs they are written as."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st
from support.graphs import build, host, random_raw

from herald_gpu import ops
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.encoding import OF_LANDMARKS
from herald_gpu.stages import landmarks
from herald_gpu.stages.pool import draw_pool
from herald_gpu.stages.views import Remembered, walk_along

CPU = CpuBackend()
CONFIG = HeraldConfig(smallest_pool=9, largest_pool=9)
KINDS = ("binary", "counts", "dense")


def lessons_of(backend, given, width=12, config=CONFIG):
    """Lessons of every fold and of all compared nodes, with rows and pool on the host."""
    graph = build(backend, given)
    pool = draw_pool(backend, graph, 1, config, seed=0)
    ranked = ops.pick_columns(backend, graph.features, backend.asarray(np.arange(width)))
    seen = Remembered(backend, walk_along(backend, graph, ranked, pool), width, pool)
    rows = {name: host(backend, getattr(seen.compared, name)).astype(np.float64) for name in landmarks.SEEN}
    moved = {name: host(backend, getattr(pool, name)) for name in ("codes", "compared", "free")}
    lessons = landmarks.prepare_lessons(backend, seen.compared, pool, config)
    folds = landmarks.hold_out(backend, lessons, seen.compared, pool, config)
    return [*folds, lessons], rows, replace(pool, **moved)


def by_least_squares(rows, codes, free, n_classes, width):
    """Rows of length 1 of all three kinds below one another, a ridge as further rows; columns of length 1."""
    parts, targets = [], []
    for part in rows.values():
        length = np.linalg.norm(part, axis=1, keepdims=True)
        parts.append(np.divide(part, length, out=np.zeros_like(part), where=length > 0)[free][:, :width])
        targets.append((codes[free][:, None] == np.arange(n_classes)) - 1 / n_classes)
    left = np.vstack([*parts, np.sqrt(landmarks.PENALTY) * np.eye(width)])
    right = np.vstack([*targets, np.zeros((width, n_classes))])
    weights = np.linalg.lstsq(left, right, rcond=None)[0].T
    return weights / np.linalg.norm(weights, axis=1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_directions_solve_a_ridge_regression(backend, kind):
    given = random_raw(kind, 60, seed=1)
    lessons, rows, pool = lessons_of(backend, given)
    codes = pool.codes[pool.compared]
    assert len(lessons) == pool.n_folds + 1
    for fold in range(pool.n_folds + 1):
        free, factor = pool.free[fold][pool.compared], landmarks.factorise(backend, lessons[fold])
        for width in (12, 5):
            found = host(backend, landmarks.learn_directions(backend, factor, width))
            expected = by_least_squares(rows, codes, free, 3, width)
            np.testing.assert_allclose(found, expected, atol=2e-4, err_msg=f"{fold}, {width}")
        every = host(backend, landmarks.learn_directions(backend, factor))
        np.testing.assert_array_equal(every, host(backend, landmarks.learn_directions(backend, factor, 12)))


def test_a_fold_learns_nothing_from_who_it_holds_out(backend):
    given = random_raw("dense", 60, seed=2)
    lessons, rows, pool = lessons_of(backend, given)
    for fold in range(pool.n_folds):
        free = pool.free[fold][pool.compared]
        length = {name: np.maximum(np.linalg.norm(part, axis=1), 1e-12) for name, part in rows.items()}
        unit = {name: part[free] / length[name][free, None] for name, part in rows.items()}
        product = sum(part.T @ part for part in unit.values()) + landmarks.PENALTY * np.eye(12)
        np.testing.assert_allclose(host(backend, lessons[fold].product), product, rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-42, 1e-39, 1e37, 1e38])
@pytest.mark.parametrize("some", [False, True], ids=["all", "one"])
def test_rows_that_float32_does_not_hold_teach_nothing(backend, scale, some):
    """One over their length, or sums of their neighbours, are beyond it."""
    given = random_raw("dense", 60, seed=2)
    x, chosen = np.clip(given.x, -3, 3), slice(1) if some else slice(None)
    x[chosen] *= np.float32(scale)
    lessons, _, pool = lessons_of(backend, replace(given, x=x))
    for fold in range(pool.n_folds + 1):
        found = host(backend, landmarks.learn_directions(backend, landmarks.factorise(backend, lessons[fold])))
        assert np.isfinite(found).all()


def test_a_larger_pool_teaches_the_same():
    """What is compared besides, where many nodes fit, does not change the directions."""
    given, found = random_raw("counts", 60, seed=2), []
    graph = build(CPU, given)
    for wanted in (1, 50):
        pool = draw_pool(CPU, graph, wanted, replace(CONFIG, largest_pool=50), seed=0)
        seen = Remembered(CPU, walk_along(CPU, graph, graph.features, pool), 12, pool)
        found.append((max(pool.sizes), landmarks.prepare_lessons(CPU, seen.compared, pool, CONFIG)))
    (few, one), (many, two) = found
    assert few < many
    np.testing.assert_array_equal(one.product, two.product)
    np.testing.assert_array_equal(one.onto, two.onto)


@pytest.mark.parametrize("width", [12, 5])
def test_folds_may_learn_in_fewer_columns(backend, width):
    """As in all of them, of which these are the first; rows keep the length that they have in all."""
    graph = build(backend, random_raw("dense", 60, seed=4))
    pool = draw_pool(backend, graph, 1, CONFIG, seed=0)
    seen = Remembered(backend, walk_along(backend, graph, graph.features, pool), 12, pool)
    lessons = landmarks.prepare_lessons(backend, seen.compared, pool, CONFIG)
    whole = list(landmarks.hold_out(backend, lessons, seen.compared, pool, CONFIG))
    few = landmarks.reorder(lessons, backend.asarray(np.arange(width)))
    found = list(landmarks.hold_out(backend, few, seen.compared, pool, CONFIG))
    assert len(found) == len(whole) == pool.n_folds
    for narrow, wide in zip(found, whole, strict=True):
        product = host(backend, wide.product)[:width, :width]
        np.testing.assert_allclose(host(backend, narrow.product), product, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(host(backend, narrow.onto), host(backend, wide.onto)[:width], rtol=1e-5, atol=1e-5)


def test_rows_are_multiplied_some_nodes_at_a_time(backend, monkeypatch):
    given = random_raw("counts", 60, seed=5)
    at_once, _, _ = lessons_of(backend, given)
    monkeypatch.setattr(landmarks, "AT_A_TIME", 4)
    in_turn, _, _ = lessons_of(backend, given)
    for one, two in zip(at_once, in_turn, strict=True):
        np.testing.assert_allclose(host(backend, two.product), host(backend, one.product), rtol=1e-5, atol=1e-5)


def test_columns_in_another_order(backend):
    (lessons, *_), _, _ = lessons_of(backend, random_raw("counts", 50, seed=3))
    order = np.random.default_rng(0).permutation(12)

    def directions(taken):
        return host(backend, landmarks.learn_directions(backend, landmarks.factorise(backend, taken)))

    turned = landmarks.reorder(lessons, backend.asarray(order))
    np.testing.assert_allclose(directions(turned), directions(lessons)[:, order], atol=1e-9)
    assert directions(landmarks.reorder(lessons, backend.asarray(order[:4]))).shape == (3, 4)


def test_the_most_telling_column_comes_first(backend):
    directions = np.array([[0.1, -0.9, 0.0, 0.3], [0.5, 0.2, 0.0, -0.3]])
    assert host(backend, landmarks.rank_columns(backend, backend.asarray(directions))).tolist() == [1, 0, 3, 2]


def test_signs_by_hand(backend):
    # Nine entries: the three shortest are opposite in the second landmark; of equally short ones the first.
    direction = [[0.5, -0.4, 0.3, -0.3, 0.2, -0.1, 0.1, 0.1, 0.0]]
    found = host(backend, landmarks.make_landmarks(backend, backend.asarray(np.array(direction))))
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.abs(found), landmarks.LENGTH / 3, rtol=1e-6)
    assert np.sign(found[0]).tolist() == [1, -1, 1, -1, 1, -1, 1, 1, 1]
    assert np.sign(found[1]).tolist() == [1, -1, 1, -1, 1, 1, -1, 1, -1]


@settings(max_examples=40, deadline=None, derandomize=True)
@hypothesis_given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 6), width=st.integers(1, 70))
def test_every_landmark_has_the_same_length_and_the_pair_points_the_way(seed, n_classes, width):
    directions = np.random.default_rng(seed).normal(size=(n_classes, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found = landmarks.make_landmarks(CPU, directions)
    assert found.shape == (landmarks.PER_CLASS * n_classes, width)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), landmarks.LENGTH, rtol=1e-5)
    pairs = found[:n_classes] + found[n_classes:]
    short = np.count_nonzero(pairs == 0, axis=1)
    assert (short == int(width * landmarks.SHORT_SHARE)).all()
    assert (pairs * directions >= 0).all()  # nowhere against the direction
    bytes_needed = landmarks.landmark_bytes(n_classes, width)
    assert bytes_needed == 2 * n_classes * (np.ceil(width / 8) + 4)
    assert bytes_needed == OF_LANDMARKS.bytes_of_rows(np.zeros(len(found)), width).sum()
