"""Pickles: what Python 2 and 3 write is read; whatever else they name is refused and does not run."""

from __future__ import annotations

import builtins
import io
import os
import pickle
import zipfile
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse
from support import old_pickles

from herald_gpu.datasets.formats.pickles import read_object, read_pickle
from herald_gpu.errors import FileFormatError

DENSE = np.array([[0, 1.5, 0], [-2, 0, 0.25]], dtype=np.float32)


class Calls:
    """Calls something when it is unpickled."""

    def __init__(self, function, *args):
        self.what = function, args

    def __reduce__(self):
        return self.what


def read(content):
    return read_pickle(io.BytesIO(content), "file")


@pytest.mark.parametrize("dtype", ["<i4", "<f8", "|b1"])
def test_arrays_of_python_2(dtype):
    values = np.array([[0, 1, 255], [128, 7, -1]]).astype(dtype)
    seen = read(old_pickles.finish(old_pickles.array(values)))
    assert np.array_equal(seen, values)
    assert seen.dtype == values.dtype


def test_sparse_matrices_of_python_2():
    seen = read(old_pickles.finish(old_pickles.csr(sparse.csr_array(DENSE))))
    assert isinstance(seen, sparse.csr_array)
    assert np.array_equal(seen.toarray(), DENSE)


def test_lists_of_python_2():
    assert read(old_pickles.finish(old_pickles.lists({0: [1, 2], 5: [0]}))) == {0: [1, 2], 5: [0]}


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("value", [DENSE, np.arange(3), sparse.csr_matrix(DENSE), defaultdict(list, {1: [2]})])
def test_what_python_3_writes(value, protocol):
    seen = read(pickle.dumps(value, protocol))
    if isinstance(value, defaultdict):
        assert seen == value
    else:
        dense = value.toarray() if sparse.issparse(value) else value
        assert np.array_equal(seen.toarray() if sparse.issparse(seen) else seen, dense)


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize(
    "function", [os.system, builtins.eval, builtins.getattr, np.load, np.save, io.open, pickle.loads]
)
def test_functions_are_refused_and_not_called(tmp_path, function, protocol):
    mark = tmp_path / "mark"
    with pytest.raises(FileFormatError, match=r"file is refused as a pickle of arrays \(it names .*, which no array"):
        read(pickle.dumps([Calls(function, f"touch {mark}")], protocol))
    assert not mark.exists()


def test_attributes_of_known_names_are_refused():
    nested = b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__base__\x93."
    with pytest.raises(FileFormatError, match=r"it names numpy\.ndarray\.__base__"):
        read(nested)


@pytest.mark.parametrize("content", [b"", b"no pickle", b"\x80\x02K\x01", pickle.dumps(DENSE)[:-20]])
def test_what_is_no_pickle(content):
    with pytest.raises(FileFormatError, match="is refused as a pickle of arrays"):
        read(content)


def test_a_sparse_matrix_that_points_outside():
    matrix = sparse.csr_matrix(DENSE)
    matrix.indices[0] = 7
    with pytest.raises(FileFormatError, match="is refused as a pickle of arrays"):
        read(pickle.dumps(matrix))


def test_a_sparse_matrix_without_its_parts():
    empty = old_pickles.finish(old_pickles.name("scipy.sparse.csr", "csr_matrix") + b")\x81}b")
    with pytest.raises(FileFormatError, match="without its parts"):
        read(empty)


def test_objects_and_arrays_in_archives(tmp_path):
    np.savez(tmp_path / "a.npz", matrix=sparse.csr_matrix(DENSE), plain=DENSE, bad=np.array(Calls(os.system, "true")))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert np.array_equal(read_object(archive, "matrix", "a").toarray(), DENSE)
        assert np.array_equal(read_object(archive, "plain", "a"), DENSE)
        with pytest.raises(FileFormatError, match=r"bad in a is refused as a pickle of arrays .it names \w+\.system"):
            read_object(archive, "bad", "a")
        with pytest.raises(FileFormatError, match="a holds no readable array none"):
            read_object(archive, "none", "a")
