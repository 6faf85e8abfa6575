"""The device: how much room it has, and what to say when it runs out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import cupy as cp

from herald_gpu.errors import InputError, OutOfMemory

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARE_OF_FREE = 0.4
"""Share of free memory that one batch may take: workspaces inside cuML and cuGraph need the rest."""
LARGEST_INDEX = 2**31 - 1
SIGNS_OF_FULL_MEMORY = ("bad_alloc", "out_of_memory", "cudaErrorMemoryAllocation")
"""cuGraph hands on what RMM says in a plain RuntimeError."""


def use_rmm(*, managed: bool) -> None:
    """Give CuPy and RAPIDS one allocator: a pool, or managed memory (a pool of managed memory cannot spill well)."""
    import rmm
    from rmm.allocators.cupy import rmm_cupy_allocator

    rmm.reinitialize(pool_allocator=not managed, managed_memory=managed)
    cp.cuda.set_allocator(rmm_cupy_allocator)


def free_bytes() -> int:
    """Device memory that can still be had: free on the device, and free in CuPy's pool."""
    free, _ = cp.cuda.runtime.memGetInfo()
    return int(free) + int(cp.get_default_memory_pool().free_bytes())


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
    except (cp.cuda.memory.OutOfMemoryError, MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not any(sign in str(error) for sign in SIGNS_OF_FULL_MEMORY):
            raise
        msg = (
            f"out of device memory in stage {stage!r}: {error}. {free_bytes():,} bytes are free. Use fewer features "
            "(HeraldConfig(feature_count=...)), let memory spill with backend=get_backend('rapids', memory='managed'), "
            "or run backend='cpu'"
        )
        raise OutOfMemory(msg, stage=stage) from error
