"""The page of the ablation: the method without one of its parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from herald_gpu.experiments import names, paper
from herald_gpu.experiments.markdown import NOTHING, accuracies, complete, figure, of, spread, table

if TYPE_CHECKING:
    import pandas as pd

VARIANTS = {
    "A": "whole method",
    "A1": "fixed weights",
    "A2a": "prototype only",
    "A2b": "boundary only",
    "A2c": "LID only",
    "A2d": "prototype and boundary",
    "A3": "tree features, as BONSAI",
    "A4": "random ranking",
}
MODELS = ("GCN", "H2GCN")
INTRODUCTION = """\
r = 0.005; accuracy in percent and, after the semicolon, its change from the whole method (A). Models as in the paper
(variant `published`).
"""
STRUCTURE = (
    "Structure: nodes / directed edges / storage in percent, as the paper counts it where published, else true.\n"
)


def ablation_page(rows: pd.DataFrame) -> str:
    """Accuracies with their change from the whole method, structure, and the largest drop of each variant.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `ablation`.
    """
    ran = of(complete(rows), status="ok") if len(rows) else rows
    if ran.empty:
        return f"# Ablation\n\n{NOTHING}"
    datasets = list(dict.fromkeys(ran["dataset"]))
    parts = ["# Ablation\n", INTRODUCTION]
    if missing := names.absent(datasets, ("amazon-ratings", "squirrel"), ("chameleon", "actor")):
        parts.append(missing)
    for dataset in datasets:
        own = of(ran, dataset=dataset)
        parts += [f"## {names.title(dataset)}\n", accuracy_table(own, dataset), STRUCTURE]
        parts.append(structure_table(own, dataset))
    parts += ["## Largest drop\n", "Over all graphs and both models that were run.\n", drop_table(ran)]
    return "\n".join(parts)


def accuracy_table(ran: pd.DataFrame, dataset: str) -> str:
    """Accuracies on one graph: the paper's, ours as published, ours inside the true budget."""
    sides = {"paper": of(paper.load("ablation"), dataset=dataset)}
    for column, name in names.SIDES.items():
        means = accuracies(of(ran, column=column), ["change", "model"])
        sides[name] = means.rename(columns={"change": "variant"})
    header = ["", "variant", *(f"{model}, {name}" for name in sides for model in MODELS)]
    lines = [
        [variant, what, *(_with_change(side, variant, model) for side in sides.values() for model in MODELS)]
        for variant, what in VARIANTS.items()
    ]
    return table(header, lines, left=2)


def _with_change(side: pd.DataFrame, variant: str, model: str) -> str:
    part, whole = of(side, variant=variant, model=model), of(side, variant="A", model=model)
    text = spread(figure(part, "mean"), figure(part, "std"))
    change = figure(part, "mean") - figure(whole, "mean")
    return text if variant == "A" or math.isnan(change) else f"{text}; {round(change, 1) + 0:+.1f}"


def structure_table(ran: pd.DataFrame, dataset: str) -> str:
    """Sizes of the condensed graphs of one graph."""
    printed = of(paper.load("ablation_structure"), dataset=dataset)
    lines = []
    for variant, what in VARIANTS.items():
        theirs = _structure(of(printed, variant=variant), "n_edges_directed", "storage_percent", 1)
        published = _structure(of(ran, change=variant, column="published"), "n_edges", "published_ratio", 100)
        true = _structure(of(ran, change=variant, column="true"), "n_edges", "storage_ratio", 100)
        lines.append([variant, what, theirs, published, true])
    return table(["", "variant", "paper", *names.SIDES.values()], lines, left=2)


def _structure(part: pd.DataFrame, edges: str, storage: str, factor: float) -> str:
    if part.empty:
        return ""
    sizes = f"{figure(part, 'n_nodes'):,.0f} / {figure(part, edges):,.0f}"
    return f"{sizes} / {factor * figure(part, storage):.2f}"


def drop_table(ran: pd.DataFrame) -> str:
    """How much accuracy each variant costs at most, and where."""
    lines = []
    for variant, what in list(VARIANTS.items())[1:]:
        lines.append([variant, what, *(_largest_drop(of(ran, column=column), variant) for column in names.SIDES)])
    return table(["", "variant", *names.SIDES.values()], lines, left=2)


def _largest_drop(ran: pd.DataFrame, variant: str) -> str:
    drops: dict[tuple[Any, Any], float] = {}
    means = accuracies(ran, ["dataset", "model", "change"])
    for dataset, model in dict.fromkeys(zip(means["dataset"], means["model"], strict=True)):
        own = of(means, dataset=dataset, model=model)
        drops[dataset, model] = figure(of(own, change="A"), "mean") - figure(of(own, change=variant), "mean")
    known = {where: drop for where, drop in drops.items() if not math.isnan(drop)}
    if not known:
        return ""
    dataset, model = max(known, key=lambda where: known[where])
    most = known[dataset, model]
    return f"{most:.1f} ({names.title(dataset)}, {model})" if most > 0 else "none"
