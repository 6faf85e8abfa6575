"""Rows in few directions."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from support import reference

from herald_gpu.backend import _index, _narrow, _tiles
from herald_gpu.backend.cpu import CpuBackend

BACKEND = CpuBackend()


def lengthened(x):
    return (x / np.linalg.norm(x, axis=1)[:, None]).astype(np.float32)


def sheet(n=3000, directions=8, width=100, noise=0.01, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, directions)) @ generator.normal(size=(directions, width))
    return lengthened(x + noise * generator.normal(size=x.shape))


@pytest.mark.parametrize(("directions", "expected"), [(8, 16), (16, 16), (17, 32), (40, 48)])
def test_as_many_directions_as_there_are(directions, expected):
    unit = sheet(directions=directions, width=300)
    found = _narrow.narrowed(unit, 19)
    assert (found.shape, found.dtype) == ((3000, expected), np.float32)
    assert found.flags.c_contiguous
    np.testing.assert_allclose(found @ found[:50].T, unit @ unit[:50].T, atol=1e-3)


@pytest.mark.parametrize(
    "unit",
    [
        sheet(width=63),
        sheet(directions=20, width=100),
        sheet(directions=70, width=300),
        sheet(noise=1),
        lengthened(np.random.default_rng(0).normal(size=(3000, 100))),
    ],
    ids=["narrow already", "saves little", "many directions", "much noise", "nothing but noise"],
)
def test_rows_that_stay_as_they_are(unit):
    assert _narrow.narrowed(unit, 19) is None


def test_few_directions_that_hold_rows_but_not_their_neighbours():
    """Groups of twenty that differ by noise alone: directions tell the groups, not who is near in them."""
    generator = np.random.default_rng(0)
    x = np.repeat(generator.normal(size=(150, 8)) @ generator.normal(size=(8, 100)), 20, axis=0)
    unit = lengthened(x + 0.1 * generator.normal(size=x.shape))
    assert _narrow._directions(unit, generator.normal(size=(100, 80)).astype(np.float32)).shape == (100, 16)
    assert _narrow.narrowed(unit, 12) is None


def test_rows_that_stray_from_the_directions_are_few_or_none_are_narrowed():
    generator = np.random.default_rng(0)
    for strays, taken in ((3, True), (30, False)):
        unit = sheet()
        unit[:strays] = lengthened(generator.normal(size=(strays, 100)))
        assert (_narrow.narrowed(unit, 19) is not None) == taken


@pytest.mark.parametrize("n", [2, 3, 12, 90])
def test_few_rows(n):
    unit = sheet(n)
    found = _index.nearest_positions(unit, n - 1)
    assert (np.sort(found, axis=1) == [[one for one in range(n) if one != row] for row in range(n)]).all()


def test_equal_rows():
    found = _index.nearest_positions(np.tile(sheet(1), (300, 1)), 9)
    assert (found >= 0).all()
    assert (found != np.arange(300)[:, None]).all()


def test_distances_are_those_of_whole_rows():
    x = sheet(400) * np.random.default_rng(1).uniform(0.5, 2, size=(400, 1)).astype(np.float32)
    x[::50] = 0
    lengths = np.linalg.norm(x.astype(np.float64), axis=1)
    inverse = np.divide(1, lengths, where=lengths > 0, out=np.zeros(400))
    found = BACKEND.nearest_distances(x, inverse, 10, approximate=True)
    expected = reference.sorted_distances(reference.unit_rows(x))[:, :10]
    assert (found >= expected - 1e-12).all()
    assert np.isclose(found, expected, rtol=1e-9, atol=1e-15).mean() > 0.95


def test_the_same_bits_at_every_run_and_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(_tiles, "TILE", 256)
    unit, before, runs = sheet(), numba.get_num_threads(), []
    try:
        for threads in (before, before, 1):
            numba.set_num_threads(threads)
            runs.append((_narrow.narrowed(unit, 19), _index.nearest_positions(unit, 19)))
    finally:
        numba.set_num_threads(before)
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0][0], other[0])
        np.testing.assert_array_equal(runs[0][1], other[1])
