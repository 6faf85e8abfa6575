"""Stage 1: the share of training edges that join two classes."""

from __future__ import annotations

import numpy as np
import pytest
from support import reference
from support.graphs import build, random_raw, raw

from herald_gpu.stages.heterophily import Heterophily, measure_heterophily


def assert_is(found, expected):
    assert (found.h, found.n_edges) == (expected.h, expected.n_edges)
    assert found.homophily == pytest.approx(expected.homophily, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # 0-1 and 2-3 agree, 1-2 does not, 3-4 leaves the training set; by chance one half would differ
        ("path", Heterophily(2 / 6, 6, 1 - (2 / 6) / 0.5)),
        # only the third leaf agrees with the hub; by chance 1 - 0.4^2 - 0.6^2 would differ
        ("star", Heterophily(6 / 8, 8, 1 - 0.75 / 0.48)),
        ("triangles", Heterophily(0.0, 12, 1.0)),
    ],
)
def test_by_hand(backend, tiny, name, expected):
    assert_is(measure_heterophily(backend, tiny[name]), expected)


def test_every_edge_between_classes(backend):
    graph = build(backend, raw([(0, 1), (2, 1), (2, 3)], np.eye(4), [0, 1, 0, 1]))
    assert_is(measure_heterophily(backend, graph), Heterophily(1.0, 6, -1.0))


def test_no_edge_between_training_nodes(backend):
    graph = build(backend, raw([(0, 1), (1, 2)], np.eye(3), [0, 0, 1], [True, False, True]))
    assert_is(measure_heterophily(backend, graph), Heterophily(0.0, 0, 1.0))


def test_no_edge_at_all(backend):
    graph = build(backend, raw([], np.eye(2), [0, 1]))
    assert_is(measure_heterophily(backend, graph), Heterophily(0.0, 0, 1.0))


def test_one_class_alone_is_homophilic(backend):
    graph = build(backend, raw([(0, 1)], np.eye(2), [0, 0]))
    assert_is(measure_heterophily(backend, graph), Heterophily(0.0, 2, 1.0))


def test_homophily_counts_training_nodes_only(backend):
    given = raw([(0, 1), (1, 2), (2, 3)], np.eye(5), [0, 0, 0, 1, 1], [True, True, True, True, False])
    # One of three edges differs; shares of three quarters and one quarter.
    assert_is(measure_heterophily(backend, build(backend, given)), Heterophily(2 / 6, 6, 1 - (2 / 6) / 0.375))


def test_edges_kept_as_stored_count_one_by_one(backend):
    given = raw([(0, 1), (0, 1), (1, 2), (2, 2)], np.eye(3), [0, 1, 1])
    # One of three training nodes is of the first class: 1 - (1/3)^2 - (2/3)^2 would differ by chance.
    found = measure_heterophily(backend, build(backend, given, stored=True))
    assert_is(found, Heterophily(2 / 4, 4, 1 - (2 / 4) / (4 / 9)))


@pytest.mark.parametrize("seed", range(5))
def test_against_the_reference(backend, seed):
    given = random_raw("binary", 60, seed)
    h, n_edges = reference.heterophily(reference.neighbours(given), given)
    found = measure_heterophily(backend, build(backend, given))
    assert found.n_edges == n_edges
    assert found.h == pytest.approx(h, abs=1e-15)
