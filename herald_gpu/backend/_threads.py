"""Threads of BLAS: none but the caller's, where stages spread their work themselves."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def alone() -> AbstractContextManager[Any]:
    """Let products of matrices have one thread.

    Examples
    --------
    >>> with alone():
    ...     1 + 1
    2
    """
    return _libraries(len(sys.modules)).limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:  # noqa: ANN401, ARG001 - has no types; libraries come with modules
    """Look for libraries of BLAS, which takes some milliseconds: again only where modules were loaded since."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
