"""Columns on the device: numbers and strings looked up in each other, whatever order cuDF gives them in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

NUMBERS = [[3, 1, 2, 1], [0.5, -1.0, 7.25], [True, False, True]]
TEXTS = [["b", "a", "c", "a"], ["", "Zürich", "x y"]]


@pytest.fixture
def col(rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    from herald_gpu.backend.rapids import columns

    return columns


@pytest.fixture
def cudf(rapids):  # noqa: ARG001 - on a GPU the real one, else its double
    return pytest.importorskip("cudf", reason="cuDF is not installed: pip install '.[cu13]'")


def column(col, cudf, values, *, dtype=None):
    return col.to_device(cudf.Series(values, dtype=dtype))


@pytest.mark.parametrize("values", NUMBERS)
def test_numbers_become_arrays(rapids, col, cudf, values):
    for given in (cudf.Series(values), rapids.asarray(values), values):
        there = col.to_device(given)
        assert isinstance(there, rapids.xp.ndarray)
        assert not col.is_text(there)
        assert there.get().tolist() == values


@pytest.mark.parametrize("values", TEXTS)
def test_strings_stay_a_series(col, cudf, values):
    there = column(col, cudf, values)
    assert col.is_text(there)
    assert there.to_pandas().tolist() == values


def test_missing_numbers_become_nan(col, cudf):
    there = column(col, cudf, [1, None, 3])
    np.testing.assert_array_equal(there.get(), [1, np.nan, 3])
    assert col.missing(there).get().tolist() == [False, True, False]
    assert col.missing(column(col, cudf, ["a", None])).get().tolist() == [False, True]
    assert col.missing(column(col, cudf, [1, 2])).get().tolist() == [False, False]


@pytest.mark.parametrize("values", [["b", "a", "b"], [3, 1, 3]])
def test_categories_are_their_values(col, cudf, values):
    there = col.to_device(cudf.Series(pd.Series(values, dtype="category")))
    assert (there.to_pandas() if col.is_text(there) else there.get()).tolist() == values


def test_equal_to(col, cudf):
    numbers, texts = column(col, cudf, [1, 2, 1]), column(col, cudf, ["a", None, "b"])
    assert col.equal_to(numbers, 1).get().tolist() == [True, False, True]
    assert col.equal_to(numbers, "1").get().tolist() == [False, False, False]
    assert col.equal_to(numbers, None).get().tolist() == [False, False, False]
    assert col.equal_to(texts, "a").get().tolist() == [True, False, False]
    assert col.equal_to(texts, 1).get().tolist() == [False, False, False]


def test_any_of_a_few_values(col, cudf):
    assert col.any_of(column(col, cudf, [1, 2, 3]), [3, 1]).get().tolist() == [True, False, True]
    assert col.any_of(column(col, cudf, ["a", "b"]), ["b", "c"]).get().tolist() == [False, True]
    assert col.any_of(column(col, cudf, [1, 2]), []).get().tolist() == [False, False]


@pytest.mark.parametrize("values", [*NUMBERS[:2], *TEXTS])
def test_order_and_selection(rapids, col, cudf, values):
    there = column(col, cudf, values)
    order = col.sorted_order(there)
    assert isinstance(order, rapids.xp.ndarray)
    assert sorted(order.get().tolist()) == list(range(len(values)))
    ordered = col.take(there, order)
    assert (ordered.to_pandas() if col.is_text(ordered) else ordered.get()).tolist() == sorted(values)
    assert col.distinct(there) == sorted(set(values))


@pytest.mark.parametrize(
    ("ordered", "values", "places"),
    [
        ([10, 20, 30], [30, 10, 11, 30, 99, -1], [2, 0, -1, 2, -1, -1]),
        ([0.5, 1.5], [1.5, float("nan"), 0.5], [1, -1, 0]),
        (["a", "b", "d"], ["d", "c", "a", "d", "b"], [2, -1, 0, 2, 1]),
        ([10, 20], ["a", "b"], [-1, -1]),
        (["a", "b"], [1, 2, 3], [-1, -1, -1]),
    ],
)
def test_places(col, cudf, ordered, values, places):
    found = col.places_in(column(col, cudf, values), column(col, cudf, ordered))
    assert found.dtype == np.int64
    assert found.get().tolist() == places


def test_places_in_nothing(rapids, col):
    empty = rapids.asarray(np.empty(0, dtype=np.int64))
    assert col.places_in(rapids.asarray(np.arange(3)), empty).get().tolist() == [-1, -1, -1]


def test_many_strings_keep_their_places(col, cudf):
    """The rows of a merge are put back in order."""
    rng = np.random.default_rng(0)
    words = [f"word {i:03d}" for i in range(300)]
    picked = rng.integers(400, size=1000)
    values = [words[i] if i < 300 else f"none {i}" for i in picked]
    found = col.places_in(column(col, cudf, values), column(col, cudf, words))
    np.testing.assert_array_equal(found.get(), np.where(picked < 300, picked, -1))
