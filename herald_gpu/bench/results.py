"""Results on disk: one JSON file, whole after every case, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import ConfigError, FileFormatError

if TYPE_CHECKING:
    from herald_gpu.bench.cases import Case

FORMAT = 1
NAME = "bench.json"


class Results:
    """What was measured, by section and case.

    Parameters
    ----------
    folder : path-like
        Where ``bench.json`` is, or is to be.
    quick : bool, optional
        Whether small sizes are measured; by default what the file holds.

    Raises
    ------
    FileFormatError
        If the file is not one of these.
    ConfigError
        If it holds the other kind of sizes.

    Examples
    --------
    >>> import tempfile
    >>> from herald_gpu.bench.cases import Case
    >>> results = Results(tempfile.mkdtemp(), quick=True)
    >>> case = Case("a", "first:first_result", {"repeats": 1})
    >>> results.add("first-result", case, {"seconds": 1.5}, facts={"commit": None})
    >>> again = Results(results.path.parent)
    >>> again.has("first-result", case), again.quick, again.cases("first-result")["a"]["seconds"]
    (True, True, 1.5)
    """

    def __init__(self, folder: str | os.PathLike[str], *, quick: bool | None = None) -> None:
        self.path = Path(folder) / NAME
        self._held: dict[str, Any] = {"format": FORMAT, "quick": bool(quick), "sections": {}}
        if not self.path.exists():
            return
        self._held = _read(self.path)
        if quick is not None and quick != self.quick and self._held["sections"]:
            kinds = ("full", "quick")
            msg = (
                f"{self.path} holds a {kinds[self.quick]} run, and this one is {kinds[quick]}: "
                "pass another --output, or move it away"
            )
            raise ConfigError(msg)
        self._held["quick"] = self.quick if quick is None else quick

    @property
    def quick(self) -> bool:
        """Whether sizes are small."""
        return bool(self._held["quick"])

    @property
    def sections(self) -> list[str]:
        """Sections of which anything was measured."""
        return list(self._held["sections"])

    def facts(self, section: str) -> list[dict[str, Any]]:
        """Machines and commits that a section was measured on, each once."""
        found: list[dict[str, Any]] = self._held["sections"].get(section, {}).get("facts", [])
        return found

    def cases(self, section: str) -> dict[str, dict[str, Any]]:
        """Results of a section by case; ``{"skipped": reason}`` or ``{"failed": reason}`` where there is none."""
        kept = self._held["sections"].get(section, {}).get("cases", {})
        return {name: one["result"] for name, one in kept.items()}

    def has(self, section: str, case: Case) -> bool:
        """Whether a case was measured with these very options; one that failed or was skipped was not."""
        kept = self._held["sections"].get(section, {}).get("cases", {}).get(case.name)
        if kept is None or kept["task"] != case.task or kept["options"] != _plain(case.options):
            return False
        return not {"skipped", "failed"} & set(kept["result"])

    def start(self, section: str, cases: list[Case], *, again: bool) -> None:
        """Drop what a section no longer has, or all of it."""
        if section not in self._held["sections"]:
            return
        kept, names = self._held["sections"][section], {case.name for case in cases}
        kept["cases"] = {} if again else {name: one for name, one in kept["cases"].items() if name in names}
        if not kept["cases"]:
            kept["facts"] = []

    def add(self, section: str, case: Case, result: dict[str, Any], *, facts: dict[str, Any]) -> None:
        """Keep a result, and write the file anew, all or nothing."""
        kept = self._held["sections"].setdefault(section, {"facts": [], "cases": {}})
        if facts not in kept["facts"]:
            kept["facts"].append(facts)
        kept["cases"][case.name] = {"task": case.task, "options": _plain(case.options), "result": result}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            part.write_text(self.to_json(), encoding="utf-8")
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)

    def to_json(self) -> str:
        """Everything as JSON."""
        return json.dumps(self._held, indent=1) + "\n"


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options as they come back from a file."""
    plain: dict[str, Any] = json.loads(json.dumps(options))
    return plain


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
        good = found["format"] == FORMAT and isinstance(found["quick"], bool)
        for section in found["sections"].values():
            good = good and isinstance(section["facts"], list)
            good = good and all({"task", "options", "result"} <= set(one) for one in section["cases"].values())
    except (ValueError, KeyError, TypeError, AttributeError):
        good = False
    if not good:
        msg = f"{path} holds no results of herald bench: move it away, or pass another --output"
        raise FileFormatError(msg)
    held: dict[str, Any] = found
    return held
