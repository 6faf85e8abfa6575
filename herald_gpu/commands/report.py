"""``herald report``: a saved condensed graph as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "write the report of a saved condensed graph as a page"
    parser = commands.add_parser("report", help=about, description=f"{about.capitalize()}.")
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
    parser.add_argument("--verbose", action="store_true", help="say more")


def run(args: argparse.Namespace) -> None:
    """Read the graph, write its page, say where."""
    from herald_gpu.report.evaluation import read_evaluation
    from herald_gpu.result import CondensedGraph

    result = CondensedGraph.load(args.result, output_type="numpy")
    evaluation = None if args.evaluation is None else read_evaluation(args.evaluation)
    output = args.result.with_suffix(".html") if args.output is None else args.output
    result.to_html(output, evaluation=evaluation)
    print(output)
