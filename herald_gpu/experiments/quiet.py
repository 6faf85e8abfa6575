"""Keep back what condensers warn of while many graphs are condensed."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger("herald_gpu")


@contextmanager
def hushed() -> Iterator[None]:
    """Tell no warnings, unless everything is told: what they say of budgets is in the rows.

    Examples
    --------
    >>> with hushed():
    ...     logger.isEnabledFor(logging.WARNING)
    False
    """
    level = logger.level
    if not logger.isEnabledFor(logging.INFO):
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
