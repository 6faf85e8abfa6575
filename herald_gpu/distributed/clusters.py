"""Workers for the command line: some of this machine, or those of a scheduler that is there."""

from __future__ import annotations

import logging
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


@contextmanager
def open_client(
    workers: int | None, scheduler: str | None, *, backend: BackendName, memory: str = "auto"
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
    """
    library("distributed", "dask")
    if (workers is None) == (scheduler is None):
        msg = "pass either --workers N, to start some on this machine, or --scheduler ADDRESS, to use those of another"
        raise ConfigError(msg)
    if workers is not None and workers < 1:
        msg = f"--workers {workers} is not valid: pass 1 or more"
        raise ConfigError(msg)
    from distributed import Client

    if scheduler is None:
        with _ended(_cluster(workers, backend, memory)) as cluster, Client(cluster) as client:
            yield client
        return
    try:
        client = Client(scheduler_file=scheduler) if Path(scheduler).is_file() else Client(scheduler)
    except (OSError, TimeoutError, ValueError) as error:
        msg = f"--scheduler {scheduler} does not answer ({error}): start one with 'dask scheduler', and workers for it"
        raise ClusterError(msg, stage="reading") from error
    with client:
        yield client


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
        Where workers run: on GPUs tables are read into device memory.
    """
    files = sorted(str(file) for file in path.iterdir() if file.suffix.lower() in ENDINGS) if path.is_dir() else []
    if not files and path.suffix.lower() in ENDINGS and path.is_file():
        files = [str(path)]
    if not files:
        msg = f"{path} is neither a .parquet file nor a folder with some: workers read nothing else"
        raise InputError(msg)
    if on_gpus(backend):
        from herald_gpu.backend.multi import read_tables

        return read_tables(files)
    library("pyarrow", "arrow")
    return library("dask.dataframe", "dask").read_parquet(files)
