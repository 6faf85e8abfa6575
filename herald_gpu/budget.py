"""The only definition of size (eq:budget): nominal bytes of a graph, and what adding to it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.encoding import OF_KIND, candidates, most_rows_first
from herald_gpu.errors import BudgetError, ConfigError
from herald_gpu.graph import check_storage, edge_total
from herald_gpu.ratios import at_least

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig
    from herald_gpu.encoding import Encoding
    from herald_gpu.graph import FeatureKind, Graph

UNIT_BYTES = 2
"""One stored unit: an index, or half of a float32."""
EDGE_UNITS = 2
"""Units per directed edge: its two ends."""
FEATURE_UNITS: dict[str, int] = {"dense": 2, "binary": 1, "sparse": 3}
"""m_f: units per stored feature value (float32; index only; index and float32)."""
FLOAT_BYTES = 4
SCALING_BYTES = 2 * FLOAT_BYTES
"""Center and spread of a kept column, where features were scaled."""


@dataclass(frozen=True)
class Prices:
    """What nodes and edges cost when they are added.

    Attributes
    ----------
    node : (N,) float64 array
        Bytes of each node's kept features.
    edge : float
        Bytes per directed edge among the added nodes.
    edge_to_member : float
        Bytes per edge from an added node to one already there (both directions where that is charged).
    """

    node: Array
    edge: float
    edge_to_member: float


@dataclass(frozen=True)
class Budget:
    """The storage that was asked for.

    Attributes
    ----------
    kind : {"dense", "binary", "sparse"}
        How the full graph's features are priced.
    full_bytes : float
        Storage of the whole graph.
    limit : float
        Storage that the condensed graph may take.
    ratio : float, optional
        The share that was asked for, as the caller wrote it.
    encoding : Encoding, optional
        How the condensed graph's features are stored, once that is settled; as the full graph's by default.
    column_bytes : int
        Bytes that are stored once for every kept column, besides what the encoding stores.
    """

    kind: FeatureKind
    full_bytes: float
    limit: float
    ratio: float | None = field(default=None, compare=False)
    encoding: Encoding | None = None
    column_bytes: int = 0

    @property
    def coded(self) -> Encoding:
        """How the condensed graph's features are stored."""
        return OF_KIND[self.kind] if self.encoding is None else self.encoding

    def limit_beside(self, n_columns: int) -> float:
        """Give the bytes that are left beside what is stored once for so many columns, in any encoding."""
        return self.limit - self.column_bytes * n_columns


def graph_bytes(kind: str, feature_values: int, directed_edges: int) -> int:
    """Nominal bytes of a graph.

    Parameters
    ----------
    kind : {"dense", "binary", "sparse"}
    feature_values : int
        Sum of f_v: stored feature values over all nodes.
    directed_edges : int
        Every undirected edge counts twice.

    Examples
    --------
    Roman-empire with all of its 300 dense features, and the paper's condensed graph at SR 66.67 %:

    >>> whole = graph_bytes("dense", 22662 * 300, 65854)
    >>> round(100 * graph_bytes("dense", 15110 * 300, 2 * 21735) / whole, 2)
    66.67
    """
    return UNIT_BYTES * (FEATURE_UNITS[kind] * feature_values + EDGE_UNITS * directed_edges)


def stored_values(backend: Backend, kind: str, x: Matrix) -> Array:
    """f_v of every row: the feature values it stores."""
    xp = backend.xp
    if kind == "dense":
        return xp.full(x.shape[0], x.shape[1], dtype=xp.int64)
    if backend.sparse.issparse(x):
        return xp.diff(x.indptr).astype(xp.int64)
    return xp.count_nonzero(x, axis=1)


def stored_total(backend: Backend, kind: str, x: Matrix) -> Array:
    """Sum of f_v, left on the backend."""
    return stored_values(backend, kind, x).sum()


def matrix_bytes(backend: Backend, coded: Encoding, x: Matrix, directed_edges: int) -> int:
    """Nominal bytes of a feature matrix in an encoding, and that many directed edges."""
    features = int(ops.scalar(encoded_bytes(backend, coded, x).sum())) + coded.table_bytes(int(x.shape[1]))
    return features + UNIT_BYTES * EDGE_UNITS * directed_edges


def make_budget(backend: Backend, graph: Graph, ratio: float, config: HeraldConfig) -> Budget:
    """Price the whole graph and set the limit (stage 0)."""
    kind = check_storage(graph.kind, config.storage)
    if not config.exact:
        units = 1 if config.accounting == "citation" else 2
        dense_values = units * graph.n_nodes * graph.n_features
        full = float(UNIT_BYTES * (dense_values + EDGE_UNITS * graph.n_edges))
        return Budget(kind, full, ratio * full, ratio)
    values, edges = ops.fetch(backend, stored_total(backend, kind, graph.features), edge_total(graph.adjacency))
    if graph.scaling is None:
        return budget_of(kind, int(values), int(edges), ratio)
    given = int(values) if kind == "dense" or graph.n_given is None else graph.n_given
    return replace(budget_of(kind, given, int(edges), ratio), column_bytes=SCALING_BYTES)


def budget_of(kind: FeatureKind, feature_values: int, directed_edges: int, ratio: float) -> Budget:
    """Set the limit for a graph of so many stored feature values and edges (finish: both add up over parts).

    Examples
    --------
    >>> budget_of("dense", 100, 25, 0.5).limit
    250
    """
    full_bytes = graph_bytes(kind, feature_values, directed_edges)
    limit = math.floor(ratio * full_bytes)
    while limit / full_bytes > ratio:  # rounding of the product must not let the ratio be exceeded
        limit -= 1
    return Budget(kind, full_bytes, limit, ratio)


def encoded_bytes(backend: Backend, coded: Encoding, x: Matrix) -> Array:
    """Bytes of every row of a matrix in an encoding; what is stored once besides is not among them."""
    values = stored_values(backend, "sparse", x).astype(backend.xp.float64)
    return coded.bytes_of_rows(values, int(x.shape[1]))


@dataclass(frozen=True)
class RowSizes:
    """What of a feature matrix decides prices; of parts of its rows, one after the other, that of all.

    Attributes
    ----------
    stored : (N,) array
        Non-zeros of every row.
    largest : 0-d array
        Largest absolute value.
    width : int
        Columns.
    """

    stored: Array
    largest: Array
    width: int


def row_sizes(backend: Backend, kept: Matrix) -> RowSizes:
    """Measure the rows of a matrix (partial)."""
    xp = backend.xp
    values = kept.data if backend.sparse.issparse(kept) else kept
    largest = xp.abs(values).max() if int(values.size) else xp.zeros(())
    return RowSizes(stored_values(backend, "sparse", kept), largest, int(kept.shape[1]))


def make_prices(backend: Backend, kept: Matrix, budget: Budget, config: HeraldConfig) -> Prices:
    """Price every node by its kept features."""
    xp = backend.xp
    if config.exact:
        return _exact_prices(encoded_bytes(backend, budget.coded, kept))
    if config.accounting == "pubmed":
        values = FEATURE_UNITS["sparse"] * stored_values(backend, "sparse", kept).astype(xp.float64)
    else:  # the published code charges the sum of the feature values, which may be negative
        values = kept @ xp.ones(kept.shape[1], dtype=xp.float64)
    return Prices(UNIT_BYTES * values, float(UNIT_BYTES), float(UNIT_BYTES))


def _exact_prices(node: Array) -> Prices:
    edge = float(UNIT_BYTES * EDGE_UNITS)
    return Prices(node, edge, 2 * edge)


def induced_bytes(prices: Prices, adjacency: Matrix, nodes: Array) -> Array:
    """Storage of the subgraph induced by `nodes`, from scratch; left on the backend."""
    return prices.node[nodes].sum() + prices.edge * edge_total(ops.induced(adjacency, nodes))


def cheapest_nodes(backend: Backend, graph: Graph, prices: Prices) -> Array:
    """The cheapest training node of every class (ties: lower id), by class."""
    xp = backend.xp
    nodes = xp.flatnonzero(graph.train)
    codes = graph.labels[nodes]
    # Sorted by class, then price, then id: the first of each class is its cheapest.
    order = xp.argsort(prices.node[nodes], kind="stable")
    order = order[xp.argsort(codes[order], kind="stable")]
    counts = ops.class_counts(backend, codes, graph.n_classes)
    return graph.seen(nodes[order[xp.cumsum(counts) - counts]])


@dataclass(frozen=True)
class Pricing:
    """How the condensed graph is stored, and what that costs.

    Attributes
    ----------
    prices : Prices
    budget : Budget
        What is left for nodes and edges: the limit without what the encoding stores once. It knows the encoding.
    feasible : bool
        Whether one training node of every class fits.
    """

    prices: Prices
    budget: Budget
    feasible: bool


def settle_prices(backend: Backend, graph: Graph, kept: Matrix, budget: Budget, config: HeraldConfig) -> Pricing:
    """Choose the encoding that holds the most nodes, and price by it.

    Raises
    ------
    BudgetError
        If not even the cheapest training node of every class fits, in any encoding that was left open.
    """
    if not config.exact:
        return Pricing(make_prices(backend, kept, budget, config), budget, feasible=True)
    return settle_sizes(backend, graph, row_sizes(backend, kept), budget, config)


def settle_sizes(backend: Backend, graph: Graph, sizes: RowSizes, budget: Budget, config: HeraldConfig) -> Pricing:
    """Choose the encoding from the sizes of rows alone, and price by it; as :func:`settle_prices`."""
    wanted, width, stored = config.stored_as, sizes.width, sizes.stored.astype(backend.xp.float64)
    if wanted == "bits" and budget.kind != "binary":
        msg = "encoding='bits' holds zeros and ones only, but features have other values: pass 'auto' or 'int8'"
        raise ConfigError(msg)
    options = candidates(budget.kind, wanted)
    if len(options) > 1:
        share = graph.train.astype(backend.xp.float64)
        mean, largest = ops.fetch(backend, (stored * share).sum() / share.sum(), sizes.largest)
        limit = budget.limit_beside(width)
        options = most_rows_first(options, float(mean), width, limit=limit, largest=float(largest))
    floors = []
    for coded in options:
        once = coded.table_bytes(width) + budget.column_bytes * width
        room = replace(budget, limit=budget.limit - once, encoding=coded)
        prices = _exact_prices(coded.bytes_of_rows(stored, width))
        needed = induced_bytes(prices, graph.adjacency, cheapest_nodes(backend, graph, prices))
        least = _cheapest_price(backend, graph, prices)
        floor, cheapest = (once + float(value) for value in ops.fetch(backend, needed, least))
        pricing = Pricing(prices, room, feasible=floor <= budget.limit)
        if pricing.feasible:
            return pricing
        floors.append((floor, cheapest, pricing))
    return _below_the_floor(graph, budget, config, floors)


def _cheapest_price(backend: Backend, graph: Graph, prices: Prices) -> Array:
    """Price of the cheapest training node."""
    return backend.xp.where(graph.train, prices.node, prices.node.max()).min()


def smallest_ratio(budget: Budget, floor: float) -> float:
    """Give the smallest ratio that allows so many bytes.

    Examples
    --------
    >>> smallest_ratio(Budget("dense", 1000.0, 10.0), 21.0)
    0.021
    """
    smallest = floor / budget.full_bytes
    while math.floor(smallest * budget.full_bytes) < floor:
        smallest = math.nextafter(smallest, math.inf)
    return smallest


def _below_the_floor(
    graph: Graph, budget: Budget, config: HeraldConfig, floors: list[tuple[float, float, Pricing]]
) -> Pricing:
    """Settle for what fits, if that is asked for and anything does; else say which ratio is enough."""
    if config.on_infeasible == "best_effort":
        reachable = [pricing for _, cheapest, pricing in floors if cheapest <= budget.limit]
        if reachable:
            return reachable[0]
    floor = min(floor for floor, _, _ in floors)
    smallest = smallest_ratio(budget, floor)
    msg = (
        f"ratio={budget.ratio} allows {budget.limit:.0f} bytes, but the cheapest training "
        f"node of each of the {graph.n_classes} classes takes {floor:.0f}: the smallest feasible ratio is "
        f"{at_least(smallest)}; pass that or more"
    )
    if config.on_infeasible == "raise":
        msg += ", or HeraldConfig(on_infeasible='best_effort') for a graph without some classes"
    raise BudgetError(msg, smallest_ratio=smallest)


def keep_within(
    backend: Backend, part: Matrix, nodes: Array, position: Array, prices: Prices, *, limit: float, start: int = 0
) -> Array:
    """Remove nodes in a given order until the induced subgraph fits.

    The storage after every number of removals follows from two histograms, so nothing is removed one by one.

    Parameters
    ----------
    backend : Backend
    part : CSR matrix
        Edges of the subgraph induced by `nodes`.
    nodes : int array
        The nodes there are.
    position : int array
        For each of them its place in the order of removal; `len(nodes)` for one that must stay.
    prices : Prices
    limit : float
        Stop as soon as the storage is at or below this.
    start : int
        Remove at least this many.

    Returns
    -------
    int array
        The nodes that stay, ascending as they came.
    """
    xp, last = backend.xp, int(nodes.shape[0])
    edge_position = xp.minimum(position[ops.row_ids(backend, part)], position[part.indices])
    removed_nodes = ops.tally(backend, position, last + 1, prices.node[nodes])
    gone = removed_nodes + prices.edge * ops.tally(backend, edge_position, last + 1)
    left = xp.cumsum(gone[::-1])[::-1]  # left[t]: storage after the first t removals
    over = (left[:last] > limit).sum()  # falling, so this many removals bring it under
    return nodes[xp.flatnonzero(position >= xp.maximum(over, start))]
