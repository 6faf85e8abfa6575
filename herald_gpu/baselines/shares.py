"""Class shares: how many nodes of each class, and in what order classes take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend


def apportion(sizes: np.ndarray, total: int) -> np.ndarray:
    """Share out `total` places in proportion to class sizes: one for each class, the rest by Sainte-Lague.

    Parameters
    ----------
    sizes : int array
        Training nodes of each class, at least one each; no class gets more places than nodes.
    total : int
        At least the number of classes.

    Examples
    --------
    >>> import numpy as np
    >>> apportion(np.array([60, 30, 10]), 10)
    array([6, 3, 1])
    >>> apportion(np.array([98, 1, 1]), 5)
    array([3, 1, 1])
    """
    further = np.concatenate([np.arange(1, size) for size in sizes])
    classes = np.repeat(np.arange(len(sizes)), sizes - 1)
    turns = ops.turns(np, further, sizes[classes])
    first = np.argsort(turns, kind="stable")[: total - len(sizes)]
    return 1 + np.bincount(classes[first], minlength=len(sizes))


def take_turns(backend: Backend, by_class: list[Array], sizes: list[int]) -> Array:
    """Merge one ranking per class into one: every prefix is as close to the class shares as can be.

    The i-th node of a class of n has its turn at (i + 1/2) / n (Sainte-Lague); ties go to the lower class.

    Parameters
    ----------
    backend : Backend
    by_class : list of int arrays
        Nodes of each class, best first; a ranking may stop short of the class.
    sizes : list of int
        Nodes of each class.
    """
    xp = backend.xp
    turns = [
        ops.turns(xp, xp.arange(nodes.shape[0], dtype=xp.float64), size)
        for nodes, size in zip(by_class, sizes, strict=True)
    ]
    order = xp.argsort(xp.concatenate(turns), kind="stable")
    return xp.concatenate(by_class)[order]
