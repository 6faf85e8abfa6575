"""Device memory that comes from RMM: set up, how much of it is left, and the most that a run held at once.

RMM resources stand on each other; a statistics adaptor counts what passes through it. The pool itself tells its size
but not how much of it is in use, so that an adaptor above it must say.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import cupy as cp

if TYPE_CHECKING:
    from collections.abc import Iterator

MANAGED_FLOOR = 8
"""Managed memory never runs out: at least the device's memory divided by this can be had, at the cost of spilling."""


def use_rmm(*, managed: bool) -> None:
    """Give CuPy and RAPIDS one counted allocator: a pool, or managed memory (a pool of that cannot spill well)."""
    import rmm
    import rmm.mr
    from rmm.allocators.cupy import rmm_cupy_allocator

    rmm.reinitialize(pool_allocator=not managed, managed_memory=managed, devices=int(cp.cuda.runtime.getDevice()))
    counter = rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource())
    rmm.mr.set_current_device_resource(counter)
    cp.cuda.set_allocator(rmm_cupy_allocator)


def in_use() -> bool:
    """Tell whether CuPy allocates from RMM, whoever set that up; RMM is not imported for it."""
    module = sys.modules.get("rmm.allocators.cupy")
    return module is not None and cp.cuda.get_allocator() is module.rmm_cupy_allocator


def obtainable(free: int, total: int) -> int:
    """Bytes that RMM can still hand out on a device with so many bytes free, of so many in total."""
    import rmm.mr

    layers = list(_layers(rmm.mr.get_current_device_resource()))
    inside, limit = 0, None
    for place, one in enumerate(layers):
        if isinstance(one, rmm.mr.LimitingResourceAdaptor):
            limiter = one
            limit = int(limiter.get_allocation_limit()) - int(limiter.get_allocated_bytes())
        elif isinstance(one, rmm.mr.PoolMemoryResource):
            pool = one
            inside = _free_inside(int(pool.pool_size()), layers[:place])
        elif isinstance(one, rmm.mr.ManagedMemoryResource):
            used = _in_use(layers[:place])
            free = max(free, total // MANAGED_FLOOR, 0 if used is None else total - used)
    room = free + inside
    return max(0, room if limit is None else min(room, limit))


def _layers(resource: Any) -> Iterator[Any]:  # noqa: ANN401 - an RMM resource
    """Walk from the resource that is asked first down to the device."""
    while resource is not None:
        yield resource
        layer = resource
        resource = layer.get_upstream() if hasattr(layer, "get_upstream") else None


def _counters(layers: list[Any]) -> list[Any]:
    import rmm.mr

    return [layer for layer in layers if isinstance(layer, rmm.mr.StatisticsResourceAdaptor)]


def _in_use(above: list[Any]) -> int | None:
    """Bytes handed out through a counter that is older than this run; None if there is none."""
    for counter in _counters(above):
        if counter is not GAUGE.counter:
            return max(0, int(counter.allocation_counts.current_bytes))
    return None


def _free_inside(size: int, above: list[Any]) -> int:
    """Free bytes of a pool.

    Where nobody counted from the beginning, what this run has given back is known to be free; the rest is not.
    """
    used = _in_use(above)
    if used is not None:
        return max(0, size - used)
    counter = GAUGE.counter
    if counter is None or not any(layer is counter for layer in above):
        return 0
    counted = counter.allocation_counts
    return min(size, max(0, int(counted.peak_bytes) - int(counted.current_bytes)))


class Gauge:
    """Counts what a run takes from RMM.

    Its adaptor stands on top of the caller's resources while a stage runs, and is taken away again: what the caller
    has set up stays as it was, and whoever else allocates in the meantime is counted too.
    """

    def __init__(self) -> None:
        self.counter: Any = None
        self._held, self._pushed, self._hooked = 0, False, False

    def reset(self) -> None:
        """Start a run: peaks of earlier ones are forgotten."""
        if self._pushed:
            counter = self.counter
            counter.pop_counters()
        self._pushed = False

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count inside the block, if CuPy allocates from RMM."""
        if not in_use():
            yield
            return
        import rmm.mr

        below = rmm.mr.get_current_device_resource()
        if below is self.counter:  # a stage within a stage
            yield
            return
        self._stand_on(below)
        rmm.mr.set_current_device_resource(self.counter)
        try:
            yield
        finally:
            if rmm.mr.get_current_device_resource() is self.counter:
                rmm.mr.set_current_device_resource(below)

    def peak(self) -> int | None:
        """Most bytes that were handed out at once since the last reset; None if RMM was not asked."""
        if not self._pushed:
            return None
        counter = self.counter
        return self._held + max(0, int(counter.allocation_counts.peak_bytes))

    def _stand_on(self, below: Any) -> None:  # noqa: ANN401 - an RMM resource
        import rmm
        import rmm.mr

        if not self._hooked:  # a pool that is held on to would not give its memory back
            rmm.register_reinitialize_hook(self._let_go)
            self._hooked = True
        layer = self.counter
        if layer is None or layer.get_upstream() is not below:
            self.counter, self._pushed = rmm.mr.StatisticsResourceAdaptor(below), False
        if not self._pushed:
            counter = self.counter
            counter.push_counters()
            self._held, self._pushed = _in_use(list(_layers(below))) or 0, True

    def _let_go(self) -> None:
        self.counter, self._pushed = None, False


GAUGE = Gauge()
"""One for the process: RMM has one resource a device."""
