"""The figures of the page with matplotlib, for notebooks and papers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.errors import ConfigError
from herald_gpu.io.kinds import library
from herald_gpu.report.colours import AFTER, BEFORE, UNKNOWN_LIGHT, class_colours
from herald_gpu.report.drawing import draw
from herald_gpu.report.evaluation import checked
from herald_gpu.report.figures import SCORES, figures
from herald_gpu.report.shapes import Bars
from herald_gpu.report.sheet import opacity, overlap

if TYPE_CHECKING:
    from herald_gpu.report.drawing import Drawing
    from herald_gpu.report.shapes import Columns, Figure
    from herald_gpu.result import Contents
    from herald_gpu.summary import Report

GRAPH = "graph"
COLOURS = {"before": BEFORE, "after": AFTER}
MARK = "#B23A00"
SETTINGS = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "legend.frameon": False,
    "legend.fontsize": 8,
}
ACROSS = 3
LINE, THINNEST = 0.5, 5.5
"""Width of an edge, and of a bar that has room for its number, in points."""
MOST_LEVEL = 6
"""Names below an axis that fit side by side."""


def plot(
    contents: Contents,
    report: Report,
    kind: str | None = None,
    ax: Any = None,  # noqa: ANN401 - axes of matplotlib
    *,
    evaluation: Any = None,  # noqa: ANN401 - rows, however they are kept
) -> Any:  # noqa: ANN401 - a figure of matplotlib
    """Draw one figure, or all of them as panels.

    Parameters
    ----------
    contents : Contents
        On the host.
    report : Report
    kind : str, optional
        Which figure: "graph", or the key of one on the page.
    ax : matplotlib.axes.Axes, optional
        Where to draw one figure; a new figure by default.
    evaluation : optional
        As for the page.
    """
    matplotlib = library("matplotlib", "plot")
    from matplotlib.figure import Figure as Canvas

    rows = None if evaluation is None else checked(evaluation, report)
    made: dict[str, Figure | None] = {GRAPH: None, **{one.key: one for one in figures(contents, report, rows)}}
    if kind is not None and kind not in made:
        msg = f"kind={kind!r} is not a figure of this condensed graph: pass one of {', '.join(made)}"
        if kind == "accuracy":
            msg += "; accuracy needs evaluation="
        elif kind in SCORES and not contents.scores:
            msg += f"; {kind} needs a file that was saved with_scores=True"
        raise ConfigError(msg)
    if ax is not None and kind is None:
        msg = f"ax is given but kind is not: pass kind= as one of {', '.join(made)}"
        raise ConfigError(msg)
    wanted = list(made) if kind is None else [kind]
    with matplotlib.rc_context(SETTINGS):
        if ax is not None:
            axes = [ax]
        else:
            columns = min(ACROSS, len(wanted))
            size = (4.6 * columns, 3.4 * math.ceil(len(wanted) / columns)) if kind is None else (6.0, 4.2)
            panels = Canvas(figsize=size, layout="constrained").subplots(
                -(-len(wanted) // columns), columns, squeeze=False
            )
            axes = list(panels.flat)
        for key, one in zip(wanted, axes, strict=False):
            figure = made[key]
            if figure is None:
                _graph(one, draw(contents))
            elif isinstance(figure, Bars):
                _bars(one, figure)
            else:
                _columns(one, figure)
        for empty in axes[len(wanted) :]:
            empty.set_axis_off()
    return axes[0].get_figure()


def _bars(ax: Any, figure: Bars) -> None:  # noqa: ANN401 - axes of matplotlib
    places, height = np.arange(len(figure.categories)), 0.8 / len(figure.series)
    thick = 72 * ax.bbox.height / ax.get_figure(root=True).dpi * height / len(places)
    for j, one in enumerate(figure.series):
        rows = places + (j - (len(figure.series) - 1) / 2) * height
        bars = ax.barh(rows, one.values, height, color=COLOURS[one.role], label=one.name)
        if thick > THINNEST:  # else numbers would lie over one another
            ax.bar_label(bars, figure.texts[j], padding=10 if figure.points else 3, fontsize=7)
        dot = {"color": "black", "markerfacecolor": "white", "markersize": 3.5, "zorder": 3}
        for row, own in zip(rows, figure.points[j] if figure.points else (), strict=False):
            ax.plot(own, np.full(len(own), row), "o", **dot)
    ax.set_yticks(places, [_plain(name) for name in figure.categories])
    ax.invert_yaxis()
    ax.margins(x=0.15)
    ax.set(title=figure.title, xlabel=figure.axis)
    if len(figure.series) > 1:
        _legend(ax, *ax.get_legend_handles_labels())


def _columns(ax: Any, figure: Columns) -> None:  # noqa: ANN401 - axes of matplotlib
    places = np.arange(figure.n_bins)
    beside = len(figure.series) > 1 and not figure.marks
    width = 0.9 / len(figure.series) if beside else 0.95
    for j, one in enumerate(figure.series):
        if figure.marks and one.role == "after":
            edges = np.arange(figure.n_bins + 1)
            ax.stairs(one.values, edges, color=COLOURS[one.role], linewidth=1.6, label=one.name)
            continue
        shift = 0.5 + ((j - (len(figure.series) - 1) / 2) * width if beside else 0.0)
        ax.bar(places + shift, one.values, width, color=COLOURS[one.role], label=one.name)
    if figure.marks:
        low = -0.02 * max(max(one.values) for one in figure.series)
        spots = np.unique(np.round(figure.marks, 1))
        ax.plot(spots, np.full(len(spots), low), "|", color=MARK, markersize=5, label=figure.marks_name)
    ax.set_xticks([place for place, _ in figure.ticks], [label for _, label in figure.ticks])
    if len(figure.ticks) > MOST_LEVEL:
        ax.tick_params(axis="x", rotation=45)
    ax.set(title=figure.title, xlabel=figure.axis, ylabel=f"% of {figure.share_of}")
    if len(figure.series) > 1:
        handles, names = ax.get_legend_handles_labels()
        order = sorted(range(len(names)), key=lambda i: names[i] != figure.series[0].name)
        _legend(ax, [handles[i] for i in order], [names[i] for i in order])


def _legend(ax: Any, handles: list[Any], names: list[str]) -> None:  # noqa: ANN401 - axes of matplotlib
    """Put the legend between title and axes, where it covers nothing however small the axes are."""
    size = SETTINGS["legend.fontsize"]
    wide = size * (3.5 + 0.55 * max(map(len, names)))
    across = max(1, min(len(names), int(72 * ax.bbox.width / ax.get_figure(root=True).dpi / wide)))
    rows = -(-len(names) // across)
    space = {"borderaxespad": 0.2, "borderpad": 0.2, "columnspacing": 1.2, "handlelength": 1.4, "labelspacing": 0.25}
    ax.legend(handles, names, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=across, fontsize=size, **space)
    ax.set_title(ax.get_title(), pad=6 + 1.35 * size * rows)


def _graph(ax: Any, drawing: Drawing) -> None:  # noqa: ANN401 - axes of matplotlib
    from matplotlib.collections import LineCollection, PathCollection

    # Points of type: the sheet is WIDTH units wide, axes about four inches.
    point, plain = 4 * 72 / drawing.width, ~drawing.synthetic
    for which, colour, style, name in (
        (plain, "#5D6670", "solid", "edge"),
        (drawing.synthetic, MARK, "dashed", "synthetic edge"),
    ):
        if which.any():
            ends = drawing.places[drawing.edges[which]]
            faint = opacity(overlap(drawing) * LINE / point) if which is plain else 0.8
            ax.add_collection(
                LineCollection(
                    ends, colors=colour, linewidths=LINE, linestyles=style, alpha=faint, label=name, zorder=1
                )
            )
    size = (2 * drawing.radius * point) ** 2
    for code in np.unique(drawing.codes).tolist():
        colour = UNKNOWN_LIGHT if code < 0 else class_colours(len(drawing.classes))[code][0]
        name = "class unknown" if code < 0 else _plain(f"class {drawing.classes[code]}")
        own = (drawing.codes == code) & ~drawing.is_landmark
        area = np.where(drawing.is_root[own], size, 0.56 * size)
        ax.scatter(*drawing.places[own].T, s=area, color=colour, linewidths=0, label=name, zorder=2)
        marks = (drawing.codes == code) & drawing.is_landmark
        square = {"marker": "s", "color": colour, "edgecolors": "black", "linewidths": 0.6, "zorder": 3}
        ax.scatter(*drawing.places[marks].T, s=2 * size, **square)
    if drawing.is_landmark.any():
        ax.scatter([], [], s=2 * size, marker="s", color=BEFORE, edgecolors="black", linewidths=0.6, label="landmark")
    ax.set(title="The condensed graph", xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    ax.set_axis_off()
    legend = ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4, fontsize=7)
    for handle in legend.legend_handles:  # as faint and small as in the drawing they could not be read
        handle.set_alpha(1)
        if isinstance(handle, PathCollection):
            handle.set_sizes([20])


def _plain(text: str) -> str:
    """A dollar sign is no formula."""
    return text.replace("$", r"\$")
