"""Columns on the device: numbers as CuPy arrays, strings as cuDF series; looking values up in each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy as cp
import numpy as np

if TYPE_CHECKING:
    from herald_gpu.backend import Array

NUMERIC = "biuf"


def to_device(values: Any) -> Any:  # noqa: ANN401 - CuPy array or cuDF series out
    """Bring a device vector (cuDF, CuPy, torch) or a host list to a CuPy array; cuDF strings stay a series."""
    if hasattr(values, "to_cupy"):
        if hasattr(values.dtype, "categories"):
            values = values.astype(values.dtype.categories.dtype)
        if getattr(values.dtype, "kind", "O") not in NUMERIC:
            return values.reset_index(drop=True)
        if not values.isna().any():
            return values.to_cupy()
        # As pandas reads missing numbers; cast first, since cuDF does not put NaN into a column of whole numbers.
        return values.astype("float64").to_cupy(na_value=np.nan)
    if hasattr(values, "is_cuda"):
        return cp.from_dlpack(values.detach())
    return cp.asarray(values) if hasattr(values, "__cuda_array_interface__") else _from_host(values)


def _from_host(values: Any) -> Any:  # noqa: ANN401 - as above
    host = np.asarray(list(values) if isinstance(values, set | frozenset) else values)
    if host.dtype.kind not in "UO":
        return cp.asarray(host)
    import cudf  # which holds text

    return cudf.Series(host.tolist())


def is_nested(dtype: Any) -> bool:  # noqa: ANN401 - a dtype of cuDF
    """Tell the types of lists and structs."""
    return not isinstance(dtype, np.dtype) and (hasattr(dtype, "element_type") or hasattr(dtype, "fields"))


def is_text(values: Any) -> bool:  # noqa: ANN401 - CuPy array or cuDF series
    """Tell a column of strings from numbers."""
    return not isinstance(values, cp.ndarray)


def missing(values: Any) -> Array:  # noqa: ANN401 - CuPy array or cuDF series
    """Mark null and NaN entries."""
    if is_text(values):
        return values.isna().to_cupy()
    return cp.isnan(values) if values.dtype.kind == "f" else cp.zeros(values.shape, dtype=cp.bool_)


def equal_to(values: Any, value: Any) -> Array:  # noqa: ANN401 - any column, any value
    """Mark entries equal to a value; a value of another type equals none."""
    if is_text(values):
        if not isinstance(value, str):
            return cp.zeros(len(values), dtype=cp.bool_)
        return (values == value).fillna(False).to_cupy()  # noqa: FBT003 - cuDF's own signature
    if not isinstance(value, bool | int | float | np.number):
        return cp.zeros(values.shape, dtype=cp.bool_)
    return values == value


def take(values: Any, places: Array) -> Any:  # noqa: ANN401 - CuPy array or cuDF series
    """Entries at these places."""
    return values.take(places).reset_index(drop=True) if is_text(values) else values[places]


def sorted_order(values: Any) -> Array:  # noqa: ANN401 - CuPy array or cuDF series
    """Places of the entries in ascending order."""
    if is_text(values):
        return cp.asarray(values.reset_index(drop=True).sort_values().index.to_cupy())
    return cp.argsort(values)


def distinct(values: Any) -> list[Any]:  # noqa: ANN401 - CuPy array or cuDF series
    """Give the distinct entries, ascending, as host values: for classes, of which there are few."""
    if is_text(values):
        # Not `unique`, which gives an array instead of a series once `cudf.pandas` is installed.
        return sorted(values.drop_duplicates().to_arrow().to_pylist())
    return cp.unique(values).tolist()


def few_distinct(values: Any, most: int) -> list[Any]:  # noqa: ANN401 - CuPy array or cuDF series
    """Give no more than so many of the distinct entries, ascending, as host values."""
    if is_text(values):
        return sorted(values.drop_duplicates().head(most).to_arrow().to_pylist())
    return cp.unique(values)[:most].tolist()


def any_of(values: Any, wanted: list[Any]) -> Array:  # noqa: ANN401 - CuPy array or cuDF series
    """Mark entries that are one of a few values."""
    found = cp.zeros(len(values), dtype=cp.bool_)
    for value in wanted:
        found |= equal_to(values, value)
    return found


def places_in(values: Any, ordered: Any) -> Array:  # noqa: ANN401 - CuPy arrays or cuDF series
    """Place of each entry in ascending, distinct `ordered`; -1 where it is not there."""
    if is_text(values) != is_text(ordered):
        return cp.full(len(values), -1, dtype=cp.int64)
    if is_text(values):
        return _places_of_text(values, ordered)
    if int(ordered.shape[0]) == 0:
        return cp.full(values.shape, -1, dtype=cp.int64)
    found = cp.minimum(cp.searchsorted(ordered, values), int(ordered.shape[0]) - 1)
    return cp.where(ordered[found] == values, found, -1).astype(cp.int64)


def _places_of_text(values: Any, ordered: Any) -> Array:  # noqa: ANN401 - cuDF series
    import cudf

    left = cudf.DataFrame({"value": values, "row": cp.arange(len(values), dtype=cp.int64)})
    right = cudf.DataFrame({"value": ordered, "place": cp.arange(len(ordered), dtype=cp.int64)})
    joined = left.merge(right, on="value", how="left").sort_values("row")  # a merge gives rows in any order
    return joined["place"].fillna(-1).to_cupy().astype(cp.int64)
