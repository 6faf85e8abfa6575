"""What exemplars, landmarks and trials see of a graph: its features after no, one and two hops, columns best first."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from herald_gpu import ops, threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.graph import Graph
    from herald_gpu.stages.pool import Pool

HOPS = 2
SIGHTS = 5
"""What is seen of a compared node: rows of X, P X, P^2 X, M^2 X and (A + I)^2 X (see :class:`Rows`)."""
STEPS = 4096
"""Similarities are whole numbers of this fraction: sums of them are exact, and the same on every machine."""
GRAM_ROWS = 128
"""Rows of a table that products are added to at a time: they stay in a processor's cache in between."""
TABLE_BLOCK = 2**18
"""Similarities put together at a time, at least a row of them."""


@dataclass(frozen=True)
class Rows:
    """Rows of some nodes in the whole graph, with D the degrees, P = D^-1 A and M = (D + I)^-1 (A + I).

    Attributes
    ----------
    own, around, mean, total : (m, k) float32 arrays
        Rows of X, P X, M^2 X and (A + I)^2 X.
    """

    own: Array
    around: Array
    mean: Array
    total: Array

    def first(self, width: int) -> Rows:
        """Give the first columns of them."""
        return Rows(*(part[:, :width] for part in vars(self).values()))


@dataclass(frozen=True)
class View:
    """A graph seen through its best features.

    Attributes
    ----------
    count : int
        How many.
    similarity : int16 array
        For each class the similarities of its compared nodes with one another, row by row: cosines of x, Px and
        P^2 x, added up.
    held : Rows
        Of held-out nodes.
    """

    count: int
    similarity: Array
    held: Rows


Through = Callable[[int, int, Rows], "list[Array]"]
"""First column, last one, and where to note rows of held-out nodes in; rows of compared nodes out, of every kind."""


def open_views(backend: Backend, graph: Graph, ranked: Matrix, counts: list[int], pool: Pool) -> Iterator[View]:
    """See a graph through more and more of its features.

    Columns pass by once, in blocks; similarities add up over them, so that all views cost as much as the widest.

    Parameters
    ----------
    backend, graph
        As everywhere.
    ranked : (N, F) matrix of float32
        Features, the best column first.
    counts : list of int
        Features of each view, rising.
    pool : Pool
    """
    yield from views_through(backend, walk_along(backend, graph, ranked, pool), counts, pool)


def walk_along(backend: Backend, graph: Graph, ranked: Matrix, pool: Pool) -> Through:
    """Give the way to see rows of compared and held-out nodes: along the edges of a whole graph."""
    walk = _Walk(backend, graph.adjacency, pool)

    def through(low: int, high: int, held: Rows) -> list[Array]:
        return walk.through(ranked, low, high, held)

    return through


class Remembered:
    """Rows of the first columns, seen once; those of further ones are walked to when they are asked for.

    Parameters
    ----------
    backend : Backend
    through : callable
        The way to see them.
    width : int
        Columns to remember.
    pool : Pool
    """

    def __init__(self, backend: Backend, through: Through, width: int, pool: Pool) -> None:
        self._backend = backend
        self.further: Through | None = through
        self.width = width
        self.held = _blank(backend, int(pool.held.shape[0]), width)
        self.sights = through(0, width, self.held)

    @property
    def compared(self) -> Rows:
        """Rows of compared nodes."""
        own, around, _, mean, total = self.sights
        return Rows(own, around, mean, total)

    def reorder(self, order: Array) -> None:
        """Put the columns that are remembered in another order."""

        def put(rows: Array) -> Array:
            return self._backend.linalg.reorder_columns(rows, order)

        for place, rows in enumerate(threads.spread(self._backend, put, self.sights)):
            self.sights[place] = rows
        self.held = Rows(*threads.spread(self._backend, put, vars(self.held).values()))

    def keep(self, rows: Array) -> None:
        """Drop all compared nodes but some, one kind of rows after the other: both at once would be large."""
        for place in range(len(self.sights)):
            self.sights[place] = self.sights[place][rows]

    def along(self, further: Through | None) -> Remembered:
        """Give the same with another way to further columns; or with none, so that nothing is kept for its sake."""
        found = copy(self)
        found.further = further
        return found

    def through(self, low: int, high: int, held: Rows) -> list[Array]:
        """See rows once more, or for the first time."""
        known = max(low, min(high, self.width))
        for part, rows in zip(vars(held).values(), vars(self.held).values(), strict=True):
            part[:, low:known] = rows[:, low:known]
        seen = [rows[:, low:known] for rows in self.sights]
        if known == high or self.further is None:
            return seen
        new = self.further(known, high, held)
        join = self._backend.xp.concatenate
        return [join(parts, axis=1) for parts in zip(seen, new, strict=True)] if low < known else new


def views_through(backend: Backend, through: Through, counts: list[int], pool: Pool, known: int = 0) -> Iterator[View]:
    """Put views together from the rows of compared and held-out nodes (finish), wherever these were walked to.

    Parameters
    ----------
    backend, counts, pool
        As of :func:`open_views`.
    through : callable
        The way to see them.
    known : int
        Columns that are there already, and need not be brought in parts.
    """
    xp, compared = backend.xp, int(pool.compared.shape[0])
    held = _blank(backend, int(pool.held.shape[0]), counts[-1])
    products = [xp.zeros((HOPS + 1, size, size), dtype=xp.float32) for size in pool.sizes]
    low = 0
    for count in counts:
        for first, last in _column_blocks(low, count, known, compared):
            _add_products(backend, products, through(first, last, held)[: HOPS + 1], pool.sizes)
        low = count
        yield View(count, _similarities(backend, products), held.first(count))


def _column_blocks(low: int, high: int, known: int, n_rows: int) -> Iterator[tuple[int, int]]:
    """Cut columns into those that are known, and blocks of the others."""
    if low < min(high, known):
        yield low, min(high, known)
    start = max(low, known)
    for first, last in ops.blocks(high - start, n_rows):
        yield start + first, start + last


def _blank(backend: Backend, n_rows: int, width: int) -> Rows:
    return Rows(*(backend.xp.zeros((n_rows, width), dtype=backend.xp.float32) for _ in range(4)))


def _add_products(backend: Backend, products: list[Array], hops: list[Array], sizes: list[int]) -> None:
    """Add the products of the rows of every class with one another, for every hop, up to the diagonal.

    A library works out one half of such a product, too, but then copies it to the other half, against the order of
    memory: for rows of a hundred values that takes longer than the product.
    """
    starts = [sum(sizes[:code]) for code in range(len(sizes))]

    def add(place: tuple[int, int]) -> None:
        code, hop = place
        rows = backend.xp.ascontiguousarray(hops[hop][starts[code] : starts[code] + sizes[code]])
        for low in range(0, sizes[code], GRAM_ROWS):
            high = min(sizes[code], low + GRAM_ROWS)
            backend.linalg.add_product(products[code][hop, low:high, :high], rows[low:high], rows[:high])

    for _ in threads.spread(backend, add, product(range(len(sizes)), range(len(hops)))):
        pass


class Legs:
    """The last step to compared and held-out nodes, from what their neighbours have (partial).

    Parameters
    ----------
    backend : Backend
    of_nodes, of_held : CSR matrices
        Neighbours of compared and of held-out nodes among m nodes.
    degree : (m,) float32 array
        Degrees of these in the whole graph.
    nodes, held : int arrays
        Where compared and held-out nodes stand among them.
    """

    def __init__(
        self, backend: Backend, of_nodes: Matrix, of_held: Matrix, degree: Array, nodes: Array, held: Array
    ) -> None:
        self.xp, self.multiply = backend.xp, backend.linalg.multiply
        xp = backend.xp
        inverse = ops.inverse(backend, degree).astype(xp.float32)
        shrink = (1.0 / (degree + 1.0)).astype(xp.float32)
        self.nodes, self.held = nodes, held
        self.inverse_nodes, self.inverse_held = inverse[nodes][:, None], inverse[held][:, None]
        self.shrink_nodes, self.shrink_held = shrink[nodes][:, None], shrink[held][:, None]
        # Averages of averages: the inner division is by the degree of the neighbour.
        self.around_nodes, self.around_held = of_nodes, of_held
        self.mixed_nodes, self.mixed_held = (ops.scaled_columns(backend, part, shrink) for part in (of_nodes, of_held))
        self.far_nodes = ops.scaled_columns(backend, of_nodes, inverse)

    def take(self, x: Array, total: Array, sights: list[Array], held: Rows, here: slice, columns: slice) -> None:
        """Note rows, from features of the m nodes and the sums of their neighbours' (which are changed)."""
        xp = self.xp
        sights[0][:, here] = x[self.nodes]
        xp.multiply(total[self.nodes], self.inverse_nodes, out=sights[1][:, here])
        xp.multiply(self.multiply(self.far_nodes, total), self.inverse_nodes, out=sights[2][:, here])
        held.own[:, columns] = x[self.held]
        xp.multiply(total[self.held], self.inverse_held, out=held.around[:, columns])
        total += x
        for nodes, mixed, around, shrink, mean, sums in (
            (
                self.nodes,
                self.mixed_nodes,
                self.around_nodes,
                self.shrink_nodes,
                sights[3][:, here],
                sights[4][:, here],
            ),
            (
                self.held,
                self.mixed_held,
                self.around_held,
                self.shrink_held,
                held.mean[:, columns],
                held.total[:, columns],
            ),
        ):
            near = total[nodes]
            xp.add(self.multiply(around, total), near, out=sums)
            near *= shrink
            near += self.multiply(mixed, total)
            xp.multiply(near, shrink, out=mean)


class _Walk:
    """Steps along the edges of a whole graph, and the rows that are wanted after them."""

    def __init__(self, backend: Backend, adjacency: Matrix, pool: Pool) -> None:
        self.backend, self.adjacency = backend, adjacency
        degree = ops.degrees(backend, adjacency).astype(backend.xp.float32)
        nodes = pool.members[pool.compared]
        self.legs = Legs(backend, adjacency[nodes], adjacency[pool.held], degree, nodes, pool.held)

    def through(self, ranked: Matrix, low: int, high: int, held: Rows) -> list[Array]:
        """Give rows of compared nodes, of every kind that is seen, and note those of held-out nodes."""
        xp = self.backend.xp
        shape = (int(self.legs.nodes.shape[0]), high - low)
        sights = [xp.empty(shape, dtype=xp.float32) for _ in range(SIGHTS)]

        def step(span: tuple[int, int]) -> None:
            first, last = span
            columns = slice(low + first, low + last)
            x = _dense(self.backend, ranked, columns)
            total = self.backend.linalg.multiply(self.adjacency, x)
            self.legs.take(x, total, sights, held, slice(first, last), columns)

        for _ in threads.spread(self.backend, step, ops.column_spans(self.backend, int(ranked.shape[0]), high - low)):
            pass
        return sights


def _dense(backend: Backend, ranked: Matrix, columns: slice) -> Array:
    part = ranked[:, columns]
    return part.toarray() if backend.sparse.issparse(ranked) else backend.xp.ascontiguousarray(part)


def _similarities(backend: Backend, products: list[Array]) -> Array:
    """Cosines of all hops added up and rounded, class by class; a row of zeros has cosines of 0."""
    xp = backend.xp
    sizes = [int(tables.shape[1]) for tables in products]
    flat = xp.empty(sum(size**2 for size in sizes), dtype=xp.int16)
    starts = [sum(size**2 for size in sizes[:code]) for code in range(len(sizes))]
    squares = [xp.diagonal(tables, axis1=1, axis2=2) for tables in products]
    factors = [xp.sqrt(STEPS * ops.inverse(backend, each)).astype(xp.float32) for each in squares]
    tables = [flat[start : start + size**2].reshape(size, size) for start, size in zip(starts, sizes, strict=True)]

    def put(place: tuple[int, int, int]) -> None:
        code, low, high = place
        backend.linalg.cosine_sums(products[code], factors[code], tables[code], low, high)

    for _ in threads.spread(backend, put, _row_blocks(sizes)):
        pass
    return flat


def _row_blocks(sizes: list[int]) -> Iterator[tuple[int, int, int]]:
    """Cut the rows of all tables: (table, first row, last one)."""
    for code, size in enumerate(sizes):
        step = max(1, TABLE_BLOCK // max(1, size))
        for low in range(0, size, step):
            yield code, low, min(size, low + step)
