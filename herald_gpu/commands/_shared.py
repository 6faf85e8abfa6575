"""Options that subcommands share, and how they give their result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from herald_gpu import CondensedGraph


def add_run_options(parser: argparse.ArgumentParser, *, ratio: float) -> None:
    """Add the options of a condensation: how much to keep, where and from which seed."""
    group = parser.add_argument_group("run")
    group.add_argument("--ratio", type=float, default=ratio, help="share of the storage to keep (default %(default)s)")
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
    group.add_argument("--output", metavar="PATH", type=Path, help="save the condensed graph here")
    group.add_argument("--json", action="store_true", help="print the report as JSON instead of a summary")
    amount = group.add_mutually_exclusive_group()
    amount.add_argument("--quiet", action="store_true", help="print no summary")
    amount.add_argument("--verbose", action="store_true", help="show progress and what was chosen")


def give(result: CondensedGraph, args: argparse.Namespace) -> None:
    """Save the result and print its report or summary, as the options say."""
    if args.output is not None:
        result.save(args.output)
    if args.json:
        print(json.dumps(result.report.to_dict(), indent=2))
    elif not args.quiet:
        print(result)
