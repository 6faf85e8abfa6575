"""The archives of the heterophilous-graphs collection: plain arrays, ten splits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.datasets.files import read_arrays
from herald_gpu.datasets.formats.parsed import Parsed, both_ways, compact
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("node_features", "node_labels", "edges", "train_masks", "val_masks", "test_masks")


def parse_directed(folder: Path, name: str) -> Parsed:
    """Parse an archive whose edges have a direction, which is kept.

    Parameters
    ----------
    folder : Path
        Where the archive lies.
    name : str
        Its name, without ``.npz``.

    Raises
    ------
    FileFormatError
        If an array is missing.
    """
    return _parse(folder, name, directed=True)


def parse_undirected(folder: Path, name: str) -> Parsed:
    """Parse an archive that stores each undirected edge once; it is given both ways.

    Parameters
    ----------
    folder : Path
        Where the archive lies.
    name : str
        Its name, without ``.npz``.

    Raises
    ------
    FileFormatError
        If an array is missing.
    """
    return _parse(folder, name, directed=False)


def _parse(folder: Path, name: str, *, directed: bool) -> Parsed:
    path = folder / f"{name}.npz"
    arrays = read_arrays(path)
    missing = [key for key in NAMES if key not in arrays]
    if missing:
        msg = f"{path} holds no {', '.join(missing)}: delete it and get it from its source again"
        raise FileFormatError(msg)
    features, labels, edges, *masks = (arrays[key] for key in NAMES)
    train, validation, test = (np.ascontiguousarray(mask.astype(bool).T) for mask in masks)
    return Parsed(
        edge_index=np.ascontiguousarray(edges.T) if directed else both_ways(edges),
        features=compact(features),
        labels=labels.astype(np.int64),
        train=train,
        validation=validation,
        test=test,
    )
