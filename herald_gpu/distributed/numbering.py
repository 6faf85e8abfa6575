"""Where the node ids of a Dask table come from: columns that may hold them are looked at on the workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from herald_gpu.io import frames, id_columns, matrices
from herald_gpu.io.kinds import FRAME_KINDS, kind_of

if TYPE_CHECKING:
    from herald_gpu.backend import Backend
    from herald_gpu.distributed.crew import Crew
    from herald_gpu.io.id_columns import Candidate, Settled, Where
    from herald_gpu.io.read import Columns


@dataclass(frozen=True)
class PieceLook:
    """What a partition says of its rows.

    Attributes
    ----------
    n_rows : int
    start : int, optional
        What its index counts from, if it counts.
    spans : dict
        Smallest and largest value of columns of numbers.
    """

    n_rows: int
    start: int | None
    spans: dict[Any, tuple[Any, Any]]


def settle_table(
    crew: Crew,
    empty: Any,  # noqa: ANN401 - the table without rows
    pieces: list[Any],
    edges: list[Any],
    columns: Columns,
) -> tuple[Settled, list[int]]:
    """Decide where the ids come from, and which number the first row of each partition has, where rows are numbered.

    Parameters
    ----------
    crew : Crew
    empty : DataFrame
    pieces, edges : lists of futures
        Partitions of nodes and of edges.
    columns : Columns
    """
    index, firsts = empty.index, [0] * len(pieces)
    where = id_columns.said(columns, empty.columns, named=index.nlevels > 1 or index.name is not None)
    if where in ("column", "index"):
        return id_columns.settle(empty.columns, columns, where, [], 0), firsts
    names = [] if where == "numbered" else id_columns.candidate_names(empty, columns)
    numeric = [name for name in names if id_columns.column_kind(empty[name].dtype) != "text"]
    looks = crew.gather([crew.submit(look_at_piece, piece, numeric, near=piece) for piece in pieces])
    starts = np.cumsum([0, *(one.n_rows for one in looks)]).tolist()
    if where == "numbered":
        return id_columns.settle(empty.columns, columns, where, [], starts[-1]), starts[:-1]
    ends = id_columns.distinct_ends(*crew.gather([crew.submit(piece_ends, one, columns, near=one) for one in edges]))
    where = _where(crew, pieces, looks, starts, ends)
    found = _candidates(crew, pieces, looks, names, numeric, ends)
    return id_columns.settle(empty.columns, columns, where, found, starts[-1]), firsts


def _where(crew: Crew, pieces: list[Any], looks: list[PieceLook], starts: list[int], ends: np.ndarray) -> Where:
    """Tell what an index without a name holds; it is fetched only if it does not count."""
    counted = [(one.start, first) for one, first in zip(looks, starts[:-1], strict=True) if one.n_rows]
    if all(start == first for start, first in counted):
        return "rows"
    if all(start == 0 for start, _ in counted):
        return "repeats"
    parts = crew.gather([crew.submit(piece_index, piece, near=piece) for piece in pieces])
    return id_columns.where_in(pd.Index(np.concatenate(parts)), ends)


def _candidates(
    crew: Crew,
    pieces: list[Any],
    looks: list[PieceLook],
    names: list[Any],
    numeric: list[Any],
    ends: np.ndarray,
) -> list[Candidate]:
    """Fetch columns that may hold ids and look at them; ranges of values rule out nearly all of them."""
    n_rows, filled = sum(one.n_rows for one in looks), [one for one in looks if one.n_rows]
    wanted = [name for name in names if name not in numeric]
    for name in numeric:
        lows, highs = ([one.spans[name][end] for one in filled if not pd.isna(one.spans[name][end])] for end in (0, 1))
        low, high = min(lows, default=np.nan), max(highs, default=np.nan)
        if id_columns.may_hold(low, high, n_rows, len(ends)):
            wanted.append(name)
    if not wanted:
        return []
    parts = crew.gather([crew.submit(piece_columns, piece, wanted, near=piece) for piece in pieces])
    return id_columns.find_candidates(dict(pd.concat(parts, ignore_index=True).items()), ends)


def look_at_piece(backend: Backend, rows: Any, names: list[Any]) -> PieceLook:  # noqa: ANN401, ARG001 - a table
    """Tell what the index of a partition counts from, and the ranges of some columns."""
    frame = frames.to_pandas(rows[names])
    index, n_rows = frame.index, len(frame)
    whole = n_rows > 0 and pd.api.types.is_integer_dtype(index.dtype)
    counts = whole and index.equals(pd.RangeIndex(int(index[0]), int(index[0]) + n_rows))
    spans = {name: id_columns.span(frame[name]) for name in names}
    return PieceLook(n_rows, int(index[0]) if counts else None, spans)


def piece_index(backend: Backend, rows: Any) -> np.ndarray:  # noqa: ANN401, ARG001 - a table
    """Give the index of a partition."""
    return frames.to_pandas(rows[[]]).index.to_numpy()


def piece_columns(backend: Backend, rows: Any, names: list[Any]) -> pd.DataFrame:  # noqa: ANN401, ARG001 - a table
    """Give some columns of a partition."""
    return frames.to_pandas(rows[names])


def piece_ends(backend: Backend, edges: Any, columns: Columns) -> np.ndarray:  # noqa: ANN401, ARG001 - table or array
    """Give the nodes that a partition of edges names, each once."""
    if kind_of(edges) in FRAME_KINDS:
        ends = frames.read_edge_columns(frames.to_pandas(edges), columns.source, columns.target)[:2]
    else:
        ends = matrices.read_edge_array(edges)
    return id_columns.distinct_ends(*ends)
