"""Which graph is meant, and which of its nodes are for training: the same options in `condense` and `evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands._parser import suggest
from herald_gpu.commands._values import literal, split_choice
from herald_gpu.errors import ConfigError, FileFormatError

if TYPE_CHECKING:
    import argparse

    from herald_gpu.datasets import LabelledGraph
    from herald_gpu.io.categories import Levels
    from herald_gpu.io.read import Columns

WAYS = (("data",), ("edges", "features"), ("dataset",))
"""Options that name a graph, in groups that rule one another out."""
MASKS = ("train", "validation", "test")
CSV_OPTIONS = ("separator", "decimal", "encoding")
NODE = "node"


@dataclass(frozen=True, eq=False)
class Given:
    """A graph as its files have it.

    Attributes
    ----------
    edges, features, labels
        As :func:`herald_gpu.condense` takes them; a table of nodes holds the labels itself.
    masks : tuple of arrays
        Those for training, validation and test that an archive has; None for the others.
    """

    edges: Any
    features: Any
    labels: Any = None
    masks: tuple[Any, Any, Any] = (None, None, None)


def add_graph_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a graph, its split, and the columns of its tables."""
    group = parser.add_argument_group("graph", "an archive, or edges and features apart, or a data set by name")
    group.add_argument(
        "--data", metavar="NPZ", type=Path, help="edge_index, y, x (or CSR as x_data, ...), perhaps train_mask, ..."
    )
    group.add_argument("--edges", metavar="FILE", type=Path, help="CSV, TSV, TXT, Parquet, or NPZ with edge_index")
    group.add_argument(
        "--features",
        metavar="FILE",
        type=Path,
        help="CSV, TSV, TXT or Parquet with a row per node, or NPZ as in --data",
    )
    named = group.add_argument("--dataset", metavar="NAME", help="a data set by name; 'herald datasets' lists them")
    suggest(named, dataset_names)
    group.add_argument(
        "--split",
        metavar="SPLIT",
        type=split_choice,
        help="which nodes are for training and test: source (what comes with the graph; source:1 is its second split), "
        "paper (56/24/20 %%), or the seed of a random one (default: source for files, paper for --dataset)",
    )
    columns = parser.add_argument_group("columns of tables")
    for option, default, meaning in (
        ("--source", "src", "one end of an edge"),
        ("--target", "dst", "the other end"),
        ("--node", NODE, "node id"),
        ("--label", "label", "class"),
        ("--train-column", "train", "whether a node is a training node"),
    ):
        columns.add_argument(option, metavar="NAME", default=default, help=f"{meaning} (default {default})")
    columns.add_argument(
        "--number-rows", action="store_true", help="the table of nodes has no column of ids: its rows count from 0"
    )
    columns.add_argument(
        "--unlabelled",
        metavar="VALUE",
        type=literal,
        default=-1,
        help="label that means unknown (default -1; None if every label is a class)",
    )
    for option, meaning in (
        ("--drop", "a column of nodes to leave out; may be repeated"),
        ("--categorical", "a column of nodes to encode one-hot: text, categories, whole numbers; may be repeated"),
    ):
        columns.add_argument(option, metavar="COL", action="append", default=[], help=meaning)
    files = parser.add_argument_group("CSV files")
    files.add_argument("--separator", metavar="CHAR", help="what separates values (default , and in TSV files a tab)")
    files.add_argument("--decimal", metavar="CHAR", help="the decimal point (default .)")
    files.add_argument("--encoding", metavar="NAME", help="such as latin-1 (default utf-8)")


def node_of(args: argparse.Namespace) -> str | None:
    """Return the name of the column of node ids; None if rows are numbered."""
    if not args.number_rows:
        return str(args.node)
    if args.node != NODE:
        msg = f"--number-rows says that no column holds ids, but --node {args.node} names one: leave one of them out"
        raise ConfigError(msg)
    return None


def dataset_names() -> list[str]:
    """Give the names of data sets."""
    from herald_gpu.datasets.catalogue import DATASETS

    return list(DATASETS)


def columns_of(args: argparse.Namespace) -> Columns:
    """Give the names of columns that the options say."""
    from herald_gpu.io.read import Columns

    return Columns(args.source, args.target, node_of(args), args.label, args.train_column, args.drop, args.categorical)


def csv_of(args: argparse.Namespace) -> dict[str, str]:
    """Give the options of CSV files that were given."""
    given = {name: getattr(args, name) for name in CSV_OPTIONS}
    return {name: value for name, value in given.items() if value is not None}


def check_csv(args: argparse.Namespace) -> None:
    """Refuse options of CSV files where there is no CSV file."""
    if csv_of(args):
        from herald_gpu.io.csv import check_used

        check_used(csv_of(args), args.edges, args.features)


def check_one_way(args: argparse.Namespace) -> None:
    """Refuse options that name no graph, or more than one."""
    check_csv(args)
    named = sum(way is not None for way in (args.data, args.edges, args.dataset))
    if named != 1 or (args.edges is None) != (args.features is None):
        msg = "pass either --data NPZ or both --edges FILE and --features FILE, or --dataset NAME, to say which graph"
        raise ConfigError(msg)


def load_named(args: argparse.Namespace) -> LabelledGraph:
    """Load the graph of ``--dataset`` with its split."""
    from herald_gpu.datasets import load_graph

    choice: Any = "paper" if args.split is None else args.split
    if not isinstance(choice, tuple):
        return load_graph(args.dataset, split=choice)
    graph, place = load_graph(args.dataset, split="source"), choice[1]
    if place >= len(graph.own_splits):
        msg = f"--split source:{place}: {args.dataset} has {len(graph.own_splits)} of its own, counted from 0"
        raise ConfigError(msg)
    return graph.with_split(graph.own_splits[place])


def read_files(args: argparse.Namespace, *, whole: bool, levels: Levels | None = None) -> Given:
    """Read the graph of ``--data``, or of ``--edges`` and ``--features``.

    Parameters
    ----------
    args : argparse.Namespace
    whole : bool
        Whether tables are wanted now; else Parquet files are given as their paths, to be read block by block.
    levels : dict, optional
        Levels of encoded columns, where a condensed graph knows them already.
    """
    from herald_gpu.io.csv import read_graph

    if args.data is not None:
        _check_archive(args.data)
        found = _archive(args.data, args.split)
        edges = found.edges
    else:
        archived = is_archive(args.features)
        found = _archive(args.features, args.split) if archived else Given(None, _table(args.features, whole=whole))
        edges = _archive(args.edges, None).edges if is_archive(args.edges) else _table(args.edges, whole=whole)
        edges, features = read_graph(edges, found.features, columns_of(args), csv_of(args), levels)
        found = replace(found, features=features)
    if edges is None:
        msg = f"{args.data or args.edges} holds no edges: store them as edge_index, shape (2, E)"
        raise FileFormatError(msg)
    if found.features is None:
        msg = f"{args.data or args.features} holds no features: store them as x, or as parts of a CSR array"
        raise FileFormatError(msg)
    return Given(edges, found.features, found.labels, found.masks)


def is_archive(path: Path) -> bool:
    """Tell NPZ archives from tables by their names; what is given as an archive is one."""
    return path.suffix.lower() == ".npz"


def _check_archive(path: Path) -> None:
    """Refuse what was meant for another option."""
    if path.suffix and not is_archive(path):
        msg = f"--data {path} is no NPZ archive by its name: pass tables as --edges FILE and --features FILE"
        raise ConfigError(msg)
    if not path.suffix and not path.exists():
        msg = f"--data {path} is no file: pass the path of an NPZ archive, or --dataset {path} for a data set by name"
        raise ConfigError(msg)


def _archive(path: Path, choice: object) -> Given:
    from herald_gpu.datasets import read_npz

    found = read_npz(path, split=choice[1] if isinstance(choice, tuple) else 0)
    return Given(found.edge_index, found.features, found.labels, (found.train, found.validation, found.test))


def _table(path: Path, *, whole: bool) -> Any:  # noqa: ANN401 - a table, or the file of one
    if path.is_dir():
        msg = f"{path} is a folder: pass --workers N, whose workers read the Parquet files in it, or one file"
        raise FileFormatError(msg)
    from herald_gpu.datasets import read_table
    from herald_gpu.io.csv import is_csv
    from herald_gpu.io.parquet import ENDINGS

    parquet = path.suffix.lower() in ENDINGS
    return path if is_csv(path) or (parquet and not whole) else read_table(path)
