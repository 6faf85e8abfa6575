"""Graphs of the experiments by name: data sets, and generated ones of a data set's size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from herald_gpu.datasets import LabelledGraph, load_graph, make_graph
from herald_gpu.datasets.catalogue import canonical, find
from herald_gpu.datasets.loading import status
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    from herald_gpu.datasets.labelled import SplitChoice

REDDIT = {"n_nodes": 232_965, "n_features": 602, "n_classes": 41, "mean_degree": 491.99, "homophily": 0.75}
"""Sizes of the paper's Reddit: 57.3 million undirected edges, 75 % of them inside a class."""
LIKE = "reddit-like"
GENERATED = re.compile(r"reddit-like-(1|0\.\d+)")
SEED = 0


def resolve(name: str) -> str:
    """Give the name of a graph as :func:`load` and the rows have it.

    Raises
    ------
    ConfigError
        If there is no graph of that name.

    Examples
    --------
    >>> resolve("Roman_Empire"), resolve("reddit-like-0.1")
    ('roman-empire', 'reddit-like-0.1')
    """
    if name.startswith(LIKE):
        _scale(name)
        return name
    plain = canonical(name)
    return plain if status(plain) != "source" else find(plain).name


def _scale(name: str) -> float:
    found = GENERATED.fullmatch(name)
    if found is None:
        msg = f"{name!r} is not known: pass reddit-like-1 or a share such as reddit-like-0.1"
        raise ConfigError(msg)
    return float(found.group(1))


def load(name: str, split: SplitChoice = "paper") -> LabelledGraph:
    """Load a data set, or generate ``reddit-like-SCALE``: nodes and mean degree shrink by scale and its root.

    Parameters
    ----------
    name : str
    split : "paper", "source", int, Split or None

    Examples
    --------
    >>> graph = load("reddit-like-0.02")
    >>> graph.n_nodes, graph.n_features, graph.n_classes
    (4659, 602, 41)
    """
    if not name.startswith(LIKE):
        return load_graph(name, split=split)
    scale = _scale(name)
    made = make_graph(
        int(REDDIT["n_nodes"] * scale),
        n_classes=int(REDDIT["n_classes"]),
        n_features=int(REDDIT["n_features"]),
        mean_degree=REDDIT["mean_degree"] * scale**0.5,
        homophily=REDDIT["homophily"],
        seed=SEED,
    )
    graph = LabelledGraph(
        name, made.edge_index, made.features, made.labels, int(REDDIT["n_classes"]), source="generated"
    )
    return graph.with_split(split)
