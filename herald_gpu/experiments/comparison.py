"""The page that compares methods by what they do, and by whether they keep to their budget."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.experiments import names
from herald_gpu.experiments.markdown import complete, number, of, table

if TYPE_CHECKING:
    import pandas as pd

PROPERTIES = (
    "gradient-free",
    "no GNN during condensation",
    "topology-aware",
    "heterophily-adaptive",
    "boundary-aware",
    "budget-controlled",
)
HERE: dict[str, tuple[bool, ...]] = {
    "random": (True, True, False, False, False, True),
    "herding": (True, True, False, False, False, True),
    "kcenter": (True, True, False, False, False, True),
    "bonsai": (True, True, True, False, False, True),
    "gdem": (False, True, True, False, False, True),
    "cluster": (True, True, True, False, False, True),
    "herald": (True, True, True, True, True, True),
}
"""Properties of the implementations in this package, in the order of :data:`PROPERTIES`."""
PAPER: dict[str, tuple[bool, ...]] = {
    "gcond": (False, False, True, False, False, False),
    "gdem": (False, False, True, False, False, False),
    "herding": (True, True, False, False, False, False),
    "bonsai": (True, True, True, False, False, True),
    "herald": (True, True, True, True, True, True),
}
"""What the paper's table says."""
INTRODUCTION = """\
What each method does, as it is implemented here; where the paper's table says otherwise, that is in brackets. GCond is
as the paper has it: it is not among our methods. GDEM matches eigenvectors by gradient descent and trains a perceptron,
but no GNN. Here every method is held to the storage asked for.
"""
BUDGET = """\
## Kept its budget?

Largest true storage of a condensed graph over that asked for, in all runs of the [accuracies](accuracy.md): at most 1
where the budget was kept. *As published* is the accounting of the published code.
"""


def comparison_page(rows: pd.DataFrame) -> str:
    """The table of properties and, where accuracies were run, the measured budget.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `accuracy`.
    """
    parts = ["# Methods compared\n", INTRODUCTION, property_table()]
    parts += [BUDGET, "No accuracies have been run yet.\n" if rows.empty else budget_table(complete(rows))]
    return "\n".join(parts)


def property_table() -> str:
    """Yes and no for every method."""
    lines = [["GCond (not run)", *(_word(said) for said in PAPER["gcond"])]]
    for method, own in HERE.items():
        theirs = PAPER.get(method, own)
        cells = [_word(a) if a == b else f"{_word(a)} (paper: {_word(b)})" for a, b in zip(own, theirs, strict=True)]
        lines.append([names.METHODS[method], *cells])
    return table(["method", *PROPERTIES], lines, left=1 + len(PROPERTIES))


def _word(value: bool) -> str:  # noqa: FBT001 - a mark of a table
    return "yes" if value else "no"


def budget_table(rows: pd.DataFrame) -> str:
    """The largest excess of every method that was run."""
    ran = of(rows, status="ok")
    ran = ran.assign(excess=ran["storage_ratio"] / ran["ratio"])
    lines = []
    for method in [name for name in names.METHODS if name != "full" and name in set(ran["method"])]:
        cells = []
        for column in reversed(names.SIDES):
            part = of(ran, method=method, column=column)
            most = float(part["excess"].max()) if len(part) else math.nan
            cells += [number(most, 3 if most <= 1 else 1), _where(part, most)]
        lines.append([names.METHODS[method], *cells])
    true, published = names.SIDES["true"], names.SIDES["published"]
    return table(["method", f"{true}: times the budget", "at", f"{published}: times the budget", "at"], lines)


def _where(part: pd.DataFrame, most: float) -> str:
    if math.isnan(most):
        return ""
    row = part.iloc[int(part["excess"].to_numpy().argmax())]
    return f"{names.title(str(row['dataset']))}, r = {float(row['ratio']):g}"
