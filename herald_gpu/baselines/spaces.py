"""The spaces in which baselines compare nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.baselines.options import Space
    from herald_gpu.graph import Graph

HOPS = 2


def training_rows(backend: Backend, graph: Graph, space: Space) -> Matrix:
    """Rows of the training nodes in float64, each of length 1 (a zero row stays zero)."""
    nodes = backend.xp.flatnonzero(graph.train)
    if space == "raw":
        return unit_rows(backend, _wide(backend, graph.features[nodes]))
    return unit_rows(backend, propagated_rows(backend, graph, nodes, HOPS))


def propagated_rows(backend: Backend, graph: Graph, nodes: Array, hops: int) -> Matrix:
    """Rows `nodes` of S^hops X in float64, S = D~^-1/2 (A + I) D~^-1/2 with the degrees D~ of A + I."""
    x = _wide(backend, graph.features)
    if hops == 0:
        return x[nodes]
    step = smoothing(backend, graph.adjacency)
    for _ in range(hops - 1):
        x = step @ x
    return step[nodes] @ x


def smoothing(backend: Backend, adjacency: Matrix) -> Matrix:
    """S = D~^-1/2 (A + I) D~^-1/2 as CSR in float64."""
    xp, n = backend.xp, int(adjacency.shape[0])
    inverse = 1.0 / (ops.degrees(backend, adjacency) + 1.0)
    root = xp.sqrt(inverse)
    values = adjacency.data * root[ops.row_ids(backend, adjacency)] * root[adjacency.indices]
    every = xp.arange(n, dtype=xp.int64)
    loops = backend.sparse.csr_matrix((inverse, every, xp.arange(n + 1, dtype=xp.int64)), shape=(n, n))
    return (ops.with_data(backend, adjacency, values) + loops).tocsr()


def unit_rows(backend: Backend, x: Matrix) -> Matrix:
    """Divide each row by its length; a zero row stays zero."""
    inverse = ops.inverse(backend, ops.row_norms(backend, x))
    if backend.sparse.issparse(x):
        return ops.with_data(backend, x, x.data * inverse[ops.row_ids(backend, x)])
    return x * inverse[:, None]


def turned(backend: Backend, x: Matrix) -> Matrix:
    """The transpose, by rows."""
    return x.T.tocsr() if backend.sparse.issparse(x) else backend.xp.ascontiguousarray(x.T)


def _wide(backend: Backend, x: Matrix) -> Matrix:
    """As float64, in a container of its own."""
    if backend.sparse.issparse(x):
        return ops.with_data(backend, x, x.data.astype(backend.xp.float64))
    return x.astype(backend.xp.float64)
