"""What a baseline hands back, and how real nodes are gathered under the budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from herald_gpu import ops
from herald_gpu.budget import cheapest_nodes, induced_bytes, make_prices, matrix_bytes, smallest_ratio
from herald_gpu.config import HeraldConfig
from herald_gpu.encoding import stored
from herald_gpu.errors import BudgetError
from herald_gpu.graph import Graph
from herald_gpu.ratios import at_least

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.baselines.options import Links, NodeOptions
    from herald_gpu.budget import Budget, Prices

EXACT = HeraldConfig.paper()
"""Prices to the byte (eq:budget)."""


@dataclass(frozen=True)
class CutGraph(Graph):
    """A graph with some of its features; it knows how many there were.

    Attributes
    ----------
    n_input_features : int
        Columns of the full feature matrix.
    """

    n_input_features: int


def cut_columns(backend: Backend, graph: Graph, columns: Array) -> CutGraph:
    """Keep some columns of the features."""
    features = graph.features
    if int(columns.shape[0]) < graph.n_features:
        features = ops.take_columns(backend, features, columns)
    parts = (graph.adjacency, features, graph.kind, graph.labels, graph.train, graph.n_classes)
    return CutGraph(*parts, n_input_features=graph.n_features)


@dataclass(frozen=True)
class Selection:
    """A condensed graph on the backend.

    Attributes
    ----------
    nodes : int array, optional
        The nodes it was cut from, ascending; None for synthetic nodes.
    adjacency : CSR matrix
        Values are weights.
    features : matrix
    labels : int array
        Class codes; -1 is unknown.
    train : bool array
    storage_bytes : int
        What it takes, nominally.
    encoding : str, optional
        How the features are stored, where the method decided that.
    normalised : bool
        Whether the adjacency is a propagation matrix already, self loops included.
    details : dict
        Figures of the method.
    """

    nodes: Array | None
    adjacency: Matrix
    features: Matrix
    labels: Array
    train: Array
    storage_bytes: int
    encoding: str | None = None
    normalised: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def fill(backend: Backend, graph: Graph, ranking: Array, budget: Budget, options: NodeOptions) -> Selection:
    """Gather nodes in the order of a ranking while they fit; each class has its seat first."""
    prices = link_prices(backend, graph, budget, options.links)
    seated = seats(backend, graph, ranking, prices, budget)
    growth = backend.grow(
        graph.adjacency,
        ranking,
        prices,
        limit=budget.limit,
        depth=options.depth if options.links == "expanded" else 0,
        patience=options.patience,
        member=ops.mask_of(backend, seated, graph.n_nodes),
        spent=induced_bytes(prices, graph.adjacency, seated),
    )
    return cut_out(backend, graph, backend.xp.flatnonzero(growth.member), budget, links=options.links)


def link_prices(backend: Backend, graph: Graph, budget: Budget, links: Links) -> Prices:
    """Price nodes and edges; edges that are not kept cost nothing."""
    prices = make_prices(backend, graph.features, budget, EXACT)
    return replace(prices, edge=0.0, edge_to_member=0.0) if links == "none" else prices


def seats(backend: Backend, graph: Graph, ranking: Array, prices: Prices, budget: Budget) -> Array:
    """One training node of every class, together within the budget, by class.

    The best-ranked ones where they fit; else the cheapest ones replace them, largest saving first, until they do.

    Raises
    ------
    BudgetError
        If not even the cheapest training node of every class fits.
    """
    xp = backend.xp
    cheapest = cheapest_nodes(backend, graph, prices)
    floor = ops.scalar(induced_bytes(prices, graph.adjacency, cheapest))
    if floor > budget.limit:
        raise infeasible(budget, floor, f"the cheapest training node of each of the {graph.n_classes} classes")
    codes = graph.labels[ranking]
    counts = ops.class_counts(backend, codes, graph.n_classes)
    best = ranking[xp.argsort(codes, kind="stable")[xp.cumsum(counts) - counts]]
    by_saving = xp.argsort(prices.node[cheapest] - prices.node[best], kind="stable")
    for replaced in range(graph.n_classes):
        trial = best.copy()
        trial[by_saving[:replaced]] = cheapest[by_saving[:replaced]]
        if ops.scalar(induced_bytes(prices, graph.adjacency, trial)) <= budget.limit:
            return trial
    return cheapest


def infeasible(budget: Budget, floor: float, what: str) -> BudgetError:
    """Say that the budget is too small, and which ratio is not."""
    smallest = smallest_ratio(budget, floor)
    told = f"the smallest feasible ratio is {at_least(smallest)}; pass that or more"
    enough = told if smallest <= 1 else "no ratio is enough"
    msg = (
        f"ratio={budget.ratio} allows {budget.limit:.0f} bytes, but {what} takes {floor:.0f}: {enough}, or keep fewer "
        "features (features=, feature_count=)"
    )
    return BudgetError(msg, smallest_ratio=smallest)


def cut_out(
    backend: Backend, graph: Graph, nodes: Array, budget: Budget, *, links: Links, details: dict[str, Any] | None = None
) -> Selection:
    """Cut nodes out of the graph, with or without the edges among them, and price what comes out."""
    xp, count = backend.xp, int(nodes.shape[0])
    if links == "none":
        empty = xp.zeros(0, dtype=xp.int64), xp.zeros(count + 1, dtype=xp.int64)
        adjacency = backend.sparse.csr_matrix((xp.zeros(0, dtype=xp.float32), *empty), shape=(count, count))
    else:
        adjacency = ops.induced(graph.adjacency, nodes)
    train, rows = graph.train[nodes], graph.features[nodes]
    return Selection(
        nodes=nodes,
        adjacency=adjacency,
        features=stored(backend, rows, budget.coded)[0],
        labels=xp.where(train, graph.labels[nodes], -1),
        train=train,
        storage_bytes=matrix_bytes(backend, budget.coded, rows, int(adjacency.nnz)),
        details=details or {},
    )


def affordable(backend: Backend, graph: Graph, prices: Prices, budget: Budget) -> int:
    """The most training nodes that any choice could hold: the cheapest ones, without edges."""
    xp = backend.xp
    rising = xp.cumsum(xp.sort(prices.node[graph.train]))
    return int((rising <= budget.limit).sum())
