"""``herald condense``: condense a graph kept in files."""

from __future__ import annotations

import argparse
import ast
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _shared
from herald_gpu.commands._settings import nearest
from herald_gpu.errors import ConfigError, FileFormatError

if TYPE_CHECKING:
    from herald_gpu import CondensedGraph, HeraldConfig
    from herald_gpu.datasets import GraphFile

PRESETS = ("default", "paper", "published-citation", "published-pubmed", "published-scaled")


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "condense a graph kept in files"
    parser = commands.add_parser(
        "condense",
        help=about,
        description=f"{about.capitalize()}, or known by name.",
        examples=[
            "herald condense --edges edges.csv --features nodes.csv --ratio 0.01 --output small.herald",
            "herald condense --edges edges.parquet --features nodes.parquet --label topic --output small/",
            "herald condense --data graph.npz --preset paper --set depth=1 --set lid_scaling=rank",
            "herald condense --dataset cora --ratio 0.03 --json",
            "herald condense --edges edges/ --features nodes/ --workers 4 --resume run/ --output small.herald",
            "herald condense --config run.toml --seed 1",
        ],
        ways=[("data",), ("edges", "features"), ("dataset",)],
    )
    parser.set_defaults(run=run)

    files = parser.add_argument_group("files", "one archive, or edges and features apart")
    files.add_argument("--data", metavar="NPZ", type=Path, help="edge_index, y, x (or CSR as x_data, ...), train_mask")
    files.add_argument(
        "--edges",
        metavar="FILE",
        type=Path,
        help="CSV, TSV, Parquet (with --workers a folder too), NPZ with edge_index",
    )
    files.add_argument(
        "--features",
        metavar="FILE",
        type=Path,
        help="CSV, TSV or Parquet with a row per node, or NPZ as in --data",
    )
    files.add_argument("--dataset", metavar="NAME", help="a data set by name instead; 'herald datasets' lists them")
    files.add_argument(
        "--dataset-split",
        metavar="SPLIT",
        type=literal,
        default="paper",
        help="its split: paper, source, or the seed of a random one (default %(default)s)",
    )
    files.add_argument(
        "--split", metavar="K", type=int, default=0, help="column of a two-dimensional train_mask (default 0)"
    )

    columns = parser.add_argument_group("columns of tables")
    for option, default, meaning in (
        ("--source", "src", "one end of an edge"),
        ("--target", "dst", "the other end"),
        ("--node", "node", "node id"),
        ("--label", "label", "class"),
        ("--train-column", "train", "whether a node is a training node"),
    ):
        columns.add_argument(option, metavar="NAME", default=default, help=f"{meaning} (default {default})")
    columns.add_argument(
        "--unlabelled",
        metavar="VALUE",
        type=literal,
        default=-1,
        help="label that means unknown (default -1)",
    )

    method = parser.add_argument_group("method")
    method.add_argument(
        "--preset", choices=PRESETS, default="default", help="the options to start from (default %(default)s)"
    )
    method.add_argument(
        "--set",
        metavar="KEY=VALUE",
        type=assignment,
        action="append",
        default=[],
        help="set a field of HeraldConfig; may be repeated (in a config file: the table [condense.set])",
    )
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
        "--resume", metavar="FOLDER", type=Path, help="keep partial results here, and go on from those that are there"
    )
    _shared.add_output_options(parser)


def run(args: argparse.Namespace) -> None:
    """Read the graph, condense it, give the result."""
    config = build_config(args.preset, dict(args.set))
    if args.workers is not None or args.scheduler is not None:
        from herald_gpu.distributed.clusters import open_client, read_folder

        if args.edges is None or args.features is None:
            msg = "--workers and --scheduler need --edges and --features: Parquet files, or folders of them"
            raise ConfigError(msg)
        with open_client(args.workers, args.scheduler, backend=args.backend, memory=args.worker_memory):
            edges, features = (read_folder(path, backend=args.backend) for path in (args.edges, args.features))
            result = condense(args, config, edges, features)
    else:
        if args.resume is not None:
            msg = f"--resume {args.resume} is for Dask workers: pass --workers N or --scheduler ADDRESS too"
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

    return herald_gpu.condense(
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
        config=config,
        backend=args.backend,
        random_state=args.seed,
        verbose=_shared.shows_bar(args),
        resume=args.resume,
    )


def literal(text: str) -> object:
    """Read a Python literal; what is none stays text.

    Examples
    --------
    >>> literal("0.5"), literal("(1, 0, 0)"), literal("rank")
    (0.5, (1, 0, 0), 'rank')
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def assignment(text: str) -> tuple[str, object]:
    """Read ``KEY=VALUE``."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        msg = f"{text!r} is no assignment: pass KEY=VALUE, as in depth=1"
        raise argparse.ArgumentTypeError(msg)
    return key.strip(), literal(value.strip())


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
    return dataclasses.replace(start, **changes)


def read_graph(args: argparse.Namespace) -> tuple[Any, Any, Any, Any]:
    """Read edges, features, labels and training set; a table of nodes holds the last two itself."""
    from herald_gpu.datasets import load_graph, read_npz

    ways = [args.data, args.edges, args.dataset]
    if sum(way is not None for way in ways) != 1 or (args.edges is None) != (args.features is None):
        msg = (
            "pass either --data NPZ or both --edges FILE and --features FILE, or --dataset NAME, "
            "to say which graph to condense"
        )
        raise ConfigError(msg)
    if args.dataset is not None:
        graph = load_graph(args.dataset, split=args.dataset_split)
        return graph.edge_index, graph.features, graph.labels, graph.train
    edges: Any
    nodes: GraphFile | None
    if args.data:
        nodes = read_npz(args.data, split=args.split)
        edges = nodes.edge_index
    else:
        nodes = read_npz(args.features, split=args.split) if is_archive(args.features) else None
        edges = read_npz(args.edges).edge_index if is_archive(args.edges) else table(args.edges)
    if edges is None:
        msg = f"{args.data or args.edges} holds no edges: store them as edge_index, shape (2, E)"
        raise FileFormatError(msg)
    if nodes is None:
        return edges, table(args.features), None, None
    if nodes.features is None:
        msg = f"{args.data or args.features} holds no features: store them as x, or as parts of a CSR array"
        raise FileFormatError(msg)
    return edges, nodes.features, nodes.labels, nodes.train


def table(path: Path) -> Any:  # noqa: ANN401 - a table, or the file of one
    """Read a table, unless it is Parquet: that is read block by block later."""
    if path.is_dir():
        msg = f"{path} is a folder: pass --workers N, whose workers read the Parquet files in it, or one file"
        raise FileFormatError(msg)
    from herald_gpu.datasets import read_table
    from herald_gpu.io.parquet import ENDINGS

    return path if path.suffix.lower() in ENDINGS else read_table(path)


def is_archive(path: Path) -> bool:
    """Tell NPZ archives from tables by their names."""
    return path.suffix.lower() == ".npz"
