"""K-Center against a hand-worked order and its definition."""

from __future__ import annotations

import numpy as np
import pytest
from baselines import references
from support.graphs import build, host, random_raw

from herald_gpu.baselines.kcenter import kcenter_order, select
from herald_gpu.baselines.options import SpaceOptions
from herald_gpu.budget import make_budget
from herald_gpu.config import HeraldConfig


def test_an_order_worked_by_hand(backend):
    """The mean is 2: first 2 itself; 5 is farthest from it (3), then 0 (2 from 2), then 1."""
    rows = backend.asarray(np.array([[0.0], [1.0], [2.0], [5.0]]))
    assert host(backend, kcenter_order(backend, rows, 4)).tolist() == [2, 3, 0, 1]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_definition(backend, seed, sparse):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (15, 5)).astype(np.float64)
    given = backend.asarray(rows)
    given = backend.sparse.csr_matrix(given) if sparse else given
    assert host(backend, kcenter_order(backend, given, 9)).tolist() == references.kcenter(rows, 9)


def test_duplicates_come_last(backend):
    rows = backend.asarray(np.array([[0.0], [0.0], [0.0], [3.0], [1.0]]))
    assert set(host(backend, kcenter_order(backend, rows, 5)).tolist()[-2:]) <= {0, 1, 2}


def test_the_farthest_of_every_class_are_chosen(backend):
    graph = build(backend, random_raw("dense", 40, seed=3))
    tight = make_budget(backend, graph, 0.12, HeraldConfig())
    made = select(backend, graph, tight, seed=0, options=SpaceOptions(links="none"))
    chosen = set(host(backend, made.nodes).tolist())
    x, y, train = host(backend, graph.features), host(backend, graph.labels), host(backend, graph.train)
    for code in range(3):
        mine = np.flatnonzero(train & (y == code))
        rows = (x[mine] / np.linalg.norm(x[mine], axis=1, keepdims=True)).astype(np.float64)
        count = len(chosen & set(mine.tolist()))
        assert chosen & set(mine.tolist()) == {int(mine[i]) for i in references.kcenter(rows, count)}
