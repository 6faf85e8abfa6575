"""``herald report``: a saved condensed graph as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _shared
from herald_gpu.commands._parser import sentence

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "write the report of a saved condensed graph as a page"
    parser = commands.add_parser(
        "report",
        help=about,
        description=f"{sentence(about)}.",
        examples=[
            "herald report small.herald",
            "herald report small.herald --output small.html --evaluation accuracies.json",
        ],
    )
    parser.set_defaults(run=run)
    parser.add_argument("result", metavar="RESULT", type=Path, help="a saved condensed graph")
    parser.add_argument(
        "--output", metavar="PAGE", type=Path, help="the page to write (default: beside the graph, ending in .html)"
    )
    parser.add_argument(
        "--evaluation",
        metavar="FILE",
        type=Path,
        help="accuracies: what 'herald evaluate' printed with --json, or its --csv",
    )
    _shared.add_force_option(parser)
    _shared.add_talk_options(parser, json="print the page's path as JSON")


def run(args: argparse.Namespace) -> None:
    """Read the graph, write its page, say where."""
    import herald_gpu
    from herald_gpu.report.evaluation import read_evaluation

    if args.output is None:
        args.output = (args.result if args.result.name else args.result.resolve()).with_suffix(".html")
    _shared.check_output(args, example="report.html")
    result = herald_gpu.load(args.result)
    evaluation = None if args.evaluation is None else read_evaluation(args.evaluation)
    result.to_html(args.output, evaluation=evaluation, overwrite=args.force)
    _shared.tell(args, {"page": str(args.output)}, str(args.output))
