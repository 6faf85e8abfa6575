"""From plain arrays to the caller's own kind of object."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse

from herald_gpu.errors import ConfigError
from herald_gpu.io import torch
from herald_gpu.io.kinds import FRAME_KINDS, Kind, library
from herald_gpu.io.read import Style

OutputType = Literal["input", "numpy", "pandas", "polars", "arrow", "torch", "cupy", "cudf"]
OUTPUT_TYPES = ("input", "numpy", "pandas", "polars", "arrow", "torch", "cupy", "cudf")


def choose_style(style: Style, output_type: OutputType) -> Style:
    """Apply `output_type=` to the style of the input."""
    if output_type not in OUTPUT_TYPES:
        msg = f"output_type={output_type!r} is not known: pass one of {OUTPUT_TYPES}"
        raise ConfigError(msg)
    if output_type == "input":
        return Style(_settled(style.edges), _settled(style.nodes), style.sparse)
    return Style(output_type, output_type, style.sparse)


def _settled(kind: Kind) -> Kind:
    plain: dict[Kind, Kind] = {"scipy": "numpy", "networkx": "numpy", "other": "numpy", "cupyx": "cupy"}
    return plain.get(kind, kind)


def vector(kind: Kind, values: np.ndarray, *, name: str | None = None, index: np.ndarray | None = None) -> Any:  # noqa: ANN401
    """A column of values; in pandas and cuDF it carries `index`."""
    if kind == "pandas":
        return pd.Series(values, index=index, name=name)
    if kind == "cudf":
        return library("cudf").Series(pd.Series(values, index=index, name=name))
    if kind == "polars":
        return library("polars").Series(name or "", values.tolist())
    if kind == "arrow":
        return library("pyarrow", "arrow").array(values.tolist())
    if kind == "torch" and values.dtype.kind in "biuf":
        return torch.to_tensor(values)
    if kind == "cupy" and values.dtype.kind in "biuf":
        return library("cupy").asarray(values)
    return values


def labels(
    kind: Kind,
    codes: np.ndarray,
    classes: np.ndarray,
    *,
    unlabelled: Any,
    name: str,
    index: np.ndarray,
) -> Any:  # noqa: ANN401
    """Class values of nodes; unknown ones are null in tables, else `unlabelled` (or None)."""
    known = codes >= 0
    picked = classes[np.maximum(codes, 0)]
    if kind in FRAME_KINDS:
        values = pd.array(np.where(known, picked.astype(object), None).tolist(), dtype=_nullable(classes))
        if kind in ("pandas", "cudf"):
            series = pd.Series(values, index=index, name=name)
            return series if kind == "pandas" else library("cudf").Series(series)
        return vector(kind, values.to_numpy(dtype=object, na_value=None), name=name)
    numeric = (
        classes.dtype.kind in "iu" and isinstance(unlabelled, int | np.integer) and not isinstance(unlabelled, bool)
    )
    values = np.where(known, picked, np.asarray(unlabelled, dtype=classes.dtype)) if numeric else picked.astype(object)
    if not numeric:
        values[~known] = unlabelled if isinstance(unlabelled, str) else None
    return vector(kind, values)


def _nullable(classes: np.ndarray) -> str | None:
    return {"i": "Int64", "u": "Int64", "b": "boolean", "U": "str"}.get(classes.dtype.kind, "object")


def matrix(style: Style, x: np.ndarray | scipy.sparse.csr_matrix, *, names: np.ndarray, index: Any = None) -> Any:  # noqa: ANN401
    """A feature matrix: sparse if the caller's was, with column names in tables."""
    kind = style.nodes
    sparse = scipy.sparse.issparse(x)
    if style.sparse and not sparse and kind not in FRAME_KINDS:
        return vector(kind, x)  # reduced features are dense whatever the input was
    if style.sparse and kind not in FRAME_KINDS:
        if kind == "torch":
            return torch.to_sparse_tensor(x)
        return library("cupyx.scipy.sparse").csr_matrix(x) if kind == "cupy" else x
    if style.sparse and sparse and kind == "pandas":
        # pandas takes what a float matrix does not store for missing, not for zero.
        return pd.DataFrame.sparse.from_spmatrix(x, index=index, columns=list(names)).fillna(0)
    dense = x.toarray() if sparse else x
    return table(kind, dense, names=names, index=index) if kind in FRAME_KINDS else vector(kind, dense)


def table(kind: Kind, columns: dict[str, Any] | np.ndarray, *, names: Any = None, index: Any = None) -> Any:  # noqa: ANN401
    """A table from a matrix with column names or from a dict of columns; pandas for kinds that have no tables."""
    if isinstance(columns, np.ndarray):
        frame = pd.DataFrame(columns, columns=list(names), index=index)
    else:
        frame = pd.DataFrame(columns, index=index)
    if kind == "cudf":
        return library("cudf").DataFrame(frame)
    if kind == "polars":
        return library("polars").DataFrame({str(name): frame[name].to_numpy() for name in frame.columns})
    if kind == "arrow":
        return library("pyarrow", "arrow").Table.from_pandas(frame, preserve_index=False)
    return frame


def edges(style: Style, source: np.ndarray, target: np.ndarray, *, names: tuple[str, str]) -> Any:  # noqa: ANN401
    """Edges in the caller's ids: a table with two columns, or a (2, E) array."""
    if style.edges in FRAME_KINDS:
        return table(style.edges, {names[0]: source, names[1]: target})
    return vector(style.edges, np.stack([source, target]))
