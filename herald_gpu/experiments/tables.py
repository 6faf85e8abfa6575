"""The main tables: accuracies graph by graph, and their averages, beside the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu.experiments import names, paper
from herald_gpu.experiments.condensers import FITTED
from herald_gpu.experiments.grids import HETEROPHILIC, HOMOPHILIC, MODELS, STAND_INS
from herald_gpu.experiments.markdown import (
    NOTHING,
    accuracies,
    by_model,
    complete,
    figure,
    number,
    of,
    smallest,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

HEADER = ("condenser", "r", "", *MODELS, "nodes", "true storage %", "SR as the paper counts %")
INTRODUCTION = """\
Test accuracy in percent, mean ± sample standard deviation over {seeds}, on the paper's split, with the paper's models
(variant `published`). *paper* is what the paper prints; *as published* is our run of the published accounting, on the
graph as it is stored; *true budget* is the method inside the storage asked for, on the clean undirected graph. True
storage is measured by eq:budget; the last column is the storage ratio as the paper counts it. GDEM and the clustering
condenser make nodes with float features, of which not even one a class fits beside sparse binary ones with all columns:
GDEM keeps the {kept} best features by Fisher x density, clustering the {top} largest entries of a node. The paper's ±
is a population standard deviation.
"""
BY = ("dataset", "method", "column", "ratio")


def accuracy_page(rows: pd.DataFrame) -> str:
    """Write the whole page of accuracies.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `accuracy`.
    """
    if rows.empty:
        return f"# Accuracies\n\n{NOTHING}"
    rows = complete(rows)
    run = list(dict.fromkeys(rows["dataset"]))
    of_paper = [name for name in (*HOMOPHILIC, *HETEROPHILIC) if name in run]
    parts = [
        "# Accuracies\n",
        INTRODUCTION.format(seeds=_seeds(rows), kept=FITTED["gdem"]["feature_count"], top=FITTED["cluster"]["top"]),
    ]
    if missing := names.absent(run, (*HOMOPHILIC, *HETEROPHILIC), STAND_INS):
        parts.append(missing)
    parts += _averages(rows, of_paper)
    for name in [*of_paper, *(name for name in run if name not in of_paper)]:
        parts.append(f"## {names.title(name)}\n")
        if name not in of_paper:
            parts.append("Not in the paper's tables.\n")
        parts.append(dataset_table(rows, name))
    return "\n".join(parts)


def _seeds(rows: pd.DataFrame) -> str:
    counts = rows[rows["status"] == "ok"].groupby([*BY, "model"])["seed"].nunique()
    if counts.empty:
        return "no initialisation yet"
    few, many = int(counts.min()), int(counts.max())
    return f"{few} to {many} initialisations" if few < many else f"{many} initialisation{'s' if many > 1 else ''}"


def _averages(rows: pd.DataFrame, datasets: Sequence[str]) -> list[str]:
    groups = {
        "Homophilic graphs": [name for name in HOMOPHILIC if name in datasets],
        "Heterophilic graphs": [name for name in HETEROPHILIC if name in datasets],
        "All graphs of the paper": list(datasets),
    }
    written: list[list[str]] = []
    parts = []
    for heading, group in groups.items():
        if len(group) > 1 and group not in written:
            written.append(group)
            over = f"Over {names.listed(group)}; the paper's numbers averaged over the same.\n"
            parts += [f"## {heading}, average\n", over, average_table(rows, group)]
    return parts


def dataset_table(rows: pd.DataFrame, dataset: str) -> str:
    """All methods on one graph: the paper's accuracy, ours as published, ours inside the true budget.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `accuracy`, with all columns.
    dataset : str
    """
    ours, theirs = of(rows, dataset=dataset), of(paper.load("accuracy"), dataset=dataset)
    printed = of(paper.load("statistics"), dataset=dataset)
    lines = []
    for method in [name for name in names.METHODS if name in set(ours["method"])]:
        here, there = of(ours, method=method), of(theirs, method=method)
        for ratio in sorted(set(here["ratio"]) | (set(there["ratio"]) & set(ours["ratio"]))):
            label = [names.METHODS[method], "" if method == "full" else f"{ratio:g}"]
            sizes = of(printed, method=method, ratio=ratio)
            for line in _lines(of(here, ratio=ratio), of(there, ratio=ratio), sizes):
                lines.append([*label, *line])
                label = ["", ""]
    return table(HEADER, lines, left=3)


def _lines(ours: pd.DataFrame, theirs: pd.DataFrame, printed: pd.DataFrame) -> list[list[str]]:
    """One method at one ratio: a line for the paper, with the sizes it prints, and for each column that was run."""
    lines = []
    if len(theirs):
        known = number(figure(printed, "n_nodes"), 0), "", number(figure(printed, "storage_percent"))
        lines.append(["paper", *by_model(theirs, MODELS), *known])
    for column, name in names.SIDES.items():
        part = of(ours, column=column)
        if part.empty:
            continue
        ran = of(part, status="ok")
        if ran.empty:
            lines.append([name, *["infeasible"] * len(MODELS), "", smallest(part), ""])
            continue
        sizes = [number(100 * figure(ran, share)) for share in ("storage_ratio", "published_ratio")]
        cells = by_model(accuracies(ran, ["model"]), MODELS)
        lines.append([name, *cells, number(figure(ran, "n_nodes"), 0), *sizes])
    return lines


def average_table(rows: pd.DataFrame, datasets: Sequence[str]) -> str:
    """Averages over graphs of all methods that were run on every one of them.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `accuracy`, with all columns.
    datasets : sequence of str
    """
    ran = of(rows, status="ok")
    means = accuracies(ran[ran["dataset"].isin(datasets)], [*BY, "model"])
    theirs = paper.load("accuracy")
    sides = {"paper": theirs[theirs["dataset"].isin(datasets)]}
    sides |= {name: of(means, column=column) for column, name in names.SIDES.items()}
    lines = []
    for method in [name for name in names.METHODS if name in set(means["method"])]:
        for ratio in sorted(set(of(means, method=method)["ratio"])):
            parts = {name: of(side, method=method, ratio=ratio) for name, side in sides.items()}
            cells = {name: [_average(of(part, model=m), datasets) for m in MODELS] for name, part in parts.items()}
            if not any(text for name in names.SIDES.values() for text in cells[name]):
                continue
            label = [names.METHODS[method], "" if method == "full" else f"{ratio:g}"]
            sizes = {
                name: _mean_sizes(of(ran, method=method, ratio=ratio, column=column), datasets)
                for column, name in names.SIDES.items()
            }
            for name in [name for name, line in cells.items() if any(line)]:
                lines.append([*label, name, *cells[name], *sizes.get(name, ["", ""])])
                label = ["", ""]
    return table([*HEADER[:7], *HEADER[8:]], lines, left=3)


def _mean_sizes(part: pd.DataFrame, datasets: Sequence[str]) -> list[str]:
    """True storage and the paper's ratio in percent, averaged over graphs."""
    means = part[part["dataset"].isin(datasets)].groupby("dataset")[["storage_ratio", "published_ratio"]].mean()
    if set(means.index) != set(datasets):
        return ["", ""]
    return [number(100 * float(means[name].mean(skipna=False))) for name in means]


def _average(part: pd.DataFrame, datasets: Sequence[str]) -> str:
    """Mean over graphs; nothing unless all of them are there."""
    return number(float(part["mean"].mean()), 1) if set(part["dataset"]) == set(datasets) else ""
