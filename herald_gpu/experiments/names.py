"""How graphs, methods and columns are called in pages and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

METHODS = {
    "full": "whole graph",
    "random": "Random",
    "herding": "Herding",
    "kcenter": "K-Center",
    "bonsai": "BONSAI",
    "gdem": "GDEM",
    "cluster": "cluster (as CGC)",
    "herald": "HERALD",
    "herald-default": "HERALD, default preset",
}
"""In the order of the tables."""
SIDES = {"published": "as published", "true": "true budget"}
"""The columns of a cell, in the order of the tables."""
TITLES = {"citeseer": "CiteSeer", "pubmed": "PubMed", "blogcatalog": "BlogCatalog"}


def title(dataset: str) -> str:
    """Write the name of a graph.

    Examples
    --------
    >>> title("citeseer"), title("roman-empire"), title("reddit-like-0.1")
    ('CiteSeer', 'Roman-empire', 'Reddit-like-0.1')
    """
    return TITLES.get(dataset, dataset.capitalize())


def listed(datasets: Iterable[str]) -> str:
    """Write several names.

    Examples
    --------
    >>> listed(["cora", "pubmed", "actor"]), listed(["cora"])
    ('Cora, PubMed and Actor', 'Cora')
    """
    *most, last = map(title, datasets)
    return f"{', '.join(most)} and {last}" if most else last


def absent(datasets: Iterable[str], wanted: Iterable[str], stand_ins: Iterable[str] = ()) -> str:
    """Say which graphs of the paper were not run, and which ones are there in their place; empty if none is missing.

    Parameters
    ----------
    datasets : iterable of str
        Those that were run.
    wanted : iterable of str
        The paper's.
    stand_ins : iterable of str
        Others that may take their place.

    Examples
    --------
    >>> print(absent(["cora", "actor"], ["cora", "roman-empire"], ["actor"]))
    Not run: Roman-empire, which the paper has here. Actor, not in its table, stands in for it.
    <BLANKLINE>
    """
    there = set(datasets)
    missing = [name for name in wanted if name not in there]
    others = [name for name in stand_ins if name in there]
    if not missing:
        return ""
    text = f"Not run: {listed(missing)}, which the paper has here."
    if others:
        verb, whom = ("stands", "stand")[len(others) > 1], "them" if len(missing) > 1 else "it"
        text += f" {listed(others)}, not in its table, {verb} in for {whom}."
    return f"{text}\n"
