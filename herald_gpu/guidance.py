"""Landmarks in the making: how many features they may have, what they hold in every fold, and what they take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Literal, NoReturn

from herald_gpu import encoding, ops, threads
from herald_gpu.budget import graph_bytes, row_sizes, smallest_ratio
from herald_gpu.errors import BudgetError
from herald_gpu.ratios import at_least
from herald_gpu.stages import landmarks
from herald_gpu.stages.exemplars import RULES, stand_in
from herald_gpu.stages.feature_grid import FEWEST, tried_counts
from herald_gpu.stages.links import join_landmarks

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget
    from herald_gpu.config import HeraldConfig
    from herald_gpu.encoding import Encoding
    from herald_gpu.graph import Graph
    from herald_gpu.stages.pool import Pool
    from herald_gpu.stages.views import Rows

LANDMARKS: Literal["landmarks"] = "landmarks"
"""The rule by which landmarks carry what is to be learnt, beside one exemplar a class."""
MOST_BESIDE = 0.5
"""Share of the budget that landmarks beside as many exemplars as fit may take."""


@dataclass(frozen=True)
class GuidedDraft:
    """A condensed graph in the making, of landmarks and one exemplar a class with its features."""

    nodes: Array
    rows: Array
    landmarks: Array


class Guidance:
    """Makes landmarks of the best columns.

    Parameters
    ----------
    backend, graph, budget, config
        As everywhere.
    pool : Pool
    rows : Rows
        Of compared nodes, the best columns first.
    lessons : Lessons
        Of all nodes, in the order of columns before they were ranked.
    order : int array
        Columns of the lessons, the best first.
    factors : dict, optional
        Factors that an earlier one found on the same lessons, by number of columns; those found here are added.
    """

    def __init__(
        self,
        backend: Backend,
        graph: Graph,
        pool: Pool,
        rows: Rows,
        lessons: landmarks.Lessons,
        budget: Budget,
        config: HeraldConfig,
        *,
        order: Array,
        factors: dict[int, list[landmarks.Factor]] | None = None,
    ) -> None:
        self.backend, self.graph, self.pool, self.budget, self.config = backend, graph, pool, budget, config
        self.rows, self.lessons, self.order = rows, lessons, order
        self._width, self._factors, self._shared = 0, list[landmarks.Factor](), factors
        self._lengths: dict[int, Array] = {}

    def beside(self, width: int) -> list[Array]:
        """Make the landmarks of every fold and, last, those of all nodes."""
        folds = (*range(self.pool.n_folds), -1)
        return [landmarks.make_landmarks(self.backend, self._directions(width, fold)) for fold in folds]

    def draft(self, width: int, fold: int) -> GuidedDraft:
        """Learn the directions of a fold; the node of each class that points the same way goes with its landmarks."""
        xp, pool = self.backend.xp, self.pool
        directions = self._directions(width, fold)
        codes = xp.where(pool.free[fold][pool.compared], pool.codes[pool.compared], -1)
        own = self.rows.own[:, :width]
        chosen = stand_in(self.backend, own, self._length(width), codes, directions)
        nodes = self.graph.seen(pool.members[pool.compared[chosen]])
        order = xp.argsort(nodes)
        return GuidedDraft(nodes[order], own[chosen[order]], landmarks.make_landmarks(self.backend, directions))

    def _length(self, width: int) -> Array:
        """Lengths of own rows in the first columns: folds have them in common."""
        if width not in self._lengths:
            self._lengths[width] = landmarks.row_lengths(self.backend, self.rows.own[:, :width])
        return self._lengths[width]

    def _directions(self, width: int, fold: int) -> Array:
        if width > self._width:
            self._factors = []  # before there are others: they are large
            self._width, self._factors = width, self._factorised(width)
        return landmarks.learn_directions(self.backend, self._factors[fold], width)

    def _factorised(self, width: int) -> list[landmarks.Factor]:
        """For every fold and, last, for all nodes."""
        if self._shared is not None and width in self._shared:
            return self._shared[width]
        best = landmarks.reorder(self.lessons, self.order[:width])
        folds = landmarks.hold_out(self.backend, best, self.rows, self.pool, self.config)
        found = list(threads.spread(self.backend, partial(landmarks.factorise, self.backend), chain(folds, [best])))
        if self._shared is not None:
            self._shared[width] = found
        return found

    def cheapest(self, draft: GuidedDraft) -> tuple[Encoding, int]:
        """Find the encoding in which exemplars take the fewest bytes, and the bytes of the whole condensed graph."""
        sizes = row_sizes(self.backend, draft.rows)
        stored, largest = ops.fetch(self.backend, sizes.stored, sizes.largest)
        options = encoding.holding(encoding.candidates(self.budget.kind, self.config.stored_as), float(largest))
        n_landmarks = int(draft.landmarks.shape[0])
        joined = join_landmarks(self.backend, self.graph, draft.nodes, n_landmarks, self.config)
        edges = graph_bytes(self.budget.kind, 0, int(joined.adjacency.nnz))
        own = landmarks.landmark_bytes(self.graph.n_classes, sizes.width) + self.budget.column_bytes * sizes.width
        prices = [coded.bytes_of_rows(stored, sizes.width).sum() + coded.table_bytes(sizes.width) for coded in options]
        return options[prices.index(min(prices))], int(min(prices) + own) + edges

    def refuse(self, width: int) -> NoReturn:
        """Say what ratio landmarks of so many features would take."""
        _, total = self.cheapest(self.draft(width, -1))
        smallest = smallest_ratio(self.budget, total)
        msg = (
            f"ratio={self.budget.ratio} allows {self.budget.limit:.0f} bytes, but landmarks of {width} features and an "
            f"exemplar of each of the {self.graph.n_classes} classes take {total}: pass "
            + (f"{at_least(smallest)} or more, or another exemplar_rule" if smallest <= 1 else "another exemplar_rule")
        )
        raise BudgetError(msg, smallest_ratio=smallest)


def most_columns(learnt: int, n_classes: int, limit: float, wanted: int | None, column_bytes: int = 0) -> int:
    """Half of the features, or as many as are wanted, as far as landmarks of them fit where nothing else is."""
    eights = (limit - landmarks.landmark_bytes(n_classes, 0)) // bytes_of_eight(n_classes, column_bytes)
    return min(wanted or max(FEWEST, learnt // 2), learnt, 8 * max(0, int(eights)))


def bytes_of_eight(n_classes: int, column_bytes: int) -> int:
    """Bytes that eight more features of all landmarks take, with what is stored once for each feature."""
    return landmarks.PER_CLASS * n_classes + encoding.BITS * column_bytes


def counts_beside(n_features: int, learnt: int, n_classes: int, limit: float, config: HeraldConfig) -> list[int]:
    """Give the numbers of features, falling, with which landmarks leave enough of the budget to exemplars."""
    if not any(config.exemplar_rule in ("auto", rule) for rule in RULES):
        return []
    return [
        count
        for count in tried_counts(n_features, config)
        if count <= learnt and bytes_beside(count, n_classes, config) <= MOST_BESIDE * limit
    ]


def n_links(n_classes: int, config: HeraldConfig) -> int:
    """Directed edges between landmarks."""
    return 2 * n_classes if config.edges == "auto" else 0


def bytes_beside(width: int, n_classes: int, config: HeraldConfig) -> float:
    """Bytes of landmarks with so many features, and of the edges between them."""
    return landmarks.landmark_bytes(n_classes, width) + graph_bytes("dense", 0, n_links(n_classes, config))


def with_landmarks(backend: Backend, rows: Matrix, marks: Array | None) -> Matrix:
    """Put landmarks below the rows of chosen nodes."""
    if marks is None:
        return rows
    if not backend.sparse.issparse(rows):
        return backend.xp.concatenate([rows, marks])
    below = ops.to_csr(backend, marks)
    return backend.sparse.vstack([rows, below], format="csr")


def landmark_codes(backend: Backend, codes: Array, marks: Array | None, n_classes: int) -> Array:
    """Put the landmarks' classes behind those of chosen nodes: all classes in turn, as often as there are landmarks."""
    if marks is None:
        return codes
    xp = backend.xp
    return xp.concatenate([codes, (xp.arange(int(marks.shape[0])) % n_classes).astype(codes.dtype)])
