"""Condensed graphs beside BONSAI's and the whole graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.experiments import names
from herald_gpu.experiments.figures.style import GREY, LINES, METHODS, Drawn, legend, level, panels
from herald_gpu.experiments.markdown import complete, of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

FIGURES = {
    "density": "density",
    "mean_degree": "mean degree",
    "class_entropy": "class entropy",
    "feature_variance": "feature variance, relative",
    "storage": "true storage, %",
}
LOGARITHMIC = ("density", "storage")
WIDE = 100.0
"""Positive values that differ by more than this are drawn on a logarithmic scale too."""


def draw(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Draw a figure for each graph, with a panel for each figure.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `statistics`.
    """
    ran = of(complete(rows), status="ok").assign(storage=lambda frame: 100 * frame["storage_ratio"])
    for dataset in dict.fromkeys(ran["dataset"]):
        own = of(ran, dataset=dataset)
        made, axes = panels(2, 3, width=3.3, height=2.7)
        for (column, what), one in zip(FIGURES.items(), axes, strict=False):
            _panel(one, own, column)
            one.set_title(what)
            one.set_xlabel("r, share of the storage asked for")
        axes[len(FIGURES) - 1].plot(*_asked(own), color=GREY, linestyle=":", label="storage asked for")
        axes[-1].set_axis_off()
        made.suptitle(names.title(dataset))
        legend(made, axes, inside=axes[-1])
        yield Drawn(f"statistics-{dataset}", f"{names.title(dataset)}: what condensed graphs look like", made)


def _asked(own: pd.DataFrame) -> tuple[list[float], list[float]]:
    ratios = sorted({float(ratio) for ratio in own["ratio"]} - {1.0})
    return ratios, [100 * ratio for ratio in ratios]


def _panel(axes: Any, rows: pd.DataFrame, column: str) -> None:  # noqa: ANN401 - of matplotlib
    axes.set_xscale("log")
    values = rows[column].dropna()
    if column in LOGARITHMIC or (len(values) and 0 < WIDE * values.min() < values.max()):
        axes.set_yscale("log")
    level(axes, of(rows, method="full"), column, color=GREY, linestyle="-", label=names.METHODS["full"])
    for method in ("bonsai", "herald"):
        colour, marker = METHODS[method]
        for side, dashes in LINES.items():
            part = of(rows, method=method, column=side).sort_values("ratio").dropna(subset=[column])
            if part.empty:
                continue
            axes.plot(
                part["ratio"].to_numpy(dtype=float),
                part[column].to_numpy(dtype=float),
                color=colour,
                marker=marker,
                linestyle=dashes,
                markerfacecolor="white" if side == "published" else colour,
                label=f"{names.METHODS[method]}, {names.SIDES[side]}",
            )
