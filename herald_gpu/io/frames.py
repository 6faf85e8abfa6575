"""Tables of nodes and edges: pandas, cuDF, polars, Arrow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.errors import ColumnError, InputError, UnsupportedInputError
from herald_gpu.io.kinds import kind_of, library

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

SHOWN = 5
"""How many offenders an error message lists."""


@dataclass(frozen=True)
class NodeTable:
    """What a table of nodes holds.

    Attributes
    ----------
    ids : array
        Node ids, in row order.
    features : float32 array or CSR matrix
    names : list
        Names of the feature columns.
    labels, train : Series, optional
        The label and training columns.
    sparse : bool
        Whether the features came in sparse columns.
    categories : dict
        Levels of the columns that were encoded one-hot.
    notes : list of str
        What the caller should know.
    """

    ids: np.ndarray
    features: np.ndarray | scipy.sparse.csr_matrix
    names: list[Any]
    labels: pd.Series | None
    train: pd.Series | None
    sparse: bool
    categories: dict[Any, list[Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def to_pandas(frame: Any) -> pd.DataFrame:  # noqa: ANN401 - any frame
    """Bring any frame to pandas."""
    kind = kind_of(frame)
    if kind == "pandas":
        import pandas as pd

        return frame.to_frame() if isinstance(frame, pd.Series) else frame
    if kind == "cudf":
        return frame.to_pandas()
    if not hasattr(frame, "__arrow_c_stream__"):
        msg = f"a {type(frame).__name__} is not a table that can be read: pass a DataFrame or an Arrow table"
        if hasattr(frame, "collect"):
            msg = f"a {type(frame).__name__} holds no data yet: pass the frame that .collect() gives"
        raise UnsupportedInputError(msg)
    return library("pyarrow", "arrow").table(frame).to_pandas()


def read_edge_columns(frame: pd.DataFrame, source: str, target: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Take the two ends of every edge from a table: (source, target, warnings)."""
    warnings = check_edge_columns(frame, source, target)
    return frame[source].to_numpy(), frame[target].to_numpy(), warnings


def check_edge_columns(table: Any, source: str, target: str) -> list[str]:  # noqa: ANN401 - pandas or cuDF
    """Refuse a table of edges without its two columns or with gaps in them; tell what else it has."""
    check_column_names(table, "edges")
    for argument, name in (("source", source), ("target", target)):
        if name not in table.columns:
            msg = (
                f"edges has no column {name!r} (it has {some(table.columns)}): name the column with {argument}=, "
                "for example source='from', target='to'"
            )
            raise ColumnError(msg)
        if table[name].isna().any():
            msg = f"edges column {name!r} has {int(table[name].isna().sum())} missing values: drop those rows first"
            raise InputError(msg)
    extra = [name for name in table.columns if name not in (source, target)]
    return [f"edge columns {some(extra)} are ignored: edges carry no weights or attributes here"] if extra else []


def read_node_table(
    frame: pd.DataFrame, *, node: str | None, label: str, train: str | None, argument: str = "feats"
) -> NodeTable:
    """Take ids, features, labels and training marks from a table of nodes.

    Parameters
    ----------
    frame : pandas.DataFrame
    node, label, train : str
        Column names; without the `node` column the index holds the ids, and with None rows are numbered. Gaps of
        sparse columns are zeros, also where pandas takes them for missing (as it does in what
        `DataFrame.sparse.from_spmatrix` gives).
    argument : str
        What to call the table in messages.
    """
    check_column_names(frame, argument)
    ids = np.arange(len(frame)) if node is None else node_ids(frame, node, argument).infer_objects().to_numpy()
    names = [name for name in frame.columns if name not in (node, label, train)]
    features, sparse = _feature_columns(frame, names, argument)
    return NodeTable(
        ids=ids,
        features=features,
        names=names,
        labels=frame[label] if label in frame.columns else None,
        train=frame[train] if train in frame.columns else None,
        sparse=sparse,
    )


def check_column_names(table: Any, argument: str) -> None:  # noqa: ANN401 - pandas or cuDF
    """Refuse a table with repeated column names."""
    if not table.columns.is_unique:
        msg = f"{argument} has repeated column names {some(table.columns[table.columns.duplicated()])}: rename them"
        raise ColumnError(msg)


def node_ids(table: Any, node: str, argument: str) -> Any:  # noqa: ANN401 - pandas or cuDF, a table in, a column out
    """Take the node ids of a table: one a row, each once."""
    check_column_names(table, argument)
    if node not in table.columns and table.index.nlevels > 1:
        raise several_levels(node, argument)
    ids = table[node] if node in table.columns else table.index.to_series()
    check_id_type(ids, argument)
    if ids.isna().any():
        msg = f"{argument} has {int(ids.isna().sum())} missing node ids: every row needs one"
        raise InputError(msg)
    if ids.duplicated().any():
        repeated = ids[ids.duplicated()].head(SHOWN + 1)
        plain = repeated if kind_of(ids) == "pandas" else repeated.to_pandas()
        msg = f"{argument} has duplicate node ids {some(plain.unique())}: keep one row for each node"
        raise InputError(msg)
    return ids


def several_levels(node: str, argument: str) -> ColumnError:
    """Make the error of a table whose index has several levels."""
    return ColumnError(f"{argument} has a MultiIndex and no column {node!r}: name a column of node ids with node=")


def check_id_type(ids: Any, argument: str) -> None:  # noqa: ANN401 - a column of pandas or cuDF
    """Refuse ids that cannot be looked up: lists and the like, and float16, which does not tell 2,049 from 2,048."""
    nested = [one for one in ids.head(1) if isinstance(one, list | dict | set | np.ndarray)] if _on_host(ids) else []
    if nested or ids.dtype == np.float16:
        seen = f"such as {nested[0]!r}" if nested else f"of dtype {ids.dtype}"
        msg = f"{argument} has node ids {seen}: make them integers or text"
        raise InputError(msg)


def _on_host(column: Any) -> bool:  # noqa: ANN401 - as above
    return kind_of(column) == "pandas"


def check_feature_columns(table: Any, names: list[Any], argument: str) -> None:  # noqa: ANN401 - pandas or cuDF
    """Refuse a table without features, or with features that are not numbers."""
    if not names:
        msg = f"{argument} has no feature columns: graphs without features are not supported, add at least one column"
        raise UnsupportedInputError(msg)
    import pandas as pd

    dtypes = {name: getattr(dtype, "subtype", dtype) for name, dtype in table.dtypes[names].items()}
    bad = {n: d for n, d in dtypes.items() if not pd.api.types.is_numeric_dtype(d) or d.kind == "c"}
    text = [name for name, dtype in bad.items() if _is_text(dtype)]
    if text:
        listed = some(text)
        msg = (
            f"{argument} columns {listed} are text: pass categorical={listed} to encode them one-hot, or drop={listed} "
            "to leave them out; columns of ids, labels and training marks are named with node=, label=, train_column="
        )
        raise UnsupportedInputError(msg)
    dates = [name for name, dtype in bad.items() if getattr(dtype, "kind", "O") in "mM"]
    if dates:
        msg = (
            f"{argument} columns {some(dates)} are dates: turn them into numbers first, such as years or days, or pass "
            f"drop={some(dates)} to leave them out"
        )
        raise UnsupportedInputError(msg)
    if bad:
        msg = (
            f"{argument} columns {some(bad)} are not numeric: convert them, or pass drop={some(bad)} to leave them out"
        )
        raise UnsupportedInputError(msg)


def _is_text(dtype: Any) -> bool:  # noqa: ANN401 - of pandas or cuDF
    """Tell text and categories; a column of Python objects is taken for text."""
    return hasattr(dtype, "categories") or getattr(dtype, "kind", "O") in "OUT"


def _feature_columns(
    frame: pd.DataFrame, names: list[Any], argument: str
) -> tuple[np.ndarray | scipy.sparse.csr_matrix, bool]:
    import pandas as pd

    check_feature_columns(frame, names, argument)
    part = frame[names]
    if all(isinstance(dtype, pd.SparseDtype) for dtype in part.dtypes):
        return _sparse_columns(part), True
    with np.errstate(over="ignore"):  # beyond float32 becomes infinite, which is reported by name later
        return part.to_numpy(dtype=np.float32, na_value=np.nan), False


def _sparse_columns(part: pd.DataFrame) -> scipy.sparse.csr_matrix:
    """Put sparse columns side by side; only those that leave out another value than zero are filled in."""
    import pandas as pd

    rows, values = [], []
    for name in part.columns:
        column: Any = part[name].array
        if pd.isna(column.fill_value) or column.fill_value == 0:
            rows.append(column.sp_index.to_int_index().indices)
            values.append(column.sp_values)
        else:
            dense = column.to_dense()
            rows.append(np.flatnonzero(dense))
            values.append(dense[rows[-1]])
    indptr = np.cumsum([0, *map(len, rows)])
    data = np.concatenate(values)
    with np.errstate(over="ignore"):  # as in _feature_columns
        data = data.astype(np.float32)
    return scipy.sparse.csc_matrix((data, np.concatenate(rows), indptr), shape=part.shape).tocsr()


def some(values: Iterable[Any]) -> str:
    """List the first few of many values, as plain Python writes them."""
    listed = [value.item() if isinstance(value, np.generic) else value for value in values]
    shown = ", ".join(repr(value) for value in listed[:SHOWN])
    return f"[{shown}{', ...' if len(listed) > SHOWN else ''}]"
