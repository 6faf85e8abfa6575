"""Readers of graphs kept in files: NPZ archives, CSV and Parquet tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from herald_gpu.errors import FileFormatError, MissingDependencyError
from herald_gpu.install import pip_line
from herald_gpu.io.csv import check_used, format_of, is_csv, read_frame
from herald_gpu.io.parquet import ENDINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

_CSR_PARTS = ("x_data", "x_indices", "x_indptr", "x_shape")


@dataclass(frozen=True, eq=False)
class GraphFile:
    """What an NPZ archive holds; `None` for what it does not.

    Attributes
    ----------
    edge_index : (2, E) integer array
        Array ``edge_index``.
    features : (N, F) array or SciPy CSR array
        Array ``x``, or the arrays ``x_data``, ``x_indices``, ``x_indptr`` and ``x_shape`` of a CSR matrix.
    labels : (N,) array
        Array ``y``.
    train, validation, test : (N,) bool arrays
        Arrays ``train_mask``, ``val_mask`` and ``test_mask``, or one of their columns.
    """

    edge_index: NDArray[Any] | None
    features: NDArray[Any] | csr_array | None
    labels: NDArray[Any] | None
    train: NDArray[np.bool_] | None
    validation: NDArray[np.bool_] | None = None
    test: NDArray[np.bool_] | None = None


def read_npz(path: str | Path, *, split: int = 0) -> GraphFile:
    """Read a graph, or a part of one, from an NPZ archive.

    Parameters
    ----------
    path : str or Path
        The archive; pickled objects in it are refused.
    split : int
        The column of two-dimensional masks; a test or validation mask of one dimension belongs to all of them.

    Raises
    ------
    FileFormatError
        If the file is no NPZ archive, or its arrays do not fit together.

    Examples
    --------
    >>> import numpy, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "graph.npz"
    >>> numpy.savez(path, edge_index=[[0, 1], [1, 2]], x=numpy.eye(3), y=[0, 1, 0])
    >>> read_npz(path).features.shape
    (3, 3)
    """
    arrays = read_arrays(path)
    edge_index = arrays.get("edge_index")
    if edge_index is not None and (edge_index.ndim != 2 or edge_index.shape[0] != 2):  # noqa: PLR2004 - (2, E)
        msg = f"edge_index in {path} has shape {edge_index.shape}: store sources and targets as shape (2, E)"
        raise FileFormatError(msg)
    return GraphFile(
        edge_index=edge_index,
        features=read_features(arrays, path),
        labels=arrays.get("y"),
        train=_mask(arrays, "train_mask", split, path),
        validation=_mask(arrays, "val_mask", split, path),
        test=_mask(arrays, "test_mask", split, path),
    )


def read_table(path: str | Path, *, csv: Mapping[str, str] | None = None) -> pd.DataFrame:
    r"""Read a CSV, TSV, TXT or Parquet file; text files may be compressed (``.gz`` and the like).

    Parameters
    ----------
    path : str or Path
        The file; its name says the format.
    csv : mapping, optional
        How a CSV file is written, as for :func:`herald_gpu.condense`.

    Raises
    ------
    FileFormatError
        If the name or the content is none of these formats.
    MissingDependencyError
        If Parquet is asked for and pyarrow is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("src,dst\n0,1\n1,2\n")
    >>> read_table(path).shape
    (2, 2)
    """
    import pandas as pd

    if is_csv(path):
        return read_frame(path, format_of(csv))
    check_used(csv, path)
    try:
        if Path(path).suffix.lower() in ENDINGS:
            return pd.read_parquet(path)
    except ImportError as error:
        msg = f"reading {path} needs pyarrow: {pip_line('arrow')}"
        raise MissingDependencyError(msg) from error
    except ValueError as error:
        msg = f"{path} cannot be read as its name says ({error}): check the file, or rename it to its format"
        raise FileFormatError(msg) from error
    msg = f"{path} has no known ending: pass a .csv, .tsv, .txt, .parquet or .npz file"
    raise FileFormatError(msg)


def read_arrays(path: str | Path) -> dict[str, NDArray[Any]]:
    """Read every array of an NPZ archive.

    Raises
    ------
    FileFormatError
        If the file is no NPZ archive, or holds pickled objects.
    """
    try:
        # Opened here because NumPy leaves a file that is no archive open.
        with Path(path).open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            return {name: archive[name] for name in archive.files}
    except (ValueError, BadZipFile, EOFError, AttributeError) as error:
        msg = f"{path} cannot be read as an NPZ archive of plain arrays ({error}): write it with numpy.savez"
        raise FileFormatError(msg) from error


def read_features(arrays: dict[str, NDArray[Any]], path: str | Path) -> NDArray[Any] | csr_array | None:
    """Give ``x``, or build the CSR array of its parts; `None` if there are neither."""
    if "x" in arrays:
        return arrays["x"]
    missing = [name for name in _CSR_PARTS if name not in arrays]
    if len(missing) == len(_CSR_PARTS):
        return None
    if missing:
        msg = f"{path} holds CSR features without {', '.join(missing)}: store all of {', '.join(_CSR_PARTS)}"
        raise FileFormatError(msg)
    from scipy.sparse import csr_array

    data, indices, indptr, shape = (arrays[name] for name in _CSR_PARTS)
    try:
        matrix = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except ValueError as error:
        msg = f"the CSR features in {path} do not fit together ({error}): store those of one SciPy CSR array"
        raise FileFormatError(msg) from error
    return matrix


def _mask(arrays: dict[str, NDArray[Any]], name: str, split: int, path: str | Path) -> NDArray[np.bool_] | None:
    mask = arrays.get(name)
    if mask is None:
        return None
    if mask.dtype.kind != "b" and not np.isin(mask, (0, 1)).all():
        seen = ", ".join(map(repr, np.unique(mask)[:5].tolist()))
        msg = f"{name} in {path} has the values {seen}: store booleans, or zeros and ones"
        raise FileFormatError(msg)
    columns = mask[:, None] if mask.ndim == 1 else mask
    shared = mask.ndim == 1 and name != "train_mask"
    if columns.ndim != 2 or not (shared or 0 <= split < columns.shape[1]):  # noqa: PLR2004 - nodes by splits
        msg = f"{name} in {path} has shape {mask.shape}, which has no split {split}: pass a split from 0"
        raise FileFormatError(msg)
    return columns[:, 0 if shared else split].astype(bool)
