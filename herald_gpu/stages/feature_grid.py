"""Numbers of features to try: all of them, half of them, a quarter, ..., as long as enough nodes fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.budget import settle_prices
from herald_gpu.encoding import candidates, most_rows_first, rows_within
from herald_gpu.errors import BudgetError

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph

FEWEST = 8
MOST = 8192
"""More features are not tried: comparing nodes on them would cost more than it tells."""


@dataclass(frozen=True)
class FeatureOption:
    """A number of features.

    Attributes
    ----------
    count : int
    mean_stored : float
        Mean non-zeros of a training node.
    rows : float
        Nodes of that size that fit in the budget, without any edge.
    """

    count: int
    mean_stored: float
    rows: float


def feature_grid(
    backend: Backend, graph: Graph, ranking: Array, budget: Budget, config: HeraldConfig
) -> list[FeatureOption]:
    """Give the numbers of features worth trying, rising.

    Halving stops where all training nodes fit, edges aside, and one of every class does with the edges among those:
    fewer features could not buy more of them.

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    ranking : int array
        Columns, the best first.
    budget : Budget
    """
    counts = _halved(graph.n_features) if config.feature_count is None else [config.feature_count]
    counts = [min(count, graph.n_features) for count in counts]
    stored = _cumulative(backend, graph.features[backend.xp.flatnonzero(graph.train)], ranking)
    n_train, *sums = ops.fetch(backend, graph.train.sum(), *(stored[count - 1] for count in counts))
    options = []
    wanted = config.stored_as
    for count, total in zip(counts, sums, strict=True):
        mean = float(total) / float(n_train)
        best = most_rows_first(candidates(budget.kind, wanted), mean, count, limit=budget.limit, largest=0.0)[0]
        options.append(FeatureOption(count, mean, rows_within(best, mean, count, budget.limit)))
        if options[-1].rows >= float(n_train) and _holds_every_class(backend, graph, ranking[:count], budget, config):
            break
    enough = [option for option in options if option.rows >= config.fewest_exemplars * graph.n_classes]
    return sorted(enough or options[-1:], key=lambda option: option.count)


def _halved(n_features: int) -> list[int]:
    counts = [n_features]
    while counts[-1] // 2 >= FEWEST:
        counts.append(counts[-1] // 2)
    return [count for count in counts if count <= MOST] or [counts[-1]]


def _holds_every_class(backend: Backend, graph: Graph, columns: Array, budget: Budget, config: HeraldConfig) -> bool:
    kept = ops.pick_columns(backend, graph.features, columns)
    try:
        return settle_prices(backend, graph, kept, budget, config).feasible
    except BudgetError:
        return False


def _cumulative(backend: Backend, x: Matrix, ranking: Array) -> Array:
    """Non-zeros of the best column, the best two, and so on."""
    xp = backend.xp
    if backend.sparse.issparse(x):
        filled = ops.tally(backend, x.indices, int(x.shape[1]))
    else:
        filled = xp.count_nonzero(x, axis=0).astype(xp.float64)
    return xp.cumsum(filled[ranking])
