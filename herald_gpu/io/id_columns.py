"""Where the node ids of a table come from, and what is refused because it looks like ids that nobody named."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from herald_gpu.errors import ColumnError, InputError
from herald_gpu.io.frames import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from herald_gpu.io.read import Columns

Where = Literal["column", "index", "numbered", "rows", "holds", "lacks", "repeats"]
"""A column or a named index holds the ids; the caller says that rows are numbered; or neither, and an index without a
name counts the rows, holds every node that the edges name, lacks some of them, or repeats values."""
SURE: tuple[Where, ...] = ("column", "index", "numbered")
"""Where the caller has said where the ids are."""
Origin = Literal["ids", "rows", "array"]
"""What an id is: a value that the caller stored, the number of a row of a table, or that of a row of an array."""
FEWEST_ENDS = 3
"""With fewer distinct ends, any column of zeros and ones could hold them all."""
ROW_NUMBERS = re.compile(r"Unnamed: \d+(\.\d+)*(_level_\d+)*|index|level_\d+|__index_level_\d+__|")
"""Names that programs give to stored row numbers."""
KINDS = {"i": "whole", "u": "whole", "f": "float", "O": "text", "U": "text"}


@dataclass(frozen=True)
class Candidate:
    """A column that may hold node ids.

    Attributes
    ----------
    name : object
    exact : bool
        Whether it holds integers or text, not floats.
    unique : bool
        Whether every row has another value, and none is missing.
    covers : bool
        Whether every node that the edges name is in it, and those are not too few to tell.
    counted : bool
        Whether it counts the rows from 0.
    """

    name: Any
    exact: bool
    unique: bool
    covers: bool
    counted: bool


@dataclass(frozen=True)
class Settled:
    """Where the ids of a table come from.

    Attributes
    ----------
    origin : {"ids", "rows", "array"}
    dropped : list
        Names of the columns that hold row numbers, which are no features.
    notes : list of str
        What the report says about it.
    """

    origin: Origin = "ids"
    dropped: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def is_row_number(name: object) -> bool:
    """Tell the names that programs give to stored row numbers.

    Examples
    --------
    >>> [is_row_number(name) for name in ("Unnamed: 0", "index", "", "level_0", "index_of_prices", 0)]
    [True, True, True, True, False, False]
    """
    return name is None or (isinstance(name, str) and ROW_NUMBERS.fullmatch(name) is not None)


def settle(names: Iterable[Any], columns: Columns, where: Where, found: list[Candidate], n_rows: int) -> Settled:
    """Decide where the ids of a table come from; every reader of tables calls this.

    Parameters
    ----------
    names : iterable
        Of all columns of the table.
    columns : Columns
    where : str
        What is known of the ids before the columns are looked at.
    found : list of Candidate
        Columns that may hold the ids; not needed where the caller has said which does.
    n_rows : int

    Raises
    ------
    ColumnError
        If a column looks like ids and the caller has not said whether it holds them.
    """
    if where not in SURE:
        _refuse_unnamed(found, columns, where, n_rows)
    dropped = [name for name in names if is_row_number(name) and name not in _named(columns)]
    notes = []
    if dropped:
        notes.append(f"columns {some(dropped)} are not used as features: by their names they are stored row numbers")
    if where == "rows":
        none = f"the table of nodes has no column {columns.node!r}"
        notes.append(f"{none}: rows are numbered from 0 and these numbers are the node ids")
    return Settled("rows" if where in ("rows", "numbered") else "ids", dropped, notes)


def _refuse_unnamed(found: list[Candidate], columns: Columns, where: Where, n_rows: int) -> None:
    suspects = [one for one in found if _suspect(one, where)]
    none = f"feats has no column {columns.node!r}"
    if not suspects:
        if where == "repeats":
            msg = (
                f"{none}, and its index repeats values: name the column of ids with node=, or pass node=None to number "
                f"the rows from 0 to {n_rows - 1}"
            )
            raise ColumnError(msg)
        return
    name = max(suspects, key=lambda one: (one.covers, one.unique)).name
    covers = any(one.covers for one in suspects)
    why = "it holds every node that edges name" if covers else "it has another value in every row"
    if where == "lacks":
        msg = (
            f"{none}, and its index lacks nodes that edges name, but its column {name!r} holds them: pass node={name!r}"
        )
    elif where == "holds":
        msg = (
            f"{none}, and both its index and its column {name!r} hold every node that edges name: pass node={name!r}, "
            f"or name the index {columns.node!r} if that holds the ids"
        )
    else:
        msg = (
            f"{none}, but its column {name!r} looks like node ids ({why}): pass node={name!r} if it holds the ids, "
            f"drop=[{name!r}] if it is neither ids nor a feature, or node=None if rows are numbered from 0 to "
            f"{n_rows - 1} and it is a feature"
        )
    raise ColumnError(msg)


def _suspect(one: Candidate, where: Where) -> bool:
    if where == "holds":
        return one.covers and one.unique and not is_row_number(one.name)
    if where == "lacks":
        return one.covers
    if is_row_number(one.name):
        return one.covers and not one.counted
    return one.covers or (one.exact and one.unique)


def _named(columns: Columns) -> set[Any]:
    """Give the columns whose meaning the caller has said."""
    return {columns.node, columns.label, columns.train, *columns.drop, *columns.categorical}


def candidate_names(table: Any, columns: Columns) -> list[Any]:  # noqa: ANN401 - pandas or cuDF
    """List the columns that may hold ids by their types: integers, floats, text."""
    types = zip(table.columns, table.dtypes, strict=True)
    return [name for name, dtype in types if column_kind(dtype) is not None and name not in _named(columns)]


def column_kind(dtype: Any) -> str | None:  # noqa: ANN401 - a dtype of pandas or cuDF
    """Tell integers ("whole"), floats and text; None for what cannot be ids, as booleans and sparse columns."""
    return None if hasattr(dtype, "subtype") else KINDS.get(getattr(dtype, "kind", ""))


def may_hold(low: Any, high: Any, n_rows: int, n_ends: int) -> bool:  # noqa: ANN401 - numbers
    """Tell from its smallest and largest value whether a column of numbers can hold all ends, or differ in all rows.

    Examples
    --------
    A column of zeros and ones cannot, in a graph of ten nodes.

    >>> may_hold(0, 1, 10, 10), may_hold(0, 9, 10, 10)
    (False, True)
    """
    if low != low or high != high:  # noqa: PLR0124 - NaN: a column without values
        return False
    return bool(float(high) - float(low) + 1 >= min(n_rows, n_ends if n_ends >= FEWEST_ENDS else n_rows))


# Tables of pandas


def settle_frame(frame: pd.DataFrame, columns: Columns, ends: Callable[[], np.ndarray | None]) -> Settled:
    """Decide where the ids of a table of pandas come from.

    Parameters
    ----------
    frame : pandas.DataFrame
    columns : Columns
    ends : callable
        Gives the nodes that the edges name, each once; None if they name rows, as in a sparse matrix.
    """
    if not frame.columns.is_unique:  # refused later, by name
        return Settled()
    index = frame.index
    where = said(columns, frame.columns, named=index.nlevels > 1 or index.name is not None)
    if where is not None:
        return settle(frame.columns, columns, where, [], len(frame))
    reached = ends()
    where = where_in(index, reached)
    found = find_candidates({name: frame[name] for name in candidate_names(frame, columns)}, reached)
    return settle(frame.columns, columns, where, found, len(frame))


def without(table: Any, dropped: list[Any]) -> Any:  # noqa: ANN401 - pandas, cuDF or Dask
    """Give a table without some columns; the table itself if there are none to drop."""
    return table[[name for name in table.columns if name not in dropped]] if dropped else table


def said(columns: Columns, there: Any, *, named: bool) -> Where | None:  # noqa: ANN401 - names in any container
    """Tell where the caller said that ids are: by a name, by a named index, or by `node=None`; None if nowhere."""
    if columns.node is None:
        return "numbered"
    return "column" if columns.node in there else "index" if named else None


def where_in(index: pd.Index, ends: np.ndarray | None) -> Where:
    """Tell what an index without a name holds."""
    import pandas as pd

    if index.equals(pd.RangeIndex(len(index))):
        return "rows"
    if not index.is_unique:
        return "repeats"
    return "holds" if ends is None or bool((index.get_indexer(pd.Index(ends)) >= 0).all()) else "lacks"


def find_candidates(table: dict[Any, pd.Series], ends: np.ndarray | None) -> list[Candidate]:
    """Look at columns that may hold ids.

    Parameters
    ----------
    table : dict of Series
    ends : array, optional
        The nodes that the edges name, each once.
    """
    looked = (look_at(name, values, ends) for name, values in table.items())
    return [one for one in looked if one is not None]


def look_at(name: Any, values: pd.Series, ends: np.ndarray | None) -> Candidate | None:  # noqa: ANN401 - any name
    """Look at a column; None if it can hold no ids."""
    import pandas as pd

    if values.dtype == np.float16:  # pandas has no index of these
        values = values.astype(np.float32)
    kind, n_ends = column_kind(values.dtype), 0 if ends is None else len(ends)
    if len(values) == 0 or (kind != "text" and not may_hold(*span(values), len(values), n_ends)):
        return None
    there = values.dropna()
    if kind == "float" and not bool((there.to_numpy(dtype=np.float64) % 1 == 0).all()):
        return None
    try:
        distinct = pd.Index(np.asarray(there.unique()))
    except TypeError:  # lists and the like
        return None
    covers = ends is not None and n_ends >= FEWEST_ENDS and bool((distinct.get_indexer(pd.Index(ends)) >= 0).all())
    unique = len(distinct) == len(values)
    counted = unique and kind == "whole" and bool((values.to_numpy() == np.arange(len(values))).all())
    return Candidate(name, exact=kind != "float", unique=unique, covers=covers, counted=counted)


def span(values: pd.Series) -> tuple[Any, Any]:
    """Give the smallest and the largest number of a column; NaN if it has none."""
    low, high = values.min(), values.max()
    return (low, high) if values.notna().any() else (np.nan, np.nan)


def distinct_ends(*ends: np.ndarray) -> np.ndarray:
    """Give the nodes that edges name, each once."""
    import pandas as pd

    return pd.unique(np.concatenate([pd.unique(np.asarray(one)) for one in ends]))


# Ends that are no rows


def beyond_rows(origin: Origin, n_rows: int, low: Any, high: Any, node: str | None) -> InputError:  # noqa: ANN401
    """Make the error of edges that name nodes beyond the rows, where row numbers are the ids.

    Parameters
    ----------
    origin : {"rows", "array"}
    n_rows : int
    low, high : object
        The smallest and the largest id that edges name; a text for both if ids are text.
    node : str, optional
        The column of ids that a table does not have.
    """
    given = f"feats is an array of {n_rows} rows" if origin == "array" else f"feats has {n_rows} rows"
    if origin == "rows" and node is not None:
        given += f" and no column {node!r}"
    named = f"edges name {low!r}" if isinstance(low, str) else f"edges name nodes from {low} to {high}"
    hint = "pass feats as a table with a column of ids" if origin == "array" else "name its column of ids with node="
    if not isinstance(low, str) and low >= 1 and high == n_rows:
        hint = f"if ids count from 1, subtract 1 from edges; else {hint}"
    return InputError(
        f"edges name nodes that feats does not have: {given}, so that ids are the row numbers 0 to {n_rows - 1}, but "
        f"{named}: {hint}"
    )
