"""Herding against a hand-worked order and its definition."""

from __future__ import annotations

import numpy as np
import pytest
from baselines import references
from support.graphs import build, host, random_raw

from herald_gpu.baselines.herding import herding_order, select
from herald_gpu.baselines.options import SpaceOptions
from herald_gpu.baselines.selection import cut_columns
from herald_gpu.budget import make_budget
from herald_gpu.config import HeraldConfig


def test_an_order_worked_by_hand(backend):
    """The mean is 2: first 2 itself, then 1 (mean 1.5), then 5 (mean 2.67; 0 would give 1), then 0."""
    rows = backend.asarray(np.array([[0.0], [1.0], [2.0], [5.0]]))
    assert host(backend, herding_order(backend, rows, 4)).tolist() == [2, 1, 3, 0]


def test_ties_go_to_the_lower_position(backend):
    rows = backend.asarray(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    assert host(backend, herding_order(backend, rows, 4)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_definition(backend, seed, sparse):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (15, 5)).astype(np.float64)
    given = backend.asarray(rows)
    given = backend.sparse.csr_matrix(given) if sparse else given
    assert host(backend, herding_order(backend, given, 9)).tolist() == references.herding(rows, 9)


def test_classes_are_herded_apart_on_rows_of_length_one(backend):
    graph = build(backend, random_raw("dense", 40, seed=2))
    budget = make_budget(backend, graph, 1.0, HeraldConfig())
    cut = cut_columns(backend, graph, backend.xp.arange(graph.n_features))
    # At full budget all training nodes come out; at a smaller one, the first of every class.
    everything = select(backend, cut, budget, seed=0, options=SpaceOptions())
    assert host(backend, everything.nodes).tolist() == np.flatnonzero(host(backend, graph.train)).tolist()
    x, y, train = host(backend, graph.features), host(backend, graph.labels), host(backend, graph.train)
    tight = make_budget(backend, graph, 0.11, HeraldConfig())
    chosen = set(host(backend, select(backend, cut, tight, seed=0, options=SpaceOptions(links="none")).nodes).tolist())
    for code in range(3):
        mine = np.flatnonzero(train & (y == code))
        rows = (x[mine] / np.linalg.norm(x[mine], axis=1, keepdims=True)).astype(np.float64)
        count = len(chosen & set(mine.tolist()))
        assert chosen & set(mine.tolist()) == {int(mine[i]) for i in references.herding(rows, count)}
