"""Neighbourhoods and budgeted growth with cuGraph (through pylibcugraph) and our own kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cupy as cp
import numpy as np

from herald_gpu.backend import Growth
from herald_gpu.backend.rapids import kernels
from herald_gpu.backend.rapids.device import SHARE_OF_FREE, check_index_width, free_bytes, library_order

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix
    from herald_gpu.budget import Prices

BYTES_PER_REACHED_EDGE = 64
"""Device bytes that one sampled edge takes on its way: ends, batch number, sort keys and their copies."""
FIRST_BATCH = 128
"""Roots of the first batch; later ones double: most expansions stop early."""

_accept_kernel = cp.RawKernel(kernels.ACCEPT_ROOTS, "accept_roots", options=kernels.OPTIONS)


class Neighbourhoods:
    """Nodes within a number of hops of roots, by batches of roots.

    Parameters
    ----------
    adjacency : CSR matrix
    depth : int
        Hops; 0 is the root alone.
    """

    def __init__(self, adjacency: Matrix, depth: int) -> None:
        self.n_nodes, self.depth = int(adjacency.shape[0]), depth
        if depth == 0:
            return
        import pylibcugraph

        check_index_width(int(adjacency.nnz), "the number of directed edges")
        offsets, ends = (cp.asarray(part, dtype=cp.int32) for part in (adjacency.indptr, adjacency.indices))
        self._handle = pylibcugraph.ResourceHandle()
        with library_order():
            self._graph = pylibcugraph.SGGraph(
                self._handle,
                pylibcugraph.GraphProperties(is_symmetric=False, is_multigraph=False),
                offsets,
                ends,
                weight_array=None,
                store_transposed=False,
                renumber=False,
                do_expensive_check=False,
                input_array_format="CSR",
            )

    def of(self, roots: Array) -> tuple[Array, Array]:
        """Give (offsets, nodes): nodes[offsets[i]:offsets[i+1]] are those around root i, ascending, each once."""
        n_roots = int(roots.shape[0])
        own = cp.arange(n_roots, dtype=cp.int64)
        if self.depth == 0:
            return cp.arange(n_roots + 1, dtype=cp.int64), roots.astype(cp.int32)
        import pylibcugraph

        starts, labels = roots.astype(cp.int32), cp.arange(n_roots + 1, dtype=cp.uint64)
        with library_order():
            found = pylibcugraph.neighbor_sample(
                self._handle,
                self._graph,
                starts,
                np.full(self.depth, -1, dtype=np.int32),
                starting_vertex_label_offsets=labels,
                with_replacement=False,
                do_expensive_check=False,
                prior_sources_behavior="exclude",
                deduplicate_sources=True,
                return_hops=True,
            )
        minors = found["minors"].astype(cp.int64)
        return unique_by_root(self._root_numbers(found, int(minors.shape[0])), minors, own, roots, self.n_nodes)

    def _root_numbers(self, found: dict[str, Array], n_edges: int) -> Array:
        """Which root each sampled edge belongs to: said directly, or through the offsets of its hops."""
        if "batch_id" in found and int(found["batch_id"].shape[0]) == n_edges:
            return found["batch_id"].astype(cp.int64)
        ends = found["label_hop_offsets"].astype(cp.int64)
        place = cp.searchsorted(ends, cp.arange(n_edges, dtype=cp.int64), side="right") - 1
        return place // self.depth


def unique_by_root(numbers: Array, nodes: Array, own: Array, roots: Array, n_nodes: int) -> tuple[Array, Array]:
    """Sort (root number, node) pairs, the roots themselves included, and drop repeats: (offsets, nodes)."""
    keys = cp.concatenate([numbers * n_nodes + nodes, own * n_nodes + roots.astype(cp.int64)])
    keys = cp.unique(keys)
    bounds = cp.arange(int(own.shape[0]) + 1, dtype=cp.int64) * n_nodes
    return cp.searchsorted(keys, bounds, side="left").astype(cp.int64), (keys % n_nodes).astype(cp.int32)


def frontier_neighbourhoods(adjacency: Matrix, roots: Array, depth: int) -> tuple[Array, Array]:
    """The same neighbourhoods by frontier expansion in CuPy alone: what the cuGraph route is tested against."""
    n_roots, n = int(roots.shape[0]), int(adjacency.shape[0])
    own = cp.arange(n_roots, dtype=cp.int64)
    numbers, nodes = own, roots.astype(cp.int64)
    keys = own * n + nodes
    for _ in range(depth):
        starts, counts = adjacency.indptr[nodes].astype(cp.int64), cp.diff(adjacency.indptr)[nodes].astype(cp.int64)
        total = int(counts.sum())
        ends = cp.cumsum(counts)
        entry = cp.searchsorted(ends, cp.arange(total, dtype=cp.int64), side="right")
        place = starts[entry] + cp.arange(total, dtype=cp.int64) - (ends - counts)[entry]
        reached = cp.unique(numbers[entry] * n + adjacency.indices[place].astype(cp.int64))
        fresh = reached[~cp.isin(reached, keys)]
        keys = cp.concatenate([keys, fresh])
        numbers, nodes = fresh // n, fresh % n
    return unique_by_root(keys // n, keys % n, own, roots, n)


def grow(
    adjacency: Matrix,
    roots: Array,
    prices: Prices,
    *,
    limit: float,
    depth: int,
    patience: int,
    member: Array | None,
    spent: Array,
    quota: int | None,
    stop_when_full: bool,
) -> Growth:
    """See :class:`~herald_gpu.backend.Backend`.

    Neighbourhoods come in batches that fit in free memory; one kernel launch decides a whole batch, in order, with
    membership and cost on the device. The host reads how large the first batch may be, and once a batch how it went
    and how large the next may be. Roots alone are one batch, and nothing is read.
    """
    n, n_roots = int(adjacency.shape[0]), int(roots.shape[0])
    check_index_width(n, "the number of nodes")
    check_index_width(int(adjacency.nnz), "the number of directed edges")
    members = cp.zeros(n, dtype=cp.bool_) if member is None else member.copy()
    considered, fresh = cp.zeros(n, dtype=cp.bool_), cp.zeros(n, dtype=cp.bool_)
    cost, counters = cp.zeros(1, dtype=cp.float64), cp.zeros(3, dtype=cp.int64)
    cost += spent
    if n_roots == 0:
        return Growth(members, considered, counters[0], cost[0])
    around = Neighbourhoods(adjacency, depth)
    roots = roots.astype(cp.int64)
    edges = (
        adjacency.indptr.astype(cp.int32, copy=False),
        adjacency.indices.astype(cp.int32, copy=False),
        adjacency.data.astype(cp.float32, copy=False),
    )
    terms = (
        prices.node, np.float64(prices.edge), np.float64(prices.edge_to_member), np.float64(limit),
        np.int64(patience), np.int64(-1 if quota is None else quota), np.int32(stop_when_full),
    )  # fmt: skip

    def decide(batch: Array) -> None:
        offsets, nodes = around.of(batch)
        given = (offsets, nodes, batch, np.int64(batch.shape[0]), *edges, *terms)
        _accept_kernel((1,), (kernels.THREADS,), (*given, members, considered, fresh, cost, counters))

    if depth == 0:
        decide(roots)
        return Growth(members, considered, counters[0], cost[0])
    load = cp.cumsum(_reached_edges(adjacency, roots, depth))
    fits = int(_last_that_fits(load, 0))
    low, size, accepted, total = 0, FIRST_BATCH, 0, 0.0
    while low < n_roots:
        high = min(low + size, n_roots, max(low + 1, fits))
        decide(roots[low:high])
        low, size = high, size * 2
        said = cp.concatenate([counters.astype(cp.float64), cost, _last_that_fits(load, low).astype(cp.float64)[None]])
        accepted, _, stopped, total, fits = said.get().tolist()
        accepted, fits = int(accepted), int(fits)
        if stopped or (quota is not None and accepted >= quota):
            break
    return Growth(members, considered, accepted, total)


def _reached_edges(adjacency: Matrix, roots: Array, depth: int) -> Array:
    """Most edges that a search of this depth can touch, for each root."""
    degree = cp.diff(adjacency.indptr).astype(cp.float64)
    total, layer = cp.ones_like(degree), degree
    for hop in range(depth):
        total = total + layer
        if hop + 1 < depth:
            layer = adjacency @ layer
    return total[roots]


def _last_that_fits(load: Array, low: int) -> Array:
    """End of the longest batch from `low` on whose edges fit in free memory, as a 0-d array."""
    room = SHARE_OF_FREE * free_bytes() / BYTES_PER_REACHED_EDGE
    before = load[low - 1] if low else cp.zeros((), dtype=load.dtype)
    return cp.searchsorted(load, before + room, side="right")
