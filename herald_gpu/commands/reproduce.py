"""``herald reproduce``: run the experiments of the paper and write their tables and figures."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _shared
from herald_gpu.commands._parser import sentence
from herald_gpu.commands._values import share
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from herald_gpu.experiments.timing import Plan

logger = logging.getLogger("herald_gpu")
NARROWING = ("datasets", "methods", "columns", "ratios", "models", "changes", "seeds", "splits")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "run the experiments of the paper and write their tables and figures"
    parser = commands.add_parser(
        "reproduce",
        help=about,
        description=f"{sentence(about)}. What was run before is kept: a run that was stopped goes on where it was.",
        examples=[
            "herald reproduce --list",
            "herald reproduce accuracy --datasets cora --ratios 0.01 --models GCN --seeds 1 --output again",
            "herald reproduce all --render-only",
        ],
    )
    parser.set_defaults(run=run, verbose=True)  # it takes long: every graph and model is told
    parser.add_argument("name", nargs="?", metavar="NAME", help="an experiment, or all; --list shows them")
    parser.add_argument("--list", action="store_true", help="list the experiments")

    part = parser.add_argument_group("run only a part")
    part.add_argument("--datasets", nargs="+", metavar="NAME", help="graphs; also reddit-like-SCALE")
    part.add_argument("--methods", nargs="+", metavar="NAME", help="such as herald, bonsai, random")
    part.add_argument("--columns", nargs="+", metavar="COLUMN", help="true, published: whose accounting of storage")
    part.add_argument("--ratios", nargs="+", type=share, metavar="R", help="shares of the storage")
    part.add_argument("--models", nargs="+", metavar="MODEL", help="GNNs, such as GCN")
    part.add_argument("--changes", nargs="+", metavar="CHANGE", help="variants of the method, such as A2b or depth=3")
    part.add_argument("--seeds", type=int, metavar="N", help="how many initialisations of each model")
    part.add_argument("--splits", type=int, metavar="N", help="how many splits of each graph (leaderboard)")
    part.add_argument("--sizes", nargs="+", metavar="AXIS=N,N", help="complexity: such as nodes=1000,2000 features=64")
    part.add_argument("--repeats", type=int, metavar="N", help="complexity: how often each size is timed")

    output = parser.add_argument_group("output")
    output.add_argument(
        "--output",
        type=Path,
        default=Path("docs/results"),
        metavar="FOLDER",
        help="for pages and data (default %(default)s)",
    )
    output.add_argument("--render-only", action="store_true", help="run nothing, write pages of what is there")
    output.add_argument("--parquet", action="store_true", help="write the rows as Parquet too")
    _shared.add_talk_options(output, json="print what was run and written as JSON")


def run(args: argparse.Namespace) -> None:
    """Run one experiment, or all."""
    from herald_gpu.experiments.reproduce import NAMES, reproduce

    if args.list:
        found = listed()
        _shared.tell(args, found, "\n".join(f"{name:<12}  {about}" for name, about in found.items()))
        return
    if args.name is None:
        msg = f"no experiment was named: pass one of {', '.join(NAMES)}, or all"
        raise ConfigError(msg)
    options = {"render_only": args.render_only, "parquet": args.parquet}
    told = []
    for name, narrowed in chosen(args).items():
        plan = sizes(args) if name == "complexity" or args.name != "all" else None
        try:
            outcome = reproduce(name, args.output, plan=plan, **options, **narrowed)
        except KeyboardInterrupt:
            logger.warning("what is done is in %s: run the same again to go on", args.output / "data")
            raise
        files = [str(path) for path in outcome.files]
        told.append({"name": name, "told": outcome.told, "files": files})
        if not (args.json or args.quiet):
            print("\n  ".join([f"{name}: {outcome.told}", *files]))
    if args.json:
        print(json.dumps(told, indent=2))


def chosen(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Give the experiments to run, each with its options."""
    from herald_gpu.experiments.graphs import resolve
    from herald_gpu.experiments.grids import GRIDS
    from herald_gpu.experiments.reproduce import NAMES, within

    narrowed = {name: value for name in NARROWING if (value := getattr(args, name)) is not None}
    if "datasets" in narrowed:
        narrowed["datasets"] = [resolve(name) for name in narrowed["datasets"]]
    if args.name != "all":
        return {args.name: narrowed}
    found = {name: within(GRIDS[name], narrowed) if name in GRIDS else {} for name in NAMES}
    return {name: left for name, left in found.items() if left is not None}


def sizes(args: argparse.Namespace) -> Plan | None:
    """Read the options of `complexity`; None if there is none."""
    from herald_gpu.experiments.timing import REPEATS, SWEEPS, Plan

    if args.sizes is None and args.repeats is None:
        return None
    sweeps: dict[str, tuple[int, ...]] = {}
    for given in args.sizes or ():
        axis, _, values = given.partition("=")
        try:
            sweeps[axis] = tuple(int(value) for value in values.split(","))
        except ValueError as error:
            msg = f"--sizes {given}: pass a size and whole numbers, such as nodes=1000,2000"
            raise ConfigError(msg) from error
    return Plan(sweeps or SWEEPS, REPEATS if args.repeats is None else args.repeats)


def listed() -> dict[str, str]:
    """Give the experiments with what they are about and how many cells they have."""
    from herald_gpu.experiments.grids import GRIDS
    from herald_gpu.experiments.reproduce import NAMES

    about = {
        name: f"{grid.about} ({sum(len(cells) for _, cells in grid.groups()):,} cells)" for name, grid in GRIDS.items()
    }
    about["complexity"] = "seconds of each stage against the size of the graph"
    about["comparison"] = "what methods do, and whether they keep their budget"
    about["agreement"] = "our accuracies held against the paper's, cell by cell"
    return {name: about[name] for name in NAMES} | {"all": "all of them"}
