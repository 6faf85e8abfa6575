"""Idioms shared by stages, spelled the same for NumPy/SciPy and CuPy/cupyx."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from herald_gpu import threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herald_gpu.backend import Array, Backend, Matrix

T = TypeVar("T")
SCORE_DECIMALS = 9
"""Scores are rounded to this many decimals before ranking, so that both backends rank alike."""
TURN_DECIMALS = 12
"""Turns of classes are rounded to this many decimals, so that equal ones tie on every machine."""
BLOCK_ELEMENTS = 8_000_000
"""Dense temporaries stay at or below this many elements (64 MB of float64)."""
FEWEST_COLUMNS = 64
"""Blocks of columns are not narrower for a cache's sake: a sparse product reads whole rows of them."""


def degrees(backend: Backend, adjacency: Matrix) -> Array:
    """Count the edges of each node, repeated ones as often as they stand, in float64."""
    return adjacency @ backend.xp.ones(adjacency.shape[1], dtype=backend.xp.float64)


def inverse(backend: Backend, values: Array) -> Array:
    """One over each value; 0 where the value is 0."""
    xp = backend.xp
    return xp.where(values > 0, 1.0 / xp.where(values > 0, values, 1.0), 0.0)


def row_ids(backend: Backend, matrix: Matrix) -> Array:
    """Row number of every stored entry."""
    xp = backend.xp
    return xp.repeat(xp.arange(matrix.shape[0], dtype=xp.int64), xp.diff(matrix.indptr))


def with_data(backend: Backend, matrix: Matrix, data: Array) -> Matrix:
    """Build a CSR matrix of the same pattern with other values."""
    return backend.sparse.csr_matrix((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def scaled_columns(backend: Backend, matrix: Matrix, factors: Array) -> Matrix:
    """Multiply each column of a CSR matrix by its factor."""
    return with_data(backend, matrix, matrix.data * factors[matrix.indices])


def to_csr(backend: Backend, dense: Array) -> Matrix:
    """Turn a dense array into CSR, block by block of rows."""
    xp = backend.xp
    counts = xp.count_nonzero(dense, axis=1)
    indptr = xp.zeros(dense.shape[0] + 1, dtype=xp.int64)
    indptr[1:] = xp.cumsum(counts)
    indices, data = [], []
    for low, high in blocks(dense.shape[0], dense.shape[1]):
        rows, columns = xp.nonzero(dense[low:high])
        indices.append(columns)
        data.append(dense[low:high][rows, columns])
    return backend.sparse.csr_matrix((xp.concatenate(data), xp.concatenate(indices), indptr), shape=dense.shape)


def blocks(count: int, width: int) -> Iterator[tuple[int, int]]:
    """Cut `count` rows (or columns) of `width` elements each into blocks of bounded size."""
    step = max(1, BLOCK_ELEMENTS // max(1, width))
    for low in range(0, count, step):
        yield low, min(count, low + step)


def for_row_blocks(backend: Backend, x: Matrix, work: Callable[[int, int, Array], T]) -> Iterator[T]:
    """Call ``work(low, high, block)`` on all rows, as dense float64 blocks of bounded size; results in order.

    Blocks are independent: as many are worked on at a time as the backend has workers, each small enough for a cache
    where that is what counts: fresh memory for a large one takes longer than most work on it.
    """
    elements = min(BLOCK_ELEMENTS, backend.cached_elements or BLOCK_ELEMENTS)
    step = max(1, elements // max(1, int(x.shape[1])))

    def one(low: int) -> T:
        high = min(int(x.shape[0]), low + step)
        return work(low, high, dense_rows(backend, x, low, high))

    yield from threads.spread(backend, one, range(0, int(x.shape[0]), step))


def dense_rows(backend: Backend, x: Matrix, low: int, high: int) -> Array:
    """Rows low..high as a dense float64 array."""
    part = x[low:high]
    part = part.toarray() if backend.sparse.issparse(part) else part
    return part.astype(backend.xp.float64)


def dense_column_blocks(backend: Backend, x: Matrix) -> Iterator[tuple[int, int, Array]]:
    """All columns as dense float64 blocks of bounded size: (low, high, block)."""
    yield from for_column_blocks(backend, x, lambda *block: block)


def for_column_blocks(backend: Backend, x: Matrix, work: Callable[[int, int, Array], T]) -> Iterator[T]:
    """Call ``work(low, high, block)`` on all columns, as dense float64 blocks of bounded size; results in order.

    Blocks are independent: as many are worked on at a time as the backend has workers.
    """
    sparse = backend.sparse.issparse(x)
    by_column = x.tocsc() if sparse else x

    def one(span: tuple[int, int]) -> T:
        low, high = span
        part = by_column[:, low:high]
        if sparse:  # widened first, and straight to rows: columns made dense would have to be turned
            return work(low, high, part.astype(backend.xp.float64).toarray(order="C"))
        return work(low, high, backend.xp.ascontiguousarray(part, dtype=backend.xp.float64))

    yield from threads.spread(backend, one, column_spans(backend, *x.shape))


def column_spans(backend: Backend, n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    """Cut columns into blocks: of bounded size, and small enough for a processor's cache where that is what counts."""
    step = max(1, BLOCK_ELEMENTS // max(1, n_rows))
    if backend.cached_elements is not None:
        step = min(step, max(FEWEST_COLUMNS, backend.cached_elements // max(1, n_rows)))
    for low in range(0, n_columns, step):
        yield low, min(n_columns, low + step)


def walk(backend: Backend, adjacency: Matrix) -> Matrix:
    """P = D^-1 A in float64, made once: a product with a float64 block would widen A each time."""
    xp = backend.xp
    data = xp.repeat(inverse(backend, degrees(backend, adjacency)), xp.diff(adjacency.indptr))
    data *= adjacency.data
    return with_data(backend, adjacency, data)


def class_indicator(backend: Backend, codes: Array, n_classes: int, values: Array | None = None) -> Matrix:
    """CSR matrix (classes x rows) with `values` (or ones) at (code, row); codes of -1 belong to no class."""
    xp = backend.xp
    known = xp.flatnonzero(codes >= 0)
    order = known[xp.argsort(codes[known], kind="stable")]  # by class, rows ascending: CSR as it stands
    data = xp.ones(order.shape[0], dtype=xp.float64) if values is None else values[order]
    bounds = xp.searchsorted(codes[order], xp.arange(n_classes + 1, dtype=codes.dtype), side="left")
    parts = (data, order.astype(xp.int32), bounds.astype(xp.int32))
    return backend.sparse.csr_matrix(parts, shape=(n_classes, codes.shape[0]))


def neighbour_classes(backend: Backend, adjacency: Matrix, codes: Array, n_classes: int) -> Array:
    """Count each node's neighbours by class: (N, classes); codes of -1 are not counted."""
    xp = backend.xp
    one_hot = (codes[:, None] == xp.arange(n_classes, dtype=codes.dtype)[None, :]).astype(xp.float32)
    return adjacency @ one_hot


def own_class(backend: Backend, table: Array, codes: Array) -> Array:
    """Pick from each row of an (N, classes) table the entry of the row's own class; code -1 picks the first."""
    xp = backend.xp
    return xp.take_along_axis(table, xp.maximum(codes, 0).astype(xp.int64)[:, None], axis=1)[:, 0]


def tally(backend: Backend, places: Array, length: int, weights: Array | None = None) -> Array:
    """Sum `weights` (or count) by place, in float64.

    As `bincount`, which on a device reads the smallest and the largest place back to the host; here both are known.
    Sums of whole numbers are exact whatever their order.

    Examples
    --------
    >>> import numpy as np
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> tally(CpuBackend(), np.array([2, 0, 2]), 4)
    array([1., 0., 2., 0.])
    """
    total = backend.xp.zeros(length, dtype=backend.xp.float64)
    backend.xp.add.at(total, places, 1.0 if weights is None else weights)
    return total


def class_counts(backend: Backend, codes: Array, n_classes: int, counted: Array | None = None) -> Array:
    """Count the rows of each class (those marked in `counted` only); codes of -1 are not counted."""
    xp = backend.xp
    known = codes >= 0 if counted is None else (codes >= 0) & counted
    places = xp.where(known, codes, n_classes)  # a last place for what is not counted: no selection to wait for
    return tally(backend, places, n_classes + 1)[:n_classes].astype(xp.int64)


def row_norms(backend: Backend, x: Matrix) -> Array:
    """Euclidean length of each row, in float64."""
    xp = backend.xp
    if backend.sparse.issparse(x):
        squares = with_data(backend, x, x.data.astype(xp.float64) ** 2)
        return xp.sqrt(squares @ xp.ones(x.shape[1], dtype=xp.float64))
    parts = for_row_blocks(backend, x, lambda _, __, block: xp.sqrt((block**2).sum(axis=1)))
    return xp.concatenate([xp.zeros(0), *parts])


def column_abs_sums(backend: Backend, x: Matrix) -> Array:
    """Sum of absolute values of each column, in float64."""
    xp = backend.xp
    if backend.sparse.issparse(x):
        return tally(backend, x.indices, int(x.shape[1]), xp.abs(x.data.astype(xp.float64)))
    total = xp.zeros(x.shape[1], dtype=xp.float64)
    for span in blocks(*x.shape):
        total += xp.abs(dense_rows(backend, x, *span)).sum(axis=0)
    return total


class Moments(NamedTuple):
    """Columns of some rows: how many they are, their mean, and the sum of squared distances to it."""

    rows: int
    mean: Array
    squares: Array


def column_moments(backend: Backend, x: Matrix) -> Moments:
    """Mean and squared distances of each column, in float64, in two passes (partial)."""
    xp, means, squares = backend.xp, [], []
    for *_, block in dense_column_blocks(backend, x):
        means.append(block.mean(axis=0) if int(x.shape[0]) else xp.zeros(block.shape[1]))
        squares.append(((block - means[-1]) ** 2).sum(axis=0))
    return Moments(int(x.shape[0]), xp.concatenate(means), xp.concatenate(squares))


def merge_moments(parts: Sequence[Moments]) -> Moments:
    """Put the moments of parts of the rows together (combine), in any order and any number of steps.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = Moments(1, np.array([2.0]), np.array([0.0])), Moments(2, np.array([5.0]), np.array([2.0]))
    >>> merge_moments([one, two])
    Moments(rows=3, mean=array([4.]), squares=array([8.]))
    """
    if len(parts) == 1:
        return parts[0]
    count = sum(part.rows for part in parts)
    mean = sum(part.rows * part.mean for part in parts) / max(1, count)
    return Moments(count, mean, sum(part.squares + part.rows * (part.mean - mean) ** 2 for part in parts))


def column_variances(backend: Backend, x: Matrix) -> Array:
    """Population variance of each column, in float64, in two passes."""
    found = column_moments(backend, x)
    return found.squares / found.rows


def scaled_by_max(backend: Backend, values: Array) -> Array:
    """Divide by the maximum; all zeros stay zeros."""
    xp = backend.xp
    top = values.max()
    return xp.where(top > 0, values / xp.where(top > 0, top, 1.0), 0.0)


def min_max(backend: Backend, values: Array) -> Array:
    """Bring values to [0, 1]; constant values become 0."""
    xp = backend.xp
    low, span = values.min(), values.max() - values.min()
    return xp.where(span > 0, (values - low) / xp.where(span > 0, span, 1.0), 0.0)


def rank_scale(backend: Backend, values: Array) -> Array:
    """Replace values by their rank over N - 1; equal values share the mean of their ranks."""
    xp, n = backend.xp, int(values.shape[0])
    rounded = xp.round(values, SCORE_DECIMALS)
    ordered = xp.sort(rounded)
    first = xp.searchsorted(ordered, rounded, side="left")
    last = xp.searchsorted(ordered, rounded, side="right") - 1
    return (first + last).astype(xp.float64) / (2.0 * max(1, n - 1))


def descending(backend: Backend, values: Array, decimals: int = SCORE_DECIMALS) -> Array:
    """Positions by falling value; ties (after rounding) keep the lower position first."""
    xp = backend.xp
    return xp.argsort(-xp.round(values, decimals), kind="stable")


def turns(xp: Any, place: Array, share: Array) -> Array:  # noqa: ANN401 - NumPy or CuPy
    """When the i-th of a class with this share has its turn: (i + 1/2) / share (Sainte-Lague), the same everywhere."""
    return xp.round((place + 0.5) / share, TURN_DECIMALS)


def induced(matrix: Matrix, nodes: Array) -> Matrix:
    """Rows and columns `nodes` of a square CSR matrix, indices sorted (CuPy picks columns in no order)."""
    part = matrix[nodes][:, nodes]
    part.sort_indices()
    return part


def both_ways(backend: Backend, adjacency: Matrix) -> Matrix:
    """Join both directions of a square CSR matrix: ones, every edge there once each way."""
    both = (adjacency + adjacency.T).tocsr()
    both.sum_duplicates()
    return with_data(backend, both, backend.xp.ones(both.nnz, dtype=backend.xp.float32))


def mask_of(backend: Backend, nodes: Array, n_nodes: int) -> Array:
    """Boolean mask that is true at `nodes`."""
    mask = backend.xp.zeros(n_nodes, dtype=bool)
    mask[nodes] = True
    return mask


def scalar(value: Any) -> float:  # noqa: ANN401 - a 0-d array of any backend
    """Bring one number to the host (the one spelling of that in stages)."""
    return float(value)


def fetch(backend: Backend, *values: Array) -> list[np.ndarray]:
    """Bring several small arrays to the host in one transfer, each as float64 (whole numbers exact below 2^53).

    Examples
    --------
    >>> import numpy as np
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> counts, share = fetch(CpuBackend(), np.array([3, 1]), np.float64(0.25))
    >>> counts.tolist(), float(share)
    ([3.0, 1.0], 0.25)
    """
    xp = backend.xp
    flat = backend.to_host(xp.concatenate([value.astype(xp.float64).ravel() for value in values]))
    ends = np.cumsum([math.prod(value.shape) for value in values])
    parts = np.split(flat, ends[:-1])
    return [part.reshape(value.shape) for part, value in zip(parts, values, strict=True)]


def pick_columns(backend: Backend, x: Matrix, columns: Array) -> Matrix:
    """Columns of a matrix in the order given, which may be any; each at most once."""
    xp = backend.xp
    if not backend.sparse.issparse(x):
        return backend.linalg.take_columns(x, columns)
    rising = xp.argsort(columns)
    part = x if int(columns.shape[0]) == int(x.shape[1]) else take_columns(backend, x, columns[rising])
    # The i-th of the columns kept in their own order stands at rising[i] in the order given.
    moved = rising.astype(part.indices.dtype)[part.indices]
    picked = backend.sparse.csr_matrix((part.data.copy(), moved, part.indptr.copy()), shape=part.shape)
    picked.sort_indices()
    return picked


def take_columns(backend: Backend, x: Matrix, columns: Array) -> Matrix:
    """Columns of a matrix, in the same container: C-ordered, or with sorted indices (CuPy picks them in no order)."""
    if not backend.sparse.issparse(x):
        return backend.linalg.take_columns(x, columns)
    part = x[:, columns]
    part.sort_indices()
    return part
