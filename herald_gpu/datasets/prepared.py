"""Prepared archives: a graph in one NPZ file of plain arrays, as the cache and ``HERALD_DATA`` hold them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.datasets.files import read_arrays, read_features
from herald_gpu.datasets.formats.parsed import Parsed
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

CONVERSION = 1
"""Grows when parsers give other graphs than before, so that what older versions converted is converted again."""
_MASKS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}
_SMALL = np.iinfo(np.int32).max


def write_prepared(path: Path, parsed: Parsed) -> None:
    """Write a graph, whole or not at all; not compressed, so that it is read quickly.

    Parameters
    ----------
    path : Path
        The file; its folder exists.
    parsed : Parsed
        The graph.
    """
    edges = parsed.edge_index
    arrays: dict[str, Any] = {
        "conversion": np.int64(CONVERSION),
        "edge_index": edges.astype(np.int32) if len(parsed.labels) <= _SMALL else edges,
        "y": parsed.labels,
    }
    if not isinstance(parsed.features, np.ndarray):
        parts = parsed.features
        arrays |= {"x_data": parts.data, "x_indices": parts.indices, "x_indptr": parts.indptr, "x_shape": parts.shape}
    else:
        arrays["x"] = parsed.features
    arrays |= {key: mask for key, name in _MASKS.items() if (mask := getattr(parsed, name)) is not None}
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, allow_pickle=False, **arrays)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_prepared(path: Path) -> Parsed | None:
    """Read a graph; None if another version of the parsers made the file.

    Parameters
    ----------
    path : Path
        The archive: ``edge_index``, ``y``, and ``x`` or the parts of a CSR array; perhaps ``train_mask``, ``val_mask``
        and ``test_mask``, one split a column.

    Raises
    ------
    FileFormatError
        If it is no such archive, or has no features.
    """
    arrays = read_arrays(path)
    if int(arrays.get("conversion", CONVERSION)) != CONVERSION:
        return None
    missing = [key for key in ("edge_index", "y") if key not in arrays]
    features = None if missing else read_features(arrays, path)
    if features is None:
        what = " and ".join(missing) or "features: its graph and labels alone are not enough"
        msg = f"{path} holds no {what}: add what is missing, or remove the file so that the source is used"
        raise FileFormatError(msg)
    masks: dict[str, NDArray[np.bool_]] = {}
    if all(key in arrays for key in _MASKS):
        masks = {name: _columns(arrays[key]) for key, name in _MASKS.items()}
    parsed = Parsed(
        edge_index=arrays["edge_index"], features=_float32(features), labels=arrays["y"].astype(np.int64), **masks
    )
    _check(parsed, path)
    return parsed


def _columns(mask: NDArray[Any]) -> NDArray[np.bool_]:
    return (mask[:, None] if mask.ndim == 1 else mask).astype(bool)


def _float32(features: Any) -> NDArray[np.float32] | csr_array:  # noqa: ANN401 - dense or sparse
    from scipy.sparse import csr_array, issparse

    is_sparse = bool(issparse(features))
    return csr_array(features.astype(np.float32)) if is_sparse else np.asarray(features, dtype=np.float32)


def _check(parsed: Parsed, path: Path) -> None:
    """Refuse arrays that are not of one graph."""
    n, edges = len(parsed.labels), parsed.edge_index
    fits = (
        parsed.labels.ndim == 1
        and edges.ndim == 2  # noqa: PLR2004 - (2, E)
        and edges.shape[0] == 2  # noqa: PLR2004 - as above
        and edges.dtype.kind in "iu"
        and len(parsed.features.shape) == 2  # noqa: PLR2004 - (N, F)
        and parsed.features.shape[0] == n
        and (edges.size == 0 or (edges.min() >= 0 and edges.max() < n))
        and all(mask is None or mask.shape[0] == n for mask in (parsed.train, parsed.validation, parsed.test))
    )
    if not fits:
        msg = (
            f"the arrays in {path} are not of one graph of {n} nodes: check it, or remove it so that the source is used"
        )
        raise FileFormatError(msg)
