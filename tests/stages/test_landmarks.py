"""Landmarks: the largest entries of the classes' means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.graphs import host

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.encoding import Encoding
from herald_gpu.stages.landmarks import FEWEST_ENTRIES, MOST_ENTRIES, make_landmarks

CPU = CpuBackend()
CONFIG = HeraldConfig()
SPARSE = Encoding("sparse", "float32")
BITS = Encoding("sparse", "bits")
DENSE = Encoding("dense", "float32")
PLENTY = 1e9


def made(backend, centres, coded, limit=PLENTY, mean_stored=3.0, config=CONFIG):
    found = make_landmarks(backend, backend.asarray(np.array(centres, np.float64)), coded, limit, mean_stored, config)
    return None if found is None else host(backend, found)


def by_loop(centres, entries, *, ones=False):
    """Keep each row's largest entries by size, of equals the first; a third of their value, or ones."""
    found = np.zeros(np.shape(centres), dtype=np.float32)
    for row, values in enumerate(centres):
        for column in sorted(range(len(values)), key=lambda j: (-abs(values[j]), j))[:entries]:
            found[row, column] = (values[column] > 0) if ones else np.float32(values[column] / 3)
    return found


def entries_of(coded, limit, n_classes, config=CONFIG):
    """Entries that the share of the budget holds, between the fewest and the most."""
    share, each = config.landmark_share * limit, {"bits": 2, "int8": 3, "float16": 4, "float32": 6}[coded.values]
    return min(max(int(share // (each * n_classes)), FEWEST_ENTRIES), MOST_ENTRIES)


@pytest.mark.parametrize("values", ["float32", "float16", "int8", "bits"])
@pytest.mark.parametrize("limit", [1500, 5000, PLENTY])
def test_the_largest_entries_that_the_share_holds(backend, values, limit):
    centres = np.random.default_rng(0).normal(size=(3, 150))
    coded = Encoding("sparse", values)
    expected = by_loop(centres, entries_of(coded, limit, 3), ones=values == "bits")
    found = made(backend, centres, coded, limit)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


def test_never_more_entries_than_there_are_features(backend):
    centres = [[3.0, -6.0, 0.0]]
    np.testing.assert_array_equal(made(backend, centres, SPARSE), [[1, -2, 0]])
    np.testing.assert_array_equal(made(backend, centres, BITS), [[1, 0, 0]])


def test_ties_go_to_the_first(backend):
    centres = [[0.0, 2.0, -2.0, 2.0, 2.0 + 1e-12, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]]
    found = made(backend, centres, DENSE, mean_stored=1.0)
    assert np.flatnonzero(found[0]).tolist() == [1, 2, 3, 4, 6, 7, 8, 9]


@pytest.mark.parametrize(("mean_stored", "entries"), [(3.0, 8), (11.6, 12), (40.0, 20)])
def test_whole_rows_have_as_many_entries_as_a_node(backend, mean_stored, entries):
    centres = np.random.default_rng(1).normal(size=(4, 20))
    found = made(backend, centres, DENSE, mean_stored=mean_stored)
    np.testing.assert_array_equal(found, by_loop(centres, entries))


@pytest.mark.parametrize(
    ("coded", "bytes_needed"),
    [
        (SPARSE, 2 * 8 * 6),
        (BITS, 2 * 8 * 2),
        (DENSE, 2 * 30 * 4),
        (Encoding("dense", "bits"), 2 * 4),
        (Encoding("dense", "int8"), 2 * 30),
    ],
)
def test_none_where_they_take_too_much(backend, coded, bytes_needed):
    centres = np.random.default_rng(2).normal(size=(2, 30))
    config = replace(CONFIG, landmark_share=0.25)
    assert made(backend, centres, coded, 4 * bytes_needed, config=config) is not None
    assert made(backend, centres, coded, 4 * bytes_needed - 1, config=config) is None


def test_no_share_no_landmarks(backend):
    assert made(backend, [[1.0, 2.0]], DENSE, config=replace(CONFIG, landmark_share=0.0)) is None


def test_a_class_without_a_centre_has_an_empty_landmark(backend):
    found = made(backend, [[0.0, 0.0], [3.0, 0.0]], SPARSE)
    assert found.tolist() == [[0, 0], [1, 0]]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_classes=st.integers(1, 5),
    width=st.integers(1, 60),
    limit=st.floats(0, 5000),
    share=st.floats(0, 1),
    layout=st.sampled_from(["dense", "sparse"]),
    values=st.sampled_from(["float32", "float16", "int8", "bits"]),
)
def test_they_keep_to_their_share(seed, n_classes, width, limit, share, layout, values):
    rng = np.random.default_rng(seed)
    centres = rng.poisson(0.5, (n_classes, width)).astype(np.float64)
    coded, config = Encoding(layout, values), replace(CONFIG, landmark_share=share)
    found = make_landmarks(CPU, centres, coded, limit, float(rng.integers(0, width + 1)), config)
    if found is not None:
        stored = np.count_nonzero(found, axis=1).astype(np.float64)
        assert coded.bytes_of_rows(stored, width).sum() <= share * limit
