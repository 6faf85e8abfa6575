"""Tiles of similarities on the host: each thread makes whole tiles by itself and offers them to the lists of rows."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from herald_gpu.backend import _threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from herald_gpu.backend import Array

TILE = 1024
"""Rows and columns of one tile of similarities: 4 MB of float32."""

Job = TypeVar("Job")


def in_threads(work: Callable[[Job], None], jobs: Iterable[Job], start: Callable[[], None] | None = None) -> None:
    """Do jobs on as many threads as numba has, each multiplying matrices alone.

    Threads of BLAS that wait for work keep the cores busy, and so do those of a parallel kernel: taking turns, each
    slows the other. Here neither has any. And a product that one thread makes has the same bits on any machine's
    number of threads.
    """
    from numba import get_num_threads

    with _threads.alone(), ThreadPoolExecutor(get_num_threads(), initializer=start) as pool:
        for _ in pool.map(work, jobs):
            pass


class Buffers(threading.local):
    """Memory for one tile and one block of rows of each thread, used again for the next."""

    def __init__(self) -> None:
        self._held: dict[str, Array] = {}

    def take(self, name: str, n_rows: int, n_columns: int) -> Array:
        """Give a C-ordered float32 array with anything in it."""
        size = n_rows * n_columns
        if name not in self._held or self._held[name].size < size:
            self._held[name] = np.empty(size, dtype=np.float32)
        return self._held[name][:size].reshape(n_rows, n_columns)


class Nearest:
    """The most similar rows met so far, for each of many rows: of equal ones those with the lowest ids.

    Parameters
    ----------
    n_rows, count : int
        Rows, and how many each keeps.
    stretch : int, optional
        Rows that only one thread offers anything to at a time: TILE unless told.

    Attributes
    ----------
    ids : (N, count) int64 array
        Most similar first; -1 where nothing was offered yet.
    best : (N, count) float32 array
        Their similarities; minus infinity where nothing was offered yet.
    """

    def __init__(self, n_rows: int, count: int, stretch: int | None = None) -> None:
        self.ids = np.full((n_rows, count), -1, dtype=np.int64)
        self.best = np.full((n_rows, count), -np.inf, dtype=np.float32)
        self._stretch = stretch or TILE
        self._locks = [threading.Lock() for _ in range(0, n_rows, self._stretch)]

    def offer_tile(self, tile: Array, low: int, left: int) -> None:
        """Offer similarities of rows from `low` on with rows from `left` on, both multiples of TILE, to both.

        Stretches must be of TILE rows.
        """
        from herald_gpu.backend import _kernels

        with ExitStack() as held:
            for block in sorted({low // TILE, left // TILE}):  # in one order everywhere: no two threads wait in a ring
                held.enter_context(self._locks[block])
            _kernels.offer_tile(tile, low, left, self.best, self.ids)

    def offer_rows(self, tile: Array, places: Array, banned: Array, column_ids: Array) -> None:
        """Offer similarities to ascending places; `banned` is the one id that each must not find, or -1."""
        from herald_gpu.backend import _kernels

        cuts = np.searchsorted(places, np.arange(0, len(self.ids) + self._stretch, self._stretch))
        for block in np.flatnonzero(np.diff(cuts)).tolist():
            part = slice(cuts[block], cuts[block + 1])
            with self._locks[block]:
                _kernels.offer_rows(tile[part], places[part], banned[part], column_ids, self.best, self.ids)
