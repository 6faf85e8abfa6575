"""sweep(): several ratios of one graph side by side, and which one to take."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import api
from herald_gpu.errors import BudgetError, ConfigError
from herald_gpu.io.kinds import library
from herald_gpu.ratios import RATIOS, at_least

if TYPE_CHECKING:
    import pandas as pd

    from herald_gpu.result import CondensedGraph

SCORE, ACCURACY = "#0072B2", "#D55E00"
RING = 130
"""Area of the mark around the recommended ratio, in square points."""
NEAR = 1.5
"""Names of points with sizes that differ by no more than this factor would overlap."""
TITLES = {
    "ratio": "ratio",
    "bytes": "bytes",
    "budget_bytes": "budget",
    "nodes": "nodes",
    "edges": "edges",
    "features": "features",
    "rule": "rule",
    "score": "score",
    "validation": "validation %",
    "accuracy": "test %",
    "seconds": "seconds",
}
"""Columns of the printed table; errors stand beside what they belong to."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """Condensed graphs of several ratios.

    Attributes
    ----------
    graphs : dict
        The condensed graph of every feasible ratio, rising.
    infeasible : dict
        For every other ratio the error: its message is the reason, its `smallest_ratio` the smallest feasible ratio.
    evaluated : dict, optional
        For every feasible ratio the rows of :func:`herald_gpu.evaluate.evaluate`.
    """

    graphs: dict[float, CondensedGraph]
    infeasible: dict[float, BudgetError]
    evaluated: dict[float, pd.DataFrame] | None = None

    @property
    def table(self) -> pd.DataFrame:
        """One row per feasible ratio.

        `ratio`, `bytes`, `budget_bytes`, `nodes`, `edges` (directed), `features`, `rule` (how exemplars were chosen),
        `score` (share of validation nodes that simple models learnt to classify from the chosen candidate) with its
        standard error `score_error`, and `seconds`, where the ratio that ran first bears what all share. Missing values
        of the three before the last: the preset makes no trials. After :meth:`evaluate` also `validation` and
        `accuracy`, the mean accuracies on validation and test nodes in percent over models and seeds, with their
        standard errors over seeds, `validation_error` and `accuracy_error`.
        """
        import pandas as pd

        table = pd.DataFrame([self._row(ratio) for ratio in self.graphs])
        numbers = [name for name in table if str(name).startswith(("score", "validation", "accuracy"))]
        return table.astype(dict.fromkeys(numbers, float))  # a column without any value holds objects

    @property
    def recommended(self) -> float | None:
        """The smallest ratio within one standard error of the best.

        Compared is the accuracy on validation nodes, if it was measured, or else the trial's score. Test nodes have no
        say, so that the test accuracy of the recommended ratio is not flattered by the choice.
        """
        return self._advice()[0]

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return self._advice()[1]

    def evaluate(self, graph: Any, **options: Any) -> Sweep:  # noqa: ANN401 - as of evaluate()
        """Train models on every condensed graph and test them on the full one.

        Parameters
        ----------
        graph, options
            As of :func:`herald_gpu.evaluate.evaluate`.

        Returns
        -------
        Sweep
            The same graphs, with accuracies.
        """
        from herald_gpu.evaluate import evaluate

        rows = {ratio: evaluate(small.as_type("numpy"), graph, **options) for ratio, small in self.graphs.items()}
        return replace(self, evaluated=rows)

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 - of matplotlib
        """Draw bytes against the trial's score and, where it was measured, accuracy (extra ``plot``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.figure.Figure
        """
        library("matplotlib", "plot")
        from matplotlib.figure import Figure

        if not self.has_values:
            msg = "there is nothing to draw: the preset makes no trials, so call evaluate(graph) first"
            raise ConfigError(msg)
        table = self.table
        axes = Figure(figsize=(6.0, 4.0), layout="constrained").subplots() if ax is None else ax
        measured = [("score", "trial score", SCORE, 100.0), ("accuracy", "test accuracy", ACCURACY, 1.0)]
        for column, name, colour, unit in measured:
            if column not in table or table[column].isna().all():
                continue
            known = table[table[column].notna()]
            values, errors = unit * known[column], unit * known[f"{column}_error"].fillna(0.0)
            axes.errorbar(known["bytes"], values, errors, color=colour, marker="o", capsize=3, label=name)
            if column == ("score" if self.evaluated is None else "accuracy"):
                points = list(zip(known["ratio"], known["bytes"], values, strict=True))
                _label(axes, points)
                for ratio, size, value in points:
                    if ratio == self.recommended:
                        axes.scatter([size], [value], RING, facecolors="none", edgecolors=colour, label="recommended")
        axes.set_xscale("log")
        axes.set_xlabel("bytes of the condensed graph (above: the ratio)")
        axes.set_ylabel("right answers (%), ± one standard error")
        axes.margins(0.08, 0.08)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="best")
        return axes.get_figure()

    def __str__(self) -> str:
        records: list[dict[str, Any]] = [self._row(ratio) for ratio in self.graphs]
        names = [name for name in TITLES if name not in ("validation", "accuracy") or self.evaluated is not None]
        cells = [[TITLES[name] for name in names], *([_shown(record, name) for name in names] for record in records)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.rjust, row, widths)) for row in cells]
        for ratio, error in self.infeasible.items():
            smallest = f"the smallest feasible ratio is {at_least(error.smallest_ratio)}"
            lines.append(
                f"ratio {ratio:g} is infeasible: {smallest if error.smallest_ratio <= 1 else 'none is feasible'}"
            )
        return "\n".join([*lines, self.reason])

    @property
    def _basis(self) -> str:
        return "score" if self.evaluated is None else "validation"

    @property
    def has_values(self) -> bool:
        """Whether there is a score or an accuracy of any ratio."""
        return any(self._row(ratio)[self._basis] is not None for ratio in self.graphs)

    def _row(self, ratio: float) -> dict[str, Any]:
        report = self.graphs[ratio].report
        score, asked = report.trial_score, report.validation_nodes
        row = {
            "ratio": ratio,
            "bytes": report.storage_bytes,
            "budget_bytes": report.budget_bytes,
            "nodes": report.n_nodes,
            "edges": report.n_edges,
            "features": report.feature_count,
            "rule": report.exemplar_rule,
            "score": score,
            "score_error": None if score is None or not asked else math.sqrt(score * (1.0 - score) / asked),
        }
        if self.evaluated is not None:
            row |= _means(self.evaluated[ratio], "validation") | _means(self.evaluated[ratio], "accuracy")
        return row | {"seconds": sum(report.timings.values())}

    def _advice(self) -> tuple[float | None, str]:
        """Say which ratio to take, and why."""
        basis, unit = self._basis, "" if self.evaluated is None else " %"
        rows = [row for row in map(self._row, self.graphs) if row[basis] is not None]
        if not rows:
            return None, "No ratio can be recommended: the preset makes no trials. Evaluate the graphs to compare them."
        best = max(rows, key=lambda row: row[basis])
        name, digits = ("trial score", 3) if self.evaluated is None else ("validation accuracy", 2)

        def told(value: float) -> str:
            return f"{value:.{digits}f}{unit}"

        first = next(iter(self.graphs.values())).report
        counts = first.before.class_counts
        share = max(counts) / sum(counts) * (1.0 if self.evaluated is None else 100.0)
        if best[basis] <= share:
            guess = f"the share of the largest class among training nodes, {told(share)}"
            return None, f"No ratio can be recommended: no {name} exceeds {guess}; the best is {told(best[basis])}."
        error = best[f"{basis}_error"]
        if error is None:
            why = "one seed gives no standard error"
            return best["ratio"], f"Take ratio {best['ratio']:g}: its {name}, {told(best[basis])}, is the best ({why})."
        among = f" of {first.validation_nodes:,} validation nodes" if self.evaluated is None else " over seeds"
        within = f"one standard error ({told(error)},{among}) of"
        chosen = next(row for row in rows if row[basis] >= best[basis] - error)
        if chosen is best:
            reason = f"its {name}, {told(best[basis])}, is the best, and no smaller ratio is within {within} it"
        else:
            top = f"the best, {told(best[basis])} at ratio {best['ratio']:g}"
            reason = f"it is the smallest whose {name}, {told(chosen[basis])}, is within {within} {top}"
        return chosen["ratio"], f"Take ratio {chosen['ratio']:g}: {reason}."


def sweep(
    edges: Any,  # noqa: ANN401 - as of condense()
    feats: Any = None,  # noqa: ANN401
    labels: Any = None,  # noqa: ANN401
    train: Any = None,  # noqa: ANN401
    *,
    ratios: Iterable[float] = RATIOS,
    **options: Any,  # noqa: ANN401
) -> Sweep:
    """Condense a graph to several ratios, and recommend one.

    The condensed graphs are those of :func:`herald_gpu.condense` with each ratio, on a CPU to the last bit; what does
    not depend on the ratio is done once.

    Parameters
    ----------
    edges, feats, labels, train
        As of :func:`herald_gpu.condense`.
    ratios : iterable of float
        Each in (0, 1].
    options
        All other arguments of :func:`herald_gpu.condense` but `ratio` and `resume`.

    Returns
    -------
    Sweep

    Raises
    ------
    BudgetError
        If no ratio holds a node of every class.

    Notes
    -----
    Dask collections are condensed once per ratio, and nothing is shared.

    Examples
    --------
    >>> import herald_gpu
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(400, n_classes=3, n_features=16, homophily=0.8)
    >>> found = herald_gpu.sweep(g.edge_index, g.features, g.labels, g.train, ratios=[0.02, 0.05, 0.2])
    >>> found.table[["ratio", "bytes", "score"]].shape
    (3, 3)
    >>> found.recommended in found.graphs
    True
    """
    wanted = _checked(ratios, options)
    known = inspect.signature(api.condense).parameters.values()
    defaults = {one.name: one.default for one in known if one.kind is one.KEYWORD_ONLY and one.name != "ratio"}
    for name in options:
        if name not in defaults:
            msg = f"sweep() got an unexpected keyword argument {name!r}"
            raise TypeError(msg)
    made = api.condense_each(edges, feats, labels, train, wanted, **(defaults | options))
    graphs: dict[float, CondensedGraph] = {}
    infeasible: dict[float, BudgetError] = {}
    for ratio, one in zip(wanted, made, strict=True):
        if isinstance(one, BudgetError):
            infeasible[ratio] = one
        else:
            graphs[ratio] = one
    if not graphs:
        raise min(infeasible.values(), key=lambda error: error.smallest_ratio)
    return Sweep(graphs, infeasible)


def _checked(ratios: object, options: dict[str, Any]) -> list[float]:
    """Return the ratios, rising and each once; what they hold is checked where one is."""
    given = list(ratios) if isinstance(ratios, Iterable) and not isinstance(ratios, str | bytes) else []
    if not given:
        msg = f"ratios={ratios!r} is not valid: pass one or more numbers in (0, 1], as in [0.01, 0.05]"
        raise ConfigError(msg)
    for name, instead in (("ratio", "pass ratios=[...]"), ("resume", "condense ratios one by one to resume them")):
        if options.get(name) is not None:
            msg = f"{name}={options[name]!r} is not an argument of sweep: {instead}"
            raise ConfigError(msg)
    numbers = all(isinstance(ratio, int | float | np.number) and not isinstance(ratio, bool) for ratio in given)
    return sorted({float(ratio) for ratio in given}) if numbers else given


def _means(rows: pd.DataFrame, column: str) -> dict[str, float | None]:
    """Average a column over models and seeds, with the standard error over seeds."""
    groups = rows.groupby(["model", "variant"])[column]
    spread = float(np.sqrt((groups.var() / groups.count()).sum()) / groups.ngroups)
    one_seed = bool((groups.count() < 2).any())  # noqa: PLR2004 - a variance takes two
    return {column: float(groups.mean().mean()), f"{column}_error": None if one_seed else spread}


def _label(axes: Any, points: list[tuple[float, float, float]]) -> None:  # noqa: ANN401 - axes of matplotlib
    """Write ratios above the axes; of points so near that names would overlap, the first and the last."""
    first = 0
    for place, (ratio, size, _) in enumerate(points):
        if place + 1 < len(points) and points[place + 1][1] < NEAR * size:
            continue
        name = f"{ratio:g}" if first == place else f"{points[first][0]:g} to {ratio:g}"
        axes.text(size, 1.0, name, transform=axes.get_xaxis_transform(), fontsize=8, ha="center", va="bottom")
        first = place + 1


def _shown(row: dict[str, Any], name: str) -> str:
    """Write a cell, with its standard error where there is one.

    Examples
    --------
    >>> _shown({"score": 0.8567, "score_error": 0.0101}, "score"), _shown({"rule": None}, "rule")
    ('0.857 ± 0.010', '-')
    """
    value, error = row[name], row.get(f"{name}_error")
    if value is None or isinstance(value, str):
        return value or "-"
    if name == "ratio":
        return f"{value:g}"
    digits = {"score": 3, "validation": 2, "accuracy": 2, "seconds": 2}.get(name)
    shown = f"{value:,}" if digits is None else f"{value:.{digits}f}"
    return shown if error is None else f"{shown} ± {error:.{digits}f}"
