"""The page that holds our runs against the paper's numbers, cell by cell."""

from __future__ import annotations

import math

import pandas as pd

from herald_gpu.experiments import names, paper
from herald_gpu.experiments.grids import MODELS
from herald_gpu.experiments.markdown import NOTHING, accuracies, complete, figure, number, of, table

CLOSE = 2.0
"""Points within which a cell is said to reproduce."""
SHOWN_RATIO = 0.01
COMPARED = ("full", "bonsai", "herald")
"""Methods that have an accounting as published."""
INTRODUCTION = """\
Our mean accuracy with the published accounting less the paper's, in points, over the initialisations that were run
({models}). A whole graph that is stored without directions, duplicates and self loops is the same in both columns of
the [accuracies](accuracy.md); where it was run only once it is taken from there.
"""


def agreement_page(rows: pd.DataFrame) -> str:
    """Differences from the paper, and what the same methods give inside the budget.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `accuracy`.
    """
    ran = of(complete(rows), status="ok") if len(rows) else rows
    if ran.empty:
        return f"# Agreement with the paper\n\n{NOTHING}"
    gaps = differences(ran)
    models = [model for model in MODELS if model in set(gaps["model"])]
    parts = ["# Agreement with the paper\n", INTRODUCTION.format(models=", ".join(models)), _gap_table(gaps, models)]
    parts += [_summary(gaps), _excess(ran), f"## Inside the budget, r = {100 * SHOWN_RATIO:g} %\n"]
    return "\n".join([*parts, _inside(complete(rows), [m for m in MODELS if m in set(ran["model"])])])


def differences(ran: pd.DataFrame) -> pd.DataFrame:
    """Give our means as published beside the paper's, where both are there: column `gap` is ours less theirs."""
    means = accuracies(ran, ["dataset", "method", "column", "ratio", "model"])
    published = of(means, column="published")
    known = set(of(published, method="full")["dataset"])
    clean = of(means, method="full", column="true")
    both = pd.concat([published, clean[~clean["dataset"].isin(known)]])
    theirs = paper.load("accuracy").rename(columns={"mean": "printed"})
    merged = both.merge(theirs[["dataset", "method", "ratio", "model", "printed"]])
    return merged.assign(gap=merged["mean"] - merged["printed"])


def _gap_table(gaps: pd.DataFrame, models: list[str]) -> str:
    ratios = {method: sorted(set(of(gaps, method=method)["ratio"])) for method in COMPARED}
    header = ["graph", "model"]
    header += [
        names.METHODS[method] + ("" if method == "full" else f", r = {100 * ratio:g} %")
        for method, found in ratios.items()
        for ratio in found
    ]
    lines = []
    for dataset in dict.fromkeys(gaps["dataset"]):
        label = names.title(dataset)
        for model in models:
            own = of(gaps, dataset=dataset, model=model)
            if own.empty:
                continue
            cells = [
                _signed(figure(of(own, method=method, ratio=ratio), "gap"))
                for method, found in ratios.items()
                for ratio in found
            ]
            lines.append([label, model, *cells])
            label = ""
    return table(header, lines, left=2)


def _signed(value: float) -> str:
    return "" if math.isnan(value) else f"{round(value, 1) + 0:+.1f}"


def _summary(gaps: pd.DataFrame) -> str:
    size = gaps["gap"].abs()
    worst = gaps.iloc[int(size.to_numpy().argmax())]
    where = f"{names.METHODS[worst['method']]} on {names.title(worst['dataset'])}, {worst['model']}"
    if worst["method"] != "full":
        where += f", r = {100 * worst['ratio']:g} %"
    return (
        f"{int((size <= CLOSE).sum())} of {len(gaps)} cells are within {CLOSE:g} points of the paper; the mean "
        f"distance is {size.mean():.1f}, the largest {size.max():.1f} ({where}).\n"
    )


def _excess(ran: pd.DataFrame) -> str:
    kept = of(ran, column="published")
    kept = kept[kept["method"].isin(("herald", "bonsai"))]
    if kept.empty:
        return ""
    times = kept["storage_ratio"] / kept["ratio"]
    return (
        f"With the published accounting the condensed graphs take {times.min():.0f} to {times.max():.0f} times the "
        "storage that was asked for.\n"
    )


def _inside(rows: pd.DataFrame, models: list[str]) -> str:
    """All methods inside the true budget, and what HERALD's result takes of the storage."""
    own = of(rows, column="true", ratio=SHOWN_RATIO)
    methods = [name for name in names.METHODS if name in set(own["method"])]
    lines = []
    for dataset in dict.fromkeys(own["dataset"]):
        here = of(own, dataset=dataset)
        cells = [_cell(of(here, method=method), models) for method in methods]
        storage = number(100 * figure(of(here, method="herald", status="ok"), "storage_ratio"))
        lines.append([names.title(dataset), *cells, storage])
    header = [" / ".join(models), *(names.METHODS[method] for method in methods), "HERALD's true storage %"]
    return table(header, lines)


def _cell(rows: pd.DataFrame, models: list[str]) -> str:
    if rows.empty:
        return "not run"
    if (rows["status"] == "infeasible").all():
        return "infeasible"
    means = [float(of(rows, model=model, status="ok")["accuracy"].mean()) for model in models]
    return " / ".join(number(mean, 1) or "not run" for mean in means)
