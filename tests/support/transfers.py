"""Count what CuPy brings to the host: every way there is ends in `ndarray.get`."""

from __future__ import annotations

import dis
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import herald_gpu
from herald_gpu.pipeline import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PACKAGE = str(Path(herald_gpu.__file__).parent)
FEW = 8
"""CuPy checks the bounds of a new sparse matrix with one transfer of four numbers."""
SELECTION = frozenset({"BINARY_SUBSCR", "STORE_SUBSCR"})
"""``x[mask]``: CuPy reads how many entries the mask selects, in compiled code that leaves no frame of its own."""


@dataclass
class Transfers:
    """Transfers to the host that our code asked for.

    Attributes
    ----------
    arrays : Counter
        Whole arrays, by file and line of ours.
    scalars : Counter
        Single numbers (``int``, ``float``, ``bool``, ``item``), by file and line of ours.
    inside : Counter
        Numbers that CuPy reads within one of its own functions, such as the length of a selection.
    asked_in, inside_in : Counter
        The first two together, and the third, by stage; "" outside of stages.
    largest : int
        Values of the largest transfer.
    """

    arrays: Counter[str] = field(default_factory=Counter)
    scalars: Counter[str] = field(default_factory=Counter)
    inside: Counter[str] = field(default_factory=Counter)
    asked_in: Counter[str] = field(default_factory=Counter)
    inside_in: Counter[str] = field(default_factory=Counter)
    largest: int = 0
    stage: str = ""

    def note(self, size: int) -> None:
        """Tell who asked: the caller itself, and the nearest of our own functions behind it."""
        frame = caller = sys._getframe(2)
        while frame is not None and not frame.f_code.co_filename.startswith(PACKAGE):
            if "doubles" in frame.f_code.co_filename or "support" in frame.f_code.co_filename:
                return  # the real library would have stayed on the device
            frame = frame.f_back
        if frame is None:
            return
        self.largest = max(self.largest, size)
        place = f"{Path(frame.f_code.co_filename).relative_to(PACKAGE)}:{frame.f_lineno}"
        if frame is caller and not _selects(frame):
            kind = self.arrays if size > 1 else self.scalars
        else:
            kind = self.arrays if size > FEW else self.inside
        kind[place] += 1
        (self.inside_in if kind is self.inside else self.asked_in)[self.stage] += 1


def _selects(frame: FrameType) -> bool:
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in SELECTION


@contextmanager
def counted_on_device() -> Iterator[Transfers]:
    """Count the transfers made inside the block."""
    import cupy

    made, get, stage = Transfers(), cupy.ndarray.get, Clock.stage

    def counting(self, *args, **kwargs):
        made.note(self.size)
        return get(self, *args, **kwargs)

    @contextmanager
    def named(self, name):
        made.stage = name
        with stage(self, name):
            yield
        made.stage = ""

    cupy.ndarray.get, Clock.stage = counting, named
    try:
        yield made
    finally:
        Clock.stage = stage
        del cupy.ndarray.get
        if cupy.ndarray.get is not get:  # it was defined there, not inherited
            cupy.ndarray.get = get
