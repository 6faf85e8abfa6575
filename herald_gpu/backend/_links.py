"""Neighbours of neighbours: what lists of rows have cut apart finds together again.

A row that lies at the border of its list meets few of those beyond it, but its neighbours have met some. One round, as
in NN-descent: each row is compared with the neighbours of its neighbours, and with rows that are near to it or to them
without being near the other way round. ``docs/neighbours.md`` has the figures.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.backend import _tiles
from herald_gpu.backend._tiles import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from herald_gpu.backend._tiles import Nearest

LINKS = 10
"""Nearest of a row that are followed."""
BACK = 8
"""Rows among whose nearest a row is that are followed too."""


class _Notes(threading.local):
    """Which rows a thread has seen last for which row, and room for what it finds."""

    def __init__(self, n_rows: int, n_found: int) -> None:
        self.seen = np.full(n_rows, -1, dtype=np.int32)
        self.found = np.empty(n_found, dtype=np.int32)


def follow(rows: NDArray[np.float32], nearest: Nearest) -> None:
    """Offer each row the neighbours of its neighbours.

    The same on any number of threads: all follow the lists as they were before. Rows that are near to each other
    should be near in memory too, which is several times as fast.

    Parameters
    ----------
    rows : (N, F) float32 array
        C-ordered; similarities are products of rows.
    nearest : Nearest
        What each has met so far; changed in place.

    Examples
    --------
    Rows on a line of which each knows the next one: the one after that is found, and so is the one before.

    >>> import numpy as np
    >>> from herald_gpu.backend._tiles import Nearest
    >>> angle = np.arange(5) / 10
    >>> rows = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    >>> nearest = Nearest(5, 2)
    >>> nearest.ids[:4, 0] = [1, 2, 3, 4]
    >>> nearest.best[:4, 0] = rows[0] @ rows[1]
    >>> follow(rows, nearest)
    >>> nearest.ids.tolist()
    [[1, 2], [0, 2], [1, 3], [2, 4], [3, -1]]
    """
    from herald_gpu.backend import _link_kernels

    links, width = linked(nearest.ids)
    notes = _Notes(len(rows), width * links.shape[1] + links.shape[1] + 3)

    def offer(low: int) -> None:
        high = min(low + _tiles.TILE, len(rows))
        _link_kernels.offer_linked(rows, links, width, low, high, notes.seen, notes.found, nearest.best, nearest.ids)

    in_threads(offer, range(0, len(rows), _tiles.TILE))


def linked(ids: NDArray[np.int64]) -> tuple[NDArray[np.int32], int]:
    """Links of each row: its nearest, then rows that have it among theirs; -1 beyond. And how many are of the first.

    Examples
    --------
    >>> import numpy as np
    >>> links, width = linked(np.array([[1], [0], [0]]))
    >>> links[:, : width + 2].tolist()
    [[1, 2, -1], [0, -1, -1], [0, -1, -1]]
    """
    from herald_gpu.backend import _link_kernels

    width = min(LINKS, ids.shape[1])
    links = np.full((len(ids), width + BACK), -1, dtype=np.int32)
    links[:, :width] = ids[:, :width]
    _link_kernels.add_back(links, width)
    return links, width
