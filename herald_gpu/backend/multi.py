"""Several GPUs of one machine: a Dask worker for each, and tables read into their memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.backend.probe import installed_versions
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from collections.abc import Sequence


def cuda_cluster(n_workers: int | None, memory: str) -> Any:  # noqa: ANN401 - dask_cuda.LocalCUDACluster
    """Start a worker for each GPU, or for so many of them.

    Parameters
    ----------
    n_workers : int, optional
        All GPUs by default.
    memory : str
        Limit of host memory of each, as Dask writes it.
    """
    library("dask_cuda", _extra())  # says how to get it
    from dask_cuda import LocalCUDACluster

    return LocalCUDACluster(n_workers=n_workers, threads_per_worker=1, memory_limit=memory, enable_cudf_spill=True)


def read_tables(files: Sequence[str]) -> Any:  # noqa: ANN401 - a dask_cudf table
    """Open Parquet files as a table whose partitions are read into device memory."""
    library("dask_cudf", _extra())
    import dask_cudf

    return dask_cudf.read_parquet(list(files))


def _extra() -> str:
    """Name the extra for several GPUs that goes with the CuPy that is installed."""
    return "multi-cu12" if "cupy-cuda12x" in installed_versions() else "multi-cu13"
