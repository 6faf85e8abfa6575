"""Numbers of features to try: all of them, half of them, a quarter, ..., as long as enough nodes fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.budget import RowSizes, row_sizes, settle_sizes
from herald_gpu.encoding import candidates, most_rows_first, rows_within
from herald_gpu.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Callable

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
    rows = graph.features[backend.xp.flatnonzero(graph.train)]

    def measure(count: int) -> RowSizes:
        return row_sizes(backend, ops.pick_columns(backend, graph.features, ranking[:count]))

    return choose_counts(backend, graph, filled_columns(backend, rows)[ranking], measure, budget, config)


def choose_counts(
    backend: Backend,
    graph: Graph,
    filled: Array,
    measure: Callable[[int], RowSizes],
    budget: Budget,
    config: HeraldConfig,
) -> list[FeatureOption]:
    """Choose among the numbers of features (finish).

    Parameters
    ----------
    backend, graph, budget, config
        As everywhere.
    filled : float64 array
        Non-zeros of training nodes in every column, the best first.
    measure : function of a number of columns
        Gives the sizes of rows in so many of the best.
    """
    counts, stored = tried_counts(graph.n_features, config), backend.xp.cumsum(filled)
    n_train, *sums = ops.fetch(backend, graph.train.sum(), *(stored[count - 1] for count in counts))
    options = []
    wanted = config.stored_as
    for count, total in zip(counts, sums, strict=True):
        mean = float(total) / float(n_train)
        limit = budget.limit_beside(count)
        best = most_rows_first(candidates(budget.kind, wanted), mean, count, limit=limit, largest=0.0)[0]
        options.append(FeatureOption(count, mean, rows_within(best, mean, count, limit)))
        if options[-1].rows >= float(n_train) and _holds_every_class(backend, graph, measure(count), budget, config):
            break
    enough = [option for option in options if option.rows >= config.fewest_exemplars * graph.n_classes]
    return sorted(enough or options[-1:], key=lambda option: option.count)


def tried_counts(n_features: int, config: HeraldConfig) -> list[int]:
    """Numbers of features that may be tried, falling."""
    counts = _halved(n_features) if config.feature_count is None else [config.feature_count]
    return [min(count, n_features) for count in counts]


def _halved(n_features: int) -> list[int]:
    counts = [n_features]
    while counts[-1] // 2 >= FEWEST:
        counts.append(counts[-1] // 2)
    return [count for count in counts if count <= MOST] or [counts[-1]]


def _holds_every_class(backend: Backend, graph: Graph, sizes: RowSizes, budget: Budget, config: HeraldConfig) -> bool:
    try:
        return settle_sizes(backend, graph, sizes, budget, config).feasible
    except BudgetError:
        return False


def filled_columns(backend: Backend, x: Matrix) -> Array:
    """Non-zeros of every column (partial: those of parts of the rows add up)."""
    if backend.sparse.issparse(x):
        return ops.tally(backend, x.indices, int(x.shape[1]))
    return backend.xp.count_nonzero(x, axis=0).astype(backend.xp.float64)
