"""The index behind approximate neighbours on the host: inverted lists (IVF) of FAISS.

FAISS divides rows among lists by k-means and names the lists nearest to each row; a row then meets the rows of these
lists. They meet list by list, so that all rows that ask for a list share one matrix product: FAISS's own search of the
same lists goes row by row, and takes three times as long or more. ``docs/neighbours.md`` has the figures.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.backend import _tiles
from herald_gpu.backend._tiles import Buffers, Nearest, in_threads
from herald_gpu.errors import MissingDependencyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME, DISTRIBUTION = "FAISS IVF", "faiss-cpu"
SEED = 42
LISTS = 2.0
"""Lists, in square roots of the number of rows."""
SAMPLE, ROUNDS = 16, 4
"""Rows drawn for each list and rounds of k-means over them: more made the lists no better, but took longer."""
PROBES = 16
"""Lists that a row meets, its own among them."""


def available() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec("faiss") is not None


def versions() -> dict[str, str]:
    """Name and version of the distribution, where it is installed with pip."""
    try:
        return {DISTRIBUTION: importlib.metadata.version(DISTRIBUTION)}
    except importlib.metadata.PackageNotFoundError:
        return {}


def nearest_positions(unit: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Positions of about the `count` rows nearest to each row, itself not among them; -1 where there are too few.

    The same on any number of threads.

    Parameters
    ----------
    unit : (N, F) float32 array
        Normalised rows, C-ordered.
    count : int
        At most N - 1.
    """
    probed = _nearest_lists(unit)
    n_lists = int(probed.max()) + 1
    members = _grouped(probed[:, 0], n_lists)
    asking = [places // probed.shape[1] for places in _grouped(probed.ravel(), n_lists)]
    nearest, buffers = Nearest(len(unit), count), Buffers()

    def gather(name: str, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return unit.take(rows, axis=0, out=buffers.take(name, len(rows), unit.shape[1]), mode="clip")

    def meet(job: tuple[NDArray[np.int64], NDArray[np.int64]]) -> None:
        rows, ids = job
        tile = buffers.take("tile", len(rows), len(ids))
        np.matmul(gather("rows", rows), gather("columns", ids).T, out=tile)
        nearest.offer_rows(tile, rows, rows, ids)

    in_threads(
        meet,
        [
            (rows[low : low + _tiles.TILE], ids)
            for rows, ids in zip(asking, members, strict=True)
            if len(ids)
            for low in range(0, len(rows), _tiles.TILE)
        ],
    )
    return nearest.ids


def _nearest_lists(unit: NDArray[np.float32]) -> NDArray[np.int64]:
    """Numbers of the lists nearest to each row, its own first."""
    if not available():
        msg = (
            "lid='approximate' needs FAISS, which is not installed: pip install 'herald-gpu[approx]', "
            "or pass lid='exact'"
        )
        raise MissingDependencyError(msg)
    import faiss

    n = len(unit)
    n_lists = min(n, math.ceil(LISTS * math.sqrt(n)))
    drawn = np.sort(np.random.default_rng(SEED).choice(n, min(n, SAMPLE * n_lists), replace=False))
    means = faiss.Kmeans(
        unit.shape[1], n_lists, niter=ROUNDS, seed=SEED, min_points_per_centroid=1, max_points_per_centroid=SAMPLE
    )
    out = np.empty((n, min(PROBES, n_lists)), dtype=np.int64)

    def train(rows: NDArray[np.int64]) -> None:
        means.train(unit[rows])

    def assign(low: int) -> None:
        out[low : low + _tiles.TILE] = means.index.search(unit[low : low + _tiles.TILE], out.shape[1])[1]

    def alone() -> None:
        faiss.omp_set_num_threads(1)  # of the calling thread only

    in_threads(train, [drawn], alone)
    in_threads(assign, range(0, n, _tiles.TILE), alone)
    return out


def _grouped(lists: NDArray[np.int64], n_lists: int) -> list[NDArray[np.int64]]:
    """Places of the entries of each list, ascending."""
    order = np.argsort(lists.astype(np.min_scalar_type(n_lists)), kind="stable")  # few bits are sorted digit by digit
    return np.split(order, np.cumsum(np.bincount(lists, minlength=n_lists))[:-1])
