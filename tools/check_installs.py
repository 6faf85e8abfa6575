"""Resolve every pip line that this repository prints or runs, as a stranger's pip would; nothing is installed.

    python tools/check_installs.py            # lines without RAPIDS
    python tools/check_installs.py --all      # RAPIDS and every extra as well
    python tools/check_installs.py --list     # print the lines

pip runs isolated from this machine: no configuration, no variable PIP_*, no folder of wheels. It resolves for this
interpreter and this platform. uv then resolves the lines without RAPIDS for macOS 14 on Apple silicon, because pip
evaluates the markers of a requirement for the platform that it runs on. Neither downloads wheels: they read the
metadata of the index or, where it offers none, the end of each wheel.

HERALD_PIP_INDEX names an index to use in place of PyPI. Where none can be reached, the check says so and is skipped. It
fails if requirements contradict each other or cannot be found.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "notebooks/README.md", "docker/README.md")
AT_ONCE = 6  # they wait for the index most of the time
LONGEST = 900
MACOS = {"MACOSX_DEPLOYMENT_TARGET": "14.0"}
UNREACHABLE = re.compile(
    r"ConnectionError|NewConnection|ConnectTimeout|ReadTimeout|Max retries|Connection (broken|refused|reset)|ProxyError"
    r"|SSLError|name resolution|Network is unreachable|HTTP error 5|5\d\d Server Error|error sending request|dns error"
    r"|Failed to fetch|timed out"
)
Outcome = Literal["ok", "failed", "unreachable"]


@dataclass(frozen=True)
class Line:
    """What pip is asked to install.

    Attributes
    ----------
    words : tuple of str
        Requirements; `.` is this package.
    constraints : tuple of str
        Files of constraints.
    options : tuple of str
        Other options that change what is resolved.
    """

    words: tuple[str, ...]
    constraints: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def needs_rapids(self) -> bool:
        """Whether it asks for RAPIDS, which there is for Linux alone."""
        return any(re.search(r"cu(da)?1\d", word) for word in self.words)

    def __str__(self) -> str:
        limits = [f"--constraint {name}" for name in self.constraints]
        return " ".join(["pip install", *limits, *self.options, shlex.join(self.words)])


def parse(text: str) -> Line | None:
    """Read what follows `pip install`; None if it names nothing to install.

    Examples
    --------
    >>> print(parse("--quiet --constraint limits.txt --editable '.[dev]'  # and so on"))
    pip install --constraint limits.txt '.[dev]'
    """
    words: list[str] = []
    constraints: list[str] = []
    options: list[str] = []
    coming = iter(shlex.split(text, comments=True))
    for word in coming:
        if word in {"&&", "||", ";", "|"}:
            break
        if word in {"--constraint", "-c"}:
            constraints.append(next(coming))
        elif word == "--no-deps":
            options.append(word)
        elif not word.startswith("-") and "$" not in word:
            words.append(word)
    return Line(tuple(words), tuple(constraints), tuple(options)) if words else None


def of_page(text: str) -> Iterator[Line]:
    """Find lines in Markdown: in code between backticks and in blocks of a language, not in blocks of mere output."""
    language: str | None = None
    for row in text.replace("\\\n", " ").splitlines():
        if row.lstrip().startswith("```"):
            language = row.strip().removeprefix("```") if language is None else None
            continue
        if language == "":
            continue
        pattern = r"`[^`]*?\bpip install ([^`]*)`" if language is None else r"\bpip install ([^)]*)"
        for found in re.findall(pattern, row):
            line = parse(found)
            if line is not None:
                yield line


def of_makefile(text: str) -> Iterator[Line]:
    """Find lines in the Makefile, with each value of GPU_EXTRA."""
    text = text.replace("\\\n", " ").replace("$(PIP_INSTALL)", "-m pip install")
    for found in re.findall(r"^\t.*-m pip install (.*)$", text, re.MULTILINE):
        for extra in ("cu13", "cu12") if "$(GPU_EXTRA)" in found else ("",):
            line = parse(found.replace("$(GPU_EXTRA)", extra))
            if line is not None:
                yield line


def collect(*, everything: bool) -> dict[Line, list[str]]:
    """Give each line once, with the files that it stands in.

    Parameters
    ----------
    everything : bool
        Also those that need RAPIDS, and every extra by itself.
    """
    found: dict[Line, list[str]] = {}
    for path in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
        for line in of_page(path.read_text("utf-8")):
            found.setdefault(line, []).append(str(path.relative_to(ROOT)))
    for line in of_makefile((ROOT / "Makefile").read_text("utf-8")):
        found.setdefault(line, []).append("Makefile")
    if everything:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        for extra in project["optional-dependencies"]:
            found.setdefault(Line((f".[{extra}]",)), []).append("pyproject.toml")
    return {line: sorted(set(places)) for line, places in found.items() if everything or not line.needs_rapids}


def judge(code: int, output: str) -> tuple[Outcome, str]:
    r"""Tell a contradiction from an index that did not answer: (outcome, reason).

    Examples
    --------
    >>> judge(1, "ERROR: ResolutionImpossible: for help visit")[0]
    'failed'
    >>> judge(1, "Retrying after connection broken by 'NewConnectionError'\nERROR: No matching distribution")[0]
    'unreachable'
    """
    if code == 0:
        return "ok", ""
    said = [row for row in output.splitlines() if row.strip() and "fast-deps" not in row]
    if "ResolutionImpossible" not in output and UNREACHABLE.search(output):
        return "unreachable", said[-1] if said else ""
    return "failed", "\n".join(said[-12:])


class Resolver:
    """pip and uv in an environment of their own, and the wheel of this package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = str(folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
        self.wheel = ""
        index = os.environ.get("HERALD_PIP_INDEX")
        self.index = ["--index-url", index] if index else []

    def prepare(self) -> tuple[Outcome, str]:
        """Install pip and uv, and build the wheel once for all lines."""
        venv.create(self.folder / "env", with_pip=True)
        pip = [self.python, "-m", "pip", "--isolated"]
        for step in (
            [*pip, "install", "--quiet", *self.index, "pip>=25.1", "uv>=0.9"],  # older ones download for a dry run
            [*pip, "wheel", "--quiet", "--no-deps", *self.index, "--wheel-dir", str(self.folder), "."],
        ):
            outcome, reason = self._run(step)
            if outcome != "ok":
                return outcome, reason
        self.wheel = str(next(self.folder.glob("*.whl")))
        return "ok", ""

    def here(self, line: Line) -> tuple[Outcome, str]:
        """Resolve for this interpreter, with pip."""
        report = self.folder / f"{abs(hash(line))}.json"
        command = [self.python, "-m", "pip", "--isolated", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command += ["--no-cache-dir", "--use-feature=fast-deps", "--report", str(report), *self.index, *line.options]
        command += [word for name in line.constraints for word in ("--constraint", name)]
        outcome, reason = self._run([*command, *(re.sub(_OURS, self.wheel, word) for word in line.words)])
        if outcome == "ok":
            reason = f"{len(json.loads(report.read_text('utf-8'))['install'])} packages"
        return outcome, reason

    def macos(self, line: Line) -> tuple[Outcome, str]:
        """Resolve for macOS, with uv."""
        asked = self.folder / f"{abs(hash(line))}.in"
        place = Path(self.wheel).as_uri()
        ours = [re.sub(rf"{_OURS}(.*)", rf"herald-gpu\1 @ {place}", word) for word in line.words]
        asked.write_text("\n".join(ours) + "\n", "utf-8")
        command = [self.python, "-m", "uv", "pip", "compile", "--quiet", "--no-config", "--no-cache", *self.index]
        command += ["--python-platform", "aarch64-apple-darwin", "--output-file", str(asked.with_suffix(".out"))]
        command += [*line.options, *(word for name in line.constraints for word in ("--constraint", name))]
        outcome, reason = self._run([*command, str(asked)])
        if outcome == "ok":
            rows = asked.with_suffix(".out").read_text("utf-8").splitlines()
            reason = f"{sum(not row.lstrip().startswith('#') for row in rows)} packages"
        return outcome, reason

    def _run(self, command: list[str]) -> tuple[Outcome, str]:
        keeping = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "PYTHON"))}
        try:
            done = subprocess.run(  # noqa: S603 - our own words
                command, cwd=ROOT, env=keeping | MACOS, capture_output=True, text=True, check=False, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            return "unreachable", f"no answer within {LONGEST} s"
        return judge(done.returncode, done.stdout + done.stderr)


_OURS = r"^(?:\.|(?:\S*/)?herald_gpu-\S+?\.whl)(?=\[|$)"
"""This package in a requirement: a checkout, or a wheel of it."""


def check(lines: dict[Line, list[str]]) -> int:
    """Resolve lines, and print what came of each; gives the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        resolver = Resolver(Path(folder))
        outcome, reason = resolver.prepare()
        if outcome != "ok":
            say(f"check of pip lines {'failed' if outcome == 'failed' else 'skipped, no index answers'}: {reason}")
            return int(outcome == "failed")
        here = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, pip"
        tasks: list[tuple[Line, str, Callable[[Line], tuple[Outcome, str]]]]
        tasks = [(line, here, resolver.here) for line in lines]
        tasks += [(line, "macOS 14 arm64, uv", resolver.macos) for line in lines if not line.needs_rapids]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(partial(_one, lines), tasks))
    return int("failed" in found)


def _one(lines: dict[Line, list[str]], task: tuple[Line, str, Callable[[Line], tuple[Outcome, str]]]) -> Outcome:
    line, where, resolve = task
    start = time.perf_counter()
    outcome, reason = resolve(line)
    taken = f"{time.perf_counter() - start:.0f} s"
    head = {"ok": f"ok ({reason})", "failed": "FAILED", "unreachable": f"skipped, the index does not answer: {reason}"}
    say(f"{line}  [{', '.join(lines[line])}]\n    {where}, {taken}: {head[outcome]}")
    if outcome == "failed":
        say(reason)
    return outcome


def say(text: str) -> None:
    """Print at once, also where lines are resolved side by side."""
    print(text, flush=True)  # noqa: T201


def main() -> int:
    """Read the options and check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="lines that need RAPIDS, and every extra, as well")
    parser.add_argument("--list", action="store_true", help="print the lines and resolve nothing")
    args = parser.parse_args()
    lines = collect(everything=args.all)
    if args.list:
        for line, places in lines.items():
            say(f"{line}  [{', '.join(places)}]")
        return 0
    return check(lines)


if __name__ == "__main__":
    sys.exit(main())
