"""Geom-GCN's text files: a line per node with the indices of its words, a line per edge, ten splits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.datasets.files import read_arrays
from herald_gpu.datasets.formats.parsed import Parsed, compact
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

N_SPLITS = 10


def parse_geom_gcn(folder: Path, name: str) -> Parsed:
    """Parse ``out1_node_feature_label.txt``, ``out1_graph_edges.txt`` and the splits; edges keep their direction.

    Parameters
    ----------
    folder : Path
        Where the files lie.
    name : str
        The beginning of the names of the splits.

    Raises
    ------
    FileFormatError
        If a line or a split does not have the form it should have.
    """
    from scipy.sparse import csr_array

    nodes = folder / "out1_node_feature_label.txt"
    try:
        table = [line.split("\t") for line in nodes.read_text("utf-8").splitlines()[1:]]
        words = [[int(word) for word in row[1].split(",")] for row in table]
        ids, given = (np.array([int(row[column]) for row in table]) for column in (0, 2))
        edges = np.loadtxt(folder / "out1_graph_edges.txt", dtype=np.int64, delimiter="\t", skiprows=1, ndmin=2)
        labels = np.full(len(table), -1, dtype=np.int64)
        labels[ids] = given
    except (ValueError, IndexError) as error:
        msg = f"the text files in {folder} do not have Geom-GCN's form ({error}): delete them and get them again"
        raise FileFormatError(msg) from error
    columns = np.concatenate(words)
    rows = np.repeat(ids, [len(row) for row in words])
    features = csr_array((np.ones(columns.size, np.float32), (rows, columns)), (len(table), int(columns.max()) + 1))
    features.sum_duplicates()
    features.data[:] = 1.0  # a word named twice is still one word
    train, validation, test = (_masks(folder, name, part) for part in ("train", "val", "test"))
    return Parsed(np.ascontiguousarray(edges.T), compact(features), labels, train, validation, test)


def _masks(folder: Path, name: str, part: str) -> NDArray[np.bool_]:
    columns = []
    for split in range(N_SPLITS):
        path = folder / f"{name}_split_0.6_0.2_{split}.npz"
        arrays = read_arrays(path)
        if f"{part}_mask" not in arrays:
            msg = f"{path} holds no {part}_mask: delete it and get it from its source again"
            raise FileFormatError(msg)
        columns.append(arrays[f"{part}_mask"].astype(bool))
    return np.stack(columns, axis=1)
