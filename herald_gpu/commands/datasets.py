"""``herald datasets``: list the data sets that are known by name, and fetch them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _graphs, _shared
from herald_gpu.commands._parser import sentence, suggest
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    import argparse

HEADINGS = ("name", "nodes", "edges", "features", "classes", "from", "verified by", "licence")
NUMBERS = range(1, 5)


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "list the data sets that are known by name, or fetch some"
    parser = commands.add_parser(
        "datasets",
        help=about,
        description=f"{sentence(about)}.",
        examples=["herald datasets", "herald datasets list --json", "herald datasets fetch cora citeseer --root data"],
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "action", nargs="?", choices=("list", "fetch"), default="list", help="what to do (default %(default)s)"
    )
    names = parser.add_argument(
        "names", nargs="*", metavar="NAME", help="data sets to fetch; 'herald datasets' lists them"
    )
    suggest(names, _graphs.dataset_names)
    parser.add_argument("--root", metavar="FOLDER", type=Path, help="keep and look for them here, not in the cache")
    _shared.add_talk_options(parser, json="print JSON instead of text", verbose="say where files come from")


def run(args: argparse.Namespace) -> None:
    """List or fetch."""
    if args.action == "list":
        if args.names:
            msg = f"list takes no NAME, and {args.names[0]!r} was given: pass 'fetch {args.names[0]}' to fetch it"
            raise ConfigError(msg)
        rows = listed(args.root)
        _shared.tell(args, rows, render(rows))
        return
    if not args.names:
        msg = "fetch was given no NAME: pass one or more, as 'herald datasets' lists them"
        raise ConfigError(msg)
    fetch(args)


def fetch(args: argparse.Namespace) -> None:
    """Load each graph once, so that later it is here; all names are checked before the first download."""
    from herald_gpu.datasets import load_graph
    from herald_gpu.datasets.catalogue import find
    from herald_gpu.datasets.loading import status

    told = []
    for name in [find(name).name for name in args.names]:
        graph = load_graph(name, root=args.root, split=None)
        sizes = {"nodes": graph.n_nodes, "edges": graph.n_edges, "features": graph.n_features}
        told.append({"name": name, **sizes, "classes": graph.n_classes, "from": status(name, root=args.root)})
        if not (args.json or args.quiet):
            parts = ", ".join(f"{value:,} {what}" for what, value in sizes.items())
            print(f"{name}: {parts}, {graph.n_classes} classes ({told[-1]['from']})")
    if args.json:
        print(json.dumps(told, indent=2))


def listed(root: Path | None) -> list[dict[str, Any]]:
    """Describe every known data set in plain values.

    Examples
    --------
    >>> listed(None)[0]["name"], listed(None)[0]["nodes"]
    ('cora', 2708)
    """
    from herald_gpu.datasets import DATASETS
    from herald_gpu.datasets.loading import status

    return [
        {
            "name": dataset.name,
            **dataset.sizes._asdict(),
            "from": status(dataset.name, root=root),
            "verified by": dataset.verification,
            "licence": dataset.licence,
            "source": dataset.source,
            "urls": [file.url for file in dataset.files],
        }
        for dataset in DATASETS.values()
    ]


def render(rows: list[dict[str, Any]]) -> str:
    """Write the rows as a table."""
    cells = [HEADINGS, *(tuple(_text(row[heading]) for heading in HEADINGS) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(
            f"{cell:>{width}}" if column in NUMBERS else f"{cell:<{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def _text(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
