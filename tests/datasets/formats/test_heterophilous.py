"""Archives of plain arrays with ten splits (two here)."""

from __future__ import annotations

import numpy as np
import pytest

from herald_gpu.datasets.formats import parse_directed, parse_undirected
from herald_gpu.errors import FileFormatError

MASKS = np.array([[1, 0, 0], [0, 0, 1]], dtype=bool)


@pytest.fixture
def arrays():
    return {
        "node_features": np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32),
        "node_labels": np.array([1, 0, 1]),
        "edges": np.array([[0, 1], [2, 1], [2, 2]]),
        "train_masks": MASKS,
        "val_masks": MASKS[:, ::-1],
        "test_masks": MASKS[::-1],
    }


def test_directions_are_kept_or_doubled(tmp_path, arrays):
    np.savez(tmp_path / "g.npz", **arrays)
    assert parse_directed(tmp_path, "g").edge_index.tolist() == [[0, 2, 2], [1, 1, 2]]
    both = parse_undirected(tmp_path, "g").edge_index
    assert sorted(zip(*both.tolist(), strict=True)) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]


def test_the_rest(tmp_path, arrays):
    np.savez(tmp_path / "g.npz", **arrays)
    graph = parse_directed(tmp_path, "g")
    assert np.array_equal(graph.features, arrays["node_features"])
    assert graph.labels.tolist() == [1, 0, 1]
    assert graph.train.T.tolist() == MASKS.tolist()
    assert graph.validation.T.tolist() == MASKS[:, ::-1].tolist()
    assert graph.test.T.tolist() == MASKS[::-1].tolist()


def test_an_array_is_missing(tmp_path, arrays):
    del arrays["edges"], arrays["val_masks"]
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(FileFormatError, match=r"g\.npz holds no edges, val_masks: delete it"):
        parse_undirected(tmp_path, "g")
