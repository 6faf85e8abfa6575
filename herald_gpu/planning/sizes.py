"""The numbers that a plan starts from, and what the budget makes of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu.budget import graph_bytes
from herald_gpu.graph import cheapest_kind
from herald_gpu.planning.checks import check_counts, check_rule, check_shares, check_skews
from herald_gpu.planning.exemplar_sizes import Exemplars, exemplar_sizes, feature_options
from herald_gpu.planning.gathered import Gathered, Means, Surroundings, best_encoding, gather
from herald_gpu.planning.landmark_sizes import fitting_beside, guided_graph, landmark_widths, learnt_columns
from herald_gpu.search import ranks_all

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig

TAIL = 1.5
"""Roots looked at after the last that fits, in units of the patience: acceptances in between reset the count."""


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
        Kept features and their stored values; an upper bound where the tree or a trial decides.
    tree : bool
        Whether a decision tree counts the features.
    budget : float
        Bytes that the result may take.
    node_price : float
        Bytes of a node's kept features, on average.
    near_degree : float
        Mean degree of a node at the end of an edge: the mean degree times the skew.
    wide, final : Gathered
        What the expansion gathers within the enlarged budget, and within the budget itself; of exemplars what fits
        with the most features, in both, landmarks included; nothing but landmarks and an exemplar a class where they
        are all that is asked for.
    exemplars : Exemplars, optional
        How exemplars are looked for.
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
    exemplars: Exemplars | None = None
    on_device: bool = False

    @property
    def degree(self) -> float:
        """Mean degree."""
        return self.edges / self.nodes

    @property
    def fisher(self) -> bool:
        """Whether features are ranked by Fisher's ratios: a search for exemplars may rank all of them by itself."""
        return self.exemplars is None or not ranks_all(self.features, self.classes)

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
    class_skew: float | None,
    feature_count: int | None,
    config: HeraldConfig,
    on_device: bool = False,
) -> Sizes:
    """Derive all sizes; arguments as of :func:`herald_gpu.plan`."""
    wanted = config.feature_count if feature_count is None else feature_count
    check_counts(n_nodes, n_edges, n_features, n_classes, wanted)
    check_rule(n_classes, config)
    check_shares(ratio=ratio, train_share=train_share, density=density)
    check_skews(degree_skew=degree_skew, class_skew=class_skew)
    degree = n_edges / n_nodes
    stored = math.ceil(n_nodes * n_features * density)
    kind = cheapest_kind((n_nodes, n_features), stored, binary=binary)
    values = n_nodes * n_features if kind == "dense" else stored
    budget = ratio * graph_bytes(kind, values, n_edges)
    train = max(n_classes, round(train_share * n_nodes))
    around = Surroundings(n_nodes, n_edges, degree * (1 + 1 / degree if degree_skew is None else degree_skew))
    filled = stored / (n_nodes * n_features)
    search, means = None, Means(budget, kind, filled, n_classes, around, config)
    if config.selection == "exemplars":
        learnt = learnt_columns(n_features, n_classes)
        search = exemplar_sizes(
            feature_options(n_features, wanted, train, means),
            learnt,
            *landmark_widths(learnt, wanted, means),
            fitting=fitting_beside(n_features, learnt, wanted, means),
            train=train,
            n_classes=n_classes,
            class_skew=class_skew or 1.0,
            config=config,
        )
        kept, priced = search.kept, search.viewed or search.kept
    else:
        kept = priced = n_features if wanted is None else min(wanted, n_features)
    coded = best_encoding(kind, filled * priced, priced, budget, config)
    node_price = float(coded.bytes_of_rows(filled * priced, priced))
    if search is not None:
        wide = final = search.options[-1].fits if search.options else guided_graph(means)
    else:
        room = budget - coded.table_bytes(kept)
        wide, final = (gather(times * room, node_price, around, brought=2) for times in (config.expansion_factor, 1.0))
    return Sizes(
        nodes=n_nodes,
        edges=n_edges,
        features=n_features,
        classes=n_classes,
        train=train,
        values=values,
        sparse=kind != "dense",
        kept=kept,
        # Kept features are the most active ones: memory is planned for all stored values, prices for a fair share.
        kept_values=n_nodes * kept if kind == "dense" else min(values, n_nodes * kept),
        tree=search is None and (wanted is None or config.feature_ranking == "tree"),
        budget=budget,
        node_price=node_price,
        near_degree=around.near_degree,
        wide=wide,
        final=final,
        exemplars=search,
        on_device=on_device,
    )
