"""Text files with words by number, in any order of nodes."""

from __future__ import annotations

import numpy as np
import pytest

from herald_gpu.datasets.formats import geom_gcn, parse_geom_gcn
from herald_gpu.errors import FileFormatError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(geom_gcn, "N_SPLITS", 2)
    nodes = "node_id\tfeature(feature_amount:25)\tlabel\n2\t4,0\t1\n0\t24,24\t0\n1\t3\t2\n"
    (tmp_path / "out1_node_feature_label.txt").write_text(nodes)
    (tmp_path / "out1_graph_edges.txt").write_text("node_id\tnode_id\n2\t0\n1\t1\n0\t2\n")
    for split, order in enumerate([[0, 1, 2], [2, 0, 1]]):
        masks = np.eye(3, dtype=np.uint8)[order]
        np.savez(tmp_path / f"f_split_0.6_0.2_{split}.npz", train_mask=masks[0], val_mask=masks[1], test_mask=masks[2])
    return tmp_path


def test_the_graph(folder):
    graph = parse_geom_gcn(folder, "f")
    expected = np.zeros((3, 25))
    expected[2, [4, 0]] = expected[0, 24] = expected[1, 3] = 1
    assert np.array_equal(graph.features.toarray(), expected)
    assert graph.labels.tolist() == [0, 2, 1]
    assert graph.edge_index.tolist() == [[2, 1, 0], [0, 1, 2]]
    assert graph.train.tolist() == [[True, False], [False, False], [False, True]]
    assert graph.validation.tolist() == [[False, True], [True, False], [False, False]]
    assert graph.test.tolist() == [[False, False], [False, True], [True, False]]


@pytest.mark.parametrize("line", ["3", "3\t1,x\t0", "9\t1\t0"])
def test_a_line_of_another_form(folder, line):
    with (folder / "out1_node_feature_label.txt").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(FileFormatError, match="do not have Geom-GCN's form"):
        parse_geom_gcn(folder, "f")


def test_a_split_without_a_mask(folder):
    np.savez(folder / "f_split_0.6_0.2_1.npz", train_mask=np.ones(3))
    with pytest.raises(FileFormatError, match=r"f_split_0\.6_0\.2_1\.npz holds no val_mask"):
        parse_geom_gcn(folder, "f")
