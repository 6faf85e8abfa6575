"""Kept features with their weights, classes, and what `transform` does to other nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from herald_gpu.report.numbers import number
from herald_gpu.report.shapes import Table

if TYPE_CHECKING:
    from herald_gpu.result import Contents
    from herald_gpu.summary import Report

Kept = tuple[str, int, float | None]
SHOWN = 50
"""Rows of the table of features; the page's script finds the others."""
HEADER = ("Feature", "Column", "Weight")
WEIGHT = (
    "The weight is the share of a feature's variance that classes explain, among the training nodes of the condensed "
    "graph: 0 if all classes are alike in it, 1 if it tells them apart by itself."
)
NO_WEIGHT = "There are no weights, because the condensed graph holds principal components of the features."


def weights(contents: Contents) -> np.ndarray | None:
    """Compute the share of every kept feature's variance that classes explain.

    Parameters
    ----------
    contents : Contents
        On the host.

    Returns
    -------
    (k,) float64 array or None
        None if the condensed graph holds principal components instead of features.
    """
    if contents.reduction is not None:
        return None
    rows = np.flatnonzero(contents.train_mask & (contents.codes >= 0))
    x = scipy.sparse.csr_array(contents.features[rows]).astype(np.float64)
    codes = contents.codes[rows]
    of_class = scipy.sparse.csr_array((np.ones(len(rows)), (codes, np.arange(len(rows)))))
    counts = np.maximum(np.bincount(codes), 1)[:, None]
    sums, squares = (of_class @ x).toarray(), np.asarray(x.multiply(x).sum(axis=0)).ravel()
    middle = sums.sum(axis=0) ** 2 / max(1, len(rows))
    between, total = (sums**2 / counts).sum(axis=0) - middle, squares - middle
    varies = total > 1e-12 * np.maximum(squares, 1e-300)
    return np.where(varies, np.clip(between / np.where(varies, total, 1.0), 0.0, 1.0), 0.0)


def kept(contents: Contents) -> list[Kept]:
    """List kept features as (name, column number, weight): the heaviest first, then in the order of columns."""
    names, columns = contents.feature_ids.tolist(), contents.feature_positions.tolist()
    found = weights(contents)
    if found is None:
        return [(str(name), int(column), None) for name, column in zip(names, columns, strict=True)]
    order = np.lexsort((contents.feature_positions, -found.round(4)))
    return [(str(names[i]), int(columns[i]), round(float(found[i]), 4)) for i in order.tolist()]


def feature_table(listed: list[Kept]) -> Table:
    """Make the table of the first kept features."""
    rows = tuple((name, str(column), "" if w is None else f"{w:.3f}") for name, column, w in listed[:SHOWN])
    some = f"the first {SHOWN} of {len(listed):,}" if len(listed) > SHOWN else f"all {len(listed):,}"
    return Table(f"Kept features: {some}", HEADER, rows)


def class_table(contents: Contents, report: Report) -> Table:
    """Make the table of classes: training nodes before and after, and synthetic nodes."""
    before = report.before.class_counts
    real = np.bincount(
        contents.codes[(contents.codes >= 0) & ~contents.is_landmark], minlength=len(report.class_counts)
    )
    made = np.bincount(contents.codes[(contents.codes >= 0) & contents.is_landmark], minlength=len(report.class_counts))
    rows = tuple(
        (str(value), number(before[i]), number(int(real[i])), number(int(made[i])))
        for i, value in enumerate(contents.class_values.tolist())
    )
    header = ("Class", "Training nodes, full graph", "Training nodes, condensed graph", "Synthetic nodes")
    return Table("Classes", header, rows)


def transform_steps(contents: Contents) -> list[str]:
    """Say in words, step by step, what `transform` does to features of other nodes.

    Parameters
    ----------
    contents : Contents
    """
    count, named = len(contents.feature_ids), contents.feature_ids.tolist() != contents.feature_positions.tolist()
    how = "by name in a table, by number in an array" if named else "by number, counted from 0"
    steps = [f"It keeps {count:,} of {contents.n_input_features:,} columns, {how}; other columns are dropped."]
    if contents.categories:
        encoded = ", ".join(f"{name} ({len(levels):,} levels)" for name, levels in contents.categories.items())
        steps.insert(0, f"It encodes columns of a table one-hot: {encoded}; levels that are not known become zeros.")
    if contents.scaling is not None:
        steps.append("It subtracts the center of each column and divides by its spread, both as stored here.")
    if contents.reduction is not None:
        steps.append(f"It turns the columns into {len(contents.reduction[1]):,} principal components, as stored here.")
    if contents.scaling is None and contents.reduction is None:
        steps.append("It changes no value: what it gives are the columns as they were.")
    return steps


def as_json(listed: list[Kept]) -> list[list[Any]]:
    """Give kept features as plain values for the page's script."""
    return [list(one) for one in listed]
