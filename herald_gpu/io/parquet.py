"""Tables in Parquet files, read block by block into the arrays they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import FileFormatError
from herald_gpu.io import categories, frames
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from herald_gpu.io.categories import Levels
    from herald_gpu.io.read import Columns

ENDINGS = (".parquet", ".pq")
BATCH_ROWS = 16_384
"""Rows that are decoded at a time."""


def read_nodes(path: Path, columns: Columns, known: Levels | None = None) -> frames.NodeTable:
    """Take ids, features, labels and training marks from a file; features are never there twice.

    Parameters
    ----------
    path : Path
    columns : Columns
        Without the `node` column an index that pandas stored holds the ids, or else rows are numbered.
    known : dict, optional
        Levels of encoded columns, where they are known already.
    """
    file = _open(path)
    empty = file.schema_arrow.empty_table().to_pandas(ignore_metadata=True)
    categories.check_names(columns, empty.columns)
    listed = categories.kept_names(columns, empty.columns)
    index = _index(file)
    if index in columns.drop:
        index = None
    beside = [name for name in (columns.node, columns.label, columns.train, index) if name in listed]
    names = [name for name in listed if name not in beside]
    numbers = [name for name in names if name not in columns.categorical]
    if numbers or not names:
        frames.check_feature_columns(empty, numbers, "feats")
    n_rows = file.metadata.num_rows
    table = file.read(columns=beside).to_pandas(ignore_metadata=True)
    stored = next((name for name in (columns.node, index) if name in beside), None)
    if stored is not None:
        ids = frames.node_ids(table[[stored]], str(stored), "feats").infer_objects().to_numpy()
    else:
        ids = np.arange(n_rows) if index is None else np.asarray(index)
    levels, codes, notes = _categories(file, names, n_rows, columns, known)
    return frames.NodeTable(
        ids=ids,
        features=_features(file, names, n_rows, levels, codes),
        names=categories.encoded_names(names, levels),
        labels=table[columns.label] if columns.label in beside else None,
        train=table[columns.train] if columns.train in beside else None,
        sparse=False,
        categories=levels,
        notes=notes,
    )


def read_edges(path: Path, source: str, target: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Take the two ends of every edge from a file: (source, target, warnings)."""
    file = _open(path)
    schema = file.schema_arrow
    warnings = frames.check_edge_columns(schema.empty_table().to_pandas(ignore_metadata=True), source, target)
    kinds = [np.dtype(schema.field(name).type.to_pandas_dtype()) for name in (source, target)]
    if any(kind.kind not in "iu" for kind in kinds):
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
