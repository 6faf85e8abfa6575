"""Matrices as arrays of a file: in the bytes that their encoding says, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from herald_gpu.encoding import Encoding

NAME, LANDMARKS = "features", "landmarks"
TYPES = {"float32": np.float32, "float16": np.float16, "int8": np.int8}


def pack(x: np.ndarray | csr_matrix, encoding: Encoding, scales: np.ndarray | None) -> dict[str, np.ndarray]:
    """Give a feature matrix as arrays, named for a file.

    Parameters
    ----------
    x : float32 array or CSR matrix
        As it was read back from its encoding, so that nothing is lost here.
    encoding : Encoding
    scales : float32 array, optional
        Of int8.

    Examples
    --------
    >>> from herald_gpu.encoding import Encoding
    >>> sorted(pack(np.eye(3, dtype=np.float32), Encoding("dense", "bits"), None).items())[0][1].tolist()
    [[128], [64], [32]]
    """
    shape = {f"{NAME}.shape": np.asarray(x.shape)}
    if encoding.layout == "dense":
        dense = x.toarray() if scipy.sparse.issparse(x) else x
        if encoding.values == "bits":
            return {f"{NAME}.bits": np.packbits(dense != 0, axis=1)} | shape
        return {NAME: _values(dense, encoding, scales)} | _scales(scales)
    sparse = scipy.sparse.csr_matrix(x)
    narrow = np.uint16 if x.shape[1] <= np.iinfo(np.uint16).max + 1 else np.int32
    parts = {f"{NAME}.indices": sparse.indices.astype(narrow), f"{NAME}.indptr": sparse.indptr} | shape
    if encoding.values == "bits":
        return parts
    of_entry = None if scales is None else scales[sparse.indices]
    return parts | {f"{NAME}.data": _values(sparse.data, encoding, of_entry)} | _scales(scales)


def _values(values: np.ndarray, encoding: Encoding, scales: np.ndarray | None) -> np.ndarray:
    return (values if scales is None else np.rint(values / scales)).astype(TYPES[encoding.values])


def _scales(scales: np.ndarray | None) -> dict[str, np.ndarray]:
    return {} if scales is None else {f"{NAME}.scales": scales}


def unpack(arrays: dict[str, np.ndarray]) -> np.ndarray | csr_matrix:
    """Read the arrays of :func:`pack`, as a float32 array or CSR matrix.

    Examples
    --------
    >>> from herald_gpu.encoding import Encoding
    >>> x = scipy.sparse.csr_matrix(np.float32([[0, 2.5], [5.0, 0]]))
    >>> unpack(pack(x, Encoding("sparse", "int8"), np.float32([1.0, 2.5]))).toarray().tolist()
    [[0.0, 2.5], [5.0, 0.0]]
    """
    scales = arrays.get(f"{NAME}.scales")
    if f"{NAME}.bits" in arrays:
        _, columns = arrays[f"{NAME}.shape"]
        return np.unpackbits(arrays[f"{NAME}.bits"], axis=1, count=int(columns)).astype(np.float32)
    if NAME in arrays:
        dense = arrays[NAME].astype(np.float32)
        return dense if scales is None else dense * scales
    indices = arrays[f"{NAME}.indices"].astype(np.int32)
    data = arrays.get(f"{NAME}.data", np.ones(len(indices), dtype=np.float32)).astype(np.float32)
    data = data if scales is None else data * scales[indices]
    parts = (data, indices, arrays[f"{NAME}.indptr"])
    return scipy.sparse.csr_matrix(parts, shape=tuple(arrays[f"{NAME}.shape"]))


def pack_signs(x: np.ndarray | csr_matrix) -> dict[str, np.ndarray]:
    """Give rows of signs as arrays, named for a file: a bit a value, a scale a row.

    Examples
    --------
    >>> unpack_signs(pack_signs(np.float32([[0.5, -0.5, -0.5], [-2.0, 2.0, 2.0]])), 3).tolist()
    [[0.5, -0.5, -0.5], [-2.0, 2.0, 2.0]]
    """
    dense = x.toarray() if scipy.sparse.issparse(x) else x
    return {f"{LANDMARKS}.signs": np.packbits(dense > 0, axis=1), f"{LANDMARKS}.scales": np.abs(dense).max(axis=1)}


def unpack_signs(arrays: dict[str, np.ndarray], n_columns: int) -> np.ndarray:
    """Read the arrays of :func:`pack_signs`, as a float32 array."""
    signs = np.unpackbits(arrays[f"{LANDMARKS}.signs"], axis=1, count=n_columns).astype(np.float32)
    return (2 * signs - 1) * arrays[f"{LANDMARKS}.scales"][:, None]


def csr_members(name: str, matrix: csr_matrix) -> dict[str, np.ndarray]:
    """Give a square CSR matrix as arrays; values that are all one are left out."""
    parts = {f"{name}.indices": matrix.indices, f"{name}.indptr": matrix.indptr}
    return parts if bool((matrix.data == 1).all()) else {f"{name}.data": matrix.data, **parts}


def csr_from(arrays: dict[str, np.ndarray], name: str) -> csr_matrix:
    """Read the arrays of :func:`csr_members`; values that were left out are float32."""
    indices, indptr = (arrays[f"{name}.{part}"] for part in ("indices", "indptr"))
    data = arrays.get(f"{name}.data", np.ones(len(indices), dtype=np.float32))
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1,) * 2)
