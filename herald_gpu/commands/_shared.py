"""Options that subcommands share, and how they give their result."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands._values import share
from herald_gpu.commands._wording import spelt
from herald_gpu.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator

    from herald_gpu import CondensedGraph

INPUTS = ("data", "edges", "features", "result", "evaluation", "config", "scheduler")
"""Options that name what a command reads: no output may replace it."""


def add_run_options(parser: argparse.ArgumentParser, *, ratio: float) -> None:
    """Add the options of a condensation: how much to keep, where and from which seed."""
    group = parser.add_argument_group("run")
    group.add_argument("--ratio", type=share, default=ratio, help="share of the storage to keep (default %(default)s)")
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
    parser.set_defaults(shows_report=True)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output",
        metavar="PATH",
        help="save the condensed graph to this file, or with tables and the report to this folder, if it ends with /",
    )
    group.add_argument(
        "--with-scores", action="store_true", help="save the scores of all nodes of the full graph too: a larger file"
    )
    add_force_option(group)
    add_talk_options(
        group, json="print the report as JSON instead of a summary", verbose="tell what was chosen, and why"
    )


def add_force_option(group: Any) -> None:  # noqa: ANN401 - a parser, or a group of one
    """Add ``--force``."""
    group.add_argument("--force", action="store_true", help="replace the output if it exists; never an input")


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
    if args.output is None:
        tell(args, result.report.to_dict() if args.json else None, str(result))
        return
    path, size = save(result, args)
    content = {**result.report.to_dict(), "file": {"path": str(path), "bytes": size}} if args.json else None
    nominal = result.report.storage_bytes
    rest = f"{'scores, ' if args.with_scores else ''}ids, names, the report and the file format"
    beyond = f"; the rest is {rest}" if size > nominal else ""
    tell(args, content, f"{result}\n  saved        {path}: {size:,} bytes ({nominal:,} nominal{beyond})")


def check_result_output(args: argparse.Namespace) -> None:
    """Refuse an ``--output`` that a condensed graph cannot be saved to, before the work is done."""
    if args.output is None:
        return
    names = None
    if names_folder(args.output):
        from herald_gpu.io.export import folder_names
        from herald_gpu.io.persist import ARCHIVE

        names = folder_names(archive=ARCHIVE)
    check_output(args, names=names)


def check_output(
    args: argparse.Namespace,
    *,
    key: str = "output",
    names: Collection[str] | None = None,
    example: str = "small.herald",
) -> None:
    """Refuse an output that is an input, that exists (without ``--force``) or that cannot be written.

    Parameters
    ----------
    args : argparse.Namespace
    key : str
        The option that names the output.
    names : collection of str, optional
        Files of the output, where it is a folder.
    example : str
        A file name for the error message.
    """
    from herald_gpu.io.atomic import check_file, check_folder, would_replace

    output = Path(getattr(args, key))
    for told, given in _inputs(args):
        if would_replace(output, given):
            msg = f"--{key} {output} would replace what {told} reads: pass another path"
            raise InputError(msg)
    if names is None:
        check_file(output, overwrite=args.force, example=example)
    else:
        check_folder(output, names, overwrite=args.force)


def _inputs(args: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """List what the command reads: how the command line names it, and the file or folder."""
    for key in INPUTS:
        given = getattr(args, key, None)
        if given is not None:
            yield f"{spelt(key)} {given}", Path(given)
    if getattr(args, "dataset", None) is not None:
        from herald_gpu.datasets.loading import stored_files

        for file in stored_files(args.dataset):
            yield f"--dataset {args.dataset}", file


def names_folder(output: str) -> bool:
    """Tell whether a destination is a folder: its name ends as one, or is that of one."""
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def save(result: CondensedGraph, args: argparse.Namespace) -> tuple[Path, int]:
    """Write the result to a file or a folder: (the file that holds it, its bytes)."""
    output, how = Path(args.output), {"with_scores": args.with_scores, "overwrite": args.force}
    if not names_folder(args.output):
        return output, result.save(output, **how)
    from herald_gpu.io.export import write_folder
    from herald_gpu.io.persist import ARCHIVE

    write_folder(result, output, archive=ARCHIVE, **how)
    return output / ARCHIVE, (output / ARCHIVE).stat().st_size
