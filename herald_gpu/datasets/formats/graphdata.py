"""The archives of the GraphData collection: pickled CSR matrices inside NPZ."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.datasets.formats.parsed import Parsed, compact, simple_pairs
from herald_gpu.datasets.formats.pickles import read_object
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path


def parse_graphdata(folder: Path, name: str) -> Parsed:
    """Parse ``adj_matrix``, ``node_attr`` and ``node_label``; there is no split.

    Some of the matrices hold an edge in one direction only, and self loops: each edge is given both ways, no loop is.

    Parameters
    ----------
    folder : Path
        Where the archive lies.
    name : str
        Its name, without ``.npz``.

    Raises
    ------
    FileFormatError
        If it is no such archive, or holds other objects.
    """
    path = folder / f"{name}.npz"
    try:
        with zipfile.ZipFile(path) as archive:
            adjacency, features, labels = (
                read_object(archive, key, path) for key in ("adj_matrix", "node_attr", "node_label")
            )
    except zipfile.BadZipFile as error:
        msg = f"{path} is no NPZ archive ({error}): delete it and get it from its source again"
        raise FileFormatError(msg) from error
    edges = adjacency.tocoo()
    return Parsed(
        edge_index=simple_pairs(edges.row, edges.col, len(labels)),
        features=compact(features),
        labels=labels.astype(np.int64),
    )
