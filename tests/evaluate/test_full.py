"""Reading the full graph."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from herald_gpu.errors import ConfigError, InputError
from herald_gpu.evaluate import Split
from herald_gpu.evaluate.full import read_full

EDGES = np.array([[0, 0, 1, 2, 3, 3], [1, 1, 0, 1, 3, 2]])


def masks(train, validation, test, n=4):
    return {
        name: np.isin(np.arange(n), rows)
        for name, rows in (("train", train), ("validation", validation), ("test", test))
    }


def graph(labels=(0, 1, 1, 0), **changes):
    labels = labels if isinstance(labels, torch.Tensor) else np.array(labels)
    parts = {"edge_index": EDGES, "features": np.eye(4), "labels": labels, **masks([0, 1], [2], [3])}
    return SimpleNamespace(**(parts | changes))


def test_clean_is_undirected_and_simple():
    expected = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert read_full(graph()).adjacency.toarray().tolist() == expected


def test_stored_keeps_directions_loops_and_repetitions():
    expected = [[0, 2, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
    assert read_full(graph(), graph_as="stored").adjacency.toarray().tolist() == expected


def test_tensors_are_read_too():
    given = graph(edge_index=torch.from_numpy(EDGES), labels=torch.tensor([0, 1, 1, 0]))
    assert read_full(given).codes.tolist() == [0, 1, 1, 0]


def test_classes_are_those_of_training_nodes():
    full = read_full(graph(("b", "d", "a", "d")))
    assert full.classes.tolist() == ["b", "d"]
    assert full.codes.tolist() == [0, 1, -1, 1]
    assert full.validation.tolist() == [False, False, True, False]  # known, and wrong whatever is guessed


def test_nodes_without_a_label_are_in_no_mask():
    full = read_full(graph((0, 1, -1, 0), **masks([0, 1], [2], [3])))
    assert not full.validation.any()
    assert full.classes.tolist() == [0, 1]
    full = read_full(graph((0, 1, -1, 0), **masks([0, 1, 2], [], [3])))
    assert full.train.tolist() == [True, True, False, False]
    assert full.classes.tolist() == [0, 1]


def test_a_split_stands_in_for_masks():
    full = read_full(graph(), Split(**masks([3], [1], [0, 2])))
    assert full.train.tolist() == [False, False, False, True]
    assert full.test.tolist() == [True, False, True, False]
    assert full.classes.tolist() == [0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": None}, r"graph has no test mask: pass split=, such as paper_split\(4\)"),
        ({"train": np.array([0, 1])}, r"train has dtype int64 and shape \(2,\): pass a boolean mask of the 4 nodes"),
        ({"test": np.ones(4, dtype=bool)}, "share nodes"),
        ({"test": np.zeros(4, dtype=bool)}, "test marks no labelled node"),
        ({"train": np.zeros(4, dtype=bool)}, "train marks no labelled node"),
    ],
)
def test_bad_masks_are_told(changes, message):
    with pytest.raises(InputError, match=message):
        read_full(graph(**changes))


def test_unknown_kind_of_graph():
    with pytest.raises(ConfigError, match=r"graph_as='raw' is not known: pass one of clean, stored"):
        read_full(graph(), graph_as="raw")
