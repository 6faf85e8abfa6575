"""K-means on the backend: k-means++ seeds drawn on the host, then Lloyd's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    import numpy as np

    from herald_gpu.backend import Array, Backend


def kmeans(backend: Backend, x: Array, k: int, *, rng: np.random.Generator, max_iter: int = 100) -> Array:
    """Cluster of every row, 0 to k - 1; some clusters may be empty where rows repeat.

    Parameters
    ----------
    backend : Backend
    x : (n, d) float64 array
    k : int
        Clusters; with k >= n every row is its own.
    rng : numpy.random.Generator
        Draws the seeds.
    max_iter : int
        Lloyd steps at most; they end when no row changes its cluster.
    """
    xp, n = backend.xp, int(x.shape[0])
    if k >= n:
        return xp.arange(n, dtype=xp.int64)
    centres = _seeds(backend, x, k, backend.asarray(rng.random(k)))
    own = nearest_centres(backend, x, centres)
    for _ in range(max_iter):
        means, counts = cluster_means(backend, x, own, k)
        centres = xp.where((counts > 0)[:, None], means, centres)  # an empty cluster keeps its centre
        moved = nearest_centres(backend, x, centres)
        if bool((moved == own).all()):
            break
        own = moved
    return own


def cluster_means(backend: Backend, x: Array, own: Array, k: int) -> tuple[Array, Array]:
    """Mean row and size of every cluster; zeros for an empty one."""
    counts = ops.class_counts(backend, own, k).astype(backend.xp.float64)
    sums = ops.class_indicator(backend, own, k) @ x
    return sums * ops.inverse(backend, counts)[:, None], counts


def nearest_centres(backend: Backend, x: Array, centres: Array) -> Array:
    """Position of the centre nearest to each row; ties go to the first."""
    xp = backend.xp
    distance = (centres**2).sum(axis=1)[None, :] - 2 * (x @ centres.T)
    return xp.argmin(xp.round(distance, ops.SCORE_DECIMALS), axis=1)


def _seeds(backend: Backend, x: Array, k: int, draws: Array) -> Array:
    """k-means++: each seed is drawn with the squared distance to those before it for a weight."""
    xp, n = backend.xp, int(x.shape[0])
    weight = xp.ones(n, dtype=xp.float64)
    centres = xp.zeros((k, x.shape[1]), dtype=xp.float64)
    for place in range(k):
        rising = xp.cumsum(weight)
        drawn = xp.searchsorted(rising, draws[place : place + 1] * rising[-1], side="right")
        drawn = xp.minimum(drawn, n - 1)
        centres[place : place + 1] = x[drawn]
        distance = ((x - x[drawn]) ** 2).sum(axis=1)
        weight = distance if place == 0 else xp.minimum(weight, distance)
    return centres
