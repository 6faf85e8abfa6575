"""Ratios: those of a sweep, and how ratios are written in messages and on the page, with three digits."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context

DIGITS = 3
RATIOS = (0.005, 0.01, 0.02, 0.05, 0.1)
"""Shares of the storage that a sweep compares."""


def percent(share: float) -> str:
    """Write a share in percent, with three digits.

    Examples
    --------
    >>> percent(0.0999871), percent(0.5), percent(0.00123456), percent(float("nan"))
    ('10 %', '50 %', '0.123 %', 'not known')
    """
    return "not known" if math.isnan(share) else f"{_plain(100 * share)} %"


def at_least(ratio: float) -> str:
    """Write a ratio with three digits, rounded up, so that what is read back is never below it.

    Examples
    --------
    >>> at_least(0.00123001), at_least(0.1), at_least(1 / 3)
    ('0.00124', '0.1', '0.334')
    """
    return _plain(float(Context(prec=DIGITS, rounding=ROUND_CEILING).create_decimal(repr(float(ratio)))))


def _plain(value: float) -> str:
    """Write three digits; numbers of a thousand and more keep all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 10**DIGITS else f"{value:.{DIGITS}g}"
