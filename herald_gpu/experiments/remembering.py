"""The CPU backend of the experiments: a tree that several methods grow on the same rows is grown once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.backend.cpu import CpuBackend

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

KEPT = 8
"""Trees that are remembered."""


class RememberingBackend(CpuBackend):
    """The CPU backend with a memory for decision trees, told apart by their rows, classes and constants.

    Examples
    --------
    >>> import numpy as np
    >>> backend = RememberingBackend()
    >>> x, codes = np.float32([[0, 1], [1, 1], [0, 1]]), np.array([0, 1, 0])
    >>> [backend.tree_features(x, codes, max_depth=3, seed=0).tolist() for _ in range(2)], backend.grown
    ([[0], [0]], 1)
    """

    def __init__(self) -> None:
        super().__init__()
        self._trees: dict[str, Array] = {}
        self.grown = 0

    def tree_features(self, x: Matrix, codes: Array, *, max_depth: int, seed: int, on_host: bool = False) -> Array:
        """See :class:`~herald_gpu.backend.Backend`."""
        key = _mark(x, codes, max_depth, seed)
        if key not in self._trees:
            found = super().tree_features(x, codes, max_depth=max_depth, seed=seed, on_host=on_host)
            self.grown += 1
            self._trees[key] = found
            while len(self._trees) > KEPT:
                del self._trees[next(iter(self._trees))]
        return self._trees[key].copy()


def _mark(x: Matrix, codes: Array, *constants: int) -> str:
    parts = (x.data, x.indices, x.indptr) if hasattr(x, "indptr") else (x,)
    made = hashlib.blake2b(repr((x.shape, constants)).encode())
    for part in (*parts, codes):
        made.update(np.ascontiguousarray(part).view(np.uint8).data)
    return made.hexdigest()
