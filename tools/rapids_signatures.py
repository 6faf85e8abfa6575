"""Read from the RAPIDS wheels, without installing them, the signatures that this package relies on.

What is wanted is what our own source mentions: every name of a RAPIDS library, and every method and attribute of
the objects made from them. ``make rapids-signatures`` writes the snapshot; ``tests/rapids/test_signatures.py`` binds
every call to it, without the wheels and without a network.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rapids_calls import ROOT, uses
from wheel_sources import Sources

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = "26.10"
SNAPSHOT = ROOT / "tests" / "rapids" / f"signatures-{VERSION}.json"
ANY_CUDA = frozenset({"dask_cuda"})
"""Libraries whose wheel is the same for every CUDA major; the others come as `-cu13`."""


class Snapshot:
    """The signatures as committed: dotted name -> parameters as source text, or None if it is not called."""

    def __init__(self, path: Path = SNAPSHOT) -> None:
        content = json.loads(path.read_text("utf-8"))
        self.wheels: dict[str, str] = content["wheels"]
        self.texts: dict[str, str | None] = content["names"]

    def signature(self, target: str) -> inspect.Signature | None:
        """Signature of a callable, its defaults as source text; None for modules and attributes."""
        text = self.texts[target]
        return None if text is None else parse_signature(text)


def parse_signature(text: str) -> inspect.Signature:
    """Turn ``(a, *, b=1)`` into a signature whose defaults are source text.

    Examples
    --------
    >>> parse_signature("(a, *, b=1)").bind(0, b=2).arguments
    {'a': 0, 'b': 2}
    """
    given = ast.parse(f"lambda {text[1:-1]}: 0", mode="eval").body
    if not isinstance(given, ast.Lambda):
        msg = f"{text!r} is not a list of parameters"
        raise TypeError(msg)
    args, plain = given.args, [*given.args.posonlyargs, *given.args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    kinds: list[Any] = [inspect.Parameter.POSITIONAL_ONLY] * len(args.posonlyargs)
    kinds += [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(args.args)
    rows: list[tuple[ast.arg, Any, ast.expr | None]] = list(zip(plain, kinds, defaults, strict=True))
    if args.vararg:
        rows.append((args.vararg, inspect.Parameter.VAR_POSITIONAL, None))
    rows += [(a, inspect.Parameter.KEYWORD_ONLY, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg:
        rows.append((args.kwarg, inspect.Parameter.VAR_KEYWORD, None))
    empty = inspect.Parameter.empty
    return inspect.Signature(
        [inspect.Parameter(a.arg, kind, default=empty if d is None else ast.unparse(d)) for a, kind, d in rows]
    )


def wheel_name(library: str) -> str:
    """Name of the distribution that brings a library, and little else."""
    stem = library.replace("_", "-")
    return stem if library in ANY_CUDA else f"{stem}-cu13"


def download(libraries: Iterable[str], folder: Path) -> None:
    """Fetch thin wheels with pip, as it is configured, for one fixed platform."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    platform = ["--only-binary", ":all:", "--platform", "manylinux_2_28_x86_64", "--python-version", "3.11"]
    wheels = [f"{wheel_name(library)}=={VERSION}.*" for library in sorted(libraries)]
    subprocess.run([*command, *platform, "--dest", str(folder), *wheels], check=True)  # noqa: S603 - no shell, no input


def make(folder: Path, libraries: Iterable[str], names: Iterable[str]) -> dict[str, Any]:
    """Describe everything that is wanted from the wheels in a folder."""
    stems = {wheel_name(library).replace("-", "_") for library in libraries}
    sources = Sources(path for path in sorted(folder.glob("*.whl")) if path.name.split("-")[0] in stems)
    return {
        "rapids": VERSION,
        "wheels": dict(sorted(sources.versions.items())),
        "names": {name: sources.signature(name) for name in sorted(names)},
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the snapshot; with ``--check``, only tell whether it is current."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wheels", type=Path, help="folder of wheels that are there already: nothing is downloaded")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the snapshot is out of date")
    options = parser.parse_args(arguments)
    names = {use.target for use in uses()}
    libraries = {name.partition(".")[0] for name in names}
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.wheels or Path(scratch)
        if not options.wheels:
            download(libraries, folder)
        content = json.dumps(make(folder, libraries, names), indent=2) + "\n"
    if options.check:
        return int(SNAPSHOT.read_text("utf-8") != content)
    SNAPSHOT.write_text(content, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
