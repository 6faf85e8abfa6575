"""The numbers of the paper's own tables, to stand beside ours."""

from __future__ import annotations

from importlib import resources

import pandas as pd

TABLES = ("accuracy", "statistics", "ablation", "ablation_structure", "sensitivity")


def load(name: str) -> pd.DataFrame:
    """Give one of the paper's tables, one number a row.

    Parameters
    ----------
    name : {"accuracy", "statistics", "ablation", "ablation_structure", "sensitivity"}
        Edges are undirected in `statistics` and directed in `ablation_structure`, as the paper prints them. The whole
        graph has the ratio 1.

    Examples
    --------
    >>> table = load("accuracy")
    >>> whole = table[(table["dataset"] == "cora") & (table["method"] == "full")]
    >>> whole["mean"].tolist()
    [87.6, 85.42, 87.27, 85.28]
    """
    with resources.files("herald_gpu.experiments.paper_tables").joinpath(f"{name}.csv").open() as file:
        table = pd.read_csv(file, comment="#")
    if "ratio" in table:
        table["ratio"] = table["ratio"].fillna(1.0)
    return table
