"""Where the node ids of a cuDF table come from: columns that may hold them are looked at on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cupy as cp

from herald_gpu.backend.rapids import columns as col
from herald_gpu.io import id_columns

if TYPE_CHECKING:
    from herald_gpu.io.id_columns import Candidate, Settled, Where
    from herald_gpu.io.read import Columns


def settle_table(feats: Any, columns: Columns, ends: list[Any] | None) -> Settled:  # noqa: ANN401 - a cuDF table
    """Decide as :func:`herald_gpu.io.id_columns.settle_frame` does.

    Parameters
    ----------
    feats : cudf.DataFrame
    columns : Columns
    ends : list of columns, optional
        Sources and targets of edges; None if they name rows.
    """
    index, n_rows = feats.index, len(feats)
    where = id_columns.said(columns, feats.columns, named=index.nlevels > 1 or index.name is not None)
    if where is not None:
        return id_columns.settle(feats.columns, columns, where, [], n_rows)
    reached = None if ends is None else [_distinct(end) for end in ends]
    where = _where(col.to_device(index.to_series()), reached)
    looked = (_look_at(name, feats[name], reached) for name in id_columns.candidate_names(feats, columns))
    found = [one for one in looked if one is not None]
    return id_columns.settle(feats.columns, columns, where, found, n_rows)


def _where(index: Any, ends: list[Any] | None) -> Where:  # noqa: ANN401 - CuPy array or cuDF series
    n_rows = len(index)
    if not col.is_text(index) and index.dtype.kind in "iu" and bool((index == cp.arange(n_rows)).all()):
        return "rows"
    distinct = _distinct(index)
    if len(distinct) < n_rows:
        return "repeats"
    return "holds" if ends is None or _covers(distinct, ends) else "lacks"


def _look_at(name: Any, column: Any, ends: list[Any] | None) -> Candidate | None:  # noqa: ANN401 - a cuDF column
    if col.is_nested(column.dtype) or len(column) == 0:
        return None
    kind, values, n_rows = id_columns.column_kind(column.dtype), col.to_device(column), len(column)
    n_ends = 0 if ends is None else _count(ends)
    if not col.is_text(values):
        low, high = (float(end) for end in (cp.nanmin(values), cp.nanmax(values)))
        if not id_columns.may_hold(low, high, n_rows, n_ends):
            return None
        if kind == "float" and not bool((col.missing(values) | (values % 1 == 0)).all()):
            return None
    distinct = _distinct(values)
    unique = len(distinct) == n_rows
    covers = ends is not None and n_ends >= id_columns.FEWEST_ENDS and _covers(distinct, ends)
    counted = unique and kind == "whole" and bool((values == cp.arange(n_rows)).all())
    return id_columns.Candidate(name, exact=kind != "float", unique=unique, covers=covers, counted=counted)


def _distinct(values: Any) -> Any:  # noqa: ANN401 - CuPy array or cuDF series, in and out
    """Give the distinct entries that are not missing, ascending."""
    there = col.take(values, cp.flatnonzero(~col.missing(values)))
    if not col.is_text(there):
        return cp.unique(there)
    return there.drop_duplicates().sort_values().reset_index(drop=True)


def _count(ends: list[Any]) -> int:
    """Count the distinct nodes at either end, each of which is given once."""
    shared = int((col.places_in(ends[0], ends[1]) >= 0).sum())
    return len(ends[0]) + len(ends[1]) - shared


def _covers(distinct: Any, ends: list[Any]) -> bool:  # noqa: ANN401 - CuPy array or cuDF series
    return all(bool((col.places_in(end, distinct) >= 0).all()) for end in ends)
