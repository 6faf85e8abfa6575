"""Figures of the experiments, drawn with matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from herald_gpu.experiments.figures import ablation, accuracy, leaderboard, sensitivity, statistics, style, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pandas as pd

    from herald_gpu.experiments.figures.style import Drawn

DRAWERS: dict[str, Callable[[pd.DataFrame], Iterator[Drawn]]] = {
    "accuracy": accuracy.draw,
    "ablation": ablation.draw,
    "sensitivity": sensitivity.draw,
    "statistics": statistics.draw,
    "large-scale": accuracy.draw,
    "complexity": times.draw,
    "leaderboard": leaderboard.draw,
}
"""By the name of the experiment."""


def draw(name: str, rows: pd.DataFrame, folder: Path) -> list[tuple[str, Path]]:
    """Draw the figures of an experiment as PNG and SVG; gives captions and files.

    Parameters
    ----------
    name : str
        The experiment; one without figures gives none.
    rows : pandas.DataFrame
        Its rows.
    folder : Path
        Made if need be.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    if name not in DRAWERS or rows.empty:
        return []
    with style.settings():
        return [saved for drawn in DRAWERS[name](rows) for saved in style.save(drawn, folder)]
