"""Splits of nodes: the paper's own, and others of the same proportions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAPER_SEED = 42
TEST_SHARE = 0.2
TRAINING_SHARE = 0.7
"""Of the nodes outside the test set, rounded down; 56 % of all."""
_FEWEST = 3
_SEEDS = 2**32


@dataclass(frozen=True, eq=False)
class Split:
    """Three masks; no node is in two of them.

    Attributes
    ----------
    train, validation, test : (N,) bool arrays
        Nodes to train on, to choose weights by, and to report the accuracy of.
    """

    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]
    test: NDArray[np.bool_]


def paper_split(n: int, *, draw_seed: int = PAPER_SEED) -> Split:
    """Split nodes as the paper does: 56 % for training, 24 % for validation, 20 % for the test.

    The test set is scikit-learn's ``train_test_split`` with seed 42; training nodes are drawn from the rest by NumPy's
    ``RandomState``.

    Parameters
    ----------
    n : int
        Number of nodes.
    draw_seed : int
        Seed of the second draw: the paper's is 42, BONSAI's code uses 0.

    Raises
    ------
    ConfigError
        If there are fewer than three nodes, or the seed is no integer in [0, 2**32).

    Examples
    --------
    >>> split = paper_split(100)
    >>> [int(mask.sum()) for mask in (split.train, split.validation, split.test)]
    [56, 24, 20]
    """
    return _split(n, PAPER_SEED, _checked_seed("draw_seed", draw_seed))


def random_split(n: int, seed: int) -> Split:
    """Draw another split of the paper's proportions; seed 42 gives the paper's own.

    Parameters
    ----------
    n : int
        Number of nodes.
    seed : int
        Seed of both draws.

    Raises
    ------
    ConfigError
        If there are fewer than three nodes, or the seed is no integer in [0, 2**32).

    Examples
    --------
    >>> one, other = random_split(100, 1), random_split(100, 2)
    >>> int(one.test.sum()), bool((one.test == other.test).all())
    (20, False)
    """
    seed = _checked_seed("seed", seed)
    return _split(n, seed, seed)


def rest_split(train: NDArray[np.bool_], known: NDArray[np.bool_]) -> Split:
    """Split the labelled nodes outside a training set: of 44, 24 for validation and 20 for the test, as in the paper.

    Parameters
    ----------
    train, known : (N,) bool arrays
        Training nodes, and nodes with a label.

    Raises
    ------
    ConfigError
        If fewer than two labelled nodes are left.

    Examples
    --------
    >>> train = np.arange(100) < 56
    >>> split = rest_split(train, np.ones(100, dtype=bool))
    >>> [int(mask.sum()) for mask in (split.train, split.validation, split.test)]
    [56, 24, 20]
    """
    rest = np.flatnonzero(known & ~train)
    if len(rest) < 2:  # noqa: PLR2004 - one to validate, one to test
        msg = f"train leaves {len(rest)} labelled nodes for validation and test: mark fewer nodes for training"
        raise ConfigError(msg)
    shuffled = np.random.default_rng(PAPER_SEED).permutation(rest)
    held = max(1, round(len(rest) * TEST_SHARE / (1 - TRAINING_SHARE * (1 - TEST_SHARE))))
    return Split(train=train, validation=_mask(len(train), shuffled[held:]), test=_mask(len(train), shuffled[:held]))


def _split(n: int, test_seed: int, draw_seed: int) -> Split:
    if not _is_integer(n) or n < _FEWEST:
        msg = f"n={n!r} nodes cannot be split in three: pass an integer of at least {_FEWEST}"
        raise ConfigError(msg)
    # The legacy generator, since published results were drawn with it; scikit-learn would draw the same, but takes more
    # than a second to import.
    shuffled, n_held = np.random.RandomState(test_seed).permutation(n), math.ceil(TEST_SHARE * n)
    held, rest = shuffled[:n_held], shuffled[n_held:]
    drawn = np.random.RandomState(draw_seed).choice(rest, int(TRAINING_SHARE * len(rest)), replace=False)
    train, test = _mask(n, drawn), _mask(n, held)
    return Split(train=train, validation=~(train | test), test=test)


def _mask(n: int, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
    mask = np.zeros(n, dtype=bool)
    mask[chosen] = True
    return mask


def _checked_seed(name: str, seed: int) -> int:
    if not _is_integer(seed) or not 0 <= seed < _SEEDS:
        msg = f"{name}={seed!r} is not valid: pass an integer from 0 to {_SEEDS - 1}"
        raise ConfigError(msg)
    return int(seed)


def _is_integer(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
