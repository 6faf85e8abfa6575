"""Planetoid: eight files a graph, most of them pickles of Python 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.datasets.formats.parsed import Parsed, compact, mask_of, simple_pairs
from herald_gpu.datasets.formats.pickles import read_pickle
from herald_gpu.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

PARTS = ("y", "tx", "ty", "allx", "ally", "graph")
N_VALIDATION = 500
"""The nodes after the training nodes, by which the public split chooses."""


def parse_planetoid(folder: Path, name: str) -> Parsed:
    """Parse ``ind.NAME.*``.

    Nodes up to the test set are rows of ``allx`` and ``ally``; ``test.index`` says which node each row of ``tx`` and
    ``ty`` is. Nodes that it skips (CiteSeer has fifteen) have no features and no label of their own: their rows are
    zero and their class is 0. Neighbour lists are made a set of pairs without self loops.

    Parameters
    ----------
    folder : Path
        Where the files lie.
    name : str
        The middle of their names.

    Raises
    ------
    FileFormatError
        If a file is no such pickle, or they do not fit together.
    """
    from scipy.sparse import csr_array, vstack

    parts: dict[str, Any] = {}
    for part in PARTS:
        path = folder / f"ind.{name}.{part}"
        with path.open("rb") as file:
            parts[part] = read_pickle(file, path)
    order = np.array((folder / f"ind.{name}.test.index").read_text("utf-8").split(), dtype=np.int64)
    known = parts["allx"].shape[0]
    n = int(order.max()) + 1
    if order.size != parts["tx"].shape[0] or order.min() < known:
        msg = f"the files ind.{name}.* in {folder} do not fit together: delete them and get them again"
        raise FileFormatError(msg)

    place = csr_array(
        (np.ones(order.size, np.float32), (order - known, np.arange(order.size))), (n - known, order.size)
    )
    features = vstack([parts["allx"], place @ parts["tx"]], format="csr")
    one_hot = np.zeros((n, parts["ally"].shape[1]))
    one_hot[:known], one_hot[order] = parts["ally"], parts["ty"]
    n_train = len(parts["y"])
    return Parsed(
        edge_index=_pairs(parts["graph"], n),
        features=compact(features),
        labels=one_hot.argmax(axis=1).astype(np.int64),
        train=mask_of(n, slice(n_train)),
        validation=mask_of(n, slice(n_train, n_train + N_VALIDATION)),
        test=mask_of(n, order),
    )


def _pairs(neighbours: dict[int, list[int]], n: int) -> NDArray[np.int64]:
    counts = [len(row) for row in neighbours.values()]
    source = np.repeat(np.fromiter(neighbours, np.int64, len(neighbours)), counts)
    target = np.fromiter((node for row in neighbours.values() for node in row), np.int64, sum(counts))
    return simple_pairs(source, target, n)
