"""Bare kernels: the library calls that a stage cannot do without, on arrays of the same shapes, and nothing else.

Dense products are BLAS's, sparse ones SciPy's, passes over memory NumPy's. What falls into independent pieces (blocks
of columns, tables of classes, regressions) is cut and spread over the cores as the stages do it, BLAS with one thread
meanwhile: a kernel that left a core idle, or had more threads than cores, would flatter them. Arrays are made
beforehand and results thrown away.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from herald_gpu import ops, threads
from herald_gpu.backend.cpu import CpuBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from herald_gpu.backend import Array, Matrix

    Kernel = Callable[[], object]

S = TypeVar("S")
T = TypeVar("T")
BACKEND = CpuBackend()
GEMM_ROWS = 2048
"""Rows of one block of the product of a matrix with its own transpose."""
PENALTIES = 3
LEARNERS = (1, 2, 1)
"""How many times as wide as the features the rows of each learner of a trial are."""


def unit_rows(x: Matrix) -> Array:
    """Normalised rows, dense in float32; a zero row stays zero."""
    dense = (x.toarray() if hasattr(x, "toarray") else np.asarray(x)).astype(np.float32)
    lengths = np.linalg.norm(dense, axis=1)
    dense /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return dense


def all_pairs(unit: Array) -> Kernel:
    """LID: the full N x N product of a dense float32 matrix with its transpose, block of rows by block of rows.

    Examples
    --------
    >>> all_pairs(np.eye(3, dtype=np.float32))()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    n = len(unit)
    out = np.empty((min(n, GEMM_ROWS), n), dtype=np.float32)

    def product() -> Array:
        for low in range(0, n, GEMM_ROWS):
            rows = unit[low : low + GEMM_ROWS]
            last = np.matmul(rows, unit.T, out=out[: len(rows)])
        return last

    return product


def column_products(adjacency: Matrix, x: Matrix, hops: int, dtype: type = np.float64) -> Kernel:
    """Fisher: A X, A A X, ... as sparse times dense, in column blocks of the stages' size.

    Features are made dense block by block before the clock starts; float64 is what the method's sums are in. Gives the
    last block after the last hop.
    """
    wide = adjacency.astype(dtype)
    blocks = [dense_block(x, low, high, dtype) for low, high in ops.column_spans(BACKEND, *x.shape)]

    def walked(start: Array) -> Array:
        block = start
        for _ in range(hops):
            block = wide @ block
        return block

    return lambda: _spread(walked, blocks)


def sparse_products(adjacency: Matrix, x: Matrix, hops: int) -> Kernel:
    """Fisher: A X, A A X, ... as sparse times sparse, for features that are."""
    wide, start = adjacency.astype(np.float64), x.astype(np.float64)

    def products() -> Matrix:
        block = start
        for _ in range(hops):
            block = wide @ block
        return block

    return products


def dense_block(x: Matrix, low: int, high: int, dtype: type) -> Array:
    """Columns of a matrix as a dense C-ordered block."""
    part = x[:, low:high]
    part = part.toarray() if hasattr(part, "toarray") else part
    return np.ascontiguousarray(part, dtype=dtype)


def edge_pass(adjacency: Matrix, nodes: Array) -> Kernel:
    """Growth: one pass over the edges of some nodes, each looked at once; gives how many those are.

    Examples
    --------
    >>> import scipy.sparse
    >>> pairs = scipy.sparse.csr_matrix(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=np.float32))
    >>> edge_pass(pairs, np.array([0, 2]))()
    3
    """
    lengths = np.diff(adjacency.indptr)[nodes]
    ends = np.cumsum(lengths)
    places = np.repeat(adjacency.indptr[nodes] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
    marks = np.zeros(adjacency.shape[0], dtype=np.int8)

    def touch() -> int:
        return len(marks[adjacency.indices[places]])

    return touch


def class_table(adjacency: Matrix, codes: Array, n_classes: int) -> Kernel:
    """Heterophily and boundary: one sparse product with one-hot classes."""
    one_hot = (codes[:, None] == np.arange(n_classes)[None, :]).astype(np.float32)
    return lambda: adjacency @ one_hot


def centroid_product(kept: Matrix, n_classes: int) -> Kernel:
    """Prototype: kept features of all nodes times one centroid a class."""
    centroids = np.ones((kept.shape[1], n_classes), dtype=np.float32)
    return lambda: kept @ centroids


def walk_steps(adjacency: Matrix, steps: int) -> Kernel:
    """Pruning: the matrix-vector products of PageRank."""
    wide, rank = adjacency.astype(np.float64), np.full(adjacency.shape[0], 1.0 / max(1, adjacency.shape[0]))

    def walk() -> Array:
        moved = rank
        for _ in range(steps):
            moved = wide @ rank
        return moved

    return walk


def gathered(adjacency: Matrix, kept: Matrix, nodes: Array, train: Array) -> Kernel:
    """Assembly: the induced subgraph, the chosen rows, and one pass over the training rows."""

    def gather() -> tuple[object, ...]:
        return adjacency[nodes][:, nodes], kept[nodes], kept[train].sum(axis=0)

    return gather


def class_products(sizes: Sequence[int], width: int, tables: int) -> Kernel:
    """Exemplars: products of the rows of every class with one another, in float32, for every hop."""
    rows = [np.ones((size, width), dtype=np.float32) for size in sizes] * tables

    def product(part: Array) -> Array:
        return part @ part.T

    return lambda: _spread(product, rows)


def gram_products(sizes: Sequence[tuple[int, int]], kinds: int) -> Kernel:
    """Landmarks: products of columns with one another, in float32, for every group of nodes and kind of row.

    Groups are given as (nodes, columns). Gives the last product.

    Examples
    --------
    >>> gram_products([(3, 4), (2, 2)], 1)()
    array([[2., 2.],
           [2., 2.]], dtype=float32)
    """
    groups = [np.ones(size, dtype=np.float32) for size in sizes for _ in range(kinds)]

    def product(part: Array) -> Array:
        return part.T @ part

    return lambda: _spread(product, groups)


def system_solves(factorised: Sequence[int], sizes: Sequence[tuple[int, int]]) -> Kernel:
    """Landmarks: systems of equations in float64; gives how many.

    Parameters
    ----------
    factorised : sequence of int
        Unknowns of those that are factorised.
    sizes : sequence of (int, int)
        Columns on the right and unknowns of those that are solved with a factor.

    Examples
    --------
    >>> system_solves([4], [(2, 4), (2, 3)])()
    2
    """
    widest = max(factorised, default=0)
    rows = np.random.default_rng(0).standard_normal((widest, widest))
    gram = rows @ rows.T + np.eye(widest)
    lower = BACKEND.linalg.cholesky(gram)

    def solve() -> int:
        systems = (gram[:width, :width] for width in factorised)
        _spread(BACKEND.linalg.cholesky, systems)
        for columns, width in sizes:
            right = np.ones((width, columns))
            BACKEND.linalg.solve_triangular(lower[:width, :width], right, trans=1, lower=True)
        return len(sizes)

    return solve


def table_passes(similarity: Array, sizes: Sequence[int], places: Array) -> Kernel:
    """Exemplars: one pass over every class's table for each fold, and one over the rows of the nodes chosen.

    Gives how many values were looked at.
    """
    starts = np.cumsum([0, *sizes])
    offsets = np.cumsum([0, *(size * size for size in sizes)])
    jobs = []
    for fold in places:
        for code, size in enumerate(sizes):
            table = similarity[offsets[code] : offsets[code + 1]].reshape(size, size)
            jobs.append((table, np.flatnonzero(fold[starts[code] : starts[code + 1]] >= 0)))

    def look(job: tuple[Array, Array]) -> int:
        table, chosen = job
        rows = table[chosen]
        table.max(initial=0)
        rows.max(initial=0)
        return int(table.size + rows.size)

    return lambda: sum(threads.spread(BACKEND, look, jobs))


def ridge_solves(rows: int, width: int, asked: int, n_classes: int) -> Kernel:
    """Trials: Gram matrix, one solve a penalty, and the answers, for the three learners of one trial on one fold."""
    generator = np.random.default_rng(0)
    parts = [generator.standard_normal((rows, times * width)) for times in LEARNERS]
    held = np.ones((asked, width), dtype=np.float32)
    wanted = np.ones((rows, n_classes))

    def solve() -> None:
        for times, part in zip(LEARNERS, parts, strict=True):
            by_rows = rows <= part.shape[1]
            gram = part @ part.T if by_rows else part.T @ part
            onto = wanted if by_rows else part.T @ wanted
            gram.flat[:: len(gram) + 1] += 1.0
            for _ in range(PENALTIES):
                lower = BACKEND.linalg.cholesky(gram)
                halfway = BACKEND.linalg.solve_triangular(lower, onto, lower=True)
                weights = BACKEND.linalg.solve_triangular(lower, halfway, trans=1, lower=True)
                weights = (part.T @ weights if by_rows else weights).astype(np.float32)
                for step in range(times):
                    held @ weights[step * width : (step + 1) * width]

    return solve


def side_by_side(*kernels: Kernel) -> Kernel:
    """Several kernels, on as many threads as there are cores."""
    return lambda: _spread(lambda kernel: kernel(), kernels)


def _spread(work: Callable[[S], T], items: Iterable[S]) -> T | None:
    """Do independent pieces as the stages do: on threads that do not share BLAS's. Gives what came of the last."""
    with BACKEND.stage("bare"):
        found = deque(threads.spread(BACKEND, work, items), maxlen=1)
    return found.pop() if found else None


def together(*kernels: Kernel) -> Kernel:
    """Several kernels, one after another."""

    def run() -> None:
        for kernel in kernels:
            kernel()

    return run
