"""Landmarks: synthetic nodes that say what tells a class from the others once features were passed along edges.

A ridge regression in closed form, on features of training nodes as networks come to see them (averaged over two hops,
averaged over neighbours, summed over two hops), gives each class a direction. Two landmarks a class hold it as signs:
where the direction is long both have its sign, where it is short they have opposite ones, so that their mean is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops
from herald_gpu.encoding import OF_LANDMARKS

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.stages.pool import Pool
    from herald_gpu.stages.views import Rows

SEEN = ("mean", "around", "total")
"""Kinds of rows that directions are learnt from, each row of length 1."""
AT_A_TIME = 1024
"""Nodes whose rows are multiplied at a time."""
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
    """Normal equations of the regressions: of folds, if they were held out, and, last, of all nodes learnt from.

    Attributes
    ----------
    products : list of (k, k) float64 arrays
    onto : list of (k, classes) float64 arrays
    scales : list of float32 arrays
        What rows of compared nodes are multiplied by, for every kind of them.
    """

    products: list[Array]
    onto: list[Array]
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
    scales = [_inverse_lengths(backend, getattr(rows, name)) for name in SEEN]
    product, onto = _add_up(backend, rows, pool, scales, backend.xp.flatnonzero(_taught(backend, pool, config)))
    return Lessons([product], [onto], scales)


def hold_out(backend: Backend, lessons: Lessons, rows: Rows, pool: Pool, config: HeraldConfig) -> Lessons:
    """Put lessons of every fold before those of all nodes: all of them less those that the fold holds out.

    Parameters
    ----------
    backend, pool, config
        As of :func:`prepare_lessons`.
    lessons : Lessons
        Of all nodes.
    rows : Rows
        Of compared nodes, in the columns of the lessons; there may be further ones behind.
    """
    product, onto = lessons.products[-1], lessons.onto[-1]
    width, taught = int(product.shape[0]), _taught(backend, pool, config)
    products, targets = [product], [onto]
    for fold in range(pool.n_folds):
        outside = backend.xp.flatnonzero(taught & ~pool.free[fold][pool.compared])
        less, less_onto = _add_up(backend, rows.first(width), pool, lessons.scales, outside)
        products.insert(fold, product - less)
        targets.insert(fold, onto - less_onto)
    return replace(lessons, products=products, onto=targets)


def _taught(backend: Backend, pool: Pool, config: HeraldConfig) -> Array:
    """Which of the compared nodes are learnt from."""
    return backend.asarray(np.concatenate([np.arange(size) < config.smallest_pool for size in pool.sizes]))


def _inverse_lengths(backend: Backend, rows: Array) -> Array:
    xp = backend.xp
    return ops.inverse(backend, xp.sqrt((rows.astype(xp.float64) ** 2).sum(axis=1))).astype(xp.float32)


def _add_up(backend: Backend, rows: Rows, pool: Pool, scales: list[Array], nodes: Array) -> tuple[Array, Array]:
    """Products of the columns of some nodes' rows, each of length 1, with one another and with their classes."""
    xp, n_classes = backend.xp, len(pool.sizes)
    codes, width = pool.codes[pool.compared], int(rows.own.shape[1])
    total = xp.zeros((width, width), dtype=xp.float64)
    onto = xp.zeros((width, n_classes), dtype=xp.float64)

    def add(place: tuple[int, int]) -> tuple[Array, Array]:
        kind, low = place
        chosen = nodes[low : low + AT_A_TIME]
        part = getattr(rows, SEEN[kind])[chosen] * scales[kind][chosen][:, None]
        wanted = codes[chosen][:, None] == xp.arange(n_classes, dtype=codes.dtype)[None, :]
        return part.T @ part, part.T @ (wanted.astype(xp.float32) - 1.0 / n_classes)

    places = [(kind, low) for low in range(0, int(nodes.shape[0]), AT_A_TIME) for kind in range(len(SEEN))]
    for product, target in ops.spread(backend, add, places):
        total += product
        onto += target
    return total, onto


def reorder(lessons: Lessons, order: Array) -> Lessons:
    """Take columns in another order, all or some."""
    products = [one[order][:, order] for one in lessons.products]
    return replace(lessons, products=products, onto=[one[order] for one in lessons.onto])


@dataclass(frozen=True)
class Factors:
    """Normal equations half solved: those of fewer columns are the first rows and columns of these.

    Attributes
    ----------
    lower : list of (k, k) float64 arrays
        Cholesky factors of the products with the penalty.
    halfway : list of (k, classes) float64 arrays
        What is to be reached, with the factors taken off.
    """

    lower: list[Array]
    halfway: list[Array]


def factorise(backend: Backend, lessons: Lessons) -> Factors:
    """Do once what directions in any number of the first columns have in common."""
    xp, found = backend.xp, Factors([], [])
    for product, onto in zip(lessons.products, lessons.onto, strict=True):
        unit = xp.eye(int(product.shape[0]), dtype=xp.float64)
        found.lower.append(xp.linalg.cholesky(product + PENALTY * unit))
        found.halfway.append(backend.linalg.solve_triangular(found.lower[-1], onto, lower=True))
    return found


def learn_directions(backend: Backend, factors: Factors, fold: int, width: int | None = None) -> Array:
    """Give each class its direction, of length 1: what it takes to tell it from the others.

    Parameters
    ----------
    backend : Backend
    factors : Factors
    fold : int
        Whose nodes to learn from; -1 is all.
    width : int, optional
        Do with the first columns.

    Returns
    -------
    (classes, k) float64 array
    """
    lower, halfway = factors.lower[fold][:width, :width], factors.halfway[fold][:width]
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
