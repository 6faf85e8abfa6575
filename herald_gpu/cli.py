"""The command ``herald``: each subcommand is one function that adds its parser, and one that runs it.

Exit codes: 0 done, 1 the run failed, 2 the request makes no sense, 130 interrupted.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import json
import logging
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu._version import __version__
from herald_gpu.errors import ColumnError, ConfigError, HeraldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herald_gpu import CondensedGraph, HeraldConfig

PRESETS = ("default", "paper", "published-citation", "published-pubmed", "published-scaled")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process by default.

    Examples
    --------
    >>> main(["demo", "--nodes", "300", "--ratio", "0.1", "--quiet"])
    0
    """
    args = _parser().parse_args(argv)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            args.run(args)
        except (ConfigError, ColumnError) as error:
            return _fail(error, 2)
        except (HeraldError, OSError) as error:
            return _fail(error, 1)
        except KeyboardInterrupt:
            return _fail("interrupted", 130)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="herald", description="Condense graphs inside a storage budget.")
    parser.add_argument("--version", action="version", version=f"herald-gpu {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in (_add_condense, _add_demo):
        add(commands)
    return parser


def _add_condense(commands: Any) -> None:  # noqa: ANN401 - argparse keeps the type of its subparsers private
    parser = commands.add_parser("condense", help="condense a graph kept in files")
    parser.set_defaults(run=_run_condense)
    given = parser.add_argument_group(
        "graph", "Either one archive, or edges and features apart: CSV, TSV, Parquet or NPZ."
    )
    given.add_argument("--data", metavar="FILE", type=Path, help="NPZ with edge_index, y, x or CSR x_*, train_mask")
    given.add_argument("--split", metavar="K", type=int, default=0, help="column of a 2-D train_mask (default 0)")
    given.add_argument("--edges", metavar="FILE", type=Path, help="edge table, or NPZ with edge_index")
    given.add_argument("--features", metavar="FILE", type=Path, help="node table, or NPZ as for --data")
    given.add_argument("--source", metavar="COLUMN", default="src", help="first end of an edge (default src)")
    given.add_argument("--target", metavar="COLUMN", default="dst", help="other end of an edge (default dst)")
    given.add_argument("--node", metavar="COLUMN", default="node", help="node id (default node)")
    given.add_argument("--label", metavar="COLUMN", default="label", help="class (default label)")
    given.add_argument("--train-column", metavar="COLUMN", default="train", help="training node (default train)")
    given.add_argument(
        "--unlabelled", metavar="VALUE", type=_literal, default=-1, help="label of unknown class (default -1)"
    )
    how = parser.add_argument_group("condensation")
    how.add_argument("--preset", choices=PRESETS, default="default", help="where the options start from")
    how.add_argument(
        "--set", metavar="KEY=VALUE", type=_assignment, action="append", default=[], help="a HeraldConfig field"
    )
    _add_common(parser, how, ratio=0.01)


def _add_demo(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = commands.add_parser("demo", help="condense a synthetic heterophilic graph")
    parser.set_defaults(run=_run_demo)
    how = parser.add_argument_group("graph and condensation")
    how.add_argument("--nodes", metavar="N", type=int, default=2000, help="number of nodes (default 2000)")
    how.add_argument("--homophily", type=float, default=0.2, help="share of edges inside classes (default 0.2)")
    _add_common(parser, how, ratio=0.05)


def _add_common(
    parser: argparse.ArgumentParser, how: argparse._ArgumentGroup, *, ratio: float
) -> None:
    how.add_argument("--ratio", type=float, default=ratio, help=f"share of the storage to keep (default {ratio})")
    how.add_argument("--backend", default="auto", help="auto, cpu or rapids (default auto)")
    how.add_argument("--seed", type=int, default=0, help="seed of every random choice (default 0)")
    shown = parser.add_argument_group("output")
    shown.add_argument("--output", metavar="PATH", type=Path, help="save the condensed graph here")
    shown.add_argument("--json", action="store_true", help="print the report as JSON")
    amount = shown.add_mutually_exclusive_group()
    amount.add_argument("--quiet", action="store_true", help="print no summary")
    amount.add_argument("--verbose", action="store_true", help="tell of every stage on stderr")


def _run_condense(args: argparse.Namespace) -> None:
    import herald_gpu

    edges, features, labels, train = _read_graph(args)
    result = herald_gpu.condense(
        edges,
        features,
        labels,
        train,
        ratio=args.ratio,
        source=args.source,
        target=args.target,
        node=args.node,
        label=args.label,
        train_column=args.train_column,
        unlabelled=args.unlabelled,
        config=_config(args.preset, dict(args.set)),
        backend=args.backend,
        random_state=args.seed,
        verbose=_prepare_logging(args),
    )
    _give(result, args)


def _run_demo(args: argparse.Namespace) -> None:
    import herald_gpu
    from herald_gpu.datasets import make_graph

    graph = make_graph(args.nodes, homophily=args.homophily, seed=args.seed)
    result = herald_gpu.condense(
        graph.edge_index,
        graph.features,
        graph.labels,
        graph.train,
        ratio=args.ratio,
        backend=args.backend,
        random_state=args.seed,
        verbose=_prepare_logging(args),
    )
    _give(result, args)


def _read_graph(args: argparse.Namespace) -> tuple[Any, Any, Any, Any]:
    """Edges, features, labels and training set; a node table brings the last two as columns."""
    from herald_gpu.datasets import read_npz, read_table

    apart = (args.edges, args.features)
    if (args.data is None) == (apart == (None, None)) or (args.data is None and None in apart):
        msg = "the graph is given twice or not at all: pass --data FILE, or both --edges FILE and --features FILE"
        raise ConfigError(msg)
    edges_path, nodes_path = (args.data, args.data) if args.data else apart
    nodes = read_npz(nodes_path, split=args.split) if args.data or nodes_path.suffix == ".npz" else None
    edges: Any
    if args.data and nodes is not None:
        edges = nodes.edge_index
    else:
        edges = read_npz(edges_path).edge_index if edges_path.suffix == ".npz" else read_table(edges_path)
    if edges is None:
        msg = f"{edges_path} holds no array edge_index: store the edges under that name, shape (2, E)"
        raise ConfigError(msg)
    if nodes is None:
        return edges, read_table(nodes_path), None, None
    if nodes.features is None:
        msg = f"{nodes_path} holds no features: store x, or x_data, x_indices, x_indptr and x_shape"
        raise ConfigError(msg)
    return edges, nodes.features, nodes.labels, nodes.train


def _config(preset: str, changes: dict[str, Any]) -> HeraldConfig:
    from herald_gpu import HeraldConfig

    names = {field.name for field in dataclasses.fields(HeraldConfig)}
    if unknown := sorted(set(changes) - names):
        msg = f"--set {unknown[0]} is no field of HeraldConfig: pass one of {', '.join(sorted(names))}"
        raise ConfigError(msg)
    if preset == "default":
        start = HeraldConfig()
    elif preset == "paper":
        start = HeraldConfig.paper()
    else:
        start = HeraldConfig.published(preset.removeprefix("published-"))  # type: ignore[arg-type]
    return dataclasses.replace(start, **changes)
