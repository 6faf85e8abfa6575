"""What searches of one graph have in common, whatever their budgets are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from herald_gpu.stages import landmarks
from herald_gpu.stages.views import Remembered

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.stages.pool import Pool
    from herald_gpu.stages.views import Through


class Study:
    """Rows of compared and held-out nodes, normal equations, their factors and the order of columns.

    With another budget a search compares more or fewer nodes, the first ones of the same drawn order, but ranks columns
    and learns directions from the same ones. So on a CPU everything here is the same to the last bit, and rows of a
    smaller pool are some of those of a larger one. Let searches follow one another from the largest pool to the
    smallest: a larger one than before is studied anew.

    Attributes
    ----------
    factors : dict
        Of :class:`~herald_gpu.guidance.Guidance`: by number of columns, for every fold and, last, for all nodes.
    """

    def __init__(self) -> None:
        self.factors: dict[int, list[landmarks.Factor]] = {}
        self._known: tuple[Pool, Remembered, landmarks.Lessons, Array] | None = None

    def of(
        self, backend: Backend, through: Through, width: int, pool: Pool, config: HeraldConfig
    ) -> tuple[Remembered, landmarks.Lessons, Array]:
        """Return rows with the best columns first, normal equations as columns were before, and the order of columns.

        Parameters
        ----------
        backend, config
            As everywhere.
        through : callable
            The way to see rows of the nodes of this pool.
        width : int
            Columns to study.
        pool : Pool
            Rows of nodes that are not compared here are dropped: those that an earlier search got are its last.
        """
        if self._known is not None:
            before, seen, lessons, order = self._known
            if all(now <= then for now, then in zip(pool.sizes, before.sizes, strict=True)):
                if pool.sizes != before.sizes:
                    rows = backend.xp.searchsorted(before.compared, pool.compared)
                    seen.keep(rows)
                    lessons = replace(lessons, scales=[scale[rows] for scale in lessons.scales])
                seen.further = through
                self._known = (pool, seen, lessons, order)
                return seen, lessons, order
            self._known = None
            del seen, lessons  # before there are others: they are large
        seen = Remembered(backend, through, width, pool)
        lessons = landmarks.prepare_lessons(backend, seen.compared, pool, config)
        directions = landmarks.learn_directions(backend, landmarks.factorise(backend, lessons))
        order = landmarks.rank_columns(backend, directions)
        seen.reorder(order)
        self._known = (pool, seen, lessons, order)
        return seen, lessons, order
