"""Neighbours of neighbours."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from herald_gpu.backend import _index, _links, _narrow, _tiles
from herald_gpu.backend._tiles import Nearest
from herald_gpu.bench import graphs


def unit(n, width=6, seed=0):
    x = np.random.default_rng(seed).normal(size=(n, width))
    return (x / np.linalg.norm(x, axis=1)[:, None]).astype(np.float32)


def known(rows, ids):
    """Lists that hold these rows, most similar first."""
    similarity = np.where(ids >= 0, np.einsum("uf,ujf->uj", rows, rows[ids]), -np.inf).astype(np.float32)
    order = np.lexsort((ids, -similarity), axis=1)
    nearest = Nearest(*ids.shape)
    nearest.ids[:], nearest.best[:] = (np.take_along_axis(part, order, 1) for part in (ids, similarity))
    return nearest


def at_random(rows, count, seed=1):
    """Lists of rows drawn without regard to similarity."""
    generator, n = np.random.default_rng(seed), len(rows)
    drawn = [generator.choice(n - 1, count, replace=False) for _ in range(n)]
    return known(rows, np.array([near + (near >= row) for row, near in enumerate(drawn)]))


def back_links(ids, width):
    """Rows that have a row among their first, nearest first, but not among its own first."""
    found = [[] for _ in ids]
    for rank in range(width):
        for row, to in enumerate(ids[:, rank]):
            if to >= 0 and row not in ids[to, :width]:
                found[to].append(row)
    return [near[: _links.BACK] for near in found]


def followed(rows, nearest):
    """By plain loops: the best of what each row knows, what knows it, and what its neighbours know or are known by."""
    ids, count = nearest.ids, nearest.ids.shape[1]
    width = min(_links.LINKS, count)
    back, out = back_links(ids, width), np.full_like(ids, -1)
    for row in range(len(rows)):
        near = [one for one in ids[row, :width] if one >= 0]
        met = {
            *ids[row].tolist(),
            *back[row],
            *(far for one in near for far in (*ids[one, :width].tolist(), *back[one])),
        }
        met = np.array(sorted(met - {-1, row}), dtype=np.int64)
        best = met[np.argsort(-(rows[met].astype(np.float64) @ rows[row].astype(np.float64)), kind="stable")][:count]
        out[row, : len(best)] = best
    return out


@pytest.mark.parametrize("tile", [2048, 7])
@pytest.mark.parametrize(("n", "count"), [(400, 12), (400, 4), (60, 19), (12, 11), (5, 2), (2, 1)])
def test_against_plain_loops(n, count, tile, monkeypatch):
    monkeypatch.setattr(_tiles, "TILE", tile)
    rows = unit(n)
    nearest = at_random(rows, count)
    expected = followed(rows, nearest)
    _links.follow(rows, nearest)
    np.testing.assert_array_equal(nearest.ids, expected)
    np.testing.assert_allclose(nearest.best, np.einsum("uf,ujf->uj", rows, rows[nearest.ids]), rtol=1e-5, atol=1e-6)


def test_lists_that_are_not_full():
    rows = unit(80)
    ids = at_random(rows, 6).ids
    ids[::3, 2:] = -1
    ids[5] = -1
    nearest = known(rows, ids)
    expected = followed(rows, nearest)
    _links.follow(rows, nearest)
    np.testing.assert_array_equal(nearest.ids, expected)
    assert (nearest.best[nearest.ids < 0] == -np.inf).all()


def test_back_links_are_the_nearest_and_no_more_than_there_is_room_for():
    """All name row 0, which names 1 to 3."""
    ids = np.zeros((40, 3), dtype=np.int64)
    ids[:, 1:] = -1
    ids[0] = [1, 2, 3]
    links, width = _links.linked(ids)
    assert (width, links.shape, links.dtype) == (3, (40, 3 + _links.BACK), np.int32)
    assert links[0].tolist() == [1, 2, 3, *range(4, 4 + _links.BACK)]
    assert (links[1:, 1:] == -1).all()  # row 0 is among their own


def test_of_equal_rows_those_with_the_lowest_ids():
    rows = np.tile(unit(1), (30, 1))
    nearest = at_random(rows, 4)
    expected = followed(rows, nearest)
    _links.follow(rows, nearest)
    np.testing.assert_array_equal(nearest.ids, expected)


def test_a_row_finds_neither_itself_nor_anything_twice():
    rows = np.repeat(unit(60), 3, axis=0)
    nearest = at_random(rows, 8)
    for _ in range(4):
        _links.follow(rows, nearest)
    assert (nearest.ids != np.arange(180)[:, None]).all()
    assert all(len(set(near)) == 8 for near in nearest.ids.tolist())
    twins = np.sort(nearest.ids[:, :2], axis=1) // 3 == np.arange(180)[:, None] // 3
    assert twins.mean() > 0.95


def test_zero_rows_are_rows():
    rows = unit(50)
    rows[::7] = 0
    nearest = at_random(rows, 5)
    expected = followed(rows, nearest)
    _links.follow(rows, nearest)
    np.testing.assert_array_equal(nearest.ids[1::7], expected[1::7])
    assert np.isfinite(nearest.best).all()


def test_the_same_bits_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(_tiles, "TILE", 64)
    rows, before, runs = unit(3000, width=37), numba.get_num_threads(), []
    try:
        for threads in (before, 1):
            numba.set_num_threads(threads)
            nearest = at_random(rows, 9)
            _links.follow(rows, nearest)
            runs.append(nearest)
    finally:
        numba.set_num_threads(before)
    np.testing.assert_array_equal(runs[0].ids, runs[1].ids)
    np.testing.assert_array_equal(runs[0].best, runs[1].best)


@pytest.mark.parametrize("few", [False, True], ids=["as they are", "in few directions"])
def test_recall_rises_on_a_flat_sheet(few, monkeypatch):
    rows = graphs.latent_rows(6000, 80)
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    similarity = rows @ rows.T
    np.fill_diagonal(similarity, -np.inf)
    nearest = np.argsort(-similarity, axis=1)[:, :10]
    monkeypatch.setattr(_index, "PROBES", 6)
    if not few:
        monkeypatch.setattr(_narrow, "narrowed", lambda *_: None)

    def recall():
        found = _index.nearest_positions(rows, 19)
        return np.mean([np.isin(one, other).mean() for one, other in zip(nearest, found, strict=True)])

    after = recall()
    monkeypatch.setattr(_links, "follow", lambda *_: None)
    assert after > recall() + 0.15
    assert after > 0.85
