"""Accuracy against each constant of the method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.experiments import names
from herald_gpu.experiments.figures.style import CYCLE, GREY, MARKERS, Drawn, curve, legend, panels
from herald_gpu.experiments.grids import AXES
from herald_gpu.experiments.markdown import of
from herald_gpu.experiments.sensitivity import CONSTANTS, MODELS, curves

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

USUAL = {"lid_neighbours": 10.0, "depth": 2.0, "steepness": 8.0, "alpha0": 0.4}
"""The paper's values."""
DASHES = dict(zip(MODELS, ("-", "--"), strict=True))


def draw(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Draw a figure for each column, with a panel for each constant.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `sensitivity`.
    """
    means = curves(rows)
    datasets = list(dict.fromkeys(means["dataset"]))
    for column, side in names.SIDES.items():
        own = of(means, column=column)
        if own.empty:
            continue
        made, axes = panels(2, 2, width=4.4, height=3.1)
        for (axis, constant), one in zip(CONSTANTS.items(), axes, strict=True):
            _panel(one, of(own, axis=axis), datasets)
            one.axvline(USUAL[axis], color=GREY, linestyle=":", linewidth=1, label="the paper's value")
            one.set_xlabel(constant)
            one.set_xticks(AXES[axis])
        made.supylabel("test accuracy, %")
        made.suptitle(f"Sensitivity to the constants, {side}, r = 0.005")
        legend(made, axes, columns=3)
        yield Drawn(f"sensitivity-{column}", f"Test accuracy against each constant, {side}", made)


def _panel(axes: Any, means: pd.DataFrame, datasets: list[str]) -> None:  # noqa: ANN401 - of matplotlib
    for number, dataset in enumerate(datasets):
        for model, dashes in DASHES.items():
            part = of(means, dataset=dataset, model=model)
            if len(part):
                colour, marker = CYCLE[number % len(CYCLE)], MARKERS[number % len(MARKERS)]
                label = f"{names.title(dataset)}, {model}"
                face = colour if dashes == "-" else "white"
                look = {"color": colour, "marker": marker, "linestyle": dashes, "markerfacecolor": face}
                curve(axes, part, "value", label=label, **look)
