"""How many nodes and edges fit in a number of bytes, what is made with those, and how a node is priced."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu.budget import EDGE_UNITS, UNIT_BYTES
from herald_gpu.encoding import candidates, most_rows_first

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.encoding import Encoding
    from herald_gpu.graph import FeatureKind

EDGE_BYTES = UNIT_BYTES * EDGE_UNITS


@dataclass(frozen=True)
class Gathered:
    """Nodes that were chosen, directed edges among them, and all edges that leave them."""

    nodes: int
    edges: int
    reach: int


@dataclass(frozen=True)
class Surroundings:
    """What nodes are chosen from: all nodes, directed edges, and the mean degree of a node at the end of an edge."""

    nodes: int
    edges: int
    near_degree: float


@dataclass(frozen=True)
class Means:
    """What a condensed graph is made with.

    Attributes
    ----------
    limit : float
        Bytes that it may take.
    kind : {"dense", "binary", "sparse"}
    filled : float
        Share of feature values that are not zero, the same in all columns.
    n_classes : int
    around : Surroundings
    config : HeraldConfig
    """

    limit: float
    kind: FeatureKind
    filled: float
    n_classes: int
    around: Surroundings
    config: HeraldConfig


def gather(limit: float, node_price: float, around: Surroundings, *, brought: int) -> Gathered:
    """What a storage limit holds.

    Each node brings its price, `brought` directed edges of its own (the edge it was reached by, in both directions;
    none, if it is chosen alone), and edges to the share of all nodes that is there already; what they cost together is
    a quadratic in their number.
    """
    limit = max(0.0, limit)
    linear, square = max(1.0, node_price + brought * EDGE_BYTES), EDGE_BYTES * around.edges / around.nodes**2
    nodes = math.ceil(2 * limit / (linear + math.sqrt(linear**2 + 4 * square * limit)))
    nodes = max(1, min(around.nodes, nodes))
    met = math.ceil(nodes * (brought + around.near_degree * nodes / around.nodes))
    inside = min(around.edges, met, math.ceil(limit / EDGE_BYTES))
    return Gathered(nodes, inside, min(around.edges, math.ceil(nodes * around.near_degree)))


def best_encoding(kind: FeatureKind, stored: float, count: int, limit: float, config: HeraldConfig) -> Encoding:
    """Give the encoding that holds the most rows of so many features, `stored` of which are not zero."""
    wanted = config.stored_as
    return most_rows_first(candidates(kind, wanted), stored, count, limit=limit, largest=0.0)[0]
