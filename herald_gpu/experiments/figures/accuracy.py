"""Accuracy against true storage, graph by graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.experiments import names
from herald_gpu.experiments.figures.style import LINES, METHODS, Drawn, curve, legend, level, panels
from herald_gpu.experiments.grids import MODELS
from herald_gpu.experiments.markdown import accuracies, complete, of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

BY = ("dataset", "method", "column", "ratio", "change", "model")


def draw(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Draw a figure for each graph: a panel for each model, a line for each method.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiments `accuracy` or `large-scale`.
    """
    ran = of(complete(rows), status="ok")
    means = accuracies(ran, BY).assign(storage=lambda frame: 100 * frame["storage_ratio"])
    for dataset in dict.fromkeys(means["dataset"]):
        own = of(means, dataset=dataset)
        models = [model for model in MODELS if model in set(own["model"])]
        across = 2 if len(models) > 1 else 1
        made, axes = panels(-(-len(models) // across), across, width=4.2, height=3.0)
        for model, one in zip(models, axes, strict=False):
            _panel(one, of(own, model=model))
            one.set_title(model)
            one.set_xlabel("true storage, % of the whole graph")
        for one in axes[len(models) :]:
            one.set_axis_off()
        made.supylabel("test accuracy, %")
        made.suptitle(names.title(dataset))
        legend(made, axes, columns=4)
        caption = f"{names.title(dataset)}: test accuracy against true storage"
        yield Drawn(f"accuracy-{dataset}", caption, made)


def _panel(axes: Any, means: pd.DataFrame) -> None:  # noqa: ANN401 - of matplotlib
    axes.set_xscale("log")
    for method, (colour, marker) in METHODS.items():
        for column, dashes in LINES.items():
            own = of(means, method=method, column=column)
            label = names.METHODS[method] + ("" if column == "true" else f", {names.SIDES[column]}")
            if method == "full":
                level(axes, own, "mean", color=colour, linestyle=dashes, label=label)
                continue
            for change in dict.fromkeys(own["change"]):
                curve(
                    axes,
                    of(own, change=change),
                    "storage",
                    color=colour,
                    marker=marker,
                    linestyle=dashes if change == "" else ":",
                    markerfacecolor="white" if column == "published" else colour,
                    label=f"{label}, {change.upper()}" if change else label,
                )
