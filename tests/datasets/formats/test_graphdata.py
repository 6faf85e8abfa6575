"""Archives with pickled matrices inside."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from herald_gpu.datasets.formats import parse_graphdata
from herald_gpu.errors import FileFormatError

X = np.array([[0, 3, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32)


def test_the_graph(tmp_path):
    adjacency = sparse.csr_matrix(([1.0, 1.0, 1.0], ([0, 1, 2], [1, 2, 2])), shape=(3, 3))
    labels = np.array([2, 1, 2], dtype=np.int32)
    np.savez(tmp_path / "g.npz", adj_matrix=adjacency, node_attr=sparse.csr_matrix(X), node_label=labels, metadata={})
    graph = parse_graphdata(tmp_path, "g")
    assert list(zip(*graph.edge_index.tolist(), strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert np.array_equal(graph.features.toarray(), X)
    assert graph.labels.tolist() == [2, 1, 2]
    assert graph.labels.dtype == np.int64
    assert graph.train is None


def test_what_is_no_such_archive(tmp_path):
    (tmp_path / "g.npz").write_bytes(b"<html>")
    with pytest.raises(FileFormatError, match=r"g\.npz is no NPZ archive"):
        parse_graphdata(tmp_path, "g")
    np.savez(tmp_path / "g.npz", adj_matrix=X)
    with pytest.raises(FileFormatError, match="holds no readable array node_attr"):
        parse_graphdata(tmp_path, "g")
