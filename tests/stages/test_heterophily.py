"""Stage 1: the share of training edges that join two classes."""

from __future__ import annotations

import numpy as np
import pytest
from support import reference
from support.graphs import build, random_raw, raw

from herald_gpu.stages.heterophily import Heterophily, measure_heterophily


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("path", Heterophily(2 / 6, 6)),  # 0-1 and 2-3 agree, 1-2 does not, 3-4 leaves the training set
        ("star", Heterophily(6 / 8, 8)),  # only the third leaf agrees with the hub
        ("triangles", Heterophily(0.0, 12)),
    ],
)
def test_by_hand(backend, tiny, name, expected):
    assert measure_heterophily(backend, tiny[name]) == expected


def test_every_edge_between_classes(backend):
    graph = build(backend, raw([(0, 1), (2, 1), (2, 3)], np.eye(4), [0, 1, 0, 1]))
    assert measure_heterophily(backend, graph) == Heterophily(1.0, 6)


def test_no_edge_between_training_nodes(backend):
    graph = build(backend, raw([(0, 1), (1, 2)], np.eye(3), [0, 0, 1], [True, False, True]))
    assert measure_heterophily(backend, graph) == Heterophily(0.0, 0)


def test_no_edge_at_all(backend):
    assert measure_heterophily(backend, build(backend, raw([], np.eye(2), [0, 1]))) == Heterophily(0.0, 0)


def test_edges_kept_as_stored_count_one_by_one(backend):
    given = raw([(0, 1), (0, 1), (1, 2), (2, 2)], np.eye(3), [0, 1, 1])
    assert measure_heterophily(backend, build(backend, given, stored=True)) == Heterophily(2 / 4, 4)


@pytest.mark.parametrize("seed", range(5))
def test_against_the_reference(backend, seed):
    given = random_raw("binary", 60, seed)
    h, n_edges = reference.heterophily(reference.neighbours(given), given)
    found = measure_heterophily(backend, build(backend, given))
    assert found.n_edges == n_edges
    assert found.h == pytest.approx(h, abs=1e-15)
