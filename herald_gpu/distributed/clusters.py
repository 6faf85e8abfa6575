"""Workers for the command line: some of this machine, or those of a scheduler that is there."""

from __future__ import annotations

import json
import logging
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import ClusterError, ConfigError, InputError
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import BackendName

logger = logging.getLogger("herald_gpu")
ENDINGS = (".parquet", ".pq")
WAIT = 60.0
"""Seconds that a scheduler and its workers have to come up."""


@contextmanager
def open_client(
    workers: int | None,
    scheduler: str | None,
    *,
    backend: BackendName,
    memory: str = "auto",
    at_least: int | None = None,
    wait: float | None = None,
) -> Iterator[Any]:
    """Give an active Client.

    Parameters
    ----------
    workers : int, optional
        Start so many worker processes on this machine: one for each GPU where there are some.
    scheduler : str, optional
        Address of a scheduler, such as ``tcp://host:8786``, or path of a scheduler file.
    backend : {"auto", "cpu", "rapids"}
    memory : str
        Limit of each worker that is started, such as ``4GB``.
    at_least : int, optional
        Workers of the scheduler that must be there before anything begins; 1 by default.
    wait : float, optional
        Seconds that the scheduler and those workers have to come up; `WAIT` by default.
    """
    library("distributed", "dask")
    if (workers is None) == (scheduler is None):
        msg = "pass either --workers N, to start some on this machine, or --scheduler ADDRESS, to use those of another"
        raise ConfigError(msg)
    if workers is not None and workers < 1:
        msg = f"--workers {workers} is not valid: pass 1 or more"
        raise ConfigError(msg)
    if scheduler is None and (at_least is not None or wait is not None):
        msg = "--min-workers and --wait are for --scheduler ADDRESS: workers that are started here are waited for"
        raise ConfigError(msg)
    at_least, wait = 1 if at_least is None else at_least, WAIT if wait is None else wait
    if at_least < 1:
        msg = f"--min-workers {at_least} is not valid: pass 1 or more"
        raise ConfigError(msg)
    if not wait > 0:
        msg = f"--wait {wait:g} is not valid: pass seconds, more than 0"
        raise ConfigError(msg)
    from distributed import Client

    if scheduler is None:
        with _ended(_cluster(workers, backend, memory)) as cluster, Client(cluster) as client:
            yield client
        return
    with _reached(scheduler, at_least, wait) as client:
        yield client


@contextmanager
def _reached(scheduler: str, at_least: int, wait: float) -> Iterator[Any]:
    """Connect to a scheduler that is there, or about to be, and wait for its workers."""
    from distributed import Client

    end = time.monotonic() + wait
    try:
        client = Client(_address(scheduler, end, wait), timeout=_left(end))
    except (OSError, TimeoutError, ValueError) as error:
        msg = f"--scheduler {scheduler} does not answer ({error}): start one with 'dask scheduler', and workers for it"
        raise ClusterError(msg, stage="reading") from error
    with client:
        try:
            client.wait_for_workers(at_least, timeout=_left(end))
        except TimeoutError as error:
            there = len(client.scheduler_info(n_workers=-1)["workers"])
            msg = (
                f"--scheduler {scheduler} has {there} of {at_least} workers after {wait:g} s: start more "
                "with 'dask worker' (on GPUs 'dask cuda worker'), or pass another --min-workers or --wait"
            )
            raise ClusterError(msg, stage="reading") from error
        yield client


def _address(scheduler: str, end: float, wait: float) -> str:
    """Give the address that a scheduler file holds, as soon as it does; any other text is an address itself."""
    file = Path(scheduler)
    if not file.is_file() and file.suffix != ".json":
        return scheduler
    while True:
        try:
            return str(json.loads(file.read_text("utf-8"))["address"])
        except (OSError, ValueError, TypeError, KeyError) as error:  # not there yet, or not yet whole
            if time.monotonic() > end:
                msg = (
                    f"--scheduler {scheduler} names no scheduler after {wait:g} s: "
                    f"'dask scheduler --scheduler-file {scheduler}' writes it"
                )
                raise ClusterError(msg, stage="reading") from error
        time.sleep(0.05)


def _left(end: float) -> float:
    """Seconds until then; never so few that nothing could answer."""
    return max(1.0, end - time.monotonic())


@contextmanager
def _ended(cluster: Any) -> Iterator[Any]:  # noqa: ANN401 - a cluster of Dask
    """End workers at last; one that takes too long to end must not cost the result that it worked for."""
    opened = cluster.__enter__()
    try:
        yield opened
    finally:
        try:
            cluster.__exit__(None, None, None)
        except TimeoutError:
            logger.warning("workers did not end in time: they may still run for a while")


def _cluster(workers: int | None, backend: BackendName, memory: str) -> Any:  # noqa: ANN401 - a cluster of Dask
    from distributed import LocalCluster

    if on_gpus(backend):
        from herald_gpu.backend.multi import cuda_cluster

        return cuda_cluster(workers, memory)
    return LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, memory_limit=memory, dashboard_address=":0"
    )


def on_gpus(backend: BackendName) -> bool:
    """Tell whether workers of this machine run on its GPUs."""
    if backend == "cpu":
        return False
    from herald_gpu.backend.probe import probe

    return backend == "rapids" or probe().available


def read_folder(path: Path, *, backend: BackendName = "cpu") -> Any:  # noqa: ANN401 - a Dask table
    """Open a Parquet file, or a folder of them, as a Dask table.

    Parameters
    ----------
    path : Path
        Files of a folder are read in the order of their names.
    backend : {"auto", "cpu", "rapids"}
        Where workers run. Tables are read into device memory if this machine has a GPU too, as cuDF must open them
        here; else workers with GPUs read them on their hosts.
    """
    files = sorted(str(file) for file in path.iterdir() if file.suffix.lower() in ENDINGS) if path.is_dir() else []
    if not files and path.suffix.lower() in ENDINGS and path.is_file():
        files = [str(path)]
    if not files:
        msg = f"{path} is neither a .parquet file nor a folder with some: workers read nothing else"
        raise InputError(msg)
    if backend != "cpu" and on_gpus("auto"):
        from herald_gpu.backend.multi import read_tables

        return read_tables(files)
    library("pyarrow", "arrow")
    return library("dask.dataframe", "dask").read_parquet(files)
