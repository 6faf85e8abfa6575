"""Pickles of arrays, read without running what they hold.

A pickle may name any function to be called while it is read. Only the names below are known here; every other one is
refused before anything is imported. Sparse matrices become inert holders and are built and checked afterwards.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import defaultdict
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from scipy.sparse import csr_array


class _CsrState:
    """Takes the attributes of a pickled CSR matrix and does nothing with them."""

    def __setstate__(self, state: object) -> None:
        self.state = state if isinstance(state, dict) else {}


def _empty_array(*_: object) -> NDArray[Any]:
    """Start an array that its pickled state fills; subclasses of ndarray are not made."""
    return np.ndarray.__new__(np.ndarray, (0,), np.int8)


def _latin1(text: str, encoding: str = "latin1") -> bytes:
    """Give the bytes that Python 3 writes as text into pickles of protocol 2."""
    return text.encode(encoding)


_KNOWN: dict[tuple[str, str], Any] = {
    ("builtins", "list"): list,
    ("__builtin__", "list"): list,
    ("collections", "defaultdict"): defaultdict,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("_codecs", "encode"): _latin1,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _empty_array for core in ("core", "_core")},
    **{(f"scipy.sparse.{module}", "csr_matrix"): _CsrState for module in ("csr", "_csr")},
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - as pickle declares it
        try:
            return _KNOWN[module, name]
        except KeyError:
            msg = f"it names {module}.{name}, which no array needs"
            raise FileFormatError(msg) from None


def read_pickle(file: IO[bytes], path: Path | str) -> Any:  # noqa: ANN401 - arrays, sparse arrays, mappings
    """Read arrays, CSR matrices, lists and mappings from a pickle, one written by Python 2 too.

    Parameters
    ----------
    file : binary file
        The pickle.
    path : Path or str
        What to call it in errors.

    Raises
    ------
    FileFormatError
        If it is no pickle, or names anything else.

    Examples
    --------
    >>> import io, os, pickle
    >>> read_pickle(io.BytesIO(pickle.dumps({0: [1, 2]})), "graph")
    {0: [1, 2]}
    >>> read_pickle(io.BytesIO(pickle.dumps(os.system)), "graph")
    Traceback (most recent call last):
    ...
    herald_gpu.errors.FileFormatError: graph is refused as a pickle of arrays (it names ...system, ...
    """
    try:
        return _built(_Unpickler(file, encoding="latin1").load(), path)
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
        msg = f"{path} is refused as a pickle of arrays ({error}): delete it and get it from its source again"
        raise FileFormatError(msg) from error


def read_object(archive: zipfile.ZipFile, name: str, path: Path | str) -> Any:  # noqa: ANN401 - as read_pickle
    """Read an object, or a plain array, from an NPZ archive.

    Parameters
    ----------
    archive : ZipFile
        The archive, open.
    name : str
        Name of the array, without ``.npy``.
    path : Path or str
        What to call the archive in errors.
    """
    try:
        content = io.BytesIO(archive.read(f"{name}.npy"))
        read = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        dtype = read[np.lib.format.read_magic(content)[0]](content)[2]
        if not dtype.hasobject:
            content.seek(0)
            return np.lib.format.read_array(content, allow_pickle=False)
    except (KeyError, ValueError, zipfile.BadZipFile) as error:
        msg = f"{path} holds no readable array {name} ({error}): delete it and get it from its source again"
        raise FileFormatError(msg) from error
    return read_pickle(content, f"{name} in {path}")


def _built(value: Any, path: Path | str) -> Any:  # noqa: ANN401 - as read_pickle
    """Turn holders into CSR arrays, and the array without dimensions around an object into that object."""
    if isinstance(value, np.ndarray) and value.dtype.hasobject and value.shape == ():
        value = value.item()
    return _csr(value.state, path) if isinstance(value, _CsrState) else value


def _csr(state: dict[str, Any], path: Path | str) -> csr_array:
    from scipy.sparse import csr_array

    parts = [state.get(name) for name in ("data", "indices", "indptr")]
    shape = state.get("_shape", state.get("shape"))
    if not all(isinstance(part, np.ndarray) for part in parts) or not isinstance(shape, tuple):
        msg = f"{path} holds a sparse matrix without its parts"
        raise ValueError(msg)
    matrix: Any = csr_array(tuple(parts), shape=tuple(int(size) for size in shape))  # type: ignore[arg-type]
    matrix.check_format(full_check=True)
    return matrix
