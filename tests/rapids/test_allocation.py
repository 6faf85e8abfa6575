"""Memory from RMM: what is left of it, and the most that a run held at once."""

from __future__ import annotations

import numpy as np
import pytest
from support import doubles
from support.graphs import build, random_raw

from herald_gpu import HeraldConfig, get_backend
from herald_gpu.pipeline import Clock, run

MEGA = 1_000_000


@pytest.fixture
def rmm(rapids):
    """Give RMM with nothing set up; afterwards everything is as it was."""
    if not doubles.emulated():
        pytest.skip("the allocator of this process would be replaced")
    import rmm
    import rmm.mr

    from herald_gpu.backend.rapids import allocation

    cuda = rapids.xp.cuda
    allocator, resource = cuda.get_allocator(), rmm.mr.get_current_device_resource()
    yield rmm
    allocation.GAUGE._let_go()
    rmm.mr.set_current_device_resource(resource)
    cuda.set_allocator(allocator)


@pytest.fixture
def device(rapids):  # noqa: ARG001 - the module cannot be imported without CuPy
    from herald_gpu.backend.rapids import device

    return device


def own_pool(rapids, rmm, *, size=50 * MEGA, **options):
    """Set up RMM as a user does: a pool, and CuPy taking from it."""
    from rmm.allocators.cupy import rmm_cupy_allocator

    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=size, **options)
    rmm.mr.set_current_device_resource(pool)
    rapids.xp.cuda.set_allocator(rmm_cupy_allocator)
    return pool


def hold(rapids, n_bytes):
    return rapids.xp.zeros(n_bytes, dtype=np.uint8)


def on_the_device(rapids):
    """Bytes free on the device, whoever keeps a pool of them."""
    return rapids.xp.cuda.runtime.memGetInfo()[0]


# Set up by us


def test_a_pool_that_rapids_and_cupy_share(rmm):
    pooled = get_backend("rapids", memory="pool")
    counter = rmm.mr.get_current_device_resource()
    assert isinstance(counter, rmm.mr.StatisticsResourceAdaptor)
    assert isinstance(counter.get_upstream(), rmm.mr.PoolMemoryResource)
    held = hold(pooled, MEGA)
    assert counter.allocation_counts.current_bytes == MEGA
    assert int(held.sum()) == 0
    del held
    assert counter.allocation_counts.current_bytes == 0


def test_managed_memory(rmm):
    get_backend("rapids", memory="managed")
    counter = rmm.mr.get_current_device_resource()
    assert isinstance(counter.get_upstream(), rmm.mr.ManagedMemoryResource)


def test_what_a_pool_holds_is_free(rmm, device):
    pooled = get_backend("rapids", memory="pool")
    size = rmm.mr.get_current_device_resource().get_upstream().pool_size()
    before = device.free_bytes()
    assert before == on_the_device(pooled) + size
    held = hold(pooled, 3 * MEGA)
    assert device.free_bytes() == on_the_device(pooled) + size - 3 * MEGA
    del held
    assert device.free_bytes() == before


@pytest.mark.parametrize(
    ("free", "used", "room"),
    [
        (700, 100, 900),  # pages of others are not asked after: what this process does not hold can be had
        (950, 100, 950),
        (0, 990, 125),  # more than the device holds: spilling starts, and work goes on in batches of some size
    ],
)
def test_room_in_managed_memory(rmm, monkeypatch, free, used, room):
    from herald_gpu.backend.rapids import allocation

    get_backend("rapids", memory="managed")
    monkeypatch.setattr(allocation, "_in_use", lambda _: used)
    assert allocation.obtainable(free, 1000) == room
    assert isinstance(rmm.mr.get_current_device_resource(), rmm.mr.StatisticsResourceAdaptor)


# Set up by the caller


def test_cupy_on_its_own_is_recognised(rapids, rmm):
    from herald_gpu.backend.rapids import allocation

    assert not allocation.in_use()
    rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource()))
    assert not allocation.in_use(), "a pool that CuPy does not take from"
    own_pool(rapids, rmm)
    assert allocation.in_use()


def test_a_pool_that_is_counted_tells_what_is_free(rapids, rmm, device):
    pool = own_pool(rapids, rmm)
    rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(pool))
    held = hold(rapids, 20 * MEGA)
    assert device.free_bytes() == on_the_device(rapids) + 30 * MEGA
    with rapids.stage("features"):
        assert device.free_bytes() == on_the_device(rapids) + 30 * MEGA
    del held


def test_a_pool_that_nobody_counted_tells_what_the_run_gave_back(rapids, rmm, device):
    own_pool(rapids, rmm)
    before = hold(rapids, 20 * MEGA)
    rapids.start_run()
    with rapids.stage("features"):
        assert device.free_bytes() == on_the_device(rapids)
        taken = hold(rapids, 5 * MEGA)
        del taken
        assert device.free_bytes() == on_the_device(rapids) + 5 * MEGA
    assert device.free_bytes() == on_the_device(rapids), "outside of a stage nothing is known"
    del before


def test_a_limit_holds_whatever_is_free(rapids, rmm, device):
    pool = own_pool(rapids, rmm)
    rmm.mr.set_current_device_resource(rmm.mr.LimitingResourceAdaptor(pool, 8 * MEGA))
    held = hold(rapids, 3 * MEGA)
    assert device.free_bytes() == 5 * MEGA
    del held


def test_the_callers_resources_are_left_as_they_were(rapids, rmm):
    pool = own_pool(rapids, rmm)
    with rapids.stage("features"):
        assert rmm.mr.get_current_device_resource() is not pool
    assert rmm.mr.get_current_device_resource() is pool
    with pytest.raises(KeyError), rapids.stage("scoring"):
        raise KeyError
    assert rmm.mr.get_current_device_resource() is pool
    other = rmm.mr.CudaMemoryResource()
    with rapids.stage("pruning"):
        rmm.mr.set_current_device_resource(other)  # what somebody sets meanwhile stays
    assert rmm.mr.get_current_device_resource() is other


def test_a_pool_that_is_replaced_is_let_go(rapids, rmm):
    from herald_gpu.backend.rapids import allocation

    own_pool(rapids, rmm)
    with rapids.stage("features"):
        pass
    assert allocation.GAUGE.counter is not None
    rmm.reinitialize()
    assert allocation.GAUGE.counter is None


# Peaks


def test_the_peak_is_that_of_the_run(rapids, rmm):
    own_pool(rapids, rmm)
    peaks = []
    for megabytes in (7, 3):
        rapids.start_run()
        with rapids.stage("features"):
            first = hold(rapids, megabytes * MEGA)
        with rapids.stage("scoring"):
            second = hold(rapids, 2 * MEGA)
            del second
        del first
        with rapids.stage("assembly"):
            hold(rapids, MEGA)
        peaks.append(rapids.peak_memory())
    assert peaks == [9 * MEGA, 5 * MEGA]


def test_the_peak_counts_what_was_there_before_if_that_is_known(rmm):
    pooled = get_backend("rapids", memory="pool")
    given = hold(pooled, 4 * MEGA)
    pooled.start_run()
    with pooled.stage("features"):
        hold(pooled, 2 * MEGA)
    assert pooled.peak_memory() == 6 * MEGA
    assert rmm.mr.get_current_device_resource().allocation_counts.peak_bytes == 6 * MEGA
    del given


def test_no_peak_without_a_stage(rapids, rmm):
    own_pool(rapids, rmm)
    rapids.start_run()
    assert rapids.peak_memory() is None


@pytest.mark.parametrize("memory", ["pool", "managed"])
@pytest.mark.parametrize("preset", [HeraldConfig, HeraldConfig.paper], ids=["default", "paper"])
def test_a_run_reports_its_peak(rmm, preset, memory):
    backend = get_backend("rapids", memory=memory)
    config = preset(feature_count=10)
    graph = build(backend, random_raw("counts", 120, seed=1))
    counter = rmm.mr.get_current_device_resource()
    before = counter.allocation_counts.current_bytes
    assert before > 0
    run(backend, graph, 0.3, config, seed=0, clock=Clock(backend))
    assert before < backend.peak_memory() == counter.allocation_counts.peak_bytes
