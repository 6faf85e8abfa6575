"""What all figures share: colours that everyone can tell apart, panels, legends and files."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald_gpu.experiments.markdown import figure
from herald_gpu.io.atomic import whole_file
from herald_gpu.io.kinds import library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd

BLACK, ORANGE, SKY, GREEN, BLUE, RED, PINK = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
"""The colours of Okabe and Ito, but for their yellow, which is faint on white."""
WINE = "#882255"
CYCLE = (BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK)
MARKERS = "osD^vPX"
GREY = "#666666"
METHODS = {
    "full": (GREY, ""),
    "random": (BLACK, "x"),
    "herding": (ORANGE, "^"),
    "kcenter": (PINK, "v"),
    "bonsai": (BLUE, "s"),
    "gdem": (SKY, "P"),
    "cluster": (GREEN, "D"),
    "herald": (RED, "o"),
    "herald-default": (WINE, "*"),
}
"""Colour and marker of each method."""
LINES = {"true": "-", "published": "--"}
"""Of the columns of a cell; markers of published ones are hollow."""
SETTINGS = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 5,
    "svg.fonttype": "none",
    "svg.hashsalt": "herald",
}
FILES = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
"""Kinds of files; without what would change from one drawing to the next."""


@dataclass(frozen=True)
class Drawn:
    """A figure with the stem of its file and what it shows."""

    stem: str
    caption: str
    figure: Any


@contextmanager
def settings() -> Iterator[None]:
    """Draw in the style of this module."""
    matplotlib = library("matplotlib", "plot")
    with matplotlib.rc_context(SETTINGS):
        yield


def panels(rows: int, columns: int, *, width: float, height: float, **options: Any) -> tuple[Any, list[Any]]:  # noqa: ANN401 - of matplotlib
    """Make a figure and its axes, row by row; no window and no global state is involved."""
    library("matplotlib", "plot")
    from matplotlib.figure import Figure

    made = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return made, list(made.subplots(rows, columns, squeeze=False, **options).flat)


def curve(axes: Any, part: pd.DataFrame, x: str, **options: Any) -> None:  # noqa: ANN401 - of matplotlib
    """Draw mean accuracies against a column, with their deviations where there are some."""
    part = part.sort_values(x)
    deviations = part["std"].fillna(0.0).to_numpy(dtype=float)
    axes.errorbar(
        part[x].to_numpy(dtype=float), part["mean"].to_numpy(dtype=float), yerr=deviations, capsize=2, **options
    )


def level(axes: Any, part: pd.DataFrame, column: str, **options: Any) -> None:  # noqa: ANN401 - of matplotlib
    """Draw a line across at the first value there is, if any."""
    value = figure(part, column)
    if not math.isnan(value):
        axes.axhline(value, zorder=1, **options)


def legend(made: Any, axes: Sequence[Any], *, columns: int = 5, inside: Any = None) -> None:  # noqa: ANN401 - of matplotlib
    """Name everything once, below the panels or inside an empty one."""
    named: dict[str, Any] = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    if inside is not None:
        inside.legend(list(named.values()), list(named), loc="center")
    elif named:
        made.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns)


def save(drawn: Drawn, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write a figure in every kind of file; gives its caption and each file."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, metadata in FILES.items():
        path = folder / f"{drawn.stem}.{kind}"
        with whole_file(path, overwrite=True) as beside:
            drawn.figure.savefig(beside, dpi=150, metadata=metadata)
        yield drawn.caption, path
