"""The worker that puts things together: it sees the training nodes, and edges of those alone that it looks at."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from herald_gpu import ops
from herald_gpu.budget import RowSizes, row_sizes
from herald_gpu.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from herald_gpu.backend import Array, Backend, Growth, Matrix
    from herald_gpu.budget import Prices

MORE_ROOTS = 1024
"""Nodes that are asked for at a time at least, when a choice has come to the end of those seen."""
FEWER_ROOTS = 128
"""The same of roots, each of which brings all nodes within some hops."""


@dataclass(frozen=True)
class Asked:
    """What must be seen before a choice can go on.

    Attributes
    ----------
    nodes : int64 array
        Nodes of the whole graph; the client is told them on the host.
    around : int
        How many nodes outside the training set, those with the most neighbours in it first.
    within : bool
        Whether the nodes are roots, to be seen with all that is within the hops of an expansion.
    """

    nodes: Array
    around: int = 0
    within: bool = False


class Unseen(Exception):  # noqa: N818 - a state, told to the client as `Asked`
    """Edges are needed of nodes that were not brought here."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(f"{len(asked.nodes)} nodes, {asked.around} around")
        self.asked = asked


@dataclass(frozen=True)
class LeadGraph(Graph):
    """Training nodes and those seen, numbered in the order of their ids; edges among those seen.

    Attributes
    ----------
    ids : int64 array
        Numbers of the nodes in the whole graph.
    place : int64 array
        Row of each node in `features`; -1 for those not seen.
    covered : bool array
        Nodes that are seen with all nodes within the hops of an expansion.
    around : int
        How many nodes outside the training set were brought for their neighbours in it; -1 if all were.
    """

    ids: Array
    place: Array
    covered: Array
    around: int = 0

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.ids.shape[0])

    def seen(self, nodes: Array) -> Array:
        """Refuse nodes that were not seen."""
        missing = nodes[self.place[nodes] < 0]
        if int(missing.shape[0]):
            raise Unseen(self.wanted(missing))
        return nodes

    def wanted(self, nodes: Array, *, around: int = 0, within: bool = False) -> Asked:
        """Name nodes as the whole graph does; the names are still on the backend."""
        return Asked(self.ids[nodes], around, within)


class LeadBackend:
    """A backend whose choices stop where the nodes seen come to an end, and ask for more.

    Parameters
    ----------
    backend : Backend
    graph : LeadGraph
    """

    def __init__(self, backend: Backend, graph: LeadGraph) -> None:
        self._backend, self._graph = backend, graph
        self.to_the_end = False  # whether roots are all there are, or those that were brought

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the backend has
        if name.startswith("_"):  # what a copy in the making does not have yet must not be looked for in itself
            raise AttributeError(name)
        return getattr(self._backend, name)

    def grow(
        self,
        adjacency: Matrix,
        roots: Array,
        prices: Prices,
        *,
        limit: float,
        depth: int,
        patience: int,
        member: Array | None = None,
        spent: Array = 0.0,
        quota: int | None = None,
        stop_when_full: bool = False,
    ) -> Growth:
        """See :class:`~herald_gpu.backend.Backend`; raises :class:`Unseen` where that depends on nodes not seen."""
        xp, graph = self._backend.xp, self._graph
        ready = graph.covered if depth else graph.place >= 0
        if patience >= int(roots.shape[0]):  # what could never be paid for need not be seen: nobody loses patience
            affordable = prices.node[roots] <= limit - spent
            roots = roots[xp.flatnonzero(ready[roots] | affordable)]
        n_roots = int(roots.shape[0])
        known = n_roots if n_roots == 0 or bool(ready[roots].all()) else int(xp.argmin(ready[roots]))
        growth: Growth = self._backend.grow(
            adjacency,
            roots[:known],
            prices,
            limit=limit,
            depth=depth,
            patience=patience,
            member=member,
            spent=spent,
            quota=quota,
            stop_when_full=stop_when_full,
        )
        if known == n_roots and (graph.around < 0 or not self.to_the_end):
            return growth
        if quota is not None and int(growth.accepted) >= quota:
            return growth
        if known and not bool(growth.considered[roots[known - 1]]):
            return growth  # patience, or room, was at an end before
        if known == n_roots:
            raise Unseen(graph.wanted(roots[:0], around=2 * max(MORE_ROOTS, n_roots)))
        more = roots[known : known + max(FEWER_ROOTS if depth else MORE_ROOTS, known)]
        raise Unseen(graph.wanted(more[xp.flatnonzero(~ready[more])], within=depth > 0))


def asking(look: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of a backend give what must be seen before it can go on, where that is more than was seen."""

    @functools.wraps(look)
    def looking(backend: Backend, *given: Any) -> Any:  # noqa: ANN401 - what the function gives, or `Asked`
        try:
            return look(backend, *given)
        except Unseen as error:
            return replace(error.asked, nodes=backend.to_host(error.asked.nodes))

    return looking


def told_sizes(
    backend: Backend,
    graph: LeadGraph,
    told: list[np.ndarray],
    place: int,
    count: int,
    columns: np.ndarray | None = None,
) -> RowSizes:
    """Non-zeros of every row: those of training nodes were told, others are counted, as they were seen.

    Parameters
    ----------
    backend : Backend
    graph : LeadGraph
    told : list of arrays
        Non-zeros of training rows, of columns, and the largest value, each for several numbers of columns.
    place, count : int
        Which of these, and that number.
    columns : int array, optional
        Columns that count; by default those that were seen.
    """
    xp = backend.xp
    stored = xp.zeros(graph.n_nodes, dtype=xp.int64)
    others = xp.flatnonzero(~graph.train)
    if int(others.shape[0]):
        rows = graph.features[graph.place[others]]
        if columns is not None:
            rows = ops.pick_columns(backend, rows, backend.asarray(columns))
        stored[others] = row_sizes(backend, rows).stored
    stored[xp.flatnonzero(graph.train)] = backend.asarray(told[0][place]).astype(xp.int64)
    return RowSizes(stored, backend.asarray(told[2][place : place + 1])[0], count)
