"""Landmarks: synthetic nodes that say what tells a class from the others once features were passed along edges.

A ridge regression in closed form, on features of training nodes as networks come to see them (averaged over two hops,
averaged over neighbours, summed over two hops), gives each class a direction. Two landmarks a class hold it as signs:
where the direction is long both have its sign, where it is short they have opposite ones, so that their mean is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """Normal equations of the regressions, for every fold and, last, for all nodes that are learnt from.

    Attributes
    ----------
    products : list of (k, k) float64 arrays
    onto : list of (k, classes) float64 arrays
    """

    products: list[Array]
    onto: list[Array]


def prepare_lessons(backend: Backend, rows: Rows, pool: Pool, config: HeraldConfig) -> Lessons:
    """Add up products of rows of compared nodes; a fold has those of all less those that it holds out.

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
    xp, n_classes = backend.xp, len(pool.sizes)
    width = int(rows.own.shape[1])
    codes, free = pool.codes[pool.compared], pool.free[:, pool.compared]
    taught = backend.asarray(np.concatenate([np.arange(size) < config.smallest_pool for size in pool.sizes]))
    outside = [~free[fold] for fold in range(pool.n_folds)]
    masks = (*outside, free[: pool.n_folds].all(axis=0))
    groups = [xp.flatnonzero(mask & taught) for mask in masks]
    wanted = (codes[:, None] == xp.arange(n_classes, dtype=codes.dtype)[None, :]).astype(xp.float32) - 1.0 / n_classes

    def add(place: tuple[str, int]) -> tuple[Array, Array]:
        name, group = place
        part = getattr(rows, name)[groups[group]]
        length = xp.sqrt((part.astype(xp.float64) ** 2).sum(axis=1))
        part = part * ops.inverse(backend, length)[:, None].astype(xp.float32)
        return part.T @ part, part.T @ wanted[groups[group]]

    places = [(name, group) for group in range(len(groups)) for name in SEEN]
    products = [xp.zeros((width, width), dtype=xp.float64) for _ in groups]
    onto = [xp.zeros((width, n_classes), dtype=xp.float64) for _ in groups]
    for (_, group), (product, target) in zip(places, ops.spread(backend, add, places), strict=True):
        products[group] += product
        onto[group] += target
    everything, all_onto = sum(products), sum(onto)
    folds = range(pool.n_folds)
    return Lessons(
        [*(everything - products[fold] for fold in folds), everything],
        [*(all_onto - onto[fold] for fold in folds), all_onto],
    )


def reorder(lessons: Lessons, order: Array) -> Lessons:
    """Take columns in another order, all or some."""
    return Lessons([one[order][:, order] for one in lessons.products], [one[order] for one in lessons.onto])


def learn_directions(backend: Backend, lessons: Lessons, fold: int, width: int | None = None) -> Array:
    """Give each class its direction, of length 1: what it takes to tell it from the others.

    Parameters
    ----------
    backend : Backend
    lessons : Lessons
    fold : int
        Whose nodes to learn from; -1 is all.
    width : int, optional
        Do with the first columns.

    Returns
    -------
    (classes, k) float64 array
    """
    xp = backend.xp
    product, onto = lessons.products[fold][:width, :width], lessons.onto[fold][:width]
    weights = xp.linalg.solve(product + PENALTY * xp.eye(int(product.shape[0]), dtype=xp.float64), onto).T
    length = xp.sqrt((weights**2).sum(axis=1))
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
