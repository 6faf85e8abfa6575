"""``herald convert``: write a saved condensed graph for another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _shared
from herald_gpu.commands._parser import sentence

if TYPE_CHECKING:
    import argparse

FORMATS = {
    "pyg": "a PyG Data, for torch.load(..., weights_only=False)",
    "npz": "arrays as DGL names them: src, dst, num_nodes, feat, label, train_mask, node_ids, feature_ids",
    "networkx": 'node-link JSON, for networkx.node_link_graph(..., edges="edges")',
    "graphml": "GraphML, for NetworkX, Gephi, igraph and others",
    "csv": "a folder with edges.csv and nodes.csv",
    "parquet": "the same as Parquet",
}


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "write a saved condensed graph for another program"
    listed = "\n".join(f"  {name:<9} {what}" for name, what in FORMATS.items())
    parser = commands.add_parser(
        "convert",
        help=about,
        description=f"{sentence(about)}.\n\nformats:\n{listed}",
        examples=[
            "herald convert small.herald --to pyg --output small.pt",
            "herald convert small.herald --to npz --output small.npz",
            "herald convert small.herald --to graphml --output small.graphml",
            "herald convert small.herald --to csv --output tables",
        ],
    )
    parser.set_defaults(run=run)
    parser.add_argument("result", metavar="RESULT", type=Path, help="what 'herald condense --output' wrote")
    parser.add_argument("--to", choices=tuple(FORMATS), required=True, help="the format")
    parser.add_argument("--output", metavar="PATH", type=Path, required=True, help="a file; for csv, parquet a folder")
    _shared.add_force_option(parser)
    _shared.add_talk_options(parser, json="print sizes and files as JSON")


def run(args: argparse.Namespace) -> None:
    """Read, write, and tell what was written."""
    import herald_gpu
    from herald_gpu.io.export import export, folder_names

    _shared.check_output(args, names=folder_names(kind=args.to) if args.to in ("csv", "parquet") else None)
    result = herald_gpu.load(args.result)
    files = [str(path) for path in export(result, args.output, args.to, overwrite=args.force)]
    report = result.report
    sizes = {"nodes": report.n_nodes, "edges": report.n_edges, "features": report.feature_count}
    text = f"{report.n_nodes:,} nodes, {report.n_edges:,} directed edges, {report.feature_count:,} features"
    _shared.tell(args, {"to": args.to, **sizes, "files": files}, f"{text}: {', '.join(files)}")
