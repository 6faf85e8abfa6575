"""Run a case in a fresh process, and take what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from herald_gpu.bench.cases import Case

COLD = ("first:",)
"""Tasks that start processes of their own: nothing is warmed up for them."""


def measure_alone(case: Case) -> dict[str, Any]:
    """Measure a case in a process of its own.

    Returns
    -------
    dict
        What the task gave; or ``{"skipped": reason}`` where something is not here, ``{"failed": reason}`` where the
        process did not come to its end.
    """
    asked = json.dumps({"task": case.task, "options": case.options, "warm": not case.task.startswith(COLD)})
    command = [sys.executable, "-m", "herald_gpu.bench.worker"]
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, our own module
            command, input=asked, capture_output=True, text=True, check=False, timeout=case.timeout
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {case.timeout:g} s"}
    if done.returncode != 0:
        return {"failed": reason(done.returncode, done.stderr)}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def reason(code: int, said: str) -> str:
    r"""Say why a process failed.

    Examples
    --------
    >>> reason(-9, ""), reason(1, "Traceback\nValueError: no such thing\n")
    ('ended by signal 9, as when memory runs out', 'ValueError: no such thing')
    """
    if code < 0:
        return f"ended by signal {-code}, as when memory runs out"
    lines = said.strip().splitlines()
    return lines[-1] if lines else f"exit code {code}"
