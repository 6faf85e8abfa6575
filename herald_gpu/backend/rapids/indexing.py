"""Approximate nearest neighbours with cuVS: a graph of neighbours by NN-descent, measured again in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cupy as cp

from herald_gpu.backend.rapids import neighbours
from herald_gpu.backend.rapids.device import batch_rows, free_bytes

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Matrix

NAME = "cuVS NN-descent"
CANDIDATES = 32
"""Fewest candidates of a row: cuVS may compare rows in half precision, so more are measured again than are wanted."""
DEGREE = 64
"""Fewest neighbours that the descent keeps of each row (cuVS's default); it works on twice as many."""
FEWEST_ROWS = 1024
"""Fewer rows than this are compared all with all: the descent needs many more rows than neighbours."""
BYTES_PER_ROW, BYTES_PER_VALUE = 320, 6
"""What the descent takes: lists of 32 neighbours, locks and counters; the rows, and a copy in half precision."""


def nearest_distances(x: Matrix, inverse_norm: Array, k: int) -> Array:
    """See :class:`~herald_gpu.backend.Backend`: every row among all rows, approximately.

    cuVS never sees zero rows, which are at distance 1 from every row. A row for which it finds fewer than k others
    is compared with all.
    """
    x, n = neighbours.readable(x), int(x.shape[0])
    filled = cp.flatnonzero(inverse_norm > 0)
    n_filled, width = int(filled.shape[0]), max(CANDIDATES, k + neighbours.MARGIN + 1)
    if n_filled < max(FEWEST_ROWS, 4 * width):
        return neighbours.nearest_distances(x, inverse_norm, k, None, None, keep_self=False)
    _check_room(n_filled, int(x.shape[1]))
    found = _graph(neighbours.dense_unit_rows(x, inverse_norm, filled), width)
    out = cp.ones((n, k), dtype=cp.float64)
    step = batch_rows(64 * width, n_filled)

    def measured(batch: Array, positions: Array) -> Array:  # a function, so that nothing of a batch outlives it
        candidates = _candidates(positions, filled)
        distances = neighbours.exact_distances(x, inverse_norm, batch, candidates, keep_self=False)
        return neighbours.smallest(distances, n - n_filled, k)

    for low in range(0, n_filled, step):
        batch = filled[low : low + step]
        out[batch] = measured(batch, found[low : low + step])
    short = cp.flatnonzero(out[:, k - 1] >= neighbours.FAR)
    if int(short.shape[0]):
        out[short] = neighbours.nearest_distances(x, inverse_norm, k, None, short, keep_self=False)
    return out


def _graph(unit: Array, width: int) -> Array:
    """Positions of about the nearest rows, each row itself among them; what was not found is out of range."""
    from cuvs.common import Resources
    from cuvs.neighbors import all_neighbors, nn_descent

    degree = max(DEGREE, width)
    descent = nn_descent.IndexParams(
        metric="sqeuclidean", graph_degree=degree, intermediate_graph_degree=2 * degree, dist_comp_dtype="fp32"
    )
    params = all_neighbors.AllNeighborsParams(algo="nn_descent", metric="sqeuclidean", nn_descent_params=descent)
    # Our own stream, so that cuVS waits for the rows; and it does not wait for its result by itself.
    resources = Resources(stream=cp.cuda.get_current_stream().ptr)
    found = all_neighbors.build(unit, width, params, resources=resources)
    resources.sync()
    return cp.asarray(found)


def _candidates(found: Array, filled: Array) -> Array:
    """Turn positions into row numbers; -1 for what is out of range or there twice."""
    ordered = cp.sort(found, axis=1)
    good = (ordered >= 0) & (ordered < filled.shape[0])
    good[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return cp.where(good, filled[cp.where(good, ordered, 0)], -1)


def _check_room(n_rows: int, n_columns: int) -> None:
    needed, free = n_rows * (BYTES_PER_ROW + BYTES_PER_VALUE * n_columns), free_bytes()
    if needed > free:
        msg = f"the index of lid='approximate' needs some {needed:,} bytes, dense rows of kept features among them"
        raise MemoryError(msg)
