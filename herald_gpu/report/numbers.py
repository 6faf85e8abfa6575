"""Numbers as they are written on the page."""

from __future__ import annotations

import math

import numpy as np


def number(value: float) -> str:
    """Write a count in full, any other number in four digits.

    Examples
    --------
    >>> number(12345), number(0.123456), number(2.0)
    ('12,345', '0.1235', '2')
    """
    if isinstance(value, int | np.integer) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:.4g}"


def size(count: int) -> str:
    """Write bytes.

    Examples
    --------
    >>> size(1406)
    '1,406 bytes'
    """
    return f"{count:,} bytes"


def seconds(value: float) -> str:
    """Write a time.

    Examples
    --------
    >>> seconds(0.0123), seconds(75.25)
    ('0.012 s', '75.25 s')
    """
    return f"{value:.3f} s" if value < 1 else f"{value:.2f} s"


def shares(counts: np.ndarray | tuple[int, ...]) -> tuple[float, ...]:
    """Counts as percent of their sum; zeros if there is nothing.

    Examples
    --------
    >>> shares((1, 3)), shares((0, 0))
    ((25.0, 75.0), (0.0, 0.0))
    """
    values = np.asarray(counts, dtype=float)
    return tuple((100 * values / max(1.0, values.sum())).tolist())


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round places for ticks from `low` to `high`.

    Examples
    --------
    >>> nice_ticks(0, 1), nice_ticks(0, 37, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0])
    """
    if not high > low:
        return [low]
    raw = (high - low) / count
    unit = 10.0 ** math.floor(math.log10(raw))
    step = min((f * unit for f in (1, 2, 2.5, 5, 10) if f * unit >= raw * (1 - 1e-9)), default=10 * unit)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def cut(text: str, length: int = 22) -> str:
    """Shorten a name to fit beside a bar.

    Examples
    --------
    >>> cut("short"), cut("abcdefghij", 6)
    ('short', 'abcde…')
    """
    return text if len(text) <= length else text[: length - 1] + "…"
