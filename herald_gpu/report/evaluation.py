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

    from herald_gpu.summary import Report

WANTED = ("model", "accuracy")
GROUPS = ("model", "variant", "storage_ratio")
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
    rows = _frame(evaluation)
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
        others = rows[
            (rows["storage_ratio"] != 1) & ((rows["n_nodes"] != report.n_nodes) | (rows["n_edges"] != report.n_edges))
        ]
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
    """Mean test accuracy of every model, with those of single seeds."""
    by = [name for name in GROUPS if name in rows]
    names, means, points, table = [], [], [], []
    for key, own in rows.groupby(by, sort=False, dropna=False):
        told = dict(zip(by, key, strict=True))
        full = told.get("storage_ratio") == 1
        values = own["accuracy"].astype(float)
        mean, deviation = float(values.mean()), float(values.std())
        name = str(told["model"])
        if "variant" in rows and len(set(rows["variant"])) > 1:
            name += f", {told['variant']}"
        trained_on = "full graph" if full else "condensed graph"
        names.append(f"{name} (full graph)" if full else name)
        means.append(mean)
        points.append(tuple(values.tolist()))
        validation = f"{float(own['validation'].mean()):.2f} %" if "validation" in own else "not known"
        spread = "" if math.isnan(deviation) else f" ± {deviation:.2f}"
        table.append((name, trained_on, f"{mean:.2f}{spread} %", str(len(own)), validation))
    best = max(range(len(means)), key=means.__getitem__)
    return Bars(
        key="accuracy",
        title="Accuracy",
        description=(
            "Test accuracy on the full graph of models after training, the mean of their seeds; dots are single seeds. "
            f"The highest is {means[best]:.2f} %, of {names[best]}."
        ),
        categories=tuple(names),
        series=(Series("mean accuracy", "after", tuple(means)),),
        axis="test accuracy, %",
        texts=(tuple(f"{mean:.2f}" for mean in means),),
        points=tuple(points),
        table=Table(
            "Test accuracy by model",
            ("Model", "Trained on", "Test accuracy", "Seeds", "Validation"),
            tuple(table),
        ),
    )
