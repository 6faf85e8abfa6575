"""The page of the benchmark: targets, tables and figures, made of the stored results alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from herald_gpu.bench import draw, tables
from herald_gpu.bench.sections import SECTIONS
from herald_gpu.bench.targets import judge
from herald_gpu.errors import MissingDependencyError
from herald_gpu.experiments.markdown import NOTHING, table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from herald_gpu.bench.results import Results
    from herald_gpu.bench.targets import Verdict

logger = logging.getLogger("herald_gpu")
GIGA = 1e9
INTRODUCTION = """\
What every stage takes beside its **bare kernel**, the library calls that it cannot do without, timed in the same run
and taking turns with it. [How to read this](../performance.md) says what those are. Each case ran in a process of its
own; seconds are medians.
"""
QUICK = "**A quick run: sizes are small, and the targets are not judged.**\n"


def write_page(results: Results, folder: Path) -> list[Path]:
    """Write ``bench.md`` and its figures; gives the files.

    Parameters
    ----------
    results : Results
    folder : Path
        Figures go to its folder ``figures``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[tuple[str, Path]] = []
    try:
        drawn = draw.draw(results, folder / "figures")
    except MissingDependencyError as error:
        logger.warning("no figures: %s", error)
    page = folder / "bench.md"
    page.write_text(page_text(results, drawn), encoding="utf-8")
    return [page, *(path for _, path in drawn)]


def page_text(results: Results, drawn: Sequence[tuple[str, Path]] = ()) -> str:
    """Write the page."""
    parts = ["# Benchmark\n", INTRODUCTION]
    if results.quick:
        parts.append(QUICK)
    if not results.sections:
        return "\n".join([*parts, NOTHING])
    parts += ["## Targets\n", target_table(judge(results))]
    for name, section in SECTIONS.items():
        cases = results.cases(name)
        if not cases:
            continue
        parts += [f"## {name}\n", f"{section.about[0].upper()}{section.about[1:]}.\n"]
        parts.append(tables.section_table(name, {case: one for case, one in cases.items() if not _absent(one)}))
        gone = [f"- {case}: {why}" for case, one in cases.items() if (why := _absent(one))]
        if gone:
            parts.append("\n".join(["Left out:\n", *gone, ""]))
    shown = [f"![{caption}](figures/{path.name})\n" for caption, path in drawn if path.suffix == ".png"]
    if shown:
        parts += ["## Figures\n", *shown]
    return "\n".join([*parts, origin_text(results)])


def _absent(result: dict[str, Any]) -> str:
    return next((f"{state}: {result[state]}" for state in ("skipped", "failed") if state in result), "")


def target_table(verdicts: Sequence[Verdict]) -> str:
    """All targets with what was measured; reasons of those missed below."""
    lines, notes = [], {}
    for verdict in verdicts:
        target = verdict.target
        value = "" if verdict.value is None else target.told(verdict.value)
        mark = f"**{verdict.status}**" if verdict.status == "missed" else verdict.status
        what = f"{target.name}: {target.what}"
        lines.append([what, verdict.case, target.wanted, value, mark])
        if verdict.why and verdict.status == "missed":
            notes[target.name] = verdict.why
    text = table(["target", "case", "wanted", "measured", ""], lines, left=2)
    if notes:
        text += "\n" + "\n".join(f"- {name}: {why}" for name, why in notes.items()) + "\n"
    return text


def origin_text(results: Results) -> str:
    """Say where the results come from, and how to have them again."""
    lines = ["## Where this comes from\n"]
    found: dict[str, list[str]] = {}
    for section in results.sections:
        for facts in results.facts(section):
            size = facts.get("memory_bytes")
            memory = f", {size / GIGA:.0f} GB of memory" if size else ""
            versions = ", ".join(f"{name} {version}" for name, version in facts.get("versions", {}).items())
            told = f"{facts.get('machine')}{memory}; {versions}; commit {facts.get('commit') or 'unknown'}"
            found.setdefault(told, [])
            if section not in found[told]:
                found[told].append(section)
    for told, sections in found.items():
        lines.append(f"- {told} ({', '.join(sections)})")
    lines.append("- Results: [bench.json](bench.json)")
    lines.append("\n```sh\nherald bench --check --output again\n```\n")
    return "\n".join(lines)
