"""Personalised PageRank with cuGraph, through pylibcugraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cupy as cp

from herald_gpu.backend.rapids.device import check_index_width, library_order

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix


def pagerank(adjacency: Matrix, restart: Array, *, probability: float, tol: float, max_iter: int) -> Array:
    """See :class:`~herald_gpu.backend.Backend`.

    cuGraph divides rows by their sums, starts uniform and stops at an L1 change below `tol`; it calls convergence in
    the last allowed step a failure, so that its verdict is not asked for; and it returns vertices in any order.
    """
    import pylibcugraph

    check_index_width(int(adjacency.nnz), "the number of directed edges")
    handle = pylibcugraph.ResourceHandle()
    coo = adjacency.tocoo()
    row, column = coo.row.astype(cp.int32, copy=False), coo.col.astype(cp.int32, copy=False)
    weights = coo.data.astype(cp.float64)
    sources = cp.flatnonzero(restart > 0).astype(cp.int32)
    shares = restart[sources].astype(cp.float64)
    with library_order():
        graph = pylibcugraph.SGGraph(
            handle,
            pylibcugraph.GraphProperties(is_symmetric=True, is_multigraph=False),
            row,
            column,
            weight_array=weights,
            store_transposed=True,
            renumber=False,
            do_expensive_check=False,
        )
        vertices, values, _ = pylibcugraph.personalized_pagerank(
            handle,
            graph,
            precomputed_vertex_out_weight_vertices=None,
            precomputed_vertex_out_weight_sums=None,
            initial_guess_vertices=None,
            initial_guess_values=None,
            personalization_vertices=sources,
            personalization_values=shares,
            alpha=1.0 - probability,
            epsilon=tol,
            max_iterations=max_iter,
            do_expensive_check=False,
            fail_on_nonconvergence=False,
        )
    rank = cp.zeros(adjacency.shape[0], dtype=cp.float64)
    rank[vertices] = values
    return rank
