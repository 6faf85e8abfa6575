"""Rows in few directions, where those hold nearly all of them: neighbours are found there for a fraction of the work.

Embeddings often lie near a sheet of far fewer dimensions than they have numbers. Their largest principal directions
then say who is near whom, and a product costs a tenth. Other rows lose their neighbours that way, however little else
they lose: so that is measured, on drawn rows, before it is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.backend import _tiles
from herald_gpu.backend._tiles import Buffers, Nearest, in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 42
STEP, MOST = 16, 64
"""Directions are a multiple of the one and at most the other."""
SPARE = 16
"""Directions looked for beyond those wanted, so that these are found well."""
SAVING = 4
"""Rows this many times as wide as the directions are worth the trouble."""
DRAWN = 4096
"""Rows in which directions are looked for."""
LOST, STRAY = 0.01, 0.001
"""Largest share of a row's squared length outside of the directions, and the share of rows that may lose more."""
EXTRA = 9
"""Candidates beyond the neighbours wanted, or half of them if that is fewer."""
CHECKED, KEPT = 128, 0.99
"""Rows on which neighbours are compared, and the share of them that must be found again."""


def narrowed(unit: NDArray[np.float32], count: int) -> NDArray[np.float32] | None:
    """Rows in their principal directions if a few have nearly all of them and their nearest rows; else None.

    Parameters
    ----------
    unit : (N, F) float32 array
        Normalised rows, C-ordered.
    count : int
        Candidates that will be kept of each: the nearest of them must be among as many in few directions.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> sheet = generator.normal(size=(500, 5)) @ generator.normal(size=(5, 100))
    >>> unit = (sheet / np.linalg.norm(sheet, axis=1, keepdims=True)).astype(np.float32)
    >>> narrowed(unit, 10).shape
    (500, 16)
    >>> noise = generator.normal(size=(500, 100)).astype(np.float32)
    >>> narrowed(noise, 10) is None
    True
    """
    n, width = unit.shape
    if width < SAVING * STEP:
        return None
    generator = np.random.default_rng(SEED)
    drawn = np.sort(generator.choice(n, min(n, DRAWN), replace=False))
    start = generator.standard_normal((width, min(width, MOST + SPARE)), dtype=np.float32)
    directions = _directions(unit[drawn], start)
    if directions is None:
        return None
    out = np.empty((n, directions.shape[1]), dtype=np.float32)

    def turn(low: int) -> None:
        np.matmul(unit[low : low + _tiles.TILE], directions, out=out[low : low + _tiles.TILE])

    in_threads(turn, range(0, n, _tiles.TILE))
    checked = np.sort(generator.choice(n, min(n, CHECKED), replace=False))
    near, found = _nearest(unit, checked, count - min(EXTRA, count // 2)), _nearest(out, checked, count)
    kept = np.mean([np.isin(one, other).mean() for one, other in zip(near, found, strict=True)])
    return out if kept >= KEPT else None


def _directions(rows: NDArray[np.float32], start: NDArray[np.float32]) -> NDArray[np.float32] | None:
    """As few principal directions as lose little, by one step of subspace iteration; None where they are too many."""
    found: list[NDArray[np.float32]] = []

    def look(_: int) -> None:
        space = np.linalg.qr(rows.T @ (rows @ start))[0]
        parts = (rows @ space).astype(np.float64)
        turn = np.linalg.eigh(parts.T @ parts)[1][:, ::-1]
        length = np.square(rows, dtype=np.float64).sum(axis=1)
        for width in range(STEP, min(MOST, rows.shape[1] // SAVING) + 1, STEP):
            held = np.square(parts @ turn[:, :width]).sum(axis=1)
            if (length - held > LOST * length).mean() <= STRAY:
                found.append(np.ascontiguousarray(space @ turn[:, :width], dtype=np.float32))
                return

    in_threads(look, [0])  # on one thread: the same bits everywhere
    return found[0] if found else None


def _nearest(rows: NDArray[np.float32], asked: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Positions of the rows nearest to some, among all."""
    nearest, buffers, own = Nearest(len(asked), min(count, len(rows) - 1)), Buffers(), rows[asked]

    def meet(low: int) -> None:
        columns = rows[low : low + _tiles.TILE]
        tile = buffers.take("tile", len(asked), len(columns))
        np.matmul(own, columns.T, out=tile)
        nearest.offer_rows(tile, np.arange(len(asked)), asked, np.arange(low, low + len(columns)))

    in_threads(meet, range(0, len(rows), _tiles.TILE))
    return nearest.ids
