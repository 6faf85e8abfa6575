"""Landmarks of every fold: what they are made of, and of whom."""

from __future__ import annotations

import numpy as np
import pytest
from support.graphs import build, host, random_raw

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.budget import make_budget
from herald_gpu.config import HeraldConfig
from herald_gpu.guidance import Guidance, counts_beside, most_columns
from herald_gpu.stages import landmarks
from herald_gpu.stages.pool import draw_pool
from herald_gpu.stages.views import Remembered, walk_along

CPU = CpuBackend()
CONFIG = HeraldConfig()


def guide(backend, given):
    """Guidance over all features of a graph in an order of their own, with the pool."""
    graph = build(backend, given)
    pool = draw_pool(backend, graph, 1, CONFIG, seed=0)
    seen = Remembered(backend, walk_along(backend, graph, graph.features, pool), graph.n_features, pool)
    lessons = landmarks.prepare_lessons(backend, seen.compared, pool, CONFIG)
    order = backend.asarray(np.random.default_rng(0).permutation(graph.n_features))
    seen.reorder(order)
    budget = make_budget(backend, graph, 0.5, CONFIG)
    return Guidance(backend, graph, pool, seen.compared, lessons, budget, CONFIG, order=order), pool


def directions(guidance, pool, width, free):
    """Ridge regression on rows of some nodes, of length 1 in all columns, by the normal equations in float64."""
    left, right = landmarks.PENALTY * np.eye(width), np.zeros((width, len(pool.sizes)))
    codes = host(guidance.backend, pool.codes[pool.compared])
    wanted = (codes[:, None] == np.arange(len(pool.sizes))) - 1 / len(pool.sizes)
    for name in landmarks.SEEN:
        rows = host(guidance.backend, getattr(guidance.rows, name)).astype(np.float64)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = np.divide(rows, length, out=np.zeros_like(rows), where=length > 0)[free, :width]
        left += rows.T @ rows
        right += rows.T @ wanted[free]
    weights = np.linalg.solve(left, right).T
    return weights / np.linalg.norm(weights, axis=1, keepdims=True)


@pytest.mark.parametrize("widths", [(12, 5), (5, 12)], ids=["fewer", "more"])
def test_landmarks_of_a_fold_know_nothing_of_who_it_holds_out(backend, widths):
    guidance, pool = guide(backend, random_raw("dense", 80, seed=3))
    free = host(backend, pool.free)[:, host(backend, pool.compared)]
    assert not free[:-1].all(axis=1).any()
    for width in widths:
        found = guidance.beside(width)
        assert len(found) == pool.n_folds + 1
        for fold, marks in enumerate(found):
            expected = landmarks.make_landmarks(CPU, directions(guidance, pool, width, free[fold]))
            np.testing.assert_array_equal(np.sign(host(backend, marks)), np.sign(expected), err_msg=f"{fold}, {width}")


def test_landmarks_with_an_exemplar_are_those_beside_many(backend):
    guidance, pool = guide(backend, random_raw("counts", 80, seed=4))
    beside = guidance.beside(8)
    for fold in (*range(pool.n_folds), -1):
        drafted = guidance.draft(8, fold).landmarks
        np.testing.assert_array_equal(host(backend, drafted), host(backend, beside[fold]))


def test_numbers_of_features_that_fit():
    assert most_columns(100, 3, 1e6, None) == 50
    assert most_columns(100, 3, 1e6, 70) == 70
    assert most_columns(100, 3, 6 * (4 + 2), None) == 16  # two bytes of signs beside the scale
    assert most_columns(100, 3, 1, None) == 0
    # Six landmarks of 64 signs and a scale, and their edges, take 96 bytes; of 32 signs, 72.
    assert counts_beside(64, 64, 3, 192, CONFIG) == [64, 32, 16, 8]
    assert counts_beside(64, 64, 3, 191, CONFIG) == [32, 16, 8]
    assert counts_beside(64, 40, 3, 192, CONFIG) == [32, 16, 8]
    assert counts_beside(64, 64, 3, 191, HeraldConfig(edges="real")) == [64, 32, 16, 8]
    assert counts_beside(64, 64, 3, 192, HeraldConfig(exemplar_rule="landmarks")) == []
