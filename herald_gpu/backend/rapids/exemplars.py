"""Greedy orders of exemplars, one thread block a class and fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cupy as cp
import numpy as np

from herald_gpu.backend.rapids import kernels

if TYPE_CHECKING:
    from herald_gpu.backend import Array

_kernel = cp.RawKernel(kernels.PLACE_EXEMPLARS, "place_exemplars", options=kernels.OPTIONS)


def exemplar_places(similarity: Array, sizes: list[int], free: Array, *, herd: bool, most: int) -> Array:
    """See :class:`~herald_gpu.backend.Backend`."""
    n_folds, n_all = free.shape
    widths = np.asarray(sizes, dtype=np.int64)
    starts, offsets = (np.concatenate([[0], np.cumsum(part)]).astype(np.int64) for part in (widths, widths**2))
    places = cp.full((n_folds, n_all), -1, dtype=cp.int32)
    covered, gain, known = (cp.empty((n_folds, n_all), dtype=cp.int64) for _ in range(3))
    given = (
        similarity, cp.asarray(starts), cp.asarray(offsets), np.int32(len(sizes)), np.int64(n_all),
        cp.ascontiguousarray(free), np.int32(herd), np.int64(most),
    )  # fmt: skip
    _kernel((n_folds * len(sizes),), (kernels.THREADS,), (*given, covered, gain, known, places))
    return places
