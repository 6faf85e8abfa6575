"""Doubles of dask-cuda and dask-cudf: workers of this process, and tables whose partitions are of the cuDF double."""

from __future__ import annotations

from support.doubles import cudf


class LocalCUDACluster:
    """Starts threads of this process for workers: doubles of RAPIDS would not be there in others."""

    def __init__(  # noqa: PLR0917 - the signature of the wheel
        self,
        CUDA_VISIBLE_DEVICES=None,
        n_workers=None,
        threads_per_worker=1,
        memory_limit="auto",
        device_memory_limit="default",
        enable_cudf_spill=False,
        cudf_spill_stats=0,
        local_directory=None,
        protocol=None,
        enable_tcp_over_ucx=None,
        enable_infiniband=None,
        enable_nvlink=None,
        enable_rdmacm=None,
        rmm_pool_size=None,
        rmm_maximum_pool_size=None,
        rmm_managed_memory=False,
        rmm_async=False,
        rmm_allocator_external_lib_list=None,
        rmm_release_threshold=None,
        rmm_log_directory=None,
        rmm_track_allocations=False,
        log_spilling=False,
        pre_import=None,
        **kwargs,
    ):
        taken = ("self", "n_workers", "threads_per_worker", "memory_limit", "enable_cudf_spill", "kwargs")
        defaults = {"device_memory_limit": "default", "cudf_spill_stats": 0}
        for name, value in list(locals().items()):
            if (
                name not in taken
                and name not in ("taken", "defaults")
                and value not in (None, False, defaults.get(name))
            ):
                msg = f"{name} not modelled"
                raise NotImplementedError(msg)
        if kwargs or threads_per_worker != 1 or not enable_cudf_spill:
            msg = "other workers than those of one thread that spill are not modelled"
            raise NotImplementedError(msg)
        from distributed import LocalCluster

        self._cluster = LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=memory_limit,
            processes=False,
            dashboard_address=":0",
        )

    def __enter__(self):
        return self._cluster.__enter__()

    def __exit__(self, *given):
        return self._cluster.__exit__(*given)


class _Table:
    """A lazy table: what it says of itself, and partitions to be computed."""

    __module__ = "dask_cudf"

    def __init__(self, table):
        self._table = table
        self._meta = cudf.DataFrame(table._meta)

    columns = property(lambda self: self._table.columns)
    npartitions = property(lambda self: self._table.npartitions)

    def __getitem__(self, names):
        return _Table(self._table[names])

    def to_delayed(self):
        import dask

        return [dask.delayed(cudf.DataFrame)(part) for part in self._table.to_delayed()]


def read_parquet(*args, **kwargs):
    """As dask_cudf has it: whatever Dask takes."""
    import dask.dataframe as dd

    return _Table(dd.read_parquet(*args, **kwargs))
