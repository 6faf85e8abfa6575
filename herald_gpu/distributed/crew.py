"""The Dask workers of a run: tasks are handed out by stage, partial results combined in a tree, bytes counted."""

from __future__ import annotations

import itertools
import logging
import threading
import uuid
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from herald_gpu.backend import get_backend
from herald_gpu.errors import ClusterError, HeraldError, MissingDependencyError
from herald_gpu.install import pip_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from herald_gpu.backend import Backend, BackendName

FAN_IN = 8
"""Partial results that are combined at a time."""
RETRIES = 2
"""How often a task is tried again that failed for another reason than its worker's death."""
logger = logging.getLogger("herald_gpu")
_one_at_a_time = threading.Lock()
_runs = itertools.count()


class Crew(Protocol):
    """Who does the work of a run: Dask workers, or in tests the caller itself.

    Attributes
    ----------
    stage : str
        What is being worked on; errors and the keys of tasks name it.
    n_workers : int
    memory : int
        Bytes that the smallest of them may take; 0 if there is no limit.
    """

    stage: str
    n_workers: int
    memory: int

    def submit(self, work: Callable[..., Any], *given: Any, near: Any = None) -> Any:  # noqa: ANN401 - futures
        """Have a function called as ``work(backend, *given)``, where `near` is held if that can be; gives a future."""
        ...

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """Wait for results and bring them here."""
        ...

    def bring(self, delayed: Sequence[Any]) -> list[Any]:
        """Have partitions of collections computed; gives futures."""
        ...

    def peaks(self) -> list[int]:
        """Peak memory of every worker, in bytes."""
        ...


class DaskCrew:
    """The workers of a `distributed.Client`.

    Parameters
    ----------
    client : distributed.Client
    backend : {"auto", "cpu", "rapids"}
        What each worker runs on; "auto" is decided on a worker, as the client's own machine may have no GPU.
    """

    def __init__(self, client: Any, backend: BackendName) -> None:  # noqa: ANN401 - distributed.Client
        self.client, self.stage = client, "reading"
        self._run, self._counted = f"{next(_runs)}-{uuid.uuid4().hex[:8]}", itertools.count()
        self._places: dict[str, list[str]] = {}
        self.backend: BackendName = "auto"
        workers = self._asked(client.scheduler_info, n_workers=-1)["workers"]
        self.n_workers = len(workers)
        self.memory = min((int(one["memory_limit"] or 0) for one in workers.values()), default=0)
        if self.n_workers == 0:
            msg = "the active Client has no worker: start some, or wait for them (client.wait_for_workers)"
            raise ClusterError(msg, stage=self.stage)
        if backend == "auto":
            backend = self.gather([self.submit(_name)])[0]
            logger.info("backend: %s on %d workers", backend, self.n_workers)
        self.backend = backend

    def submit(self, work: Callable[..., Any], *given: Any, near: Any = None) -> Any:  # noqa: ANN401 - futures
        """See :class:`Crew`."""
        there = self._place(near)
        key = f"herald-{self.stage}-{work.__name__.strip('_')}-{self._run}-{next(self._counted)}"
        return self._asked(
            self.client.submit,
            do,
            work,
            self.backend,
            self.stage,
            *given,
            key=key,
            retries=RETRIES,
            workers=there or None,
            allow_other_workers=bool(there),
        )

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """See :class:`Crew`."""
        return list(self._asked(self.client.gather, list(futures)))

    def bring(self, delayed: Sequence[Any]) -> list[Any]:
        """See :class:`Crew`."""
        return list(self._asked(self.client.compute, list(delayed)))

    def peaks(self) -> list[int]:
        """See :class:`Crew`."""
        found = self._asked(self.client.run, _peak)
        return [peak for peak in found.values() if peak is not None]

    def _place(self, near: Any) -> list[str]:  # noqa: ANN401 - a future
        """Where a future is held; asked once, as what is held seldom moves."""
        if near is None:
            return []
        if not self._places.get(near.key):
            from distributed import wait

            with self.client.as_current():  # or it would be the default client's
                self._asked(wait, [near])
            self._places[near.key] = list(self._asked(self.client.who_has, [near]).get(near.key, ()))
        return self._places[near.key]

    def _asked(self, ask: Callable[..., Any], *given: Any, **options: Any) -> Any:  # noqa: ANN401
        with told_plainly(self.stage):
            return ask(*given, **options)


@contextmanager
def told_plainly(stage: str) -> Iterator[None]:
    """Say in our words what went wrong on the cluster; errors that a worker raised on purpose pass."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except HeraldError:
        raise
    except KilledWorker as error:
        msg = (
            f"stage {stage!r}: {error.task} was given up after its workers died {error.allowed_failures + 1} times, "
            "as they do when memory runs out: give workers more memory or the collections more partitions"
        )
        raise ClusterError(msg, stage=stage) from error
    except (CancelledError, CommClosedError, OSError, TimeoutError) as error:
        said = " ".join(str(error).split())  # Dask's reason may take several lines
        msg = (
            f"stage {stage!r}: the scheduler of the active Client does not answer ({type(error).__name__}: {said}): "
            "start it again and call with the same resume= folder"
        )
        raise ClusterError(msg, stage=stage) from error


def active_client() -> Any:  # noqa: ANN401 - distributed.Client
    """Give the active Client, or say how to have one."""
    try:
        from distributed import get_client
    except ImportError as error:
        msg = f"Dask collections need dask.distributed, which is not installed: {pip_line('dask')}"
        raise MissingDependencyError(msg) from error
    try:
        return get_client()
    except ValueError as error:
        msg = "edges is a Dask collection but there is no active Client: make one first, client = Client(cluster)"
        raise ClusterError(msg, stage="reading") from error


def do(work: Callable[..., Any], backend: BackendName, stage: str, *given: Any) -> Any:  # noqa: ANN401
    """Run a task on a worker: one at a time, since kernels and BLAS use all of its threads themselves."""
    chosen = worker_backend(backend)
    with _one_at_a_time, chosen.stage(stage):
        return work(chosen, *given)


@cache
def worker_backend(name: BackendName) -> Backend:
    """Give the backend of this process."""
    return get_backend(name)


def reduce_tree(crew: Crew, merge: Callable[..., Any], parts: Sequence[Any]) -> Any:  # noqa: ANN401 - futures
    """Combine partial results, a few at a time; `merge` takes the backend and a list of them, in order."""
    while len(parts) > 1:
        groups = [parts[low : low + FAN_IN] for low in range(0, len(parts), FAN_IN)]
        parts = [crew.submit(merge, group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


def _name(backend: Backend) -> str:
    return backend.name


def _peak() -> int | None:
    return worker_backend("cpu").peak_memory()
