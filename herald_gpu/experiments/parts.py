"""The page of the default preset's parts: what each is worth on graphs that nothing was tuned on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.experiments import names
from herald_gpu.experiments.grids import MODELS
from herald_gpu.experiments.markdown import NOTHING, complete, figure, number, of, spread, table

if TYPE_CHECKING:
    import pandas as pd

WHOLE = "whole"
WHAT = {
    WHOLE: "the default preset",
    "landmarks only": "landmarks with one exemplar a class, everywhere",
    "no landmarks": "no landmarks; exemplars may be linked",
    "real edges": "no synthetic edges",
    "real only": "neither",
    "all features": "no trial: all features",
    "paper's features": "features looked at by Fisher x density",
    "graph's storage": "features stored as the whole graph's",
    "herding": "as many exemplars as fit, by herding only",
    "covering": "as many exemplars as fit, by covering only",
    "training shares": "classes by their training shares",
}
INTRODUCTION = """\
The default preset with one part changed: mean test accuracy in percent of {models} and, after the semicolon, its change
from the whole. ± is the sample standard deviation over initialisations.
"""


def parts_page(rows: pd.DataFrame) -> str:
    """Accuracies with their change from the whole preset, graph by graph, and their average.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `parts`.
    """
    ran = of(complete(rows), status="ok") if len(rows) else rows
    if ran.empty:
        return f"# Parts of the default preset\n\n{NOTHING}"
    texts = ["# Parts of the default preset\n", INTRODUCTION.format(models=", ".join(MODELS))]
    for ratio in sorted(set(ran["ratio"])):
        texts += [f"## r = {100 * ratio:g} %\n", _table(of(ran, ratio=ratio))]
    return "\n".join(texts)


def _table(ran: pd.DataFrame) -> str:
    runs = ran.groupby(["dataset", "change", "seed"], sort=False).agg(
        accuracy=("accuracy", "mean"), models=("model", "nunique")
    )
    whole = runs[runs["models"] == len(MODELS)].reset_index()
    by = whole.groupby(["dataset", "change"], sort=False)["accuracy"]
    means = by.agg(mean="mean", std="std").reset_index()
    datasets = list(dict.fromkeys(means["dataset"]))
    lines = []
    for change, what in WHAT.items():
        cells, gaps = [], []
        for dataset in datasets:
            part, base = (of(means, dataset=dataset, change=name) for name in (change, WHOLE))
            text, gap = spread(figure(part, "mean"), figure(part, "std")), figure(part, "mean") - figure(base, "mean")
            gaps.append(gap)
            cells.append(text if change == WHOLE or math.isnan(gap) else f"{text}; {round(gap, 1) + 0:+.1f}")
        known = [gap for gap in gaps if not math.isnan(gap)]
        average = "" if change == WHOLE or not known else number(sum(known) / len(known), 1)
        lines.append([change, what, *cells, average])
    return table(["", "", *map(names.title, datasets), "mean change"], lines, left=2)
