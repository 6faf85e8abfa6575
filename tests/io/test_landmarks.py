"""Ids of landmarks: new ones, of the kind that the graph's own are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from herald_gpu.io import present
from herald_gpu.io.landmarks import landmark_ids

CLASSES = np.array(["x", "y", "z"])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_the_next_numbers(dtype):
    found = landmark_ids(present, np.array([0, 3, 9], dtype=dtype), CLASSES)
    assert found.tolist() == [10, 11, 12]
    assert found.dtype == dtype


def test_numbers_below_zero():
    assert landmark_ids(present, np.array([-7, -5]), CLASSES).tolist() == [-4, -3, -2]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_numbers_at_the_end_of_their_type_leave_gaps_to_fill(dtype):
    largest = np.iinfo(dtype).max
    found = landmark_ids(present, np.array([0, 2, largest - 2], dtype=dtype), CLASSES)
    assert found.tolist() == [1, 3, 4]
    assert found.dtype == dtype
    just = landmark_ids(present, np.array([0, largest - 3], dtype=dtype), CLASSES)
    assert just.tolist() == [largest - 2, largest - 1, largest]


def test_a_type_without_any_number_left():
    ids = np.arange(256, dtype=np.uint8)
    found = landmark_ids(present, ids, CLASSES)
    assert found.tolist() == [256, 257, 258]
    assert present.extend(ids, found).tolist() == list(range(259))


def test_numbers_with_fractions():
    found = landmark_ids(present, np.array([0.5, 7.25]), CLASSES)
    assert found.tolist() == [8.0, 9.0, 10.0]
    assert found.dtype == np.float64


@pytest.mark.parametrize("dtype", [str, object])
def test_names(dtype):
    found = landmark_ids(present, np.array(["a", "b"], dtype=dtype), np.array([3, 10]))
    assert found.tolist() == ["landmark-3", "landmark-10"]


def test_names_that_are_taken():
    ids = np.array(["a", "landmark-y", "landmark-y_"])
    assert landmark_ids(present, ids, CLASSES).tolist() == ["landmark-x__", "landmark-y__", "landmark-z__"]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    ids=st.sets(st.integers(-128, 127), min_size=1, max_size=250),
    count=st.integers(1, 12),
    dtype=st.sampled_from([np.int8, np.int16]),
)
def test_none_of_the_graphs_own(ids, count, dtype):
    own = np.array(sorted(ids), dtype=dtype)
    found = landmark_ids(present, own, np.arange(count))
    assert len(set(found.tolist())) == count
    assert set(found.tolist()).isdisjoint(ids)
    assert present.extend(own, found).tolist() == [*sorted(ids), *found.tolist()]


# Behind the others


def test_numbers_stay_numbers():
    assert present.extend(np.array([1, 2], dtype=np.int32), np.array([3], dtype=np.int32)).dtype == np.int32
    assert present.extend(np.array([0.5]), np.array([1.0])).tolist() == [0.5, 1.0]


def test_longer_names_are_not_cut():
    assert present.extend(np.array(["a", "bc"]), np.array(["landmark-x"])).tolist() == ["a", "bc", "landmark-x"]


def test_objects_stay_objects():
    found = present.extend(np.array(["a", "b"], dtype=object), np.array(["landmark-x"]))
    assert found.dtype == object
    assert found.tolist() == ["a", "b", "landmark-x"]


def test_types_that_do_not_mix():
    found = present.extend(np.array(["2020-01-01"], dtype="datetime64[D]"), np.array(["landmark-x"]))
    assert [str(one) for one in found.tolist()] == ["2020-01-01 00:00:00", "landmark-x"]


def test_nothing_to_add():
    ids = np.array([4, 5])
    assert present.extend(ids, np.array([], dtype=np.int64)) is ids


def test_any_of():
    ids = np.array(["a", "b"])
    assert present.any_of(ids, ["c", "b"])
    assert not present.any_of(ids, ["c", "ab"])
    assert not present.any_of(ids, [])


# On a device


@pytest.fixture
def presenting(rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    from herald_gpu.backend.rapids import presenting

    return presenting


def text(values):
    import cudf

    return cudf.Series(values)


def listed(ids):
    return ids.to_arrow().to_pylist() if hasattr(ids, "to_arrow") else ids.get().tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_numbers_on_a_device(rapids, presenting, dtype):
    ids = rapids.asarray(np.array([0, 3, 9], dtype=dtype))
    found = landmark_ids(presenting, ids, CLASSES)
    assert found.tolist() == [10, 11, 12]
    both = presenting.extend(ids[1:], found)
    assert isinstance(both, rapids.xp.ndarray)
    assert both.dtype == dtype
    assert listed(both) == [3, 9, 10, 11, 12]


def test_names_on_a_device(presenting):
    ids = text(["a", "landmark-y", "z"])
    found = landmark_ids(presenting, ids, CLASSES)
    assert found.tolist() == ["landmark-x_", "landmark-y_", "landmark-z_"]
    both = presenting.extend(ids, found)
    assert type(both) is type(ids)
    assert listed(both) == ["a", "landmark-y", "z", "landmark-x_", "landmark-y_", "landmark-z_"]
    assert both.index.to_cupy().get().tolist() == list(range(6))


def test_any_of_on_a_device(presenting):
    ids = text(["a", "b"])
    assert presenting.any_of(ids, ["c", "b"]) is True
    assert presenting.any_of(ids, ["c", "ab"]) is False


def test_nothing_to_add_on_a_device(presenting):
    ids = text(["a", "b"])
    assert presenting.extend(ids, np.array([], dtype=str)) is ids
