"""Several GPUs of one machine: a Dask worker for each, and tables read into their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Sequence

MISSING = "{} is needed for several GPUs and is not installed: pip install 'herald-gpu[multi-cu13]' (or multi-cu12)"


def cuda_cluster(n_workers: int | None, memory: str) -> Any:  # noqa: ANN401 - dask_cuda.LocalCUDACluster
    """Start a worker for each GPU, or for so many of them.

    Parameters
    ----------
    n_workers : int, optional
        All GPUs by default.
    memory : str
        Limit of host memory of each, as Dask writes it.
    """
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError as error:
        raise MissingDependencyError(MISSING.format("dask_cuda")) from error
    return LocalCUDACluster(n_workers=n_workers, threads_per_worker=1, memory_limit=memory, enable_cudf_spill=True)


def read_tables(files: Sequence[str]) -> Any:  # noqa: ANN401 - a dask_cudf table
    """Open Parquet files as a table whose partitions are read into device memory."""
    try:
        import dask_cudf
    except ImportError as error:
        raise MissingDependencyError(MISSING.format("dask_cudf")) from error
    return dask_cudf.read_parquet(list(files))
