"""OGB's node classification graphs: compressed tables without headings inside a zip."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.datasets.formats.archives import opened, stream
from herald_gpu.datasets.formats.parsed import Parsed, compact, mask_of
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    import zipfile
    from pathlib import Path

    from numpy.typing import NDArray

CHUNK = 1 << 18
"""Rows of a table read at a time: text takes several times the room of the numbers."""


def parse_ogb(folder: Path, name: str) -> Parsed:
    """Parse ``raw/*.csv.gz`` and ``split/*/*.csv.gz``; edges are as stored, once each in ogbn-products.

    Parameters
    ----------
    folder : Path
        Where the zip lies.
    name : str
        Its name, without ``.zip``.

    Raises
    ------
    FileFormatError
        If a table is missing or is no table of numbers.
    """
    path = folder / f"{name}.zip"
    with opened(path) as archive:
        try:
            edges = _table(archive, "raw/edge.csv.gz", path, np.int64)
            features = _table(archive, "raw/node-feat.csv.gz", path, np.float32)
            labels = _table(archive, "raw/node-label.csv.gz", path, np.int64).ravel()
            chosen = [_table(archive, f"{part}.csv.gz", path, np.int64) for part in ("train", "valid", "test")]
            train, validation, test = (mask_of(labels.size, part.ravel()) for part in chosen)
        except (ValueError, IndexError, EOFError, gzip.BadGzipFile) as error:
            msg = f"{path} does not have the form of OGB's files ({error}): delete it and get it again"
            raise FileFormatError(msg) from error
    return Parsed(np.ascontiguousarray(edges.T), compact(features), labels, train, validation, test)


def _table(archive: zipfile.ZipFile, name: str, path: Path, dtype: type[Any]) -> NDArray[Any]:
    import pandas as pd

    with stream(archive, name, path) as packed, gzip.open(packed) as text:
        parts = pd.read_csv(text, header=None, dtype=dtype, chunksize=CHUNK)
        return np.concatenate([part.to_numpy() for part in parts])
