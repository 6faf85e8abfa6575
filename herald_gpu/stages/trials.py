"""Trials: how well a condensed graph teaches, told without training a network.

Ridge regressions in closed form stand for networks: on features after two rounds of averaging (as in GCN and GAT), on
own features beside those around (as in H2GCN), and after two rounds of summing (as in GIN). They learn on a condensed
graph and are asked for the classes of training nodes that took no part in making it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.stages.views import Rows

LEARNERS = (("mean", 2.0), ("around", 1.0), ("total", 1.0))
"""Kinds of features, and their weights: the first stands for two networks."""
PENALTIES = (0.1, 1.0, 10.0)
"""Times the mean squared length of a row; the best of them counts."""
SHORTEST, LONGEST = 1e-3, 1e4
"""Rows of another mean length are brought to the nearer of these. In between they stay as they are: a network learns
less from small values, too."""
MOST_ROWS = 1024
"""Rows that a regression learns from at most, evenly spaced."""


@dataclass(frozen=True)
class LearntFrom:
    """A condensed graph to learn from.

    Attributes
    ----------
    adjacency : CSR matrix
    features : matrix of float32
    codes : int array
        Classes; -1 is unknown.
    """

    adjacency: Matrix
    features: Matrix
    codes: Array


def judge(backend: Backend, trial: LearntFrom, held: Rows, codes: Array, n_classes: int) -> Array:
    """Count the held-out nodes that are classified rightly, for each learner and penalty.

    Parameters
    ----------
    backend : Backend
    trial : LearntFrom
    held : Rows
        Rows of held-out nodes.
    codes : int array
        Their classes.
    n_classes : int

    Returns
    -------
    (learners, penalties) float64 array
    """
    xp = backend.xp
    rows = xp.flatnonzero(trial.codes >= 0)
    if int(rows.shape[0]) > MOST_ROWS:
        rows = rows[backend.asarray(np.linspace(0, int(rows.shape[0]) - 1, MOST_ROWS).astype(np.int64))]
    wanted = (trial.codes[rows][:, None] == xp.arange(n_classes, dtype=trial.codes.dtype)[None, :]).astype(xp.float64)
    x = trial.features.toarray() if backend.sparse.issparse(trial.features) else trial.features
    degree = ops.degrees(backend, trial.adjacency).astype(xp.float32)
    total = trial.adjacency @ x
    mean = (total + x) / (degree + 1.0)[:, None]
    around = total * ops.inverse(backend, degree)[:, None].astype(xp.float32)
    learnt = {
        "mean": [((trial.adjacency @ mean + mean) / (degree + 1.0)[:, None])[rows]],
        "around": [x[rows], around[rows]],
        "total": [(trial.adjacency @ (total + x) + total + x)[rows]],
    }
    asked = {"mean": [held.mean], "around": [held.own, held.around], "total": [held.total]}
    return xp.stack([_right(backend, learnt[name], asked[name], wanted, codes) for name, _ in LEARNERS])


def _right(backend: Backend, learnt: list[Array], asked: list[Array], wanted: Array, codes: Array) -> Array:
    """Count right answers of a ridge regression with an intercept, for every penalty."""
    xp = backend.xp
    squares = sum((part.astype(xp.float64) ** 2).sum() for part in learnt)
    length = xp.sqrt(squares / int(wanted.shape[0]))
    shrink = xp.clip(length, SHORTEST, LONGEST) * ops.inverse(backend, length)
    parts = [(part * shrink).astype(xp.float32) for part in learnt]
    n, width = int(wanted.shape[0]), sum(int(part.shape[1]) for part in parts)
    solve = _by_rows if n <= width else _by_columns
    weigh = solve(backend, parts, wanted)
    found = [weigh(penalty) for penalty in PENALTIES]
    # Rows of held-out nodes are many: they are read once for all penalties.
    weights = [xp.concatenate(parts, axis=1) for parts in zip(*(weights for weights, _ in found), strict=True)]
    answer = sum(part @ weight for part, weight in zip(asked, weights, strict=True)) * shrink
    answer = answer.reshape(-1, len(PENALTIES), int(wanted.shape[1])) + xp.stack([intercept for _, intercept in found])
    return (xp.argmax(answer, axis=2) == codes[:, None]).sum(axis=0).astype(xp.float64)


def _by_rows(backend: Backend, parts: list[Array], wanted: Array) -> Callable[[float], tuple[list[Array], Array]]:
    """Solve for one weight a row: fewer rows than columns."""
    xp, n = backend.xp, int(wanted.shape[0])
    product = xp.ones((n, n), dtype=xp.float64)  # of the column of ones
    for part in parts:
        wide = part.astype(xp.float64)
        product += wide @ wide.T
    scale = xp.trace(product) / n

    def weigh(penalty: float) -> tuple[list[Array], Array]:
        alpha = _solve(backend, _penalised(backend, product, penalty * scale), wanted)
        narrow = alpha.astype(xp.float32)
        return [part.T @ narrow for part in parts], alpha.sum(axis=0).astype(xp.float32)

    return weigh


def _by_columns(backend: Backend, parts: list[Array], wanted: Array) -> Callable[[float], tuple[list[Array], Array]]:
    """Solve for one weight a column: fewer columns than rows."""
    xp, n = backend.xp, int(wanted.shape[0])
    rows = xp.concatenate([*parts, xp.ones((n, 1), dtype=xp.float32)], axis=1)
    wide = rows.astype(xp.float64)
    product = wide.T @ wide
    scale = xp.trace(product) / n
    onto = wide.T @ wanted

    def weigh(penalty: float) -> tuple[list[Array], Array]:
        weights = _solve(backend, _penalised(backend, product, penalty * scale), onto).astype(xp.float32)
        cut, low = [], 0
        for part in parts:
            cut.append(weights[low : low + int(part.shape[1])])
            low += int(part.shape[1])
        return cut, weights[low]

    return weigh


def _penalised(backend: Backend, product: Array, penalty: Array) -> Array:
    """Add a penalty to the diagonal of a copy."""
    system, diagonal = product.copy(), backend.xp.arange(int(product.shape[0]))
    system[diagonal, diagonal] += penalty
    return system


def _solve(backend: Backend, system: Array, right: Array) -> Array:
    """Solve a system that is symmetric and positive, which a penalty makes sure of: half the work of any other."""
    lower = backend.linalg.cholesky(system)
    halfway = backend.linalg.solve_triangular(lower, right, lower=True)
    return backend.linalg.solve_triangular(lower, halfway, trans=1, lower=True)


def score(counts: np.ndarray, n_held: int) -> float:
    """Weigh learners into one share of right answers; each with its best penalty.

    Examples
    --------
    >>> score(np.array([[10.0, 20.0, 5.0], [10.0, 0.0, 0.0], [0.0, 0.0, 10.0]]), 20)
    0.75
    """
    best = counts.max(axis=1) / n_held
    weights = np.array([weight for _, weight in LEARNERS])
    return float((weights * best).sum() / weights.sum())
