"""A zip with two archives: features, classes and types of nodes; and a sparse matrix."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

from herald_gpu.datasets.formats import parse_reddit
from herald_gpu.errors import FileFormatError

X = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float64)


def write(folder, data, *, graph=True):
    with zipfile.ZipFile(folder / "g.zip", "w") as archive:
        file = io.BytesIO()
        np.savez(file, **data)
        archive.writestr("reddit_data.npz", file.getvalue())
        if graph:
            file = io.BytesIO()
            sparse.save_npz(file, sparse.coo_matrix(([1, 1], ([2, 0], [0, 2])), shape=(3, 3)))
            archive.writestr("reddit_graph.npz", file.getvalue())


DATA = {"feature": X, "label": np.array([1, 0, 1], np.int32), "node_types": np.array([3, 1, 2]), "node_ids": [7, 8, 9]}


def test_the_graph(tmp_path):
    write(tmp_path, DATA)
    graph = parse_reddit(tmp_path, "g")
    assert graph.edge_index.tolist() == [[2, 0], [0, 2]]
    assert np.array_equal(graph.features, X)
    assert graph.labels.tolist() == [1, 0, 1]
    assert [np.flatnonzero(mask[:, 0]).tolist() for mask in (graph.train, graph.validation, graph.test)] == [
        [1],
        [2],
        [0],
    ]


def test_parts_are_missing(tmp_path):
    write(tmp_path, {"feature": X})
    with pytest.raises(FileFormatError, match=r"g\.zip does not have the form of Reddit's files"):
        parse_reddit(tmp_path, "g")
    write(tmp_path, DATA, graph=False)
    with pytest.raises(FileFormatError, match=r"holds 0 files reddit_graph\.npz"):
        parse_reddit(tmp_path, "g")
