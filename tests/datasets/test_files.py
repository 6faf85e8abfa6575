"""Readers: the archive format, tables, and what is said of files that are neither."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from herald_gpu.datasets import read_npz, read_table
from herald_gpu.errors import FileFormatError, MissingDependencyError

EDGES = np.array([[0, 1, 2], [1, 2, 3]], dtype=np.int32)
X = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 3, 4]], dtype=np.float32)


def csr_parts(matrix):
    csr = sparse.csr_array(matrix)
    return {"x_data": csr.data, "x_indices": csr.indices, "x_indptr": csr.indptr, "x_shape": csr.shape}


@pytest.fixture
def save(tmp_path):
    def write(**arrays):
        np.savez_compressed(tmp_path / "graph.npz", **arrays)
        return tmp_path / "graph.npz"

    return write


def test_dense_archive(save):
    graph = read_npz(save(edge_index=EDGES, x=X, y=[0, 1, 0, 1], train_mask=[True, True, False, False]))
    assert np.array_equal(graph.edge_index, EDGES)
    assert np.array_equal(graph.features, X)
    assert graph.labels.tolist() == [0, 1, 0, 1]
    assert graph.train.tolist() == [True, True, False, False]


def test_sparse_archive_stays_sparse(save):
    graph = read_npz(save(edge_index=EDGES, y=[0, 1, 0, 1], **csr_parts(X)))
    assert sparse.issparse(graph.features)
    assert np.array_equal(graph.features.toarray(), X)
    assert graph.train is None


def test_absent_parts_are_none(save):
    graph = read_npz(save(edge_index=EDGES))
    assert graph.features is None
    assert graph.labels is None


@pytest.mark.parametrize("split", [0, 1])
def test_split_picks_a_column(save, split):
    masks = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    assert read_npz(save(train_mask=masks), split=split).train.tolist() == masks[:, split].tolist()


@pytest.mark.parametrize(("shape", "split"), [((4,), 1), ((4, 2), 2), ((4, 2), -1), ((4, 2, 2), 0), ((), 0)])
def test_split_that_is_not_there(save, shape, split):
    with pytest.raises(FileFormatError, match=f"no split {split}"):
        read_npz(save(train_mask=np.ones(shape, dtype=bool)), split=split)


def test_edge_index_of_another_shape(save):
    with pytest.raises(FileFormatError, match=r"edge_index .* shape \(3, 2\): store .* \(2, E\)"):
        read_npz(save(edge_index=EDGES.T))


def test_csr_with_a_part_missing(save):
    parts = csr_parts(X)
    del parts["x_indptr"]
    with pytest.raises(FileFormatError, match="without x_indptr"):
        read_npz(save(**parts))


def test_csr_that_points_outside(save):
    with pytest.raises(FileFormatError, match="do not fit together"):
        read_npz(save(**{**csr_parts(X), "x_shape": (4, 2)}))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 broken"])
def test_what_is_no_archive(tmp_path, content):
    path = tmp_path / "graph.npz"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="cannot be read as an NPZ archive"):
        read_npz(path)


def test_a_single_array_is_no_archive(tmp_path):
    path = tmp_path / "graph.npy"
    np.save(path, X)
    with pytest.raises(FileFormatError, match="cannot be read as an NPZ archive"):
        read_npz(path)


def test_pickled_objects_are_refused(save):
    with pytest.raises(FileFormatError, match="cannot be read as an NPZ archive"):
        read_npz(save(y=np.array([{}, 1], dtype=object)))


@pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.csv.gz", "t.tsv", "t.parquet", "t.pq"])
def test_tables(tmp_path, name):
    table = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
    path = tmp_path / name
    if "pq" in name or "parquet" in name:
        pytest.importorskip("pyarrow", reason="pandas reads Parquet with pyarrow")
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    pd.testing.assert_frame_equal(read_table(path), table)


@pytest.mark.parametrize(("name", "content"), [("t.csv", ""), ("t.parquet", "no table")])
def test_broken_tables(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(FileFormatError, match="cannot be read as its name says"):
        read_table(path)


@pytest.mark.parametrize("name", ["edges", "edges.xlsx"])
def test_unknown_ending(name):
    with pytest.raises(FileFormatError, match=r"no known ending: pass a \.csv"):
        read_table(name)


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    def refuse(*_):
        msg = "no engine"
        raise ImportError(msg)

    monkeypatch.setattr(pd, "read_parquet", refuse)
    with pytest.raises(MissingDependencyError, match="pip install 'pyarrow>=17'"):
        read_table(tmp_path / "t.parquet")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_npz(tmp_path / "none.npz")
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")


def test_all_three_masks_and_one_that_serves_every_split(save):
    columns = np.array([[1, 0], [0, 1], [0, 0], [0, 0]], dtype=bool)
    graph = read_npz(save(train_mask=columns, val_mask=~columns, test_mask=[0, 0, 0, 1]), split=1)
    assert graph.train.tolist() == columns[:, 1].tolist()
    assert graph.validation.tolist() == (~columns[:, 1]).tolist()
    assert graph.test.tolist() == [False, False, False, True]
