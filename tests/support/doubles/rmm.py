"""Doubles of RMM: one pool that CuPy can allocate from."""

from __future__ import annotations

STATE = {"pool": None, "options": None}


def reinitialize(
    pool_allocator=False,
    managed_memory=False,
    initial_pool_size=None,
    maximum_pool_size=None,
    devices=0,
    logging=False,
    log_file_name=None,
):
    import cupy

    if STATE["pool"] is not None and STATE["pool"].used_bytes():
        msg = "memory of the previous allocator is still in use: undefined behaviour"
        raise RuntimeError(msg)
    if initial_pool_size or maximum_pool_size or devices or logging or log_file_name:
        msg = "pool sizes, devices and logging are not modelled"
        raise NotImplementedError(msg)
    STATE["pool"] = cupy.cuda.MemoryPool()
    STATE["options"] = {"pool_allocator": pool_allocator, "managed_memory": managed_memory}


def rmm_cupy_allocator(nbytes):
    if STATE["pool"] is None:
        reinitialize()
    return STATE["pool"].malloc(nbytes)
