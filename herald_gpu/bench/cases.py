"""What is measured: a case is one task with its options, run in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TIMEOUT = 7200.0


@dataclass(frozen=True)
class Case:
    """One measurement.

    Attributes
    ----------
    name : str
        Unique in its section.
    task : str
        ``module:function`` below :mod:`herald_gpu.bench.tasks`; takes the options, gives a dict for JSON.
    options : dict
        JSON-able; results are kept with them, and are measured anew where they differ.
    timeout : float
        Seconds after which it counts as failed.
    """

    name: str
    task: str
    options: dict[str, Any] = field(default_factory=dict)
    timeout: float = TIMEOUT
