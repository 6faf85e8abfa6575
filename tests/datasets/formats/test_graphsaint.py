"""A zip with a CSR adjacency, dense features, and JSON."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

from herald_gpu.datasets.formats import parse_graphsaint
from herald_gpu.errors import FileFormatError

X = np.array([[1, 2], [3, 4], [5, 6.5]])


def packed(write, *args, **arrays):
    file = io.BytesIO()
    write(file, *args, **arrays)
    return file.getvalue()


@pytest.fixture
def parts():
    adjacency = {"data": np.ones(3), "indices": [1, 0, 2], "indptr": [0, 1, 3, 3], "shape": [3, 3]}
    return {
        "adj_full.npz": packed(np.savez, **adjacency),
        "feats.npy": packed(np.save, X),
        "class_map.json": json.dumps({"2": 1, "0": 0, "1": 4}),
        "role.json": json.dumps({"tr": [1], "va": [0], "te": [2]}),
    }


def write(folder, parts, inside=""):
    with zipfile.ZipFile(folder / "g.zip", "w") as archive:
        for name, content in parts.items():
            archive.writestr(f"{inside}{name}", content)


@pytest.mark.parametrize("inside", ["", "flickr/"])
def test_the_graph(tmp_path, parts, inside):
    write(tmp_path, parts, inside)
    graph = parse_graphsaint(tmp_path, "g")
    assert graph.edge_index.tolist() == [[0, 1, 1], [1, 0, 2]]
    assert np.array_equal(graph.features, X)
    assert graph.features.dtype == np.float32
    assert graph.labels.tolist() == [0, 4, 1]
    assert [np.flatnonzero(mask[:, 0]).tolist() for mask in (graph.train, graph.validation, graph.test)] == [
        [1],
        [0],
        [2],
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("class_map.json", json.dumps({"0": [1, 0], "1": [0, 1], "2": [1, 1]})),
        ("class_map.json", "no JSON"),
        ("role.json", "{}"),
        ("role.json", json.dumps({"tr": [7], "va": [0], "te": [2]})),
        ("feats.npy", b"no array"),
        ("adj_full.npz", b"no archive"),
    ],
)
def test_parts_of_another_form(tmp_path, parts, name, content):
    write(tmp_path, {**parts, name: content})
    with pytest.raises(FileFormatError, match=r"g\.zip does not have GraphSAINT's form"):
        parse_graphsaint(tmp_path, "g")


def test_a_part_is_missing(tmp_path, parts):
    del parts["feats.npy"]
    write(tmp_path, parts)
    with pytest.raises(FileFormatError, match=r"g\.zip holds 0 files feats\.npy, and one is needed"):
        parse_graphsaint(tmp_path, "g")
