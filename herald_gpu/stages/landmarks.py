"""Landmarks: synthetic nodes that say what tells a class from the others once features were passed along edges.

A ridge regression in closed form, on features of training nodes as networks come to see them (averaged over two hops,
averaged over neighbours, summed over two hops), gives each class a direction. Two landmarks a class hold it as signs:
where the direction is long both have its sign, where it is short they have opposite ones, so that their mean is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops, threads
from herald_gpu.encoding import OF_LANDMARKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.stages.pool import Pool
    from herald_gpu.stages.views import Rows

SEEN = ("mean", "around", "total")
"""Kinds of rows that directions are learnt from, each row of length 1."""
AT_A_TIME = 1024
"""Nodes whose rows are multiplied at a time."""
GRAM_COLUMNS = 256
"""Columns that are multiplied with those before them at a time: such a product is symmetric, half of it is enough."""
PENALTY = 1.0
"""Of the regression: times the squared length of a row."""
PER_CLASS = 2
"""Landmarks of a class; each is joined to the other."""
SHORT_SHARE = 1 / 3
"""Share of the entries of a direction that count as short."""
LENGTH = 0.5
"""Of a landmark. Networks learn the longer from it the shorter it is: their losses take longer to vanish."""


@dataclass(frozen=True)
class Lessons:
    """Normal equations of the regressions on some nodes.

    Attributes
    ----------
    product : (k, k) float64 array
        With the penalty on its diagonal.
    onto : (k, classes) float64 array
    scales : list of float32 arrays
        What rows of compared nodes are multiplied by, for every kind of them; 0 for those nothing is learnt from.
    """

    product: Array
    onto: Array
    scales: list[Array]


def prepare_lessons(backend: Backend, rows: Rows, pool: Pool, config: HeraldConfig) -> Lessons:
    """Add up products of rows of compared nodes.

    No more nodes of a class are learnt from than are compared in any case, so that features rank alike whatever the
    budget is.

    Parameters
    ----------
    backend : Backend
    rows : Rows
        Of compared nodes.
    pool : Pool
    config : HeraldConfig
    """
    seen = (getattr(rows, name) for name in SEEN)
    scales = list(threads.spread(backend, partial(_inverse_lengths, backend), seen))
    nodes = backend.xp.flatnonzero(_taught(backend, pool, config))
    product, onto = _add_up(backend, rows, pool, scales, nodes)
    diagonal = backend.xp.arange(int(product.shape[0]))
    product[diagonal, diagonal] += PENALTY
    return Lessons(product, onto, scales)


def hold_out(backend: Backend, lessons: Lessons, rows: Rows, pool: Pool, config: HeraldConfig) -> Iterator[Lessons]:
    """Give the lessons of every fold: those of all nodes less those that the fold holds out.

    Parameters
    ----------
    backend, pool, config
        As of :func:`prepare_lessons`.
    lessons : Lessons
        Of all nodes.
    rows : Rows
        Of compared nodes, in the columns of the lessons; there may be further ones behind.
    """
    rows, taught = rows.first(int(lessons.product.shape[0])), _taught(backend, pool, config)
    for fold in range(pool.n_folds):
        outside = backend.xp.flatnonzero(taught & ~pool.free[fold][pool.compared])
        product, onto = _add_up(backend, rows, pool, lessons.scales, outside)
        backend.xp.subtract(lessons.product, product, out=product)  # which is large
        yield replace(lessons, product=product, onto=lessons.onto - onto)


def _taught(backend: Backend, pool: Pool, config: HeraldConfig) -> Array:
    """Which of the compared nodes are learnt from."""
    return backend.asarray(np.concatenate([np.arange(size) < config.smallest_pool for size in pool.sizes]))


def row_lengths(backend: Backend, rows: Array) -> Array:
    """Length of every row in float64; some of them at a time, which are widened where a cache holds them.

    Examples
    --------
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> row_lengths(CpuBackend(), np.array([[3, 4], [0, 0]], dtype=np.float32))
    array([5., 0.])
    """
    xp, n = backend.xp, int(rows.shape[0])
    parts = (rows[low : low + AT_A_TIME].astype(xp.float64) for low in range(0, n, AT_A_TIME))
    return xp.sqrt(xp.concatenate([(part**2).sum(axis=1) for part in parts]))


def _inverse_lengths(backend: Backend, rows: Array) -> Array:
    """One over the length of every row; 0 for one of zeros, or so long or short that float32 does not hold it."""
    xp = backend.xp
    inverse = ops.inverse(backend, row_lengths(backend, rows))
    return xp.where(inverse < xp.finfo(xp.float32).max, inverse, 0.0).astype(xp.float32)


def _add_up(backend: Backend, rows: Rows, pool: Pool, scales: list[Array], nodes: Array) -> tuple[Array, Array]:
    """Products of the columns of some nodes' rows, each of length 1, with one another and with their classes."""
    xp, n_classes = backend.xp, len(pool.sizes)
    codes, width = pool.codes[pool.compared], int(rows.own.shape[1])
    total = xp.zeros((width, width), dtype=xp.float64)
    onto = xp.zeros((width, n_classes), dtype=xp.float64)

    def scaled(place: tuple[int, int]) -> tuple[Array, Array]:
        kind, low = place
        chosen = nodes[low : low + AT_A_TIME]
        scale = scales[kind][chosen][:, None]
        part = xp.where(scale > 0, getattr(rows, SEEN[kind])[chosen], 0.0)
        part *= scale
        wanted = codes[chosen][:, None] == xp.arange(n_classes, dtype=codes.dtype)[None, :]
        return part, part.T @ (wanted.astype(xp.float32) - 1.0 / n_classes)

    places = [(kind, low) for low in range(0, int(nodes.shape[0]), AT_A_TIME) for kind in range(len(SEEN))]
    spans = [(low, min(width, low + GRAM_COLUMNS)) for low in range(0, width, GRAM_COLUMNS)]
    parts: list[tuple[Array, Array]] = []

    def add(span: tuple[int, int]) -> None:
        low, high = span
        for part, _ in parts:
            total[low:high, :high] += part[:, low:high].T @ part[:, :high]

    coming = threads.spread(backend, scaled, places)
    for first in coming:
        parts += [first, *islice(coming, len(SEEN) - 1)]  # all kinds of rows of the same nodes
        for _, target in parts:
            onto += target
        for _ in threads.spread(backend, add, reversed(spans)):  # the largest first
            pass
        del first
        parts.clear()  # before there are others: they are large
    for low, high in spans:
        total[:low, low:high] = total[low:high, :low].T
    return total, onto


def reorder(lessons: Lessons, order: Array) -> Lessons:
    """Take columns in another order, all or some."""
    return replace(lessons, product=lessons.product[order][:, order], onto=lessons.onto[order])


@dataclass(frozen=True)
class Factor:
    """Normal equations half solved: those of fewer columns are the first rows and columns of these.

    Attributes
    ----------
    lower : (k, k) float64 array
        Cholesky factor of the product.
    halfway : (k, classes) float64 array
        What is to be reached, with the factor taken off.
    """

    lower: Array
    halfway: Array


def factorise(backend: Backend, lessons: Lessons) -> Factor:
    """Do once what directions in any number of the first columns have in common."""
    lower = backend.linalg.cholesky(lessons.product)
    return Factor(lower, backend.linalg.solve_triangular(lower, lessons.onto, lower=True))


def learn_directions(backend: Backend, factor: Factor, width: int | None = None) -> Array:
    """Give each class its direction, of length 1: what it takes to tell it from the others.

    Parameters
    ----------
    backend : Backend
    factor : Factor
    width : int, optional
        Do with the first columns.

    Returns
    -------
    (classes, k) float64 array
    """
    lower, halfway = factor.lower[:width, :width], factor.halfway[:width]
    weights = backend.linalg.solve_triangular(lower, halfway, trans=1, lower=True).T
    length = backend.xp.sqrt((weights**2).sum(axis=1))
    return weights * ops.inverse(backend, length)[:, None]


def rank_columns(backend: Backend, directions: Array) -> Array:
    """Features by how much they tell classes apart, the most telling first."""
    return ops.descending(backend, (directions**2).sum(axis=0))


def make_landmarks(backend: Backend, directions: Array) -> Array:
    """Write every direction as two rows of signs: first those of all classes, then the others of all classes.

    Parameters
    ----------
    backend : Backend
    directions : (classes, k) float64 array

    Returns
    -------
    (2 x classes, k) float32 array

    Examples
    --------
    >>> import numpy as np
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> make_landmarks(CpuBackend(), np.array([[0.8, -0.1, -0.6, 0.0]])) / 0.25
    array([[ 1., -1., -1.,  1.],
           [ 1., -1., -1., -1.]], dtype=float32)
    """
    xp, width = backend.xp, int(directions.shape[1])
    rounded = xp.round(directions, ops.SCORE_DECIMALS)
    signs = xp.where(rounded >= 0, 1.0, -1.0)
    place = xp.argsort(xp.argsort(xp.abs(rounded), axis=1, kind="stable"), axis=1, kind="stable")
    short = place < int(SHORT_SHARE * width)
    both = xp.concatenate([signs, xp.where(short, -signs, signs)])
    return (both * (LENGTH / width**0.5)).astype(xp.float32)


def landmark_bytes(n_classes: int, width: int) -> float:
    """Bytes of the features of all landmarks.

    Examples
    --------
    >>> landmark_bytes(3, 20)
    42.0
    """
    return PER_CLASS * n_classes * float(OF_LANDMARKS.bytes_of_rows(0.0, width))
