"""The index behind approximate neighbours on the host: inverted lists (IVF) of FAISS.

FAISS divides rows among lists by k-means and names the lists nearest to each row; a row then meets the rows of these
lists. They meet list by list, so that all rows that ask for a list share one matrix product: FAISS's own search of the
same lists goes row by row, and takes three times as long or more. Rows that few directions hold meet in these
(`_narrow`), and what lists have missed is looked for among neighbours of neighbours (`_links`).
``docs/neighbours.md`` has the figures.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.backend import _links, _narrow, _tiles
from herald_gpu.backend._tiles import Buffers, Nearest, in_threads
from herald_gpu.errors import MissingDependencyError
from herald_gpu.install import pip_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME, DISTRIBUTION = "FAISS IVF", "faiss-cpu"
SEED = 42
LISTS = 2.0
"""Lists, in square roots of the number of rows."""
NARROW_LISTS = 1.0
"""The same, of rows in few directions: a product costs little there, and longer lists miss less."""
SAMPLE, ROUNDS = 16, 4
"""Rows drawn for each list and rounds of k-means over them: more made the lists no better, but took longer."""
PROBES = 14
"""Lists that a row meets, its own among them."""
STRETCHES = 8
"""Parts of all rows for each thread, of which one thread at a time changes the lists."""


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
    if not available():
        msg = f"lid='approximate' needs FAISS, which is not installed: {pip_line('approx')}, or pass lid='exact'"
        raise MissingDependencyError(msg)
    narrow = _narrow.narrowed(unit, count)
    rows, lists = (unit, LISTS) if narrow is None else (narrow, NARROW_LISTS)
    probed = _nearest_lists(rows, lists)
    order = _in_digits(probed[:, 0])
    rows, probed = rows[order], probed[order]  # rows of a list side by side: who is near is near in memory
    nearest = Nearest(len(rows), count, _stretch(len(rows)))
    _meet(rows, probed[:, 0], probed[:, :1], nearest)  # first, so that little of what comes later enters a list
    _meet(rows, probed[:, 0], probed[:, 1:], nearest)
    _links.follow(rows, nearest)
    out = np.empty_like(nearest.ids)
    out[order] = np.where(nearest.ids >= 0, order[nearest.ids], -1)
    return out


def _stretch(n_rows: int) -> int:
    """Rows of a stretch: each is locked once for a tile, so that there are no more than threads seldom meet at."""
    from numba import get_num_threads

    return max(_tiles.TILE, math.ceil(n_rows / (STRETCHES * get_num_threads())))


def _meet(rows: NDArray[np.float32], own: NDArray[np.int64], asked: NDArray[np.int64], nearest: Nearest) -> None:
    """Let each row meet the rows of the lists that it asks for; `own` are the lists of rows, ascending."""
    if not asked.size:
        return
    buffers, n_lists = Buffers(), int(max(own[-1], asked.max())) + 1
    members = np.searchsorted(own, np.arange(n_lists + 1))
    order = _in_digits(asked.ravel())
    askers = np.searchsorted(asked.ravel()[order], np.arange(n_lists + 1))
    order //= asked.shape[1]

    def meet(job: tuple[int, int]) -> None:
        number, low = job
        first, end = members[number], members[number + 1]
        places = order[low : min(low + _tiles.TILE, askers[number + 1])]
        tile = buffers.take("tile", len(places), end - first)
        asking = rows.take(places, axis=0, out=buffers.take("rows", len(places), rows.shape[1]), mode="clip")
        np.matmul(asking, rows[first:end].T, out=tile)
        nearest.offer_rows(tile, places, places, np.arange(first, end))

    filled = np.flatnonzero(np.diff(members)).tolist()
    in_threads(meet, [(one, low) for one in filled for low in range(askers[one], askers[one + 1], _tiles.TILE)])


def _nearest_lists(unit: NDArray[np.float32], lists: float) -> NDArray[np.int64]:
    """Numbers of the lists nearest to each row, its own first; `lists` in square roots of the number of rows."""
    import faiss

    n = len(unit)
    n_lists = min(n, math.ceil(lists * math.sqrt(n)))
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


def _in_digits(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order of ascending numbers, equal ones as they are: those of few bits are sorted digit by digit."""
    return np.argsort(numbers.astype(np.min_scalar_type(int(numbers.max()))), kind="stable")
