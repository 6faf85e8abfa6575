"""Options that subcommands share, and how they give their result."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from herald_gpu import CondensedGraph

RESULT = "condensed.herald"
"""The condensed graph in a folder of results."""


def add_run_options(parser: argparse.ArgumentParser, *, ratio: float) -> None:
    """Add the options of a condensation: how much to keep, where and from which seed."""
    group = parser.add_argument_group("run")
    group.add_argument("--ratio", type=float, default=ratio, help="share of the storage to keep (default %(default)s)")
    add_place_options(group)


def add_place_options(group: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Add the options that say where to run, and from which seed."""
    group.add_argument(
        "--backend",
        choices=("auto", "cpu", "rapids"),
        default="auto",
        help="where to run (default %(default)s)",
    )
    group.add_argument("--seed", type=int, default=0, help="seed of every random choice (default %(default)s)")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is printed and saved."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output",
        metavar="PATH",
        help="save the condensed graph to this file, or with tables and the report to this folder, if it ends with /",
    )
    add_talk_options(
        group, json="print the report as JSON instead of a summary", verbose="tell what was chosen, and why"
    )


def add_talk_options(group: Any, *, json: str, verbose: str | None = None) -> None:  # noqa: ANN401 - a parser, or a group of one
    """Add ``--json``, ``--quiet`` and perhaps ``--verbose``; the texts say what the first and the last do here."""
    group.add_argument("--json", action="store_true", help=json)
    amount = group.add_mutually_exclusive_group()
    amount.add_argument(
        "--quiet", action="store_true", help="no progress and no summary: nothing but JSON, warnings and errors"
    )
    if verbose is not None:
        amount.add_argument("--verbose", action="store_true", help=verbose)


def shows_bar(args: argparse.Namespace) -> bool:
    """Tell whether to show a progress bar; where none can be seen, every step is told in a line instead."""
    bar = sys.stderr.isatty() and not args.quiet
    if not (bar or args.quiet):
        logging.getLogger("herald_gpu").setLevel(logging.DEBUG)
    return bar


def tell(args: argparse.Namespace, content: object, text: object) -> None:
    """Print the content as JSON or the text, as the options say."""
    if args.json:
        print(json.dumps(content, indent=2))
    elif not args.quiet:
        print(text)


def give(result: CondensedGraph, args: argparse.Namespace) -> None:
    """Save the result and print its report or summary, as the options say."""
    if args.output is not None:
        save(result, args.output)
    saved = "" if args.output is None else f"\n  saved        {args.output}"
    tell(args, result.report.to_dict() if args.json else None, f"{result}{saved}")


def check_output(output: str | None) -> None:
    """Refuse a destination that cannot be written to, before the work is done."""
    if output is None:
        return
    from herald_gpu.io.atomic import check_file, check_folder

    if names_folder(output):
        from herald_gpu.io.export import folder_names

        check_folder(Path(output), folder_names(archive=RESULT))
    else:
        check_file(Path(output))


def names_folder(output: str) -> bool:
    """Tell whether a destination is a folder: its name ends as one, or is that of one."""
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def save(result: CondensedGraph, output: str) -> None:
    """Write the result to a file or a folder."""
    if names_folder(output):
        from herald_gpu.io.export import write_folder

        write_folder(result, Path(output), archive=RESULT)
    else:
        result.save(Path(output))


def load(path: Path) -> CondensedGraph:
    """Read a saved result: a file, or a folder with one."""
    from herald_gpu.result import CondensedGraph

    return CondensedGraph.load(path / RESULT if path.is_dir() else path)
