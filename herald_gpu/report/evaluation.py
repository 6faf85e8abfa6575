"""Accuracies for the report: what `evaluate` gave, however it was kept."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import InputError
from herald_gpu.report.shapes import Bars, Series, Table

if TYPE_CHECKING:
    import os

    import pandas as pd

    from herald_gpu.report.shapes import Role
    from herald_gpu.summary import Report

WANTED = ("model", "accuracy")
CONDENSED, FULL = "condensed graph", "full graph"
HOW = "pass what herald_gpu.evaluate.evaluate() gave, or what `herald evaluate --json` printed"


def read_evaluation(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a file of ``herald evaluate``: its JSON, or its CSV."""
    import pandas as pd

    file = Path(path)
    try:
        if file.suffix.lower() == ".csv":
            return pd.read_csv(file)
        return _frame(json.loads(file.read_text("utf-8")))
    except ValueError as error:
        msg = f"evaluation={str(path)!r} cannot be read ({error}): {HOW} or wrote with --csv"
        raise InputError(msg) from error


def checked(evaluation: Any, report: Report) -> pd.DataFrame:  # noqa: ANN401 - rows, however they are kept
    """Give rows of models and seeds, made sure to be of this condensed graph (or of the full one)."""
    rows = _frame(evaluation).reset_index(drop=True)
    missing = [name for name in WANTED if name not in rows]
    if missing or not len(rows):
        what = "no rows" if not missing else f"no column {missing[0]!r}"
        msg = f"evaluation has {what}: {HOW}"
        raise InputError(msg)
    accuracies = rows["accuracy"]
    if accuracies.dtype.kind not in "iuf" or not accuracies.between(0, 100).all():
        msg = f"evaluation has accuracies that are no numbers from 0 to 100: {HOW}"
        raise InputError(msg)
    if {"n_nodes", "n_edges", "storage_ratio"} <= set(rows):
        others = rows[~_on_full(rows) & ((rows["n_nodes"] != report.n_nodes) | (rows["n_edges"] != report.n_edges))]
        if len(others):
            seen = others.iloc[0]
            msg = (
                f"evaluation is of another condensed graph, with {int(seen['n_nodes']):,} nodes and "
                f"{int(seen['n_edges']):,} directed edges; this one has {report.n_nodes:,} and "
                f"{report.n_edges:,}: {HOW}"
            )
            raise InputError(msg)
    return rows


def _frame(evaluation: Any) -> pd.DataFrame:  # noqa: ANN401 - rows, however they are kept
    import pandas as pd

    if isinstance(evaluation, pd.DataFrame):
        return evaluation
    if isinstance(evaluation, dict):
        evaluation = evaluation.get("rows")
    if not isinstance(evaluation, list) or not all(isinstance(row, dict) for row in evaluation):
        msg = f"evaluation is not a table of rows: {HOW}"
        raise InputError(msg)
    return pd.DataFrame(evaluation)


def accuracy_figure(rows: pd.DataFrame) -> Bars:
    """Mean test accuracy of every model, with those of single seeds; one colour for each graph trained on."""
    full = _on_full(rows)
    several = "variant" in rows and len(set(rows["variant"])) > 1
    names = rows["model"].astype(str) + (", " + rows["variant"].astype(str) if several else "")
    categories = tuple(dict.fromkeys(names))
    series, texts, points, table = [], [], [], []
    graphs: tuple[tuple[str, Role, Any], ...] = ((CONDENSED, "after", ~full), (FULL, "before", full))
    for name, role, chosen in graphs:
        if not chosen.any():
            continue
        seeds = [rows["accuracy"][chosen & (names == one)].astype(float) for one in categories]
        means = tuple(float(own.mean()) for own in seeds)  # not a number where nothing was measured
        series.append(Series(name, role, means))
        texts.append(tuple("" if math.isnan(mean) else f"{mean:.2f}" for mean in means))
        points.append(tuple(tuple(own.tolist()) for own in seeds))
        for model, mean, own in zip(categories, means, seeds, strict=True):
            if len(own):
                spread = "" if len(own) == 1 else f" ± {float(own.std()):.2f}"
                table.append((model, name, f"{mean:.2f}{spread} %", str(len(own)), _validation(rows, own.index)))
    best = max(table, key=lambda row: float(row[2].split()[0]))
    return Bars(
        key="accuracy",
        title="Accuracy",
        description=(
            "Test accuracy on the full graph of models after training, the mean of their seeds; dots are single seeds. "
            f"The highest is {best[2].split()[0]} %, of {best[0]} trained on the {best[1]}."
        ),
        categories=categories,
        series=tuple(series),
        axis="test accuracy, %",
        texts=tuple(texts),
        points=tuple(points),
        table=Table(
            "Test accuracy by model",
            ("Model", "Trained on", "Test accuracy", "Seeds", "Validation"),
            tuple(table),
        ),
    )


def _on_full(rows: pd.DataFrame) -> pd.Series[bool]:
    """Tell rows of the full graph; those of earlier versions say it by their storage alone."""
    if "trained_on" in rows:
        return rows["trained_on"] == "full"
    ratio = rows["storage_ratio"] if "storage_ratio" in rows else rows["accuracy"] * 0
    return ratio == 1


def _validation(rows: pd.DataFrame, index: pd.Index) -> str:
    return f"{float(rows.loc[index, 'validation'].mean()):.2f} %" if "validation" in rows else "not known"
