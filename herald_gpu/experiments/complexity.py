"""The page of complexities: how the time of each stage grows, beside what the paper says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.experiments.markdown import NOTHING, number, of, table
from herald_gpu.experiments.timing import BASE, RATIO

if TYPE_CHECKING:
    import pandas as pd

STAGES = {
    "heterophily": ("1", "heterophily ratio", "E_tr"),
    "weights": ("2", "adaptive weights", "1"),
    "tree": ("3", "feature count (decision tree)", ""),
    "features": ("3", "feature selection (Fisher of 0 to 2 hops)", "N F + E F"),
    "scoring": ("4", "prototype and boundary scores", "N F + E"),
    "neighbours": ("4", "LID (exact nearest neighbours)", "N² F"),
    "expansion": ("5", "BFS expansion", "N (V_c + E_c)"),
    "pruning": ("6", "PPR pruning", "V_c + E_c"),
    "rebalance": ("7", "class rebalancing", "V_c C"),
}
"""Stage of the paper, what is done, and the paper's order of its time; it has none for the tree."""
AXES = {"nodes": "N", "edges": "E", "features": "F"}
POINTS = 3
"""Slopes are fitted to this many of the largest sizes, where constant costs matter least."""
SHORTEST = 1e-3
"""Seconds below which a time says more of the clock and the interpreter than of the stage."""
INTRODUCTION = f"""\
Seconds of each stage of the paper's preset on the CPU backend, on generated graphs; one size is varied while the others
stay: N = {BASE["nodes"]:,} nodes, E = {BASE["edges"]:,} directed edges, F = {BASE["features"]} features; r = {RATIO:g}.
A slope of 1 means that the time grows in proportion, 2 with the square. It is fitted to the medians of the {POINTS}
largest sizes, on logarithmic scales, and left out where the stage takes less than {1000 * SHORTEST:g} ms there.

The condensed graph grows with the budget, a share of the storage 4 N F + 4 E: V_c and E_c are no constants when N, E or
F are varied. Scores and neighbours are computed on the kept features, fewer than F. The expansion stops after more than
a hundred rejections in a row, so that it seldom sees all roots.
"""


def complexity_page(rows: pd.DataFrame) -> str:
    """Fitted slopes beside the paper's orders, and the medians they come from.

    Parameters
    ----------
    rows : pandas.DataFrame
        What :func:`herald_gpu.experiments.timing.measure` has kept.
    """
    parts = ["# Time of each stage\n", INTRODUCTION]
    if rows.empty:
        return "\n".join([*parts, NOTHING])
    times = medians(rows)
    parts.append(slope_table(times))
    for axis, letter in AXES.items():
        if axis in set(times["axis"]):
            parts += [
                f"## Against {letter}\n",
                f"Median seconds over {_repeats(rows, axis)}.\n",
                time_table(times, axis),
            ]
    return "\n".join(parts)


def _repeats(rows: pd.DataFrame, axis: str) -> str:
    count = int(of(rows, axis=axis)["repeat"].nunique())
    return f"{count} graphs" if count > 1 else "one graph"


def medians(rows: pd.DataFrame) -> pd.DataFrame:
    """Median over repeats of the seconds of every stage at every size."""
    return rows.groupby(["axis", "value", "stage"])["seconds"].median().reset_index()


def slope_table(times: pd.DataFrame) -> str:
    """Slopes of all stages."""
    axes = [axis for axis in AXES if axis in set(times["axis"])]
    lines = []
    for stage, (which, what, order) in STAGES.items():
        slopes = [slope(of(times, axis=axis, stage=stage)) for axis in axes]
        cells = [number(value, 1) for value in slopes]
        lines.append([which, what, f"O({order})" if order else "not said", *cells])
    return table(["stage", "what", "paper", *(f"slope in {AXES[axis]}" for axis in axes)], lines, left=3)


def slope(times: pd.DataFrame) -> float:
    """Exponent of the growth over the largest sizes; NaN where there are too few, or the times too short.

    Parameters
    ----------
    times : pandas.DataFrame
        Columns `value` and `seconds`, one stage against one size.

    Examples
    --------
    >>> import pandas as pd
    >>> round(slope(pd.DataFrame({"value": [1, 10, 20, 40], "seconds": [9.0, 1.0, 4.0, 16.0]})), 3)
    2.0
    """
    largest = times.sort_values("value").tail(POINTS)
    seconds = largest["seconds"].to_numpy(dtype=float)
    if len(seconds) < POINTS or seconds.min() < SHORTEST:
        return math.nan
    sizes = largest["value"].to_numpy(dtype=float)
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def time_table(times: pd.DataFrame, axis: str) -> str:
    """Medians of all stages against one size."""
    part = of(times, axis=axis)
    values = sorted(set(part["value"]))
    lines = []
    for stage, (which, what, _) in STAGES.items():
        own = of(part, stage=stage).set_index("value")["seconds"].to_dict()
        lines.append([which, what, *(f"{own[value]:.4f}" if value in own else "" for value in values)])
    return table(["stage", "what", *(f"{AXES[axis]} = {value:,}" for value in values)], lines, left=2)
