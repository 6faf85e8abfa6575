"""Accuracy of the method without one of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.experiments import names
from herald_gpu.experiments.ablation import MODELS, VARIANTS
from herald_gpu.experiments.figures.style import BLUE, RED, Drawn, legend, level, panels
from herald_gpu.experiments.markdown import accuracies, complete, figure, of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

LOOKS = {"GCN": (BLUE, "s", -0.12), "H2GCN": (RED, "o", 0.12)}
"""Colour, marker, and place beside the variant's."""


def draw(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Draw one figure: a panel for each graph and column, a place for each variant.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `ablation`.
    """
    ran = of(complete(rows), status="ok")
    means = accuracies(ran, ["dataset", "column", "change", "model"])
    datasets = list(dict.fromkeys(means["dataset"]))
    columns = [column for column in names.SIDES if column in set(means["column"])]
    if not datasets:
        return
    made, axes = panels(len(datasets), len(columns), width=4.4, height=2.8, sharex=True)
    places = [(dataset, column) for dataset in datasets for column in columns]
    for (dataset, column), one in zip(places, axes, strict=True):
        _panel(one, of(means, dataset=dataset, column=column))
        one.set_title(f"{names.title(dataset)}, {names.SIDES[column]}")
    made.supylabel("test accuracy, %")
    legend(made, axes)
    yield Drawn("ablation", "Test accuracy of each variant; lines: the whole method (A)", made)


def _panel(axes: Any, means: pd.DataFrame) -> None:  # noqa: ANN401 - of matplotlib
    for model in MODELS:
        colour, marker, shift = LOOKS[model]
        own = of(means, model=model)
        level(axes, of(own, change="A"), "mean", color=colour, linewidth=0.8, alpha=0.6)
        label: str | None = model
        for place, variant in enumerate(VARIANTS):
            part = of(own, change=variant)
            if len(part):
                deviation = part["std"].fillna(0.0).to_numpy(dtype=float)
                axes.errorbar(
                    [place + shift],
                    [figure(part, "mean")],
                    yerr=deviation,
                    color=colour,
                    marker=marker,
                    linestyle="",
                    capsize=2,
                    label=label,
                )
                label = None
    axes.set_xticks(range(len(VARIANTS)), list(VARIANTS))
