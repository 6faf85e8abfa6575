"""Doubles of RMM: resources that stand on each other, and the allocator that CuPy takes from them.

A buffer remembers the resource it came from and gives itself back there, whatever is current by then; a pool hands
out what it has before it grows, and never shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass

POOL_SHARE = 0.5
"""Share of free memory that a pool takes at first, where no size is given."""


@dataclass
class Statistics:
    current_bytes: int = 0
    current_count: int = 0
    peak_bytes: int = 0
    peak_count: int = 0
    total_bytes: int = 0
    total_count: int = 0

    def add(self, nbytes):
        self.current_bytes, self.current_count = self.current_bytes + nbytes, self.current_count + 1
        self.total_bytes, self.total_count = self.total_bytes + nbytes, self.total_count + 1
        self.peak_bytes = max(self.peak_bytes, self.current_bytes)
        self.peak_count = max(self.peak_count, self.current_count)

    def take(self, nbytes):
        self.current_bytes, self.current_count = self.current_bytes - nbytes, self.current_count - 1

    def absorb(self, inner):
        """Take over the counters above, as the C++ side does when they are popped."""
        self.peak_bytes = max(self.peak_bytes, self.current_bytes + inner.peak_bytes)
        self.peak_count = max(self.peak_count, self.current_count + inner.peak_count)
        for name in ("current_bytes", "current_count", "total_bytes", "total_count"):
            setattr(self, name, getattr(self, name) + getattr(inner, name))


class DeviceMemoryResource:
    """What holds memory: here objects of CuPy, which free themselves when they are let go."""

    def allocate(self, nbytes):
        raise NotImplementedError

    def deallocate(self, ptr, nbytes):
        raise NotImplementedError


class CudaMemoryResource(DeviceMemoryResource):
    def __init__(self):
        self.blocks = {}

    def allocate(self, nbytes):
        import cupy

        memory = cupy.cuda.memory.Memory(nbytes)
        self.blocks[memory.ptr] = memory
        return memory.ptr

    def deallocate(self, ptr, nbytes):
        if self.blocks.pop(ptr).size != nbytes:
            msg = "given back with another size"
            raise RuntimeError(msg)


class ManagedMemoryResource(CudaMemoryResource):
    pass


class UpstreamResourceAdaptor(DeviceMemoryResource):
    def __init__(self, upstream_mr):
        if not isinstance(upstream_mr, DeviceMemoryResource):
            msg = "Argument 'upstream_mr' must not be None"
            raise TypeError(msg)
        self.upstream_mr = upstream_mr

    def get_upstream(self):
        return self.upstream_mr

    def allocate(self, nbytes):
        return self.upstream_mr.allocate(nbytes)

    def deallocate(self, ptr, nbytes):
        self.upstream_mr.deallocate(ptr, nbytes)


class PoolMemoryResource(UpstreamResourceAdaptor):
    """Its size is book-keeping: memory comes from upstream when it is asked for."""

    def __init__(self, upstream_mr, initial_pool_size=None, maximum_pool_size=None):
        import cupy

        super().__init__(upstream_mr)
        free, _ = cupy.cuda.runtime.memGetInfo()
        self.size = int(POOL_SHARE * free) if initial_pool_size is None else initial_pool_size
        self.most, self.used = maximum_pool_size, 0

    def pool_size(self):
        return self.size

    def allocate(self, nbytes):
        if self.most is not None and self.used + nbytes > self.most:
            msg = "std::bad_alloc: out_of_memory: RMM failure: Maximum pool size exceeded"
            raise MemoryError(msg)
        self.used += nbytes
        self.size = max(self.size, self.used)
        return self.upstream_mr.allocate(nbytes)

    def deallocate(self, ptr, nbytes):
        self.used -= nbytes
        self.upstream_mr.deallocate(ptr, nbytes)


class LimitingResourceAdaptor(UpstreamResourceAdaptor):
    def __init__(self, upstream_mr, allocation_limit):
        super().__init__(upstream_mr)
        self.limit, self.used = allocation_limit, 0

    def get_allocated_bytes(self):
        return self.used

    def get_allocation_limit(self):
        return self.limit

    def allocate(self, nbytes):
        if self.used + nbytes > self.limit:
            msg = "std::bad_alloc: out_of_memory: Exceeded memory limit"
            raise MemoryError(msg)
        self.used += nbytes
        return self.upstream_mr.allocate(nbytes)

    def deallocate(self, ptr, nbytes):
        self.used -= nbytes
        self.upstream_mr.deallocate(ptr, nbytes)


class StatisticsResourceAdaptor(UpstreamResourceAdaptor):
    def __init__(self, upstream_mr):
        super().__init__(upstream_mr)
        self.stack = [Statistics()]

    @property
    def allocation_counts(self):
        return Statistics(**vars(self.stack[-1]))

    def push_counters(self):
        before = self.allocation_counts
        self.stack.append(Statistics())
        return before

    def pop_counters(self):
        if len(self.stack) == 1:
            msg = "cannot pop the last allocation counter pair"
            raise IndexError(msg)
        popped = self.stack.pop()
        self.stack[-1].absorb(popped)
        return popped

    def allocate(self, nbytes):
        pointer = self.upstream_mr.allocate(nbytes)
        self.stack[-1].add(nbytes)
        return pointer

    def deallocate(self, ptr, nbytes):
        self.upstream_mr.deallocate(ptr, nbytes)
        self.stack[-1].take(nbytes)


class DeviceBuffer:
    """Memory that goes back to where it came from."""

    def __init__(self, nbytes):
        self.size, self.mr = nbytes, get_current_device_resource()
        self.ptr = self.mr.allocate(nbytes) if nbytes else 0

    def __del__(self):
        if self.ptr:
            self.mr.deallocate(self.ptr, self.size)


STATE = {"current": CudaMemoryResource(), "hooks": []}


def get_current_device_resource():
    return STATE["current"]


def set_current_device_resource(mr):
    if not isinstance(mr, DeviceMemoryResource):
        msg = f"Argument 'mr' has incorrect type (got {type(mr).__name__})"
        raise TypeError(msg)
    STATE["current"] = mr


def register_reinitialize_hook(func, *args, **kwargs):
    STATE["hooks"].append((func, args, kwargs))
    return func


def reinitialize(
    pool_allocator=False,
    managed_memory=False,
    initial_pool_size=None,
    maximum_pool_size=None,
    devices=0,
    logging=False,
    log_file_name=None,
):
    if devices != 0 or logging or log_file_name:
        msg = "other devices and logging are not modelled"
        raise NotImplementedError(msg)
    base = STATE["current"]
    while isinstance(base, UpstreamResourceAdaptor):
        base = base.get_upstream()
    if base.blocks:
        msg = "memory of the previous allocator is still in use: undefined behaviour"
        raise RuntimeError(msg)
    for func, args, kwargs in reversed(STATE["hooks"]):
        func(*args, **kwargs)
    base = ManagedMemoryResource() if managed_memory else CudaMemoryResource()
    sizes = (initial_pool_size, maximum_pool_size)
    STATE["current"] = PoolMemoryResource(base, *sizes) if pool_allocator else base


def rmm_cupy_allocator(nbytes):
    import cupy

    buffer = DeviceBuffer(nbytes)
    device = -1 if buffer.ptr else cupy.cuda.device.get_device_id()
    memory = cupy.cuda.UnownedMemory(ptr=buffer.ptr, size=buffer.size, owner=buffer, device_id=device)
    return cupy.cuda.memory.MemoryPointer(memory, 0)
