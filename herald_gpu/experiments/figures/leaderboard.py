"""Accuracy against true bytes: a panel for each graph, a line for each method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu.experiments import names
from herald_gpu.experiments.figures.style import METHODS, Drawn, curve, legend, level, panels
from herald_gpu.experiments.markdown import complete, of
from herald_gpu.experiments.standings import OURS, chosen_rows, over_models

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

ACROSS = 3


def draw(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Draw the mean of the four models against true storage.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `leaderboard`.
    """
    whole = over_models(chosen_rows(complete(rows)))
    if whole.empty:
        return
    by = whole.groupby(["dataset", "method", "ratio"], sort=False)
    means = by["accuracy"].agg(mean="mean", std="std").join(100 * by["storage_ratio"].mean()).reset_index()
    graphs = list(dict.fromkeys(means["dataset"]))
    made, axes = panels(-(-len(graphs) // ACROSS), ACROSS, width=3.4, height=2.7)
    for dataset, one in zip(graphs, axes, strict=False):
        own = of(means, dataset=dataset)
        one.set_xscale("log")
        asked = sorted(100 * share for share in set(own["ratio"]) if share < 1)
        one.set_xticks(asked, [f"{share:g}" for share in asked])
        one.set_xticks([], minor=True)
        one.set_title(names.title(dataset))
        for method, (colour, marker) in METHODS.items():
            part = of(own, method=method)
            if method == "full":
                level(one, part, "mean", color=colour, linestyle="--", label=names.METHODS[method])
            elif len(part):
                strong = {"linewidth": 2.4, "markersize": 9, "zorder": 5} if method == OURS else {}
                curve(one, part, "storage_ratio", color=colour, marker=marker, label=names.METHODS[method], **strong)
    for one in axes[len(graphs) :]:
        one.set_axis_off()
    for one in axes[max(0, len(graphs) - ACROSS) : len(graphs)]:
        one.set_xlabel("true storage, % of the graph")
    made.supylabel("test accuracy, %, mean of four models")
    legend(made, axes, columns=4)
    yield Drawn("leaderboard", "Mean test accuracy of four models against true storage", made)
