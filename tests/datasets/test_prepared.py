"""Prepared archives: written whole, read back, and refused where they are no graph."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from herald_gpu.datasets import prepared
from herald_gpu.datasets.files import read_npz
from herald_gpu.datasets.formats import Parsed
from herald_gpu.datasets.prepared import read_prepared, write_prepared
from herald_gpu.errors import FileFormatError

X = np.array([[0, 1.5], [2, 0], [0, 0]], dtype=np.float32)
MASK = np.array([[1, 0], [0, 1], [0, 0]], dtype=bool)


def graph(**changes):
    parts = {"edge_index": np.array([[0, 1], [1, 2]]), "features": X, "labels": np.array([0, 1, -1])}
    return Parsed(**{**parts, **changes})


@pytest.mark.parametrize("features", [X, sparse.csr_array(X)])
@pytest.mark.parametrize("masks", [{}, {"train": MASK, "validation": MASK[::-1], "test": MASK[:, ::-1]}])
def test_what_is_written_is_read(tmp_path, features, masks):
    path = tmp_path / "g.npz"
    write_prepared(path, graph(features=features, **masks))
    seen = read_prepared(path)
    assert np.array_equal(seen.edge_index, [[0, 1], [1, 2]])
    assert seen.labels.tolist() == [0, 1, -1]
    assert sparse.issparse(seen.features) == sparse.issparse(features)
    assert np.array_equal(seen.features.toarray() if sparse.issparse(features) else seen.features, X)
    for name in ("train", "validation", "test"):
        assert np.array_equal(getattr(seen, name), masks[name]) if masks else getattr(seen, name) is None
    assert [file.name for file in tmp_path.iterdir()] == ["g.npz"]


def test_the_public_reader_reads_it_too(tmp_path):
    write_prepared(tmp_path / "g.npz", graph(train=MASK, validation=MASK, test=MASK))
    file = read_npz(tmp_path / "g.npz", split=1)
    assert np.array_equal(file.features, X)
    assert file.train.tolist() == [False, True, False]


def test_flat_masks_are_one_split_and_other_numbers_become_float32(tmp_path):
    masks = dict.fromkeys(("train_mask", "val_mask", "test_mask"), MASK[:, 0])
    np.savez(
        tmp_path / "g.npz", edge_index=np.array([[0], [1]], np.int16), x=X.astype(int), y=np.int8([0, 1, 1]), **masks
    )
    seen = read_prepared(tmp_path / "g.npz")
    assert seen.train.tolist() == MASK[:, :1].tolist()
    assert seen.features.dtype == np.float32
    assert seen.labels.dtype == np.int64


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "g.npz"
    write_prepared(path, graph())
    before = path.read_bytes()

    def fail(stream, **_):
        stream.write(b"half")
        raise OSError

    monkeypatch.setattr(prepared.np, "savez", fail)
    with pytest.raises(OSError):  # noqa: PT011 - ours, without words
        write_prepared(path, graph())
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["g.npz"]


def test_other_versions_of_the_parsers_are_told_apart(tmp_path, monkeypatch):
    write_prepared(tmp_path / "g.npz", graph())
    monkeypatch.setattr(prepared, "CONVERSION", prepared.CONVERSION + 1)
    assert read_prepared(tmp_path / "g.npz") is None


@pytest.mark.parametrize("left_out", ["edge_index", "y", "x"])
def test_a_part_is_missing(tmp_path, left_out):
    arrays = {"edge_index": np.array([[0], [1]]), "x": X, "y": np.zeros(3, int)}
    del arrays[left_out]
    np.savez(tmp_path / "g.npz", **arrays)
    what = "features: its graph and labels alone are not enough" if left_out == "x" else left_out
    with pytest.raises(FileFormatError, match=rf"g\.npz holds no {what}"):
        read_prepared(tmp_path / "g.npz")


@pytest.mark.parametrize(
    "changes",
    [
        {"edge_index": np.array([[0], [3]])},
        {"edge_index": np.array([[-1], [0]])},
        {"edge_index": np.array([[0.0], [1.0]])},
        {"edge_index": np.array([0, 1])},
        {"edge_index": np.array([[0, 1], [1, 2], [2, 0]])},
        {"x": X[:2]},
        {"x": X.ravel()},
        {"y": np.zeros((3, 2), int)},
        {"train_mask": MASK[:2], "val_mask": MASK, "test_mask": MASK},
    ],
)
def test_arrays_that_are_not_of_one_graph(tmp_path, changes):
    arrays = {"edge_index": np.array([[0], [1]]), "x": X, "y": np.zeros(3, int), **changes}
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(FileFormatError, match=r"the arrays in .*g\.npz are not of one graph"):
        read_prepared(tmp_path / "g.npz")
