"""How much memory this process holds, and the most that it held since it was last asked to forget."""

from __future__ import annotations

import ctypes
import gc
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from herald_gpu.backend.cpu import CpuBackend

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
KIBIBYTE = 1024


def peak() -> int:
    """Most bytes resident at once, since :func:`forget` where the system can forget, else since the start."""
    return _status("VmHWM") or CpuBackend().peak_memory() or 0


def resident() -> int:
    """Bytes resident now; where the system does not say, the most there ever were."""
    return _status("VmRSS") or CpuBackend().peak_memory() or 0


def forget() -> bool:
    """Let the peak start over from what is resident now; False where the system has no such thing (Linux has)."""
    try:
        FORGET.write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def settle() -> None:
    """Collect garbage and give freed memory back, so that what is resident is what is held."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@dataclass
class Span:
    """Memory of a piece of work.

    Attributes
    ----------
    before, most : int
        Bytes resident before it, and the most during it.
    """

    before: int
    most: int = 0

    @property
    def grown(self) -> int:
        """Bytes that it took besides what was there."""
        return max(0, self.most - self.before)


@contextmanager
def watched() -> Iterator[Span]:
    """Watch the memory of what is done inside.

    Examples
    --------
    >>> with watched() as span:
    ...     held = bytearray(50_000_000)
    >>> span.grown >= 50_000_000 or span.before == span.most
    True
    """
    settle()
    forget()
    span = Span(resident())
    try:
        yield span
    finally:
        span.most = peak()


def _status(name: str) -> int | None:
    if not STATUS.is_file():
        return None
    for line in STATUS.read_text("ascii", "replace").splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * KIBIBYTE
    return None
