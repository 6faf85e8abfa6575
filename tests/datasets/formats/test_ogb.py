"""A zip of compressed tables, also where they are read in pieces."""

from __future__ import annotations

import gzip
import zipfile

import numpy as np
import pytest

from herald_gpu.datasets.formats import ogb, parse_ogb
from herald_gpu.errors import FileFormatError


@pytest.fixture
def tables():
    return {
        "raw/edge.csv.gz": "0,1\n1,2\n3,0\n",
        "raw/node-feat.csv.gz": "0.5,1\n2,-3e-2\n4,5\n6,7\n",
        "raw/node-label.csv.gz": "1\n0\n2\n1\n",
        "raw/num-node-list.csv.gz": "4\n",
        "split/time/train.csv.gz": "3\n1\n",
        "split/time/valid.csv.gz": "0\n",
        "split/time/test.csv.gz": "2\n",
    }


def write(folder, tables):
    with zipfile.ZipFile(folder / "g.zip", "w") as archive:
        for name, content in tables.items():
            archive.writestr(f"arxiv/{name}", gzip.compress(content.encode()))


@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_the_graph(tmp_path, monkeypatch, tables, chunk):
    monkeypatch.setattr(ogb, "CHUNK", chunk)
    write(tmp_path, tables)
    graph = parse_ogb(tmp_path, "g")
    assert graph.edge_index.tolist() == [[0, 1, 3], [1, 2, 0]]
    assert np.array_equal(graph.features, np.array([[0.5, 1], [2, -0.03], [4, 5], [6, 7]], dtype=np.float32))
    assert graph.labels.tolist() == [1, 0, 2, 1]
    masks = (graph.train, graph.validation, graph.test)
    assert [np.flatnonzero(mask[:, 0]).tolist() for mask in masks] == [[1, 3], [0], [2]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("raw/edge.csv.gz", "0,a\n"),
        ("raw/node-label.csv.gz", "1\n\n0.5\n"),
        ("raw/node-feat.csv.gz", ""),
        ("split/time/test.csv.gz", "9\n"),
    ],
)
def test_tables_of_another_form(tmp_path, tables, name, content):
    write(tmp_path, {**tables, name: content})
    with pytest.raises(FileFormatError, match=r"g\.zip does not have the form of OGB's files"):
        parse_ogb(tmp_path, "g")


def test_a_table_that_is_not_compressed(tmp_path, tables):
    write(tmp_path, {name: content for name, content in tables.items() if "edge" not in name})
    with zipfile.ZipFile(tmp_path / "g.zip", "a") as archive:
        archive.writestr("arxiv/raw/edge.csv.gz", "0,1\n")
    with pytest.raises(FileFormatError, match="does not have the form of OGB's files"):
        parse_ogb(tmp_path, "g")


def test_a_table_is_missing(tmp_path, tables):
    del tables["split/time/valid.csv.gz"]
    write(tmp_path, tables)
    with pytest.raises(FileFormatError, match=r"g\.zip holds 0 files valid\.csv\.gz"):
        parse_ogb(tmp_path, "g")
