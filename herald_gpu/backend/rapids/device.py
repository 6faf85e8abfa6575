"""The device: how much room it has, and what to say when it runs out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import cupy as cp

from herald_gpu.backend.rapids import allocation
from herald_gpu.errors import InputError, OutOfMemory

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE_OF_FREE = 0.4
"""Share of free memory that one batch may take: workspaces inside cuML and cuGraph need the rest."""
LARGEST_INDEX = 2**31 - 1
SIGNS_OF_FULL_MEMORY = ("bad_alloc", "out_of_memory", "cudaErrorMemoryAllocation")
"""cuGraph hands on what RMM says in a plain RuntimeError, cuVS in an exception of its own."""


def free_bytes() -> int:
    """Device memory that can still be had: free on the device, and free in the pool that CuPy allocates from."""
    free, total = (int(value) for value in cp.cuda.runtime.memGetInfo())
    if allocation.in_use():
        return allocation.obtainable(free, total)
    return free + int(cp.get_default_memory_pool().free_bytes())


def peak_bytes() -> int | None:
    """Most memory that the run has had.

    From RMM: bytes handed out at once, workspaces of the libraries included. From CuPy's own pool: what the pool has
    taken from the device and keeps, which earlier runs may have driven up, and without those workspaces.
    """
    counted = allocation.GAUGE.peak()
    if counted is not None or allocation.in_use():
        return counted
    return int(cp.get_default_memory_pool().total_bytes()) or None


@contextmanager
def library_order() -> Iterator[None]:
    """Let a call of cuGraph or cuML wait for what is queued here, and what follows wait for it.

    Both work on the default stream of the thread. CuPy's default stream and that one wait for each other by themselves;
    a stream that the caller has made current may not. Theirs is then current during the call, since their wrappers make
    arrays with CuPy: cuGraph's are zeroed on the current stream and filled on theirs.
    """
    ours, theirs = cp.cuda.get_current_stream(), cp.cuda.Stream.ptds
    if ours.ptr == cp.cuda.Stream.null.ptr:
        yield
        return
    theirs.wait_event(ours.record())
    with theirs:
        yield
    ours.wait_event(theirs.record())


def batch_rows(bytes_per_row: int, n_rows: int) -> int:
    """Rows of a batch that takes at most its share of free memory (one at least)."""
    return max(1, min(n_rows, int(SHARE_OF_FREE * free_bytes()) // max(1, bytes_per_row)))


def check_index_width(count: int, what: str) -> None:
    """Refuse what 32-bit indices cannot address."""
    if count > LARGEST_INDEX:
        msg = f"{what} is {count}, more than 32-bit device indices can address ({LARGEST_INDEX}): condense it in parts"
        raise InputError(msg)


@contextmanager
def advice(stage: str) -> Iterator[None]:
    """Turn running out of device memory into an error that says where and what helps."""
    try:
        yield
    except Exception as error:
        if not _ran_out(error):
            raise
        msg = (
            f"out of device memory in stage {stage!r}: {error}. {free_bytes():,} bytes are free. Use fewer features "
            "(HeraldConfig(feature_count=...)), let memory spill with backend=get_backend('rapids', memory='managed'), "
            "or run backend='cpu'"
        )
        raise OutOfMemory(msg, stage=stage) from error


def _ran_out(error: Exception) -> bool:
    """Tell a device that is full from every other error."""
    if isinstance(error, cp.cuda.memory.OutOfMemoryError | MemoryError):
        return True
    from_library = isinstance(error, RuntimeError) or type(error).__module__.partition(".")[0] == "cuvs"
    return from_library and any(sign in str(error) for sign in SIGNS_OF_FULL_MEMORY)
