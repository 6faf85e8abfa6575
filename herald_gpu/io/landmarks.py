"""Ids for nodes that have no original: none of the graph's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.io.matrices import to_numpy

if TYPE_CHECKING:
    from herald_gpu.io.present import Presenter

NAME = "landmark"


def landmark_ids(
    present: Presenter,
    ids: Any,  # noqa: ANN401 - ids of any type
    classes: np.ndarray,
    *,
    each: int = 1,
) -> np.ndarray:
    """Make ids for the landmarks of every class, first one of each class: the next numbers, or names.

    Parameters
    ----------
    present : Presenter
    ids : array or series
        All ids of the graph, ascending.
    classes : array
        Class values.
    each : int
        Landmarks of a class.

    Examples
    --------
    >>> import numpy as np
    >>> from herald_gpu.io import present
    >>> landmark_ids(present, np.array([0, 1, 7]), np.array(["x", "y"]))
    array([8, 9])
    >>> landmark_ids(present, np.array(["a", "landmark-x"]), np.array(["x"])).tolist()
    ['landmark-x_']
    >>> landmark_ids(present, np.array(["a"]), np.array([5]), each=2).tolist()
    ['landmark-5', 'landmark-5-2']
    """
    count, kind = each * len(classes), getattr(ids.dtype, "kind", "O")
    if kind in "iu":
        last, largest = int(to_numpy(ids[-1:])[0]), int(np.iinfo(ids.dtype).max)
        if last + count <= largest:
            return np.array(range(last + 1, last + 1 + count), dtype=ids.dtype)
        unused = np.setdiff1d(np.arange(len(ids) + count), to_numpy(ids))[:count].astype(np.int64)
        return unused.astype(ids.dtype) if int(unused[-1]) <= largest else unused
    if kind == "f":
        return np.floor(to_numpy(ids[-1:])[0]) + np.arange(1, count + 1, dtype=ids.dtype)
    turns = ["", *(f"-{turn}" for turn in range(2, each + 1))]
    names = [f"{NAME}-{value}{turn}" for turn in turns for value in classes.tolist()]
    while present.any_of(ids, names):
        names = [f"{name}_" for name in names]
    return np.array(names)
