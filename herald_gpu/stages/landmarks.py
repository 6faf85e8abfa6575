"""Landmarks: one synthetic node a class, its mean after no, one and two hops, cut to its largest entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.encoding import Encoding

HOPS_ADDED = 3
"""Centres add up three hops; a landmark is their mean."""
FEWEST_ENTRIES, MOST_ENTRIES = 8, 100


def make_landmarks(
    backend: Backend, centres: Array, coded: Encoding, limit: float, mean_stored: float, config: HeraldConfig
) -> Array | None:
    """Make a landmark of every class; None where they would take too much of the budget.

    Parameters
    ----------
    backend : Backend
    centres : (classes, k) float64 array
        Mean of x + Px + P^2 x over each class.
    coded : Encoding
        How features are stored.
    limit : float
        Bytes that there are.
    mean_stored : float
        Mean non-zeros of a node.
    config : HeraldConfig
    """
    xp, (n_classes, width) = backend.xp, centres.shape
    share = config.landmark_share * limit
    if coded.layout == "sparse":
        each = float(coded.bytes_of_rows(1.0, width))
        entries = min(max(int(share / (each * n_classes)), FEWEST_ENTRIES), MOST_ENTRIES)
    else:
        entries = max(FEWEST_ENTRIES, round(mean_stored))
    entries = min(entries, width)
    if n_classes * float(coded.bytes_of_rows(float(entries), width)) > share:
        return None
    size = xp.round(xp.abs(centres), ops.SCORE_DECIMALS)
    best = xp.argsort(-size, axis=1, kind="stable")[:, :entries]
    rows = xp.arange(n_classes, dtype=xp.int64)[:, None]
    landmarks = xp.zeros((n_classes, width), dtype=xp.float32)
    values = centres[rows, best]
    landmarks[rows, best] = (values > 0) if coded.values == "bits" else values / HOPS_ADDED
    return landmarks
