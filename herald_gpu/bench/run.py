"""bench(): measure what is missing, keep it, and write the page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from herald_gpu.bench.alone import measure_alone
from herald_gpu.bench.facts import facts
from herald_gpu.bench.sections import SECTIONS
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herald_gpu.bench.results import Results

logger = logging.getLogger("herald_gpu")


def chosen(only: Sequence[str] | None) -> list[str]:
    """Give the sections to run, in their own order.

    Raises
    ------
    ConfigError
        If there is no such section.

    Examples
    --------
    >>> chosen(["peers", "fisher"])
    ['fisher', 'peers']
    """
    unknown = [name for name in only or () if name not in SECTIONS]
    if unknown:
        msg = f"{unknown[0]!r} is no section of the benchmark: pass some of {', '.join(SECTIONS)}"
        raise ConfigError(msg)
    return [name for name in SECTIONS if not only or name in only]


def bench(results: Results, sections: Sequence[str], *, again: bool = False) -> dict[str, int]:
    """Measure what is missing of some sections, case by case; each result is kept as soon as it is there.

    Parameters
    ----------
    results : Results
    sections : sequence of str
    again : bool
        Measure what is there anew.

    Returns
    -------
    dict
        How many cases were measured, were there already, were skipped, or failed.
    """
    tally = {"measured": 0, "there already": 0, "skipped": 0, "failed": 0}
    for section in sections:
        cases = SECTIONS[section].cases(results.quick)
        results.start(section, cases, again=again)
        for case in cases:
            if results.has(section, case):
                tally["there already"] += 1
                continue
            logger.info("%s: %s", section, case.name)
            now = facts()  # before: the load of the machine is to be that of others
            found = measure_alone(case)
            for state in ("skipped", "failed"):
                if state in found:
                    tally[state] += 1
                    logger.warning("%s: %s %s: %s", section, case.name, state, found[state])
                    break
            else:
                tally["measured"] += 1
            results.add(section, case, found, facts=now)
    return tally
