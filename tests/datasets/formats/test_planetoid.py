"""Planetoid's files, made by hand: order of the test nodes, nodes that it skips, neighbour lists."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support import old_pickles

from herald_gpu.datasets.formats import parse_planetoid, planetoid
from herald_gpu.errors import FileFormatError

ALL = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=np.float32)
TEST = np.array([[0, 2], [3, 0]], dtype=np.float32)
CLASSES = np.eye(3, dtype=np.int32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(planetoid, "N_VALIDATION", 1)
    parts = {
        "x": old_pickles.csr(sparse.csr_array(ALL[:2])),
        "y": old_pickles.array(CLASSES[[0, 1]]),
        "tx": old_pickles.csr(sparse.csr_array(TEST)),
        "ty": old_pickles.array(CLASSES[[2, 1]]),
        "allx": old_pickles.csr(sparse.csr_array(ALL)),
        "ally": old_pickles.array(CLASSES[[0, 1, 2, 2]]),
        "graph": old_pickles.lists({0: [1, 1, 2], 1: [0], 2: [2], 3: [], 4: [6, 0], 5: [], 6: [4]}),
    }
    for part, body in parts.items():
        (tmp_path / f"ind.tiny.{part}").write_bytes(old_pickles.finish(body))
    (tmp_path / "ind.tiny.test.index").write_text("6\n4\n")
    return tmp_path


def test_the_graph_is_put_together(folder):
    graph = parse_planetoid(folder, "tiny")
    expected = np.zeros((7, 2))
    expected[:4], expected[6], expected[4] = ALL, TEST[0], TEST[1]
    assert np.array_equal(graph.features.toarray(), expected)
    assert graph.labels.tolist() == [0, 1, 2, 2, 1, 0, 2]
    assert list(zip(*graph.edge_index.tolist(), strict=True)) == [
        *((0, 1), (0, 2), (0, 4)),
        *((1, 0), (2, 0), (4, 0)),
        *((4, 6), (6, 4)),
    ]


def test_the_public_split(folder):
    graph = parse_planetoid(folder, "tiny")
    assert np.flatnonzero(graph.train[:, 0]).tolist() == [0, 1]
    assert np.flatnonzero(graph.validation[:, 0]).tolist() == [2]
    assert np.flatnonzero(graph.test[:, 0]).tolist() == [4, 6]


@pytest.mark.parametrize("index", ["6\n4\n5\n", "6\n2\n"])
def test_files_that_do_not_fit_together(folder, index):
    (folder / "ind.tiny.test.index").write_text(index)
    with pytest.raises(FileFormatError, match=r"the files ind\.tiny\.\* in .* do not fit together"):
        parse_planetoid(folder, "tiny")


def test_a_file_that_is_no_pickle(folder):
    (folder / "ind.tiny.allx").write_bytes(b"<html>")
    with pytest.raises(FileFormatError, match=r"ind\.tiny\.allx is refused as a pickle"):
        parse_planetoid(folder, "tiny")
