"""``herald condense``: condense a graph kept in files."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from herald_gpu.commands import _graphs, _shared
from herald_gpu.commands._parser import sentence, suggest
from herald_gpu.commands._values import assignment, nearest
from herald_gpu.config import SCALE_FACTOR, SCALES
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from herald_gpu import CondensedGraph, HeraldConfig

T = TypeVar("T")
PRESETS = ("default", "paper", "published-citation", "published-pubmed", "published-scaled")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "condense a graph kept in files"
    parser = commands.add_parser(
        "condense",
        help=about,
        description=f"{sentence(about)}, or known by name.",
        examples=[
            "herald condense --edges edges.csv --features nodes.csv --ratio 0.01 --output small.herald",
            "herald condense --edges edges.parquet --features nodes.parquet --label topic --output small/",
            "herald condense --data graph.npz --preset paper --set depth=1 --set lid_scaling=rank",
            "herald condense --dataset cora --ratio 0.03 --json",
            "herald condense --edges edges/ --features nodes/ --workers 4 --resume run/ --output small.herald",
            "herald condense --edges edges/ --features nodes/ --scheduler tcp://head:8786 --min-workers 8",
            "herald condense --config run.toml --seed 1",
        ],
        ways=_graphs.WAYS,
    )
    parser.set_defaults(run=run)
    _graphs.add_graph_options(parser)
    add_method_options(parser, command="condense")
    _shared.add_run_options(parser, ratio=0.01)
    cluster = parser.add_argument_group(
        "Dask workers", "for Parquet files, or folders of them, that outgrow one machine"
    )
    cluster.add_argument(
        "--workers", metavar="N", type=int, help="start worker processes here: one a GPU, if there are any"
    )
    cluster.add_argument(
        "--worker-memory", metavar="SIZE", default="auto", help="limit of each, such as 4GB (default %(default)s)"
    )
    cluster.add_argument(
        "--scheduler", metavar="ADDRESS", help="use the workers of this scheduler, or scheduler file, instead"
    )
    cluster.add_argument(
        "--min-workers", metavar="N", type=int, help="of that scheduler: begin when so many are there (default 1)"
    )
    cluster.add_argument(
        "--wait", metavar="SECONDS", type=float, help="for the scheduler and those workers at most (default 60)"
    )
    cluster.add_argument(
        "--resume", metavar="FOLDER", type=Path, help="keep partial results here, and go on from those that are there"
    )
    _shared.add_output_options(parser)


def add_method_options(parser: argparse.ArgumentParser, *, command: str) -> None:
    """Add the options that make the configuration."""
    method = parser.add_argument_group("method")
    method.add_argument(
        "--preset", choices=PRESETS, default="default", help="the options to start from (default %(default)s)"
    )
    settings = method.add_argument(
        "--set",
        metavar="KEY=VALUE",
        type=assignment,
        action="append",
        default=[],
        help=f"set a field of HeraldConfig; may be repeated (in a config file: the table [{command}.set])",
    )
    suggest(settings, _assignments)
    method.add_argument(
        "--scale",
        choices=SCALES,
        default="auto",
        help="scale features by mean and deviation (standard) or by median and quartiles (robust); auto standardizes "
        f"dense columns if their sizes differ by a factor of more than {SCALE_FACTOR} (default %(default)s)",
    )


def run(args: argparse.Namespace) -> None:
    """Read the graph, condense it, give the result."""
    _shared.check_result_output(args)
    config = build_config(args.preset, dict(args.set))
    if args.workers is not None or args.scheduler is not None:
        from herald_gpu.distributed.clusters import open_client, read_folder

        if args.edges is None or args.features is None:
            msg = "--workers and --scheduler need --edges and --features: Parquet files, or folders of them"
            raise ConfigError(msg)
        if args.split is not None:
            msg = "--split is not drawn on workers: leave it out, and mark training nodes in a column (--train-column)"
            raise ConfigError(msg)
        _graphs.check_csv(args)
        waiting = {"at_least": args.min_workers, "wait": args.wait}
        with open_client(args.workers, args.scheduler, backend=args.backend, memory=args.worker_memory, **waiting):
            edges, features = (read_folder(path, backend=args.backend) for path in (args.edges, args.features))
            result = condense(args, config, edges, features)
    else:
        for option, given in (("resume", args.resume), ("min-workers", args.min_workers), ("wait", args.wait)):
            if given is not None:
                msg = f"--{option} {given} is for Dask workers: pass --workers N or --scheduler ADDRESS too"
                raise ConfigError(msg)
        result = condense(args, config, *read_graph(args))
    _shared.give(result, args)


def condense(
    args: argparse.Namespace,
    config: HeraldConfig,
    edges: Any,  # noqa: ANN401 - whatever was read
    features: Any,  # noqa: ANN401
    labels: Any = None,  # noqa: ANN401
    train: Any = None,  # noqa: ANN401
) -> CondensedGraph:
    """Condense what was read, as the options say."""
    import herald_gpu

    call = partial(herald_gpu.condense, ratio=args.ratio, resume=args.resume)
    return call_with_options(call, args, config, edges, features, labels, train)


def call_with_options(
    call: Callable[..., T],
    args: argparse.Namespace,
    config: HeraldConfig,
    edges: Any,  # noqa: ANN401 - whatever was read
    features: Any,  # noqa: ANN401
    labels: Any,  # noqa: ANN401
    train: Any,  # noqa: ANN401
) -> T:
    """Call :func:`herald_gpu.condense`, or what takes the same arguments, with those that the options say."""
    return call(
        edges,
        features,
        labels,
        train,
        source=args.source,
        target=args.target,
        node=_graphs.node_of(args),
        label=args.label,
        train_column=args.train_column,
        unlabelled=args.unlabelled,
        drop=args.drop,
        categorical=args.categorical,
        scale=args.scale,
        config=config,
        backend=args.backend,
        random_state=args.seed,
        verbose=_shared.shows_bar(args),
    )


def _assignments() -> list[str]:
    """Give what ``--set`` takes: every field with ``=``, and with each of its choices, if it has some."""
    from herald_gpu import HeraldConfig

    found = []
    for name, kind in get_type_hints(HeraldConfig).items():
        choices = (True, False) if kind is bool else get_args(kind) if get_origin(kind) is Literal else ()
        found += [f"{name}=", *(f"{name}={choice}" for choice in choices)]
    return found


def build_config(preset: str, changes: dict[str, Any]) -> HeraldConfig:
    """Make the configuration of a preset with some fields changed."""
    from herald_gpu import HeraldConfig

    names = sorted(field.name for field in dataclasses.fields(HeraldConfig))
    for key in changes:
        if key not in names:
            msg = f"--set {key} names no field of HeraldConfig: {nearest(key, names)}"
            raise ConfigError(msg)
    if preset == "default":
        start = HeraldConfig()
    elif preset == "paper":
        start = HeraldConfig.paper()
    else:
        start = HeraldConfig.published(preset.removeprefix("published-"))  # type: ignore[arg-type]
    try:
        return dataclasses.replace(start, **changes)
    except ConfigError as error:
        msg = f"--set {error}"
        raise ConfigError(msg) from error


def read_graph(args: argparse.Namespace) -> tuple[Any, Any, Any, Any]:
    """Read edges, features, labels and training set; a table of nodes holds the last two itself."""
    _graphs.check_one_way(args)
    if args.dataset is not None:
        graph = _graphs.load_named(args)
        return graph.edge_index, graph.features, graph.labels, graph.train
    from herald_gpu.commands._splits import to_condense

    return to_condense(args)
