"""Kernels of the CPU backend: compiled by numba when first called, kept on disk, and timed while they are compiled."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

NOTICES = "herald_gpu.compilation"
"""Name of the logger that announces a compilation, so that the command line can show it."""

logger = logging.getLogger(NOTICES)
_LOCK = threading.Lock()
_LISTENERS: list[Any] = []


class _Spent:
    """Seconds that this process has spent compiling kernels, and whether that was announced."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.announced = False
        self.depth = 0
        self.start = 0.0

    def begin(self) -> None:
        """Start the clock with the outermost kernel: kernels that it calls are compiled meanwhile."""
        if not self.announced:
            self.announced = True
            logger.info(
                "compiling kernels for this CPU, once for this installation: later runs load them, and the report "
                "lists the time as 'compilation'"
            )
        if self.depth == 0:
            self.start = time.perf_counter()
        self.depth += 1

    def end(self) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.perf_counter() - self.start


SPENT = _Spent()


def kernel(**options: Any) -> Any:  # noqa: ANN401 - numba has no types
    """Return a decorator that compiles a function with numba and keeps the result on disk.

    numba finds the folder: `NUMBA_CACHE_DIR` if it is set, else `__pycache__` beside the source, else the user's cache.
    If none of them can be written, kernels are compiled by every process.

    Parameters
    ----------
    **options
        Of `numba.njit`.

    Examples
    --------
    >>> from herald_gpu.backend._kernels import grow
    >>> grow.stats.cache_path is not None
    True
    """
    from numba import njit

    _listen()

    def decorate(function: Any) -> Any:  # noqa: ANN401
        try:
            made = njit(cache=True, **options)(function)
        except RuntimeError:
            _warn_of_no_folder()
            return njit(**options)(function)
        # numba takes a file for changed if its time is another, as after pip has written the same file again, and does
        # not look at the files of kernels that are called. The content of all of them tells both.
        if hasattr(made, "_cache"):  # not with NUMBA_DISABLE_JIT
            made._cache._cache_file._source_stamp = _content()  # noqa: SLF001 - there is no public way
        return made

    return decorate


@cache
def _content() -> str:
    """Return a digest of the sources of all kernels."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*_kernels.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


@cache
def _warn_of_no_folder() -> None:
    logger.warning(
        "numba can write to no folder, so that every process compiles its kernels again: set NUMBA_CACHE_DIR to a "
        "folder that can be written"
    )


def _listen() -> None:
    """Let numba tell when it compiles a kernel; it tells nothing when it loads one from disk."""
    with _LOCK:
        if _LISTENERS:
            return
        from numba.core import event

        class Listener(event.Listener):  # type: ignore[misc] # numba has no types
            # numba holds its compiler lock while it tells this, so that no two threads are here at once.
            def on_start(self, event: Any) -> None:  # noqa: ANN401
                if _is_ours(event):
                    SPENT.begin()

            def on_end(self, event: Any) -> None:  # noqa: ANN401
                if _is_ours(event):
                    SPENT.end()

        _LISTENERS.append(Listener())
        event.register("numba:compile", _LISTENERS[0])


def _is_ours(event: Any) -> bool:  # noqa: ANN401
    """Tell kernels of this package from functions that the caller compiles."""
    return event.data["dispatcher"].py_func.__module__.startswith("herald_gpu.")
