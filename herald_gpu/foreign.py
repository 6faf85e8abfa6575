"""Features that cannot be those a graph was condensed from: their values are of another order of magnitude."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.result import Contents

FEWEST_ROWS = 10
"""Fewer rows are not judged."""
MAGNITUDES = 1.5
"""Orders of magnitude that values of the typical column may be away from those condensed."""
SCALED_MAGNITUDES = 1.0
"""Values of a scaled column are within so many orders of magnitude of 1."""


def doubt_features(backend: Backend, kept: Matrix, contents: Contents) -> str | None:
    """Say why features are not those that were condensed; None if they may be.

    Compared is the root mean square of the non-zero values of every kept column, which does not depend on how many
    zeros there are.

    Parameters
    ----------
    backend : Backend
    kept : matrix
        Kept columns of any nodes, as they are before scaling.
    contents : Contents
        The condensed graph, on the host or where the backend works.
    """
    if int(kept.shape[0]) < FEWEST_ROWS or contents.reduction is not None:
        return None
    real = backend.asarray(contents.features[: int((~contents.is_landmark).sum())])
    center, spread = map(backend.asarray, contents.scaling or (backend.xp.zeros(1), backend.xp.ones(1)))
    if contents.scaling is not None:
        real = (real.toarray() if backend.sparse.issparse(real) else real) * spread + center
    scaled = (center != 0) | (spread != 1)
    given, wanted, marks = ops.fetch(backend, value_sizes(backend, kept), value_sizes(backend, real), scaled)
    seen = (given > 0) & (wanted > 0)
    marked = np.broadcast_to(marks > 0, seen.shape)[seen]
    given, wanted = np.log10(given[seen]), np.log10(wanted[seen])
    far = marked & (np.abs(wanted) > MAGNITUDES)
    if far.any() and (np.abs(given[far]) < SCALED_MAGNITUDES).all():
        return (
            f"feats looks scaled already in {int(far.sum()):,} columns, and the condensed graph scales them once more: "
            "pass the features as they were condensed"
        )
    away = float(np.median(np.abs(given - wanted))) if len(given) else 0.0
    if away <= MAGNITUDES:
        return None
    return (
        f"feats has values unlike those condensed (they differ by a factor of {10**away:,.0f} in the median column): "
        "pass the features as they were condensed, in the same units and not scaled"
    )


def value_sizes(backend: Backend, x: Matrix) -> Array:
    """Root mean square of the non-zero values of every column, in float64; 0 for a column of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> value_sizes(CpuBackend(), np.float32([[3, 0], [0, 0], [-3, 0]]))
    array([3., 0.])
    """
    xp, width = backend.xp, int(x.shape[1])
    if backend.sparse.issparse(x):
        total = ops.tally(backend, x.indices, width, x.data.astype(xp.float64) ** 2)
        count = ops.tally(backend, x.indices, width, (x.data != 0).astype(xp.float64))
    else:
        total, count = xp.zeros(width), xp.zeros(width)
        for squares, filled in ops.for_row_blocks(
            backend, x, lambda _, __, block: ((block**2).sum(axis=0), (block != 0).sum(axis=0))
        ):
            total, count = total + squares, count + filled
    return xp.sqrt(total * ops.inverse(backend, count))
