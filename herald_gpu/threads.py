"""Work on several threads of the host: as many as a backend has workers, kept from one call to the next."""

from __future__ import annotations

import os
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from herald_gpu.backend import Backend

S = TypeVar("S")
T = TypeVar("T")


class Start(Protocol):
    """Starts a piece of work; gives a function that waits for what comes of it."""

    def __call__(self, work: Callable[[], T], /) -> Callable[[], T]:
        """Start it."""


class _Here(threading.local):
    """Whether this thread works for another: it then does by itself whatever it would hand on, and waits for nobody."""

    working = False


_HERE = _Here()
_POOLS: dict[int, ThreadPoolExecutor] = {}
_LOCK = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOLS.clear)  # threads are not forked


def spread(backend: Backend, work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """Call a function on every item, on as many threads as the backend has workers; results in order.

    Items are made while others are worked on, a few of them ahead. For work that releases the interpreter's lock:
    sparse products, large element-wise operations.

    Examples
    --------
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> list(spread(CpuBackend(), abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    workers = _free(backend)
    if workers == 1:
        yield from map(work, items)
        return
    coming = iter(items)
    first = list(islice(coming, 2))
    if len(first) == 1:  # not worth a thread
        yield work(first[0])
        return
    pool, waiting = _pool(workers), deque[Future[T]]()
    try:
        for item in chain(first, coming):
            if len(waiting) == 2 * workers:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, item))
        while waiting:
            yield waiting.popleft().result()
    finally:
        _call_back(waiting)


@contextmanager
def errands(backend: Backend) -> Iterator[Start]:
    """Start pieces of work that go on while the caller does something else; none goes on after this.

    With one worker each is done at once, when it is started.

    Examples
    --------
    >>> from herald_gpu.backend.cpu import CpuBackend
    >>> with errands(CpuBackend()) as start:
    ...     found = [start(lambda: sum(range(10))), start(lambda: max(3, 5))]
    ...     [one() for one in found]
    [45, 5]
    """
    workers, sent = _free(backend), list[Future[Any]]()

    def start(work: Callable[[], T]) -> Callable[[], T]:
        if workers == 1:
            found = work()
            return lambda: found
        sent.append(_pool(workers).submit(work))
        return sent[-1].result

    try:
        yield start
    finally:
        _call_back(sent)


def _free(backend: Backend) -> int:
    """Threads that may be given work from here."""
    return 1 if _HERE.working else max(1, backend.workers)


def _pool(workers: int) -> ThreadPoolExecutor:
    """Threads that wait for work: starting them takes longer than many a piece of it."""
    with _LOCK:
        if workers not in _POOLS:
            _POOLS[workers] = ThreadPoolExecutor(workers, thread_name_prefix="herald", initializer=_work_here)
        return _POOLS[workers]


def _work_here() -> None:
    _HERE.working = True


def _call_back(sent: Iterable[Future[T]]) -> None:
    """Wait for what has begun, and have nothing else begin."""
    left = [future for future in sent if not future.cancel()]
    wait(left)
