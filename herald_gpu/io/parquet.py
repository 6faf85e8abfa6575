"""Tables in Parquet files, read block by block into the arrays they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import FileFormatError
from herald_gpu.io import categories, frames, id_columns
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from herald_gpu.io.categories import Levels
    from herald_gpu.io.id_columns import Candidate, Settled
    from herald_gpu.io.read import Columns

ENDINGS = (".parquet", ".pq")
BATCH_ROWS = 16_384
"""Rows that are decoded at a time."""


def read_nodes(
    path: Path, columns: Columns, ends: Callable[[], np.ndarray | None], known: Levels | None = None
) -> tuple[frames.NodeTable, Settled]:
    """Take ids, features, labels and training marks from a file; features are never there twice.

    Parameters
    ----------
    path : Path
    columns : Columns
        Without the `node` column an index that pandas stored holds the ids, or else rows are numbered.
    ends : callable
        Gives the nodes that the edges name, each once; None if they name rows.
    known : dict, optional
        Levels of encoded columns, where they are known already.
    """
    file = _open(path)
    empty = file.schema_arrow.empty_table().to_pandas(ignore_metadata=True)
    listed, index = categories.kept_names(columns, empty.columns), _index(file)
    categories.check_names(columns, [name for name in empty.columns if name != index])
    settled = _settle(file, empty, index, columns, ends)
    beside = [name for name in (columns.node, columns.label, columns.train, index) if name in listed]
    names = [name for name in listed if name not in (*beside, *settled.dropped)]
    numbers = [name for name in names if name not in columns.categorical]
    if numbers or not names:
        frames.check_feature_columns(empty, numbers, "feats")
    n_rows = file.metadata.num_rows
    table = file.read(columns=beside).to_pandas(ignore_metadata=True)
    stored = next((name for name in (columns.node, index) if name in beside), None)
    if columns.node is None:
        ids = np.arange(n_rows)
    elif stored is not None:
        ids = frames.node_ids(table[[stored]], str(stored), "feats").infer_objects().to_numpy()
    else:
        ids = np.arange(n_rows) if index is None else np.asarray(index)
    levels, codes, notes = _categories(file, names, n_rows, columns, known)
    nodes = frames.NodeTable(
        ids=ids,
        features=_features(file, names, n_rows, levels, codes),
        names=categories.encoded_names(names, levels),
        labels=table[columns.label] if columns.label in beside else None,
        train=table[columns.train] if columns.train in beside else None,
        sparse=False,
        categories=levels,
        notes=notes,
    )
    return nodes, settled


def _settle(
    file: Any,  # noqa: ANN401 - a file that pyarrow opened
    empty: pd.DataFrame,
    index: str | range | None,
    columns: Columns,
    ends: Callable[[], np.ndarray | None],
) -> Settled:
    """Decide where the ids come from, reading only columns that may hold them."""
    n_rows = file.metadata.num_rows
    names = [name for name in empty.columns if name != index]
    if columns.node is not None and columns.node not in names and _n_levels(file) > 1:
        raise frames.several_levels(columns.node, "feats")
    where = id_columns.said(columns, names, named=_is_named(file))
    if where is not None:
        return id_columns.settle(names, columns, where, [], n_rows)
    reached = ends()
    where = "rows"
    if index not in (None, range(n_rows)):
        where = id_columns.where_in(_stored_index(file, index), reached)
    return id_columns.settle(names, columns, where, _candidates(file, empty[names], columns, reached), n_rows)


def _stored_index(file: Any, index: str | range | None) -> pd.Index:  # noqa: ANN401 - as above
    import pandas as pd

    if isinstance(index, range):
        return pd.Index(index)
    return pd.Index(file.read(columns=[index]).to_pandas(ignore_metadata=True)[index])


def _candidates(
    file: Any,  # noqa: ANN401 - as above
    empty: pd.DataFrame,
    columns: Columns,
    ends: np.ndarray | None,
) -> list[Candidate]:
    """Look at columns that may hold ids; what the file says of a column may tell that it does not."""
    found, n_ends = [], 0 if ends is None else len(ends)
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    place = {groups[0].column(i).path_in_schema: i for i in range(groups[0].num_columns)} if groups else {}
    for name in id_columns.candidate_names(empty, columns):
        known = [group.column(place[name]).statistics for group in groups] if name in place else []
        if (
            id_columns.column_kind(empty[name].dtype) != "text"
            and known
            and all(one and one.has_min_max and not isinstance(one.min, bytes) for one in known)
        ):
            low, high = min(one.min for one in known), max(one.max for one in known)
            if not id_columns.may_hold(low, high, file.metadata.num_rows, n_ends):
                continue
        values = file.read(columns=[name]).to_pandas(ignore_metadata=True)[name]
        one = id_columns.look_at(name, values, ends)
        if one is not None:
            found.append(one)
    return found


def read_edges(path: Path, source: str, target: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Take the two ends of every edge from a file: (source, target, warnings)."""
    file = _open(path)
    schema = file.schema_arrow
    empty = schema.empty_table().to_pandas(ignore_metadata=True)
    warnings = frames.check_edge_columns(empty, source, target)
    kinds = [empty[name].dtype for name in (source, target)]
    if not all(isinstance(kind, np.dtype) and kind.kind in "iu" for kind in kinds):
        frame = file.read(columns=[source, target]).to_pandas(ignore_metadata=True)
        return *frames.read_edge_columns(frame, source, target)[:2], warnings
    ends = [np.empty(file.metadata.num_rows, dtype=kind) for kind in kinds]
    low = 0
    for batch in file.iter_batches(batch_size=BATCH_ROWS * 16, columns=[source, target]):
        high = low + batch.num_rows
        for end, name in zip(ends, (source, target), strict=True):
            column = batch.column(name)
            if column.null_count:
                frames.check_edge_columns(batch.to_pandas(), source, target)  # names the column and its gaps
            end[low:high] = column.to_numpy(zero_copy_only=False)
        low = high
    return ends[0], ends[1], warnings


def read_frame(path: Path, names: list[Any]) -> pd.DataFrame:
    """Read some columns of a file, those of them that are there."""
    file = _open(path)
    there = [name for name in names if name in file.schema_arrow.names]
    return file.read(columns=there).to_pandas()


def read_columns(path: Path) -> list[str]:
    """Names of the columns of a file."""
    return list(_open(path).schema_arrow.names)


def _categories(
    file: Any,  # noqa: ANN401 - a file that pyarrow opened
    names: list[Any],
    n_rows: int,
    columns: Columns,
    known: Levels | None,
) -> tuple[Levels, dict[Any, np.ndarray], list[str]]:
    """Read the columns to encode, one at a time: (levels, the level of each row, notes)."""
    read = {}
    for name in names:
        if name in columns.categorical:
            read[name] = categories.factored(file.read(columns=[name]).to_pandas(ignore_metadata=True)[name], name)
    levels = categories.settle({name: values for name, (_, values) in read.items()}, names, n_rows, known)
    codes = {name: categories.numbered(*read[name], name, levels[name]) for name in read}
    counts = {name: int((given < 0).sum()) for name, (given, _) in read.items()}
    return levels, codes, [note for name in read for note in categories.missing_note(name, counts[name], n_rows)]


def _features(
    file: Any,  # noqa: ANN401 - as above
    names: list[Any],
    n_rows: int,
    levels: Levels,
    codes: dict[Any, np.ndarray],
) -> np.ndarray:
    widths = [len(levels[name]) if name in levels else 1 for name in names]
    starts = dict(zip(names, np.cumsum([0, *widths]).tolist(), strict=False))
    out = np.empty((n_rows, sum(widths)), dtype=np.float32)
    numbers = [name for name in names if name not in levels]
    low = 0
    with np.errstate(over="ignore"):  # beyond float32 becomes infinite, which is reported by name later
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=numbers):
            high = low + batch.num_rows
            for name, column in zip(numbers, batch.columns, strict=True):
                out[low:high, starts[name]] = column.to_numpy(zero_copy_only=False)
            low = high
    for name, places in codes.items():
        out[:, starts[name] : starts[name] + len(levels[name])] = 0
        rows = np.flatnonzero(places >= 0)
        out[rows, starts[name] + places[rows]] = 1
    return out


def _index(file: Any) -> str | range | None:  # noqa: ANN401 - as above
    """The index that pandas stored with a table: the name of its column, or the numbers it counts; None without one."""
    kept = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    if len(kept) != 1:
        return None
    counted = kept[0]
    return range(counted["start"], counted["stop"], counted["step"]) if isinstance(counted, dict) else str(counted)


def _n_levels(file: Any) -> int:  # noqa: ANN401 - as above
    return len((file.schema_arrow.pandas_metadata or {}).get("index_columns", []))


def _is_named(file: Any) -> bool:  # noqa: ANN401 - as above
    """Tell whether pandas stored an index that has a name; a stored column without one has a name of pandas."""
    kept = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
    if len(kept) != 1:
        return False
    name = kept[0].get("name") if isinstance(kept[0], dict) else kept[0]
    return name is not None and not str(name).startswith("__index_level_")


def _open(path: Path) -> Any:  # noqa: ANN401 - pyarrow has no types
    if path.suffix.lower() not in ENDINGS:
        msg = (
            f"{path} is no Parquet file by its name: pass a .parquet, .csv, .tsv or .txt file, or read it first, for "
            "example with herald_gpu.datasets.read_table"
        )
        raise FileFormatError(msg)
    arrow = library("pyarrow", "arrow")
    parquet = library("pyarrow.parquet", "arrow")
    try:
        return parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        msg = f"{path} cannot be read as Parquet ({error}): check the file"
        raise FileFormatError(msg) from error
