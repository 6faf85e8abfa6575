"""A cluster of worker processes on this machine, for the tests that need one."""

from __future__ import annotations

import warnings

import dask
import pytest


@pytest.fixture(scope="session", autouse=True)
def quick_timeouts():
    """Wait for what is lost no longer than a test should."""
    with dask.config.set(
        {
            "distributed.comm.timeouts.connect": "5s",
            "distributed.worker.memory.terminate": False,
            "distributed.admin.tick.limit": "60s",
        }
    ):
        yield


@pytest.fixture
def client():
    """Give a client of two worker processes with one thread each: its own to every test, as some lose workers."""
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="2GB"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
