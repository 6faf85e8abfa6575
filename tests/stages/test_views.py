"""Features after no, one and two hops: against dense matrices in float64."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.graphs import build, host, random_raw, raw

from herald_gpu import ops
from herald_gpu.config import HeraldConfig
from herald_gpu.stages.pool import draw_pool
from herald_gpu.stages.views import STEPS, Remembered, open_views, views_through, walk_along

KINDS = ("binary", "counts", "dense")
CONFIG = HeraldConfig(smallest_pool=7, largest_pool=7)
COUNTS = [3, 5, 9]


class Dense:
    """A graph in dense float64 matrices, columns best first."""

    def __init__(self, given, columns):
        n = given.n
        adjacency = np.zeros((n, n))
        for u, v in given.edges:
            if u != v:
                adjacency[u, v] = adjacency[v, u] = 1
        degree = adjacency.sum(axis=1)
        self.x = given.x.astype(np.float64)[:, columns]
        self.P = np.divide(adjacency, degree[:, None], out=np.zeros_like(adjacency), where=degree[:, None] > 0)
        self.loops = adjacency + np.eye(n)
        self.M = self.loops / (degree[:, None] + 1)

    def rows(self):
        """What is seen of every node, by name."""
        x = self.x
        return {"own": x, "around": self.P @ x, "mean": self.M @ self.M @ x, "total": self.loops @ self.loops @ x}

    def hops(self):
        return [self.x, self.P @ self.x, self.P @ self.P @ self.x]


def cosines(rows):
    """Cosines of all pairs; those with a zero row are 0."""
    length = np.linalg.norm(rows, axis=1)
    unit = np.divide(rows, length[:, None], out=np.zeros_like(rows), where=length[:, None] > 1e-12)
    return unit @ unit.T


def seen(backend, given, counts=COUNTS, config=CONFIG, columns=None):
    """Open views of a graph; give them with the pool, on the host."""
    graph = build(backend, given)
    pool = draw_pool(backend, graph, 1, config, seed=0)
    columns = np.random.default_rng(0).permutation(given.x.shape[1])[: counts[-1]] if columns is None else columns
    ranked = ops.pick_columns(backend, graph.features, backend.asarray(columns))
    views = [
        replace(
            view,
            similarity=host(backend, view.similarity),
            held={name: host(backend, part) for name, part in vars(view.held).items()},
        )
        for view in open_views(backend, graph, ranked, counts, pool)
    ]
    moved = {name: host(backend, getattr(pool, name)) for name in ("members", "codes", "compared", "held", "free")}
    return views, replace(pool, **moved), columns


def tables(view, pool):
    """Similarities of each class as a table."""
    ends = np.cumsum([size**2 for size in pool.sizes])
    parts = np.split(view.similarity, ends[:-1])
    return [part.reshape(size, size) for part, size in zip(parts, pool.sizes, strict=True)]


@pytest.mark.parametrize("block", [8_000_000, 90])
@pytest.mark.parametrize("kind", KINDS)
def test_held_out_rows(backend, kind, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    given = random_raw(kind, 45, seed=2)
    views, pool, columns = seen(backend, given)
    assert [view.count for view in views] == COUNTS
    for view in views:
        dense = Dense(given, columns[: view.count])
        for name, rows in dense.rows().items():
            np.testing.assert_allclose(view.held[name], rows[pool.held], rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("block", [8_000_000, 90])
@pytest.mark.parametrize("kind", KINDS)
def test_similarities_are_cosines_added_up(backend, kind, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    given = random_raw(kind, 45, seed=3)
    views, pool, columns = seen(backend, given)
    compared = pool.members[pool.compared]
    for view in views:
        assert view.similarity.dtype == np.int16
        hops = Dense(given, columns[: view.count]).hops()
        for code, table in enumerate(tables(view, pool)):
            nodes = compared[pool.codes[pool.compared] == code]
            expected = STEPS * sum(cosines(rows[nodes]) for rows in hops)
            np.testing.assert_allclose(table, expected, atol=0.6)  # rounded to whole numbers
            np.testing.assert_array_equal(table, table.T)


def test_similarities_by_hand(backend):
    # No edges, so that only own features count: alike 1, at right angles 0, opposite -1, and a zero row is like none.
    x = [[1, 0], [3, 0], [0, 2], [-2, 0], [0, 0], [1, 1]]
    given = raw([], x, [0, 0, 0, 0, 0, 1])
    (view,), pool, _ = seen(backend, given, [2], replace(CONFIG, smallest_pool=9), columns=np.arange(2))
    table, single = tables(view, pool)
    assert single.tolist() == [[STEPS]]
    order = np.argsort(pool.members[:5])
    expected = [[1, 1, 0, -1, 0], [1, 1, 0, -1, 0], [0, 0, 1, 0, 0], [-1, -1, 0, 1, 0], [0, 0, 0, 0, 0]]
    assert table[np.ix_(order, order)].tolist() == (STEPS * np.array(expected)).tolist()


def test_a_view_does_not_depend_on_those_before_it(backend):
    given = random_raw("binary", 45, seed=5)
    columns = np.arange(9)
    views, _, _ = seen(backend, given, COUNTS, columns=columns)
    for count, view in zip(COUNTS, views, strict=True):
        (alone,), _, _ = seen(backend, given, [count], columns=columns)
        np.testing.assert_allclose(view.similarity, alone.similarity, atol=1)
        for name, rows in alone.held.items():
            np.testing.assert_allclose(view.held[name], rows, rtol=1e-6, err_msg=name)


def test_a_view_stays_as_it_is_when_the_next_one_opens(backend):
    given = random_raw("dense", 45, seed=5)
    graph = build(backend, given)
    pool = draw_pool(backend, graph, 1, CONFIG, seed=0)
    opened = open_views(backend, graph, graph.features, [4, 14], pool)
    first = next(opened)
    before = [host(backend, part).copy() for part in (first.similarity, first.held.mean, first.held.total)]
    next(opened)
    after = [host(backend, part) for part in (first.similarity, first.held.mean, first.held.total)]
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, two)


def remembered(backend, given, width, columns):
    graph = build(backend, given)
    pool = draw_pool(backend, graph, 1, CONFIG, seed=0)
    ranked = ops.pick_columns(backend, graph.features, backend.asarray(columns))
    return Remembered(backend, walk_along(backend, graph, ranked, pool), width, pool), pool, graph


@pytest.mark.parametrize("block", [8_000_000, 90])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_compared_nodes(backend, kind, block, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", block)
    given, columns = random_raw(kind, 45, seed=2), np.arange(9)[::-1]
    kept, pool, _ = remembered(backend, given, 9, columns)
    nodes, dense = host(backend, pool.members)[host(backend, pool.compared)], Dense(given, columns)
    for name, rows in dense.rows().items():
        found = host(backend, getattr(kept.compared, name))
        np.testing.assert_allclose(found, rows[nodes], rtol=1e-5, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(
            host(backend, getattr(kept.held, name)), rows[host(backend, pool.held)], rtol=1e-5, atol=1e-5, err_msg=name
        )


@pytest.mark.parametrize("width", [2, 4, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_views_of_what_is_remembered_are_those_of_a_walk(backend, kind, width):
    """Whether all columns are remembered or, as beyond the width, some have to be walked to."""
    given, columns = random_raw(kind, 45, seed=3), np.arange(9)
    kept, pool, graph = remembered(backend, given, width, columns)
    again = views_through(backend, kept.through, COUNTS, pool)
    ranked = ops.pick_columns(backend, graph.features, backend.asarray(columns))
    for one, two in zip(again, open_views(backend, graph, ranked, COUNTS, pool), strict=True):
        np.testing.assert_array_equal(host(backend, one.similarity), host(backend, two.similarity))
        for name, rows in vars(two.held).items():
            np.testing.assert_array_equal(host(backend, getattr(one.held, name)), host(backend, rows), err_msg=name)


def test_columns_that_are_remembered_can_be_reordered(backend):
    given, order = random_raw("counts", 45, seed=4), np.array([3, 0, 2, 1])
    kept, pool, graph = remembered(backend, given, 4, np.arange(9))
    kept.reorder(backend.asarray(order))
    ranked = ops.pick_columns(backend, graph.features, backend.asarray(np.array([3, 0, 2, 1, 4, 5, 6, 7, 8])))
    again = views_through(backend, kept.through, COUNTS, pool)
    for one, two in zip(again, open_views(backend, graph, ranked, COUNTS, pool), strict=True):
        np.testing.assert_array_equal(host(backend, one.similarity), host(backend, two.similarity))
        np.testing.assert_array_equal(host(backend, one.held.total), host(backend, two.held.total))


def test_the_scale_of_features_does_not_matter(backend):
    given = random_raw("dense", 30, seed=6)
    (one,), _, _ = seen(backend, given, [14])
    (two,), _, _ = seen(backend, raw(given.edges, 1024 * given.x, given.y, given.train), [14])
    np.testing.assert_array_equal(one.similarity, two.similarity)
