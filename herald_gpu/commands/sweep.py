"""``herald sweep``: condense a graph to several ratios, and recommend one."""

from __future__ import annotations

import importlib.util
import json
import logging
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _graphs, _shared
from herald_gpu.commands import condense as one
from herald_gpu.commands import evaluate as testing
from herald_gpu.commands._parser import sentence
from herald_gpu.commands._values import nearest, share
from herald_gpu.commands._wording import in_options
from herald_gpu.errors import ConfigError
from herald_gpu.install import pip_line
from herald_gpu.ratios import RATIOS

if TYPE_CHECKING:
    import argparse

    from herald_gpu.sweeps import Sweep

TABLE, PLOT = "table.csv", "sweep.png"
MODELS, SEEDS = ("GCN",), 3
logger = logging.getLogger("herald_gpu")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "condense a graph to several ratios, and recommend one"
    parser = commands.add_parser(
        "sweep",
        help=about,
        description=f"{sentence(about)}: a table of sizes and scores, and perhaps accuracies.",
        examples=[
            "herald sweep --edges edges.csv --features nodes.csv --output ratios/",
            "herald sweep --dataset cora --ratios 0.005 0.01 0.05 --evaluate",
            "herald sweep --data graph.npz --preset paper --evaluate --models GCN GAT --seeds 5 --json",
        ],
        ways=_graphs.WAYS,
    )
    parser.set_defaults(run=run)
    _graphs.add_graph_options(parser)
    one.add_method_options(parser, command="sweep")
    group = parser.add_argument_group("run")
    group.add_argument(
        "--ratios",
        nargs="+",
        metavar="RATIO",
        type=share,
        default=list(RATIOS),
        help=f"shares of the storage to keep (default {' '.join(map(str, RATIOS))})",
    )
    _shared.add_place_options(group)
    test = parser.add_argument_group("test")
    test.add_argument(
        "--evaluate", action="store_true", help="train GNNs on every condensed graph and test them on the full one"
    )
    test.add_argument(
        "--models", nargs="+", metavar="MODEL", help=f"of {', '.join(testing.MODELS)} (default {' '.join(MODELS)})"
    )
    test.add_argument("--seeds", type=int, help=f"how many initialisations (default {SEEDS})")
    output = parser.add_argument_group("output")
    output.add_argument(
        "--output",
        metavar="FOLDER",
        type=Path,
        help=f"save every condensed graph, {TABLE} and, if matplotlib is installed, {PLOT} to this folder",
    )
    _shared.add_force_option(output)
    _shared.add_talk_options(
        output, json="print the table and the recommendation as JSON", verbose="tell what was chosen, and why"
    )


def run(args: argparse.Namespace) -> None:
    """Read the graph, condense it to every ratio, perhaps test, and tell."""
    import herald_gpu

    for option in ("models", "seeds"):
        if getattr(args, option) is not None and not args.evaluate:
            msg = f"--{option} is for --evaluate: pass that too, or leave --{option} out"
            raise ConfigError(msg)
    unknown = [name for name in args.models or () if name not in testing.MODELS]
    if unknown:
        msg = f"--models {unknown[0]} is not known: {nearest(unknown[0], testing.MODELS)}"
        raise ConfigError(msg)
    if args.seeds is not None and args.seeds < 1:
        msg = f"--seeds {args.seeds} is not valid: pass how many, at least 1"
        raise ConfigError(msg)
    if args.output is not None:
        _shared.check_output(args, names=_names(args.ratios))
    config = one.build_config(args.preset, dict(args.set))
    full = testing.read_graph(args) if args.evaluate else None  # before the work: files may have no test nodes
    call = partial(herald_gpu.sweep, ratios=args.ratios)
    found = one.call_with_options(call, args, config, *one.read_graph(args))
    if full is not None:
        models, seeds = args.models or MODELS, SEEDS if args.seeds is None else args.seeds
        found = found.evaluate(full, models=models, seeds=seeds, progress=_shared.shows_bar(args))
    saved = ""
    if args.output is not None:
        save(found, args.output, overwrite=args.force)
        saved = f"\nSaved to {args.output}."
    _shared.tell(args, _plain(found, args), f"{found}{saved}")


def save(found: Sweep, folder: Path, *, overwrite: bool) -> None:
    """Write every condensed graph, the table and, where it can be drawn, the plot."""
    from herald_gpu.io.atomic import whole_folder

    with whole_folder(folder, _names([*found.graphs, *found.infeasible]), overwrite=overwrite) as beside:
        for ratio, small in found.graphs.items():
            small.save(beside / _name(ratio))
        found.table.to_csv(beside / TABLE, index=False)
        if not found.has_values:
            logger.info("%s is not drawn: there is neither a score nor an accuracy", PLOT)
        elif importlib.util.find_spec("matplotlib") is None:
            logger.info("%s is not drawn: matplotlib is not installed (%s)", PLOT, pip_line("plot"))
        else:
            found.plot().savefig(beside / PLOT, dpi=150)


def _name(ratio: float) -> str:
    return f"ratio-{float(ratio)!r}.herald"


def _names(ratios: Any) -> list[str]:  # noqa: ANN401 - any iterable of numbers
    return [*map(_name, ratios), TABLE, PLOT]


def _plain(found: Sweep, args: argparse.Namespace) -> dict[str, Any]:
    refused = [
        {"ratio": ratio, "reason": in_options(str(error), args), "smallest_ratio": error.smallest_ratio}
        for ratio, error in found.infeasible.items()
    ]
    return {
        "table": json.loads(found.table.to_json(orient="records")),
        "infeasible": refused,
        "recommended": found.recommended,
        "reason": found.reason,
    }
