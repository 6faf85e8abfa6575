"""Markdown tables and the little there is to format."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SIZES = ("n_nodes", "n_edges", "n_features", "storage_ratio", "published_ratio")
NUMBERS = (
    "accuracy",
    *SIZES,
    "smallest_ratio",
    "mean_degree",
    "density",
    "class_entropy",
    "feature_variance",
    "condense_seconds",
    "train_seconds",
)
"""Columns that pages read; a store has those that its rows so far had."""
NOTHING = "Nothing has been run yet.\n"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """Write a table; the first `left` columns are aligned left, the others right.

    Examples
    --------
    >>> print(table(["graph", "r"], [["cora", "0.01"]]))
    | graph | r |
    |---|--:|
    | cora | 0.01 |
    <BLANKLINE>
    """
    marks = ["---" if i < left else "--:" for i in range(len(header))]
    lines = [_line(header), f"|{'|'.join(marks)}|", *(_line(row) for row in rows), ""]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def spread(mean: float, std: float, digits: int = 1) -> str:
    """Write a mean with its standard deviation, where there is one; empty where there is no mean.

    Examples
    --------
    >>> spread(81.234, 0.567), spread(81.2, float("nan")), spread(float("nan"), 1.0)
    ('81.2 ± 0.6', '81.2', '')
    """
    if math.isnan(mean):
        return ""
    return f"{mean:.{digits}f}" if math.isnan(std) else f"{mean:.{digits}f} ± {std:.{digits}f}"


def number(value: float, digits: int = 2) -> str:
    """Write a number; empty for none.

    Examples
    --------
    >>> number(3.14159), number(float("nan")), number(1234567, 0)
    ('3.14', '', '1,234,567')
    """
    return "" if math.isnan(value) else f"{value:,.{digits}f}"


def smallest(rows: pd.DataFrame) -> str:
    """Say which ratio would have been feasible; empty where that is not known."""
    found = float(rows["smallest_ratio"].min())
    return "" if math.isnan(found) else f"smallest r {100 * found:.2g} %"


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """Give rows with all columns that pages read; what was never measured is missing in each."""
    lacking = {name: math.nan for name in NUMBERS if name not in rows}
    return rows.assign(**lacking)


def of(rows: pd.DataFrame, **wanted: Any) -> pd.DataFrame:  # noqa: ANN401 - values of any column
    """Give the rows in which columns have these values.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["GCN", "GAT", "GCN"], "seed": [0, 0, 1]})
    >>> of(rows, model="GCN", seed=1).index.tolist()
    [2]
    """
    keep = pd.Series(data=True, index=rows.index)
    for column, value in wanted.items():
        keep &= rows[column] == value
    return rows[keep]


def figure(row: Any, column: str) -> float:  # noqa: ANN401 - a row of a frame, or a frame: its first row then
    """Give a number of a row, or of the first row of a frame; NaN where there is none.

    Examples
    --------
    >>> rows = pd.DataFrame({"n_nodes": [7, 8]})
    >>> figure(rows, "n_nodes"), figure(rows[:0], "n_nodes"), figure(rows, "n_edges")
    (7.0, nan, nan)
    """
    if isinstance(row, pd.DataFrame):
        if row.empty:
            return math.nan
        row = row.iloc[0]
    value = row.get(column)
    return math.nan if value is None or pd.isna(value) else float(value)


def accuracies(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean, sample deviation and count of accuracies by some columns, and the means of all sizes.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of a store that were run.
    by : sequence of str
    """
    groups = rows.groupby(list(by), sort=False)
    out = groups["accuracy"].agg(mean="mean", std="std", n="count")
    return out.join(groups[[name for name in SIZES if name in rows]].mean()).reset_index()


def by_model(means: pd.DataFrame, models: Sequence[str]) -> list[str]:
    """Write the mean and deviation of each model; empty where it was not run.

    Examples
    --------
    >>> by_model(pd.DataFrame({"model": ["GCN"], "mean": [80.0], "std": [1.0]}), ["GCN", "GAT"])
    ['80.0 ± 1.0', '']
    """
    parts = [of(means, model=model) for model in models]
    return [spread(figure(part, "mean"), figure(part, "std")) for part in parts]
