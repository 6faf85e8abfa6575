"""Reddit as GraphSAGE's authors made it: posts, joined where the same users commented."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.datasets.formats.archives import member, opened
from herald_gpu.datasets.formats.parsed import Parsed, compact
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, VALIDATION, TEST = 1, 2, 3
"""Node types."""


def parse_reddit(folder: Path, name: str) -> Parsed:
    """Parse ``reddit_data.npz`` and the sparse matrix ``reddit_graph.npz`` inside a zip.

    Parameters
    ----------
    folder : Path
        Where the zip lies.
    name : str
        Its name, without ``.zip``.

    Raises
    ------
    FileFormatError
        If it is no such archive.
    """
    from scipy.sparse import coo_array, load_npz

    path = folder / f"{name}.zip"
    with opened(path) as archive:
        try:
            with np.load(io.BytesIO(member(archive, "reddit_data.npz", path)), allow_pickle=False) as data:
                features, labels, types = data["feature"], data["label"].astype(np.int64), data["node_types"]
            edges: Any = coo_array(load_npz(io.BytesIO(member(archive, "reddit_graph.npz", path))))
        except (ValueError, KeyError, zipfile.BadZipFile) as error:
            msg = f"{path} does not have the form of Reddit's files ({error}): delete it and get it again"
            raise FileFormatError(msg) from error
    train, validation, test = ((types == kind)[:, None] for kind in (TRAIN, VALIDATION, TEST))
    return Parsed(np.stack([edges.row, edges.col]), compact(features), labels, train, validation, test)
