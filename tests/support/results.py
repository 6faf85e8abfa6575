"""Rows of results, made by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd

KEY = {
    "dataset": "cora",
    "method": "herald",
    "column": "true",
    "ratio": 0.01,
    "change": "",
    "split": "paper",
    "model": "GCN",
    "variant": "published",
    "seed": 0,
}
FACTS = {"status": "ok", "accuracy": 50.0, "n_nodes": 40, "n_edges": 60, "n_features": 9, "storage_ratio": 0.009}


def row(**changes: Any) -> dict[str, Any]:
    """One row that was run, with some values changed."""
    return KEY | FACTS | changes


def infeasible(**changes: Any) -> dict[str, Any]:
    """One row of a ratio that cannot be kept."""
    return KEY | {"status": "infeasible", "smallest_ratio": 0.02} | changes


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    """Put rows together, with the columns that they have."""
    return pd.DataFrame(list(rows))


def lines(text: str) -> list[list[str]]:
    """Give the cells of all lines of tables in a text."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and not line.startswith("|-")
    ]
