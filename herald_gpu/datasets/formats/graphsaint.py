"""GraphSAINT's files: a CSR adjacency, dense features, and JSON for classes and roles."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.datasets.formats.archives import member, opened
from herald_gpu.datasets.formats.parsed import Parsed, compact, mask_of
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path


def parse_graphsaint(folder: Path, name: str) -> Parsed:
    """Parse ``adj_full.npz``, ``feats.npy``, ``class_map.json`` and ``role.json`` inside a zip.

    Parameters
    ----------
    folder : Path
        Where the zip lies.
    name : str
        Its name, without ``.zip``.

    Raises
    ------
    FileFormatError
        If it is no such archive, or a node has more than one class.
    """
    from scipy.sparse import csr_array

    path = folder / f"{name}.zip"
    with opened(path) as archive:
        try:
            with np.load(io.BytesIO(member(archive, "adj_full.npz", path)), allow_pickle=False) as parts:
                shape = tuple(parts["shape"].tolist())
                adjacency = csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
            features = np.load(io.BytesIO(member(archive, "feats.npy", path)), allow_pickle=False)
            classes: dict[str, Any] = json.loads(member(archive, "class_map.json", path))
            roles: dict[str, list[int]] = json.loads(member(archive, "role.json", path))
            n = len(features)
            labels = np.full(n, -1, dtype=np.int64)
            labels[np.array(list(classes), dtype=np.int64)] = np.array(list(classes.values()), dtype=np.int64)
            train, validation, test = (mask_of(n, np.array(roles[role], dtype=np.int64)) for role in ("tr", "va", "te"))
        except (ValueError, KeyError, IndexError, TypeError, zipfile.BadZipFile) as error:
            msg = f"{path} does not have GraphSAINT's form, one class a node ({error}): delete it and get it again"
            raise FileFormatError(msg) from error
    edges = adjacency.tocoo()
    return Parsed(np.stack([edges.row, edges.col]), compact(features), labels, train, validation, test)
