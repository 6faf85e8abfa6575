"""Other condensers, with one signature and under the same storage rule.

`run(name, ...)` reads a graph as :func:`herald_gpu.condense` does and gives a :class:`BaselineResult` that takes at
most the share of storage that was asked for. Nothing here loads torch; only `gdem` needs it, and only when it is run.
"""

from __future__ import annotations

from herald_gpu.baselines.front import NAMES, run
from herald_gpu.baselines.result import BaselineResult

__all__ = ["NAMES", "BaselineResult", "run"]
