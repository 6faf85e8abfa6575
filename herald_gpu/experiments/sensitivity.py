"""The page of the sensitivity study: the method with other constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu.experiments import names, paper
from herald_gpu.experiments.grids import AXES
from herald_gpu.experiments.markdown import NOTHING, accuracies, complete, figure, number, of, table

if TYPE_CHECKING:
    import pandas as pd

CONSTANTS = {
    "lid_neighbours": "LID size k",
    "depth": "depth L",
    "steepness": "steepness c",
    "alpha0": "base weight alpha0",
}
MODELS = ("GCN", "H2GCN")
INTRODUCTION = """\
Largest minus smallest mean accuracy (points of percent) over the values of one constant, all others as in the paper;
r = 0.005. Only where every value was run. Differences between initialisations alone make a swing: compare it with the
deviations in the figures.
"""


def sensitivity_page(rows: pd.DataFrame) -> str:
    """Swing of the accuracy over each constant's values, beside the paper's.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `sensitivity`.
    """
    if rows.empty:
        return f"# Sensitivity\n\n{NOTHING}"
    datasets = list(dict.fromkeys(rows["dataset"]))
    parts = ["# Sensitivity\n", INTRODUCTION, _values()]
    if missing := names.absent(datasets, ("cora", "amazon-ratings", "roman-empire"), ("chameleon", "actor")):
        parts.append(missing)
    parts.append(swing_table(curves(rows)))
    return "\n".join(parts)


def _values() -> str:
    return "".join(f"- {CONSTANTS[axis]}: {', '.join(f'{value:g}' for value in AXES[axis])}\n" for axis in AXES)


def curves(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy at every value of every constant.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `sensitivity`; a change is written as ``constant=value``.
    """
    ran = of(complete(rows), status="ok")
    parts = ran["change"].str.split("=")
    ran = ran.assign(axis=parts.str[0], value=parts.str[-1].astype(float))
    return accuracies(ran, ["dataset", "column", "model", "axis", "value"])


def swing_table(means: pd.DataFrame) -> str:
    """Swings by constant and graph."""
    theirs = paper.load("sensitivity")
    datasets = dict.fromkeys([*means["dataset"], *theirs["dataset"]])
    lines = []
    for axis, constant in CONSTANTS.items():
        for dataset in datasets:
            cells = []
            for model in MODELS:
                cells.append(number(figure(of(theirs, parameter=axis, dataset=dataset, model=model), "swing")))
                own = of(means, axis=axis, dataset=dataset, model=model)
                cells += [_swing(of(own, column=column), axis) for column in names.SIDES]
            if any(cells):
                lines.append([constant, names.title(dataset), *cells])
    header = [f"{model}, {side}" for model in MODELS for side in ("paper", *names.SIDES.values())]
    return table(["constant", "graph", *header], lines, left=2)


def _swing(part: pd.DataFrame, axis: str) -> str:
    if set(part["value"]) != set(AXES[axis]):
        return ""
    return number(float(part["mean"].max() - part["mean"].min()))
