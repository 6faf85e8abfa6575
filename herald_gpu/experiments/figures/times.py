"""Seconds of each stage against the size of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.experiments.complexity import AXES, STAGES, medians
from herald_gpu.experiments.figures.style import CYCLE, MARKERS, Drawn, legend, panels
from herald_gpu.experiments.markdown import of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

WORDS = {"nodes": "nodes N", "edges": "directed edges E", "features": "features F"}


def draw(rows: pd.DataFrame) -> Iterator[Drawn]:
    """Draw one figure: a panel for each size that is varied, both scales logarithmic.

    Parameters
    ----------
    rows : pandas.DataFrame
        What :func:`herald_gpu.experiments.timing.measure` has kept.
    """
    times = medians(rows)
    axes_there = [axis for axis in AXES if axis in set(times["axis"])]
    made, axes = panels(1, len(axes_there), width=3.6, height=3.6, sharey=True)
    for axis, one in zip(axes_there, axes, strict=True):
        _panel(one, of(times, axis=axis))
        one.set_xlabel(WORDS[axis])
    axes[0].set_ylabel("median seconds")
    legend(made, axes, columns=2)
    yield Drawn("complexity", "Median seconds of each stage against the size of the graph", made)


def _panel(axes: Any, times: pd.DataFrame) -> None:  # noqa: ANN401 - of matplotlib
    axes.set(xscale="log", yscale="log")
    values = sorted(set(times["value"]))
    axes.set_xticks(values, [f"{value:,}" for value in values], rotation=30)
    axes.set_xticks([], minor=True)
    for number, (stage, (which, what, _)) in enumerate(STAGES.items()):
        part = of(times, stage=stage).sort_values("value")
        colour, again = CYCLE[number % len(CYCLE)], number >= len(CYCLE)
        axes.plot(
            part["value"].to_numpy(dtype=float),
            part["seconds"].to_numpy(dtype=float),
            color=colour,
            marker=MARKERS[number % len(MARKERS)],
            markerfacecolor="white" if again else colour,
            linestyle="--" if again else "-",
            label=f"{which}: {what}",
        )
