"""Links: synthetic edges that join exemplars of a class where the graph itself joins too few of them."""

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


def join(backend: Backend, graph: Graph, nodes: Array, pool: Pool, order: Order, *, n_landmarks: int) -> Edges:
    """Give the edges among chosen nodes and the links due: chains, one a class, each from the class's landmark.

    Parameters
    ----------
    backend, graph
        As everywhere.
    nodes : int array
        Chosen nodes, ascending.
    pool : Pool
    order : Order
        Says which of them are linked, and to whom.
    n_landmarks : int
        One a class, or none: then a chain starts at its first exemplar.
    """
    xp, n = backend.xp, int(nodes.shape[0])
    real = ops.induced(graph.adjacency, nodes)
    total = n + n_landmarks
    rows, columns = ops.row_ids(backend, real), real.indices.astype(xp.int64)
    first, second = _chains(backend, graph, nodes, pool, order, n_landmarks=n_landmarks)
    n_links = int(first.shape[0])
    values = xp.concatenate(
        [real.data, xp.full(2 * n_links, LINK_VALUE, dtype=xp.float32)],
    )
    ends = (xp.concatenate([rows, first, second]), xp.concatenate([columns, second, first]))
    both = backend.sparse.coo_matrix((values, ends), shape=(total, total)).tocsr()
    both.sum_duplicates()
    both.sort_indices()
    ones = xp.ones(both.nnz, dtype=xp.float32)
    return Edges(ops.with_data(backend, both, ones), both.data == LINK_VALUE)


def _chains(
    backend: Backend, graph: Graph, nodes: Array, pool: Pool, order: Order, *, n_landmarks: int
) -> tuple[Array, Array]:
    """Ends of the links: each linked node and the linked one before it in its class, or the class's landmark."""
    xp, n = backend.xp, int(nodes.shape[0])
    chosen = ops.mask_of(backend, nodes, graph.n_nodes)[pool.members] & order.linked
    linked = xp.flatnonzero(chosen)
    linked = linked[xp.argsort(order.place[linked], kind="stable")]
    linked = linked[xp.argsort(pool.codes[linked], kind="stable")]
    codes = pool.codes[linked].astype(xp.int64)
    second = xp.searchsorted(nodes, pool.members[linked])
    starts = xp.ones(codes.shape[0], dtype=bool)
    starts[1:] = codes[1:] != codes[:-1]
    before = xp.zeros_like(second)
    before[1:] = second[:-1]
    if n_landmarks:
        return xp.where(starts, n + codes, before), second
    inner = xp.flatnonzero(~starts)
    return before[inner], second[inner]
