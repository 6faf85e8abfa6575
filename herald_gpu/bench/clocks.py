"""Seconds: what is compared takes turns, so that whatever else the machine does hits all of it alike."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Time several pieces of work in turns: A, B, A, B, ...

    Examples
    --------
    >>> order = []
    >>> took = in_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 2)
    >>> order, sorted(took), len(took["a"])
    (['a', 'b', 'a', 'b'], ['a', 'b'], 2)
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            taken[name].append(seconds(work))
    return taken


def median(values: Sequence[float]) -> float:
    """Middle value; of two the mean.

    Examples
    --------
    >>> median([3.0, 1.0, 2.0])
    2.0
    """
    return float(statistics.median(values))


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Exponent of the growth of values with sizes, fitted to all of them on logarithmic scales.

    Examples
    --------
    >>> round(slope([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    return float(np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(values, dtype=float)), 1)[0])
