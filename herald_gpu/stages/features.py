"""Stage 3, second half: which features to keep (eq:fisher, eq:multihop_fisher, eq:density, eq:featselect)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.feature_budget import FeatureBudget


@dataclass(frozen=True)
class KeptFeatures:
    """The kept features.

    Attributes
    ----------
    indices : int array
        Ascending column numbers.
    score : (F,) float64 array, optional
        Fisher x density of every feature; None where the tree chose.
    """

    indices: Array
    score: Array | None


def choose_features(
    backend: Backend, graph: Graph, h: float, budget: FeatureBudget, config: HeraldConfig
) -> KeptFeatures:
    """Keep the features that separate classes on their own and after propagation, and that are often active."""
    if config.feature_ranking == "tree":
        return KeptFeatures(budget.tree, None)
    score = score_features(backend, graph, h, config)
    best = ops.descending(backend, score)[: budget.count]
    return KeptFeatures(backend.xp.sort(best), score)


def score_features(backend: Backend, graph: Graph, h: float, config: HeraldConfig) -> Array:
    """Multi-hop Fisher of every feature, times its density where that is asked for."""
    fisher = multihop_fisher(backend, graph, h, config)
    return fisher * activation_density(backend, graph) if config.feature_density else fisher


def multihop_fisher(backend: Backend, graph: Graph, h: float, config: HeraldConfig) -> Array:
    """Fisher ratios of ``P^k X`` over the training nodes, hops weighted by ``(1 - h)^k``, maximum 1.

    Columns are independent, so they pass by in dense float64 blocks; the feature matrix is never copied whole. After
    the last hop, nobody but the training nodes is asked.
    """
    xp = backend.xp
    rows = xp.flatnonzero(graph.train)
    scatter = ClassScatter(backend, graph.labels[rows], graph.n_classes, config)
    ratios = xp.zeros((config.hops + 1, graph.n_features), dtype=xp.float64)
    steps = _steps(backend, graph.adjacency, rows, config.hops)

    def walk(low: int, high: int, block: Array) -> None:
        ratios[0, low:high] = fisher_ratios(backend, scatter.of(block, rows), config)
        for hop, step in enumerate(steps, start=1):
            block = backend.linalg.multiply(step, block)
            part = scatter.of(block, rows if hop < config.hops else None)
            ratios[hop, low:high] = fisher_ratios(backend, part, config)

    for _ in ops.for_column_blocks(backend, graph.features, walk):
        pass
    return weigh_hops(backend, ratios, h)


def _steps(backend: Backend, adjacency: Matrix, rows: Array, hops: int) -> list[Matrix]:
    """Matrices of a walk's steps: to all nodes, and at last to some rows only."""
    if hops == 0:
        return []
    step = ops.walk(backend, adjacency)
    return [*([step] * (hops - 1)), step[rows]]


def weigh_hops(backend: Backend, ratios: Array, h: float) -> Array:
    """Add up the Fisher ratios of all hops, each over its maximum, weighted by ``(1 - h)^k``; maximum 1."""
    total = backend.xp.zeros(ratios.shape[1], dtype=backend.xp.float64)
    for hop in range(int(ratios.shape[0])):
        total += (1.0 - h) ** hop * ops.scaled_by_max(backend, ratios[hop])
    return ops.scaled_by_max(backend, total)


def activation_density(backend: Backend, graph: Graph) -> Array:
    """Mean absolute value of each feature over the training nodes, maximum 1."""
    rows = backend.xp.flatnonzero(graph.train)
    return ops.scaled_by_max(backend, ops.column_abs_sums(backend, graph.features[rows]))


@dataclass(frozen=True)
class Scatter:
    """Sums of rows by class, and how they scatter within classes.

    Attributes
    ----------
    counts : (classes,) float64 array
        Rows of each class.
    sums : (classes, F) float64 array
    within : (F,) float64 array
        Squared distances of rows to the mean of their class, added up over the classes that count.
    used : (classes,) float64 array
        1 for classes that count, 0 for those too small.
    """

    counts: Array
    sums: Array
    within: Array
    used: Array


class ClassScatter:
    """Measures the scatter of some training rows (partial).

    Parameters
    ----------
    backend, config
        As everywhere.
    codes : int array
        Classes of the rows.
    n_classes : int
    totals : (classes,) array, optional
        Training nodes of each class, where the rows are not all of them.
    """

    def __init__(
        self, backend: Backend, codes: Array, n_classes: int, config: HeraldConfig, totals: Array | None = None
    ) -> None:
        self.backend, self.codes = backend, codes
        self.members = ops.class_indicator(backend, codes, n_classes)
        self.counts = ops.class_counts(backend, codes, n_classes).astype(backend.xp.float64)
        large = (self.counts if totals is None else totals) >= config.min_class_size
        self.used = large.astype(backend.xp.float64)

    def of(self, table: Array, places: Array | None = None) -> Scatter:
        """Measure every column of a table whose rows are those of the classes, or of some places in it."""
        sums, within = self.backend.linalg.class_scatter(table, places, self.members, self.codes, self.used)
        return Scatter(self.counts, sums, within, self.used)


def merge_scatters(backend: Backend, parts: Sequence[Scatter]) -> Scatter:
    """Put the scatter of parts of the training set together (combine), in any order and any number of steps.

    Rows scatter around the means of their part, and these around the common mean.
    """
    if len(parts) == 1:
        return parts[0]
    counts, sums = sum(part.counts for part in parts), sum(part.sums for part in parts)
    mean, within = sums * ops.inverse(backend, counts)[:, None], sum(part.within for part in parts)
    for part in parts:
        apart = part.sums * ops.inverse(backend, part.counts)[:, None] - mean
        within = within + ((part.counts * part.used)[:, None] * apart**2).sum(axis=0)
    return Scatter(counts, sums, within, parts[0].used)


def fisher_ratios(backend: Backend, scatter: Scatter, config: HeraldConfig) -> Array:
    """Fisher ratio of every column (finish): scatter of the class means over that within classes."""
    counts = scatter.counts[:, None]
    means = scatter.sums * ops.inverse(backend, counts)
    mean = (counts * means).sum(axis=0) / scatter.counts.sum()
    between = (counts * scatter.used[:, None] * (means - mean) ** 2).sum(axis=0)
    return between / (scatter.within + config.fisher_eps)
