"""Walks along edges that cross partitions: who needs which rows of whom, hop by hop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald_gpu import ops
from herald_gpu.distributed.parts import (
    asked_rows,
    cut_rows,
    degrees_of,
    dense_part,
    nbytes,
    places_in,
    received,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Array, Backend
    from herald_gpu.distributed.crew import Crew
    from herald_gpu.distributed.parts import Cut, Part

BLOCK_BYTES, BLOCK_SHARE = 2**27, 16
"""Dense rows that a partition has from itself and others at a time: as many columns pass by as fit in this, or in this
part of a worker's memory if that is more."""


class Route:
    """The way to some rows of every partition, over a number of hops.

    The rows wanted after the last hop need their neighbours after the one before, those need theirs, and so on: each
    partition knows which rows it needs, and asks their owners for just these.

    Parameters
    ----------
    crew : Crew
    parts : list of futures of Part
    targets : list of int arrays, or futures of them
        Rows of every partition that are wanted, ascending.
    hops : int

    Attributes
    ----------
    cuts : list of lists of futures of Cut
        For each hop (the first one first) and partition the rows that are computed.
    asks : list of tables of futures of int arrays
        For each hop, asking partition and owner the rows asked for.
    """

    def __init__(self, crew: Crew, parts: list[Any], targets: list[Any], hops: int) -> None:
        self.crew, self.parts = crew, parts
        self.cuts: list[list[Any]] = []
        self.asks: list[list[list[Any]]] = []
        everyone, wanted = range(len(parts)), targets
        for _ in range(hops):
            cuts = [crew.submit(cut_rows, parts[p], wanted[p], near=parts[p]) for p in everyone]
            asks = [[crew.submit(asked_rows, cuts[p], q, near=parts[p]) for q in everyone] for p in everyone]
            wanted = [crew.submit(union, [asks[p][q] for p in everyone], near=parts[q]) for q in everyone]
            self.cuts.insert(0, cuts)
            self.asks.insert(0, asks)
        self.sizes = crew.gather([crew.submit(route_size, *(cuts[p] for cuts in self.cuts)) for p in everyone])

    @property
    def index_bytes(self) -> int:
        """Bytes of the lists of rows that partitions asked one another for."""
        return sum(size.index_bytes for size in self.sizes)

    def forget_the_way(self) -> None:
        """Let go of all hops but the last, whose rows and neighbours are asked for again."""
        self.cuts, self.asks = self.cuts[-1:], self.asks[-1:]

    def width(self, n_columns: int) -> int:
        """How many columns of float64 pass by at a time."""
        most = max((size.stacked for size in self.sizes), default=0)
        room = max(BLOCK_BYTES, self.crew.memory // BLOCK_SHARE)
        return max(1, min(n_columns, room // (8 * max(1, most))))

    def exchange(
        self,
        hop: int,
        give: Callable[..., Any],
        sources: list[Any],
        *more: Any,  # noqa: ANN401 - whatever the function takes
    ) -> list[list[Any]]:
        """Have every partition given what it asked for before a hop.

        `give` is called where a source is, as ``give(backend, source, rows, *more)``.
        """
        everyone = range(len(self.parts))
        return [
            [self.crew.submit(give, sources[q], self.asks[hop][p][q], *more, near=self.parts[q]) for q in everyone]
            for p in everyone
        ]


@dataclass(frozen=True)
class RouteSize:
    """How many rows a partition has from itself and others at a time, and the bytes of its questions to others."""

    stacked: int
    index_bytes: int


def route_size(backend: Backend, *cuts: Cut) -> RouteSize:  # noqa: ARG001 - every task has one
    """Measure the way through one partition."""
    stacked = max((int(cut.columns.shape[0]) for cut in cuts), default=0)
    asked = sum(int(cut.columns.shape[0]) - int(_inside(cut).sum()) for cut in cuts)
    return RouteSize(stacked, 4 * asked)


def _inside(cut: Cut) -> Array:
    return (cut.columns >= cut.bounds[cut.index]) & (cut.columns < cut.bounds[cut.index + 1])


@dataclass(frozen=True)
class Block:
    """Values of some rows for some columns, with the bytes that were exchanged for them."""

    values: Array
    received: int


def give_features(backend: Backend, part: Part, rows: Array, columns: Array) -> Array:
    """Give rows and columns of the features of a partition, dense."""
    return dense_part(backend, part.features, backend.asarray(rows), backend.asarray(columns))


def give_values(backend: Backend, source: tuple[Cut, Block], rows: Array) -> Array:
    """Give computed rows."""
    cut, block = source
    return block.values[places_in(backend, cut.rows, rows)]


def give_degrees(backend: Backend, part: Part, rows: Array) -> Array:
    """Give the degrees of rows."""
    return degrees_of(backend, part, rows)


def give_labels(backend: Backend, part: Part, rows: Array) -> Array:
    """Give the class codes of rows; -1 outside the training set."""
    return part.labels[backend.asarray(rows)]


def stack(backend: Backend, cut: Cut, given: list[Array]) -> Block:
    """Put what partitions gave one below the other: as owners follow one another, in the order of the columns."""
    rows = backend.xp.concatenate([backend.asarray(one) for one in given])
    return Block(rows, received(given, cut.index))


def walk_hop(backend: Backend, cut: Cut, given: list[Array]) -> Block:
    """One step of a walk: mean of the neighbours' values, in float64."""
    before = stack(backend, cut, given)
    step = ops.walk(backend, cut.matrix)
    values = backend.linalg.multiply(step, before.values.astype(backend.xp.float64))
    return Block(values, before.received)


def exchanged(backend: Backend, block: Block) -> int:  # noqa: ARG001 - every task has one
    """Bytes that were exchanged for a block."""
    return block.received


def size_of(backend: Backend, value: object) -> int:  # noqa: ARG001 - as above
    """Bytes of what a task gave."""
    return nbytes(value)
