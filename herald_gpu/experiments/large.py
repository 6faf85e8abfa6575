"""The page of the large graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu.experiments import names, paper
from herald_gpu.experiments.grids import MODELS
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
    import pandas as pd

HEADER = ("method", "r", *MODELS, "nodes", "features", "true storage %", "condensing, s")
TITLE = "# A graph of Reddit's size\n"
INTRODUCTION = """\
The paper's Reddit (232,965 nodes, 57.3 million edges, 602 features, 41 classes) is generated here: `reddit-like-SCALE`
has its classes, features and homophily, SCALE of its nodes and the root of SCALE of its mean degree. Accuracies on a
generated graph say how methods compare, not what they would reach on Reddit. Test accuracy in percent inside the true
budget, 1024 hidden units.
"""


def large_page(rows: pd.DataFrame) -> str:
    """Accuracies of all methods, with and without PCA.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `large-scale`.
    """
    parts = [TITLE, INTRODUCTION]
    if rows.empty:
        parts.append(NOTHING)
    for dataset in dict.fromkeys(rows["dataset"]) if len(rows) else ():
        parts += [f"## {dataset}\n", dataset_table(of(complete(rows), dataset=dataset))]
    parts += ["## The paper's Reddit table\n", paper_table()]
    return "\n".join(parts)


def dataset_table(rows: pd.DataFrame) -> str:
    """All methods on one graph."""
    lines = []
    for method in [name for name in names.METHODS if name in set(rows["method"])]:
        own = of(rows, method=method)
        for ratio, change in sorted(dict.fromkeys(zip(own["ratio"], own["change"], strict=True))):
            name = f"{names.METHODS[method]}, PCA" if change == "pca" else names.METHODS[method]
            label = "" if method == "full" else f"{ratio:g}"
            lines.append([name, label, *_cells(of(own, ratio=ratio, change=change))])
    return table(HEADER, lines)


def _cells(group: pd.DataFrame) -> list[str]:
    ran = of(group, status="ok")
    if ran.empty:
        return [*["infeasible"] * len(MODELS), "", "", smallest(group), ""]
    return [
        *by_model(accuracies(ran, ["model"]), MODELS),
        number(figure(ran, "n_nodes"), 0),
        number(figure(ran, "n_features"), 0),
        number(100 * figure(ran, "storage_ratio")),
        number(figure(ran, "condense_seconds"), 1),
    ]


def paper_table() -> str:
    """What the paper prints."""
    theirs = of(paper.load("accuracy"), dataset="reddit")
    lines = []
    for method, ratio in dict.fromkeys(zip(theirs["method"], theirs["ratio"], strict=True)):
        label = "" if method == "full" else f"{ratio:g}"
        lines.append([names.METHODS[method], label, *by_model(of(theirs, method=method, ratio=ratio), MODELS)])
    return table(["method", "r", *MODELS], lines)
