"""The numbers that a plan starts from, and what the budget makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu.budget import EDGE_UNITS, FEATURE_UNITS, UNIT_BYTES, graph_bytes
from herald_gpu.errors import ConfigError
from herald_gpu.graph import cheapest_kind

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig

TAIL = 1.5
"""Roots looked at after the last that fits, in units of the patience: acceptances in between reset the count."""


@dataclass(frozen=True)
class Gathered:
    """Nodes of an expansion, directed edges among them, and all edges that leave them."""

    nodes: int
    edges: int
    reach: int


@dataclass(frozen=True)
class Sizes:
    """A graph by its sizes.

    Attributes
    ----------
    nodes, edges, features, classes, train : int
        Edges are directed: every undirected edge counts twice.
    values : int
        Stored feature values: all of a dense matrix, the non-zeros of a sparse one.
    sparse : bool
        Whether the features are held as CSR.
    kept, kept_values : int
        Kept features and their stored values; an upper bound where the tree decides.
    tree : bool
        Whether a decision tree counts the features.
    budget : float
        Bytes that the result may take.
    node_price : float
        Bytes of a node's kept features, on average.
    near_degree : float
        Mean degree of a node at the end of an edge: the mean degree times the skew.
    wide, final : Gathered
        What the expansion gathers within the enlarged budget, and within the budget itself.
    on_device : bool
        Whether the caller's tables and arrays are on the device already.
    """

    nodes: int
    edges: int
    features: int
    classes: int
    train: int
    values: int
    sparse: bool
    kept: int
    kept_values: int
    tree: bool
    budget: float
    node_price: float
    near_degree: float
    wide: Gathered
    final: Gathered
    on_device: bool = False

    @property
    def degree(self) -> float:
        """Mean degree."""
        return self.edges / self.nodes

    @property
    def train_edges(self) -> int:
        """Edges that leave training nodes."""
        return math.ceil(self.edges * self.train / self.nodes)

    def reach(self, hops: int) -> tuple[float, float]:
        """Nodes within some hops of a root, and the edges followed to find them, on average.

        Two hops follow the root's edges and those of its neighbours: d + E[d^2], exactly. Deeper layers are thinned
        by the nodes already seen.
        """
        layer, seen, followed = 1.0, 1.0, 0.0
        for hop in range(hops):
            followed += layer * (self.degree if hop == 0 else self.near_degree)
            found = layer * (self.degree if hop == 0 else max(0.0, self.near_degree - 1))
            layer = (self.nodes - seen) * -math.expm1(-found / self.nodes)
            seen += layer
        return seen, min(followed, self.edges)

    def roots_considered(self, gathered: Gathered, config: HeraldConfig) -> int:
        """Roots looked at until the expansion has gathered so many nodes and run out of patience."""
        around, _ = self.reach(config.depth)
        share = min(gathered.nodes / self.nodes, 1 - 0.5 / self.nodes)
        accepted = -math.log1p(-share) * self.nodes / around
        return min(self.train, math.ceil(accepted + TAIL * (config.patience + 1)))


def measure(
    n_nodes: int,
    n_edges: int,
    n_features: int,
    *,
    n_classes: int,
    ratio: float,
    train_share: float,
    density: float,
    binary: bool,
    degree_skew: float | None,
    feature_count: int | None,
    config: HeraldConfig,
    on_device: bool = False,
) -> Sizes:
    """Derive all sizes; arguments as of :func:`herald_gpu.plan`."""
    for name, value in (("n_nodes", n_nodes), ("n_edges", n_edges), ("n_features", n_features)):
        _check(name, value, _is_int(value, 1), "an integer >= 1")
    good = _is_int(n_classes, 1) and n_classes <= n_nodes
    _check("n_classes", n_classes, good, f"an integer from 1 to n_nodes={n_nodes}")
    for name, share in (("ratio", ratio), ("train_share", train_share), ("density", density)):
        _check(name, share, _is_number(share) and 0 < share <= 1, "a number in (0, 1]")
    if not config.exact:
        msg = f"config.accounting={config.accounting!r} is not planned: pass the default preset or HeraldConfig.paper()"
        raise ConfigError(msg)
    wanted = config.feature_count if feature_count is None else feature_count
    _check("feature_count", wanted, wanted is None or _is_int(wanted, 1), "None or an integer >= 1")
    degree = n_edges / n_nodes
    skew = 1 + 1 / degree if degree_skew is None else degree_skew
    _check("degree_skew", skew, _is_number(skew) and 1 <= skew < math.inf, "None or a number >= 1")

    stored = math.ceil(n_nodes * n_features * density)
    kind = cheapest_kind((n_nodes, n_features), stored, binary=binary)
    values = n_nodes * n_features if kind == "dense" else stored
    kept = n_features if wanted is None else min(wanted, n_features)
    # Kept features are the most active ones: memory is planned for all stored values, prices for a fair share.
    kept_values = n_nodes * kept if kind == "dense" else min(values, n_nodes * kept)
    node_price = UNIT_BYTES * FEATURE_UNITS[kind] * values * kept / n_features / n_nodes
    budget = ratio * graph_bytes(kind, values, n_edges)
    near = degree * skew
    return Sizes(
        nodes=n_nodes,
        edges=n_edges,
        features=n_features,
        classes=n_classes,
        train=max(n_classes, round(train_share * n_nodes)),
        values=values,
        sparse=kind != "dense",
        kept=kept,
        kept_values=kept_values,
        tree=wanted is None or config.feature_ranking == "tree",
        budget=budget,
        node_price=node_price,
        near_degree=near,
        wide=_gathered(config.expansion_factor * budget, node_price, n_nodes, n_edges, near),
        final=_gathered(budget, node_price, n_nodes, n_edges, near),
        on_device=on_device,
    )


def _gathered(limit: float, node_price: float, n_nodes: int, n_edges: int, near_degree: float) -> Gathered:
    """What neighbourhoods within a storage limit hold.

    Each node brings its price, the edge it was reached by in both directions, and edges to the share of all nodes
    that is there already; what they cost together is a quadratic in their number.
    """
    edge = UNIT_BYTES * EDGE_UNITS
    linear, square = node_price + 2 * edge, edge * n_edges / n_nodes**2
    nodes = math.ceil(2 * limit / (linear + math.sqrt(linear**2 + 4 * square * limit)))
    nodes = max(1, min(n_nodes, nodes))
    inside = min(n_edges, math.ceil(nodes * (2 + near_degree * nodes / n_nodes)), math.ceil(limit / edge))
    return Gathered(nodes, inside, min(n_edges, math.ceil(nodes * near_degree)))


def _is_int(value: object, low: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= low


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check(name: str, value: object, good: bool, wanted: str) -> None:  # noqa: FBT001 - a predicate's outcome
    if not good:
        msg = f"{name}={value!r} is not valid: pass {wanted}"
        raise ConfigError(msg)
