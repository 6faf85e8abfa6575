"""``herald demo``: condense a synthetic heterophilic graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _shared
from herald_gpu.commands._parser import sentence
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from herald_gpu.datasets.synthetic import SyntheticGraph


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "condense a synthetic heterophilic graph"
    parser = commands.add_parser(
        "demo",
        help=about,
        description=f"{sentence(about)}.",
        examples=[
            "herald demo",
            "herald demo --write .",
            "herald demo --nodes 20000 --homophily 0.1 --ratio 0.01 --json",
        ],
    )
    parser.set_defaults(run=run)
    group = parser.add_argument_group("graph")
    group.add_argument("--nodes", metavar="N", type=int, default=2000, help="number of nodes (default %(default)s)")
    group.add_argument(
        "--homophily", type=float, default=0.2, help="share of edges inside a class (default %(default)s)"
    )
    group.add_argument(
        "--write",
        metavar="FOLDER",
        type=Path,
        help="write the graph to edges.csv and nodes.csv in this folder instead of condensing it",
    )
    _shared.add_run_options(parser, ratio=0.05)
    _shared.add_output_options(parser)


def run(args: argparse.Namespace) -> None:
    """Draw the graph, and condense it and show the result, or write it to files."""
    import herald_gpu
    from herald_gpu.datasets import make_graph

    if args.write is not None and args.output is not None:
        msg = "--output is for the condensed graph, and --write condenses nothing: leave one of them out"
        raise ConfigError(msg)
    _shared.check_result_output(args)
    graph = make_graph(args.nodes, homophily=args.homophily, seed=args.seed)
    if args.write is not None:
        write(graph, args)
        return
    result = herald_gpu.condense(
        graph.edge_index,
        graph.features,
        graph.labels,
        graph.train,
        ratio=args.ratio,
        backend=args.backend,
        random_state=args.seed,
        verbose=_shared.shows_bar(args),
    )
    _shared.give(result, args)


def write(graph: SyntheticGraph, args: argparse.Namespace) -> None:
    """Write the graph as two tables, such as the other commands read."""
    from herald_gpu.io.atomic import check_file, whole_file

    paths = [args.write / "edges.csv", args.write / "nodes.csv"]
    for path in paths:
        check_file(path, overwrite=args.force, example="edges.csv")
    for path, table in zip(paths, graph.to_frames(), strict=True):
        with whole_file(path, overwrite=args.force) as unfinished:
            table.to_csv(unfinished, index=False, float_format="%.4g")
    _shared.tell(args, [str(path) for path in paths], "\n".join(map(str, paths)))
