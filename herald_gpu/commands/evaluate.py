"""``herald evaluate``: train GNNs on a condensed graph and test them on the full one."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands import _graphs, _shared
from herald_gpu.commands._parser import sentence, suggest
from herald_gpu.errors import ConfigError
from herald_gpu.evaluate.names import OTHER_MODELS, PAPER_MODELS
from herald_gpu.ratios import percent

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from herald_gpu import CondensedGraph

MODELS = (*PAPER_MODELS, *OTHER_MODELS)
NARROWEST = 6
"""Width of the column of names, unless a name is longer."""


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps this type private
    """Register the subcommand."""
    about = "train GNNs on a condensed graph and test them on the full one"
    parser = commands.add_parser(
        "evaluate",
        help=about,
        description=f"{sentence(about)}.",
        examples=[
            "herald evaluate small.herald --edges edges.csv --features nodes.csv",
            "herald evaluate small.herald --data graph.npz --models GCN GAT --seeds 3 --csv rows.csv",
            "herald evaluate small.herald --dataset cora --with-full --json",
            "herald evaluate --dataset cora --models GCN --split 3",
        ],
        ways=_graphs.WAYS,
    )
    parser.set_defaults(run=run)

    parser.add_argument(
        "result",
        nargs="?",
        metavar="RESULT",
        type=Path,
        help="a saved condensed graph; without one, the full graph is trained on",
    )
    _graphs.add_graph_options(parser)
    graphs = parser.add_argument_group("test")
    graphs.add_argument(
        "--graph-as",
        choices=("clean", "stored"),
        default="clean",
        help="test on the undirected simple graph, or on the edges as they are stored (default %(default)s)",
    )
    graphs.add_argument(
        "--with-full", action="store_true", help="also train on the full graph, and put its accuracies beside"
    )
    graphs.add_argument("--scaled", action="store_true", help="standard-scale features; for the full graph only")

    models = parser.add_argument_group("models")
    chosen = models.add_argument(
        "--models",
        nargs="+",
        metavar="MODEL",
        default=PAPER_MODELS,
        help=f"of {', '.join(MODELS)} (default the first four)",
    )
    suggest(chosen, lambda: MODELS)
    models.add_argument(
        "--variant",
        choices=("standard", "published"),
        default="standard",
        help="as their papers define them, or as measured in the condensation paper (default %(default)s)",
    )
    models.add_argument("--seeds", type=int, default=5, help="how many initialisations (default %(default)s)")
    models.add_argument("--epochs", type=int, default=200, help="of training (default %(default)s)")
    models.add_argument("--lr", type=float, default=1e-3, help="learning rate of Adam (default %(default)s)")
    models.add_argument("--weight-decay", type=float, default=5e-4, help="of Adam (default %(default)s)")
    models.add_argument("--hidden", type=int, default=128, help="hidden units (default %(default)s)")
    models.add_argument("--last", action="store_true", help="keep the last weights, not the best on validation nodes")
    models.add_argument("--device", default="auto", help="auto, cpu or cuda (default %(default)s)")

    output = parser.add_argument_group("output")
    output.add_argument("--csv", metavar="PATH", type=Path, help="write a row for each model and seed here")
    _shared.add_force_option(output)
    _shared.add_talk_options(output, json="print JSON instead of a table", verbose="show progress")


def run(args: argparse.Namespace) -> None:
    """Read both graphs, train, test, and tell."""
    import pandas as pd

    import herald_gpu
    from herald_gpu.evaluate import Training, evaluate, summarise
    from herald_gpu.io.atomic import whole_file

    if args.csv is not None:
        _shared.check_output(args, key="csv", example="rows.csv")
    training = Training(
        epochs=args.epochs,
        lr=args.lr,
        weight_decay=args.weight_decay,
        hidden=args.hidden,
        best_validation=not args.last,
    )
    result = None if args.result is None else herald_gpu.load(args.result, output_type="numpy")
    if args.with_full and result is None:
        msg = "--with-full is for a condensed graph, and none was given: pass RESULT too, or leave --with-full out"
        raise ConfigError(msg)
    measured = partial(
        evaluate,
        graph=read_graph(args, result),
        models=args.models,
        variant=args.variant,
        seeds=args.seeds,
        training=training,
        device=args.device,
        graph_as=args.graph_as,
        progress=_shared.shows_bar(args),
    )
    rows = measured(result, scaled=args.scaled and not args.with_full)
    if args.with_full and result is not None:
        # A condensed graph that scales features is fairly compared with a full graph whose features are scaled.
        scaled = args.scaled or result.scales_features
        rows = pd.concat([rows, measured(None, scaled=scaled)], ignore_index=True)
    if args.csv is not None:
        with whole_file(args.csv, overwrite=args.force) as unfinished:
            rows.to_csv(unfinished, index=False)
    summary = beside(*(summarise(part) for _, part in rows.groupby("trained_on", sort=False)))
    tables = {"summary": summary, "rows": rows}
    content = {name: json.loads(table.to_json(orient="records")) for name, table in tables.items()}
    _shared.tell(args, content, render(rows, summary))


def read_graph(args: argparse.Namespace, result: CondensedGraph | None = None) -> Any:  # noqa: ANN401 - whatever has the parts of a labelled graph
    """Read the full graph that the options name, with its split, for a condensed graph if there is one."""
    _graphs.check_one_way(args)
    if args.dataset is not None:
        return _graphs.load_named(args)
    from herald_gpu.commands._splits import to_test

    return to_test(args, result)


def beside(condensed: pd.DataFrame, full: pd.DataFrame | None = None) -> pd.DataFrame:
    """Put accuracies after training on the full graph beside those after training on the condensed one.

    Parameters
    ----------
    condensed, full : pandas.DataFrame
        Of `summarise`, for the same models.

    Returns
    -------
    pandas.DataFrame
        With `full`, further columns: `full` and `full_std`, and `share`, the condensed mean in percent of the full one.

    Examples
    --------
    >>> import pandas as pd
    >>> one = pd.DataFrame([{"model": "GCN", "variant": "standard", "mean": 80.0, "std": 0.5, "n": 5}])
    >>> beside(one, one.assign(mean=100.0))["share"].tolist()
    [80.0]
    """
    if full is None:
        return condensed
    share = 100 * condensed["mean"] / full["mean"]
    return condensed.assign(full=full["mean"], full_std=full["std"], share=share)


def render(rows: pd.DataFrame, summary: pd.DataFrame) -> str:
    """Write a line of what was trained on and a table of test accuracies.

    Examples
    --------
    >>> import pandas as pd
    >>> one = {"model": "GCN", "trained_on": "condensed", "validation": 82.0, "seconds": 1.5}
    >>> sizes = {"n_nodes": 40, "n_edges": 60, "n_features": 9, "storage_ratio": 0.01}
    >>> rows = pd.DataFrame([one | sizes])
    >>> summary = pd.DataFrame([{"model": "GCN", "variant": "standard", "mean": 81.0, "std": 0.5, "n": 5}])
    >>> print(render(rows, summary))
    trained on 40 nodes, 60 directed edges and 9 features: 1 % of the storage
    model   test accuracy  validation  seconds
    GCN      81.00 ± 0.50       82.00      1.5
    >>> full = one | {"trained_on": "full", "n_nodes": 900, "n_edges": 4000, "n_features": 50, "storage_ratio": 1.0}
    >>> print(render(pd.DataFrame([one | sizes, full]), summary.assign(full=90.0, full_std=0.25, share=90.0)))
    trained on 40 nodes, 60 directed edges and 9 features: 1 % of the storage
    and on 900 nodes, 4,000 directed edges and 50 features: the full graph
    model        condensed           full    share  validation  seconds
    GCN       81.00 ± 0.50   90.00 ± 0.25   90.0 %       82.00      1.5
    """
    parts = [part for _, part in rows.groupby("trained_on", sort=False)]
    lines = [f"{word} {_sizes(part)}" for word, part in zip(("trained on", "and on"), parts, strict=False)]
    both = "full" in summary
    names = f"{'condensed':>14}  {'full':>13}  {'share':>7}" if both else f"{'test accuracy':>13}"
    records: list[dict[str, Any]] = json.loads(summary.to_json(orient="records"))
    width = max(NARROWEST, *(len(line["model"]) for line in records))
    lines.append(f"{'model':<{width}}  {names}  {'validation':>10}  {'seconds':>7}")
    for line in records:
        own = parts[0][parts[0]["model"] == line["model"]]
        told = _mean(line["mean"], line["std"], line["n"])
        if both:
            told = f"{told:>14}  {_mean(line['full'], line['full_std'], line['n']):>13}  {line['share']:>5.1f} %"
        validation, taken = own["validation"].mean(), own["seconds"].sum()
        lines.append(f"{line['model']:<{width}}  {told:>13}  {validation:>10.2f}  {taken:>7.1f}")
    return "\n".join(lines)


def _sizes(rows: pd.DataFrame) -> str:
    """Say what was trained on."""
    first: dict[str, Any] = {str(name): value for name, value in rows.iloc[0].to_dict().items()}
    full = first["trained_on"] == "full"
    share = "the full graph" if full else f"{percent(first['storage_ratio'])} of the storage"
    sizes = f"{first['n_nodes']:,} nodes, {first['n_edges']:,} directed edges and {first['n_features']:,} features"
    return f"{sizes}: {share}"


def _mean(mean: float, deviation: float | None, count: int) -> str:
    return f"{mean:.2f}" + (f" ± {deviation:.2f}" if count > 1 else "")
