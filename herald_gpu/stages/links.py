"""Links: synthetic edges that join landmarks, or exemplars of a class where the graph itself joins too few of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.exemplars import Order
    from herald_gpu.stages.pool import Pool

LINK_VALUE = 2.0
"""Added to the 1 of a real edge: what is exactly this is a link alone."""


def link_share(backend: Backend, graph: Graph, nodes: Array, config: HeraldConfig) -> float:
    """Share of the exemplars that should be linked: what edges of the graph leave isolated, up to a share of all."""
    degree = ops.degrees(backend, ops.induced(graph.adjacency, nodes))
    joined = ops.scalar((degree > 0).mean())
    return max(0.0, config.linked_share - joined)


@dataclass(frozen=True)
class Edges:
    """Edges of a condensed graph.

    Attributes
    ----------
    adjacency : CSR matrix of float32 ones
        Landmarks, if there are some, are its last rows.
    synthetic : bool array
        For each entry of it whether it is a link.
    """

    adjacency: Matrix
    synthetic: Array


def join(backend: Backend, graph: Graph, nodes: Array, pool: Pool, order: Order) -> Edges:
    """Give the edges among chosen nodes and the links due: chains, one a class.

    Parameters
    ----------
    backend, graph
        As everywhere.
    nodes : int array
        Chosen nodes, ascending.
    pool : Pool
    order : Order
        Says which of them are linked, and to whom.
    """
    return _with_links(backend, graph, nodes, *_chains(backend, graph, nodes, pool, order))


def join_landmarks(backend: Backend, graph: Graph, nodes: Array, n_landmarks: int, config: HeraldConfig) -> Edges:
    """Give the edges among chosen nodes and, unless only real ones are wanted, one between the landmarks of a class.

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    nodes : int array
        Chosen nodes, ascending.
    n_landmarks : int
        Two a class: those in the second half belong to the classes of those in the first.
    """
    half = n_landmarks // 2 if config.edges == "auto" else 0
    first = int(nodes.shape[0]) + backend.xp.arange(half, dtype=backend.xp.int64)
    return _with_links(backend, graph, nodes, first, first + half, n_landmarks=n_landmarks)


def _with_links(
    backend: Backend, graph: Graph, nodes: Array, first: Array, second: Array, *, n_landmarks: int = 0
) -> Edges:
    xp = backend.xp
    real = ops.induced(graph.adjacency, nodes)
    total = int(nodes.shape[0]) + n_landmarks
    rows, columns = ops.row_ids(backend, real), real.indices.astype(xp.int64)
    values = xp.concatenate(
        [real.data, xp.full(2 * int(first.shape[0]), LINK_VALUE, dtype=xp.float32)],
    )
    ends = (xp.concatenate([rows, first, second]), xp.concatenate([columns, second, first]))
    both = backend.sparse.coo_matrix((values, ends), shape=(total, total)).tocsr()
    both.sum_duplicates()
    both.sort_indices()
    ones = xp.ones(both.nnz, dtype=xp.float32)
    return Edges(ops.with_data(backend, both, ones), both.data == LINK_VALUE)


def _chains(backend: Backend, graph: Graph, nodes: Array, pool: Pool, order: Order) -> tuple[Array, Array]:
    """Ends of the links: each linked node and the linked one before it in its class."""
    xp = backend.xp
    chosen = ops.mask_of(backend, nodes, graph.n_nodes)[pool.members] & order.linked
    linked = xp.flatnonzero(chosen)
    linked = linked[xp.argsort(order.place[linked], kind="stable")]
    linked = linked[xp.argsort(pool.codes[linked], kind="stable")]
    codes = pool.codes[linked].astype(xp.int64)
    places = xp.searchsorted(nodes, pool.members[linked])
    inner = xp.flatnonzero(codes[1:] == codes[:-1])
    return places[inner], places[inner + 1]
