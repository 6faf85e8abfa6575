"""Text and categories: columns of a table of nodes that become one column of zeros and ones per level."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from itertools import groupby
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.errors import ColumnError
from herald_gpu.io.frames import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from herald_gpu.io.read import Columns

logger = logging.getLogger("herald_gpu")
Levels = dict[Any, list[Any]]
"""Levels of each encoded column, in the order of the columns that they become."""
MOST_LEVELS = 1_000
"""A column with more levels than this is refused: it is an id or free text, and would take too much memory."""
FEW_LEVELS = 20
"""A column with more levels than this is refused if they are more than half of the rows."""
EXACT = 2.0**53
"""Whole numbers up to this are the same as floats, as which tables hold them beside missing values."""


@dataclass(frozen=True)
class Encoded:
    """A table of nodes without dropped columns, and with categories as numbers.

    Attributes
    ----------
    frame : pandas.DataFrame
    levels : dict
        Levels of each encoded column.
    notes : list of str
        What the caller should know: how many values are missing.
    """

    frame: pd.DataFrame
    levels: Levels = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def encode(frame: pd.DataFrame, columns: Columns, known: Levels | None = None) -> Encoded:
    """Leave out the columns `columns.drop`, and encode the columns `columns.categorical` one-hot in their place.

    Parameters
    ----------
    frame : pandas.DataFrame
    columns : Columns
    known : dict, optional
        Levels to use instead of those that the table has; other values are counted in a logged warning.

    Raises
    ------
    ColumnError
        If a column is not there, is needed for something else, or cannot be encoded.
    """
    if not (columns.drop or columns.categorical) or not frame.columns.is_unique:  # repeated names are refused later
        return Encoded(frame)
    check_names(columns, list(frame.columns))
    there = kept_names(columns, frame.columns)
    read = {name: factored(frame[name], name) for name in there if name in columns.categorical}
    levels = settle({name: values for name, (_, values) in read.items()}, there, len(frame), known)
    codes = {name: numbered(*read[name], name, levels[name]) for name in levels}
    notes = [
        note for name, (given, _) in read.items() for note in missing_note(name, int((given < 0).sum()), len(given))
    ]
    return Encoded(_put_together(frame, there, levels, codes, columns), levels, notes)


def _put_together(
    frame: pd.DataFrame, there: list[Any], levels: Levels, codes: dict[Any, np.ndarray], columns: Columns
) -> pd.DataFrame:
    import pandas as pd

    features = [name for name in there if name not in (columns.node, columns.label, columns.train, *levels)]
    # Among sparse columns, zeros are left out of the new columns as well.
    sparse = bool(features) and all(isinstance(frame.dtypes[name], pd.SparseDtype) for name in features)
    blocks = []
    for encoded, group in groupby(there, key=lambda name: name in levels):
        names = list(group)
        blocks += (
            [_one_hot(frame, name, levels[name], codes[name], sparse=sparse) for name in names]
            if encoded
            else [frame[names]]
        )
    return pd.concat(blocks, axis=1)


def _one_hot(frame: pd.DataFrame, name: Any, levels: list[Any], codes: np.ndarray, *, sparse: bool) -> pd.DataFrame:  # noqa: ANN401
    import pandas as pd

    names = [level_name(name, level) for level in levels]
    rows = np.flatnonzero(codes >= 0)
    if sparse:
        ones = np.ones(len(rows), dtype=np.float32)
        matrix = scipy.sparse.csc_matrix((ones, (rows, codes[rows])), shape=(len(frame), len(levels)))
        made: pd.DataFrame = pd.DataFrame.sparse.from_spmatrix(  # type: ignore[attr-defined]
            matrix, index=frame.index, columns=names
        )
        return made
    block = np.zeros((len(frame), len(levels)), dtype=np.uint8)
    block[rows, codes[rows]] = 1
    return pd.DataFrame(block, index=frame.index, columns=names)


def sources(names: Iterable[Any], known: Levels, there: Iterable[Any]) -> list[Any]:
    """List the columns that kept features are made from: themselves, or the column that was encoded."""
    held, made = set(there), _made(known)
    return list(dict.fromkeys(name if name in held or name not in made else made[name][0] for name in names))


def keep(frame: pd.DataFrame, names: list[Any], known: Levels) -> pd.DataFrame:
    """Make a table of kept features from one that holds their `sources`.

    Values that are not among the known levels become zeros, and are counted in a logged warning.
    """
    import pandas as pd

    made = _made(known)
    encoded = list(dict.fromkeys(made[name][0] for name in names if name not in frame.columns))
    if not encoded:
        return frame[names]
    codes = {name: numbered(*factored(frame[name], name), name, known[name]) for name in encoded}
    kept = {}
    for name in names:
        if name in frame.columns:
            kept[name] = frame[name]
        else:
            column, place = made[name]
            kept[name] = pd.Series((codes[column] == place).astype(np.uint8), index=frame.index)
    return pd.DataFrame(kept, index=frame.index)


def _made(known: Levels) -> dict[str, tuple[Any, int]]:
    """Map the name of each encoded column to the column it came from and the place of its level."""
    return {
        level_name(name, level): (name, place) for name, levels in known.items() for place, level in enumerate(levels)
    }


def level_name(name: Any, level: Any) -> str:  # noqa: ANN401 - a column and one of its values
    """Name the column that a level becomes.

    Examples
    --------
    >>> level_name("color", "red")
    'color=red'
    """
    return f"{name}={level}"


def encoded_names(there: Iterable[Any], levels: Levels) -> list[Any]:
    """List the columns of a table after encoding, in order."""
    return [
        new for name in there for new in ([level_name(name, v) for v in levels[name]] if name in levels else [name])
    ]


def kept_names(columns: Columns, there: Iterable[Any]) -> list[Any]:
    """List the columns of a table that are not dropped."""
    return [name for name in there if name not in columns.drop]


def check_names(columns: Columns, there: Iterable[Any]) -> None:
    """Refuse names of columns that the table lacks, or that are needed for something else."""
    listed = list(there)
    for argument, given in (("drop", columns.drop), ("categorical", columns.categorical)):
        missing = [name for name in given if name not in listed]
        if missing:
            msg = f"feats has no columns {some(missing)} (it has {some(listed)}): correct {argument}="
            raise ColumnError(msg)
    both = [name for name in columns.drop if name in columns.categorical]
    if both:
        msg = f"feats columns {some(both)} are named in drop= and in categorical=: name each in one of them"
        raise ColumnError(msg)
    needed = {columns.node: "node ids", columns.label: "labels", columns.train: "training marks"}
    for argument, given in (("drop", columns.drop), ("categorical", columns.categorical)):
        for name in given:
            # Training marks may be left out: then all labelled nodes are for training.
            if name in needed and not (argument == "drop" and name == columns.train):
                msg = f"feats column {name!r} holds the {needed[name]}: leave it out of {argument}="
                raise ColumnError(msg)


def check_unnamed(columns: Columns, feats: Any) -> None:  # noqa: ANN401 - a matrix of any library
    """Refuse names of columns where the features are an array."""
    if columns.node not in (None, type(columns).node):
        msg = f"node={columns.node!r} names a column, but feats is a {type(feats).__name__} without any: leave it out"
        raise ColumnError(msg)
    for argument, given in (("drop", columns.drop), ("categorical", columns.categorical)):
        if given:
            msg = (
                f"{argument}={list(given)} names columns, but feats is a {type(feats).__name__}, whose columns have "
                "no names: pass a table, or leave it out"
            )
            raise ColumnError(msg)


def factored(column: pd.Series, name: Any) -> tuple[np.ndarray, list[Any]]:  # noqa: ANN401 - a column and its name
    """Give the distinct values of a column, and the number of each row's; -1 where it is missing."""
    import pandas as pd

    try:
        codes, values = pd.factorize(column)
    except (TypeError, NotImplementedError) as error:  # lists and the like
        raise no_category(name, column.iloc[0]) from error
    return codes, [plain(value, name) for value in values.tolist()]


def numbered(codes: np.ndarray, values: list[Any], name: Any, levels: list[Any]) -> np.ndarray:  # noqa: ANN401
    """Give the place of each row's value among the levels; -1 where it is missing, or was never seen."""
    place = {level: number for number, level in enumerate(levels)}
    found = np.array([*(place.get(value, -1) for value in values), -1])
    unseen = [value for value in values if value not in place]
    if unseen:
        warn_unseen(name, int(((found[codes] < 0) & (codes >= 0)).sum()), len(codes), unseen)
    return found[codes]


def settle(
    found: Mapping[Any, Iterable[Any]], there: Iterable[Any], n_rows: int, known: Levels | None = None
) -> Levels:
    """Put the levels of each column in order, and refuse columns that cannot be encoded.

    Numbers come first, ascending, then text in its order, so that neither rows nor the container matter.

    Parameters
    ----------
    found : dict
        Distinct values of each column.
    there : list
        All columns of the table.
    n_rows : int
        Rows of the table.
    known : dict, optional
        Levels that are settled already.
    """
    levels: Levels = {}
    for name, values in found.items():
        if known is not None and name in known:
            levels[name] = known[name]
            continue
        ordered = sorted({plain(value, name) for value in values}, key=lambda value: (isinstance(value, str), value))
        _check_count(name, len(ordered), n_rows)
        levels[name] = ordered
    names = encoded_names(there, levels)
    if len(set(names)) < len(names):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        msg = f"feats has columns that are named as encoded levels are, {some(twice)}: rename them"
        raise ColumnError(msg)
    return levels


def _check_count(name: Any, n_levels: int, n_rows: int) -> None:  # noqa: ANN401 - the name of a column
    if n_levels > MOST_LEVELS or (n_levels > FEW_LEVELS and 2 * n_levels > n_rows):
        many = f"more than {MOST_LEVELS:,}" if n_levels > MOST_LEVELS else f"{n_levels:,}"
        msg = (
            f"feats column {name!r} has {many} levels in {n_rows:,} rows, like an id or free text: pass "
            f"drop={[name]!r} to leave it out, or group its values first (at most {MOST_LEVELS:,} levels, and above "
            f"{FEW_LEVELS} at most half as many as rows)"
        )
        raise ColumnError(msg)


def plain(value: Any, name: Any) -> str | int | bool:  # noqa: ANN401 - a value of the column `name`
    """Give a level as text, a whole number or a boolean, whatever type its table had for it."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float | np.floating) and float(value).is_integer() and abs(float(value)) <= EXACT:
        return int(value)
    raise no_category(name, value)


def no_category(name: Any, value: Any) -> ColumnError:  # noqa: ANN401 - as above
    """Make the error of a column whose values cannot be levels."""
    return ColumnError(
        f"feats column {name!r} holds values such as {value!r}: categories are text, whole numbers or booleans; "
        f"convert it, or pass drop={[name]!r} to leave it out"
    )


def missing_note(name: Any, n_missing: int, n_rows: int) -> list[str]:  # noqa: ANN401 - the name of a column
    """Say how many values of an encoded column are missing, if any are."""
    if not n_missing:
        return []
    return [f"column {name!r}: {n_missing:,} of {n_rows:,} rows have no value; they are all zeros"]


def warn_unseen(name: Any, n_unseen: int, n_rows: int, values: list[Any]) -> None:  # noqa: ANN401 - as above
    """Log how many rows have values that are not among the known levels."""
    logger.warning(
        "column %r: %s of %s rows have levels that the condensed graph never saw (%s); they are all zeros",
        name,
        f"{n_unseen:,}",
        f"{n_rows:,}",
        some(values)[1:-1],
    )
