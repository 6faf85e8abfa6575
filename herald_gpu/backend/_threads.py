"""Threads: as many as numba has for the stages, which spread their work themselves; BLAS has the caller's alone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
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


def count() -> int:
    """Give the number of threads that numba has, or will have where it is not loaded yet: importing it takes long.

    Examples
    --------
    >>> count() >= 1
    True
    """
    asked = getattr(sys.modules.get("numba"), "get_num_threads", None)  # not there while it is being imported
    if asked is not None:
        return int(asked())
    with suppress(KeyError, ValueError):
        return max(1, int(os.environ["NUMBA_NUM_THREADS"]))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:  # noqa: ANN401, ARG001 - has no types; libraries come with modules
    """Look for libraries of BLAS, which takes some milliseconds: again only where modules were loaded since."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
