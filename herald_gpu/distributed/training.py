"""What training nodes tell of a graph in partitions: heterophily, and the Fisher ratios of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops
from herald_gpu.distributed.parts import dense_part, places_in
from herald_gpu.distributed.routes import Route, give_features, give_labels, give_values, stack, walk_hop
from herald_gpu.stages.features import ClassScatter, Scatter, fisher_ratios, merge_scatters, weigh_hops
from herald_gpu.stages.heterophily import TrainingEdges, count_training_edges, heterophily_of

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.job import Job
    from herald_gpu.distributed.parts import Cut, Part
    from herald_gpu.distributed.routes import Block
    from herald_gpu.stages.heterophily import Heterophily


class Training:
    """The training nodes of all partitions, with the way to them and the classes around them.

    Attributes
    ----------
    rows : list of futures of int arrays
        Training nodes of every partition.
    route : Route
    tables : list of futures of (n, classes) arrays
        Neighbours of training nodes by class.
    """

    def __init__(self, job: Job) -> None:
        self.job, crew = job, job.crew
        self.rows = job.each(train_rows)
        self.route = Route(crew, job.parts, self.rows, max(1, job.config.hops))
        given = self.route.exchange(-1, give_labels, job.parts)
        self.tables = job.each(class_table, job.layout.n_classes, lists=(self.route.cuts[-1], given))

    def heterophily(self) -> Heterophily:
        """Count edges inside the training set (stage 1)."""
        job = self.job
        found = job.combined("heterophily", lambda: job.each(edges_around, lists=(self.tables, self.rows)), add_arrays)
        job.count(self.route.index_bytes)
        return heterophily_of([TrainingEdges(float(found[0][0]), float(found[0][1]), found[1])])

    def fisher(self, h: float) -> np.ndarray:
        """Multi-hop Fisher ratio of every feature (stage 3), block by block of columns."""
        job, n_features = self.job, self.job.layout.n_features
        width = self.route.width(n_features)
        ratios = [self._ratios(low, min(n_features, low + width)) for low in range(0, n_features, width)]
        (weighed,) = job.crew.gather([job.crew.submit(_weighed, np.concatenate(ratios, axis=1), h)])
        return weighed

    def _ratios(self, low: int, high: int) -> np.ndarray:
        job, columns = self.job, np.arange(low, high)

        def make() -> list[Any]:
            blocks: list[list[Any]] = []
            for hop, cuts in enumerate(self.route.cuts[: job.config.hops]):
                if hop == 0:
                    given = self.route.exchange(hop, give_features, job.parts, columns)
                else:
                    sources = list(zip(self.route.cuts[hop - 1], blocks[-1], strict=True))
                    given = self.route.exchange(hop, give_values, sources)
                blocks.append(
                    [job.crew.submit(walk_hop, *one, near=part) for *one, part in _zip(cuts, given, job.parts)]
                )
            cuts = [list(one) for one in zip(*self.route.cuts, strict=True)]
            walked = [list(one) for one in zip(*blocks, strict=True)] if blocks else [[] for _ in job.parts]
            totals = job.graph.class_counts
            return job.each(scatter_hops, columns, totals, job.config, lists=(self.rows, cuts, walked))

        found = job.combined(f"features/fisher-{low}", make, merge_hops)
        return job.crew.gather([job.crew.submit(_ratios, found, job.config)])[0]

    def density(self) -> np.ndarray:
        """Mean absolute value of every feature over the training nodes, maximum 1 (eq:density)."""
        job = self.job
        found = job.combined("features/density", lambda: job.each(abs_sums, lists=(self.rows,)), add_arrays)
        (scaled,) = job.crew.gather([job.crew.submit(_scaled, found[0])])
        return scaled


def _zip(*lists: list[Any]) -> list[tuple[Any, ...]]:
    return list(zip(*lists, strict=True))


def train_rows(backend: Backend, part: Part) -> Array:
    """Training nodes of a partition."""
    return backend.xp.flatnonzero(part.train)


def class_table(backend: Backend, part: Part, cut: Cut, given: list[Array], n_classes: int) -> Block:  # noqa: ARG001
    """Count the neighbours of rows by class."""
    block = stack(backend, cut, given)
    return type(block)(ops.neighbour_classes(backend, cut.matrix, block.values, n_classes), block.received)


def edges_around(backend: Backend, part: Part, table: Block, rows: Array) -> list[np.ndarray]:
    """Edges of the training nodes of a partition (partial)."""
    found = count_training_edges(backend, table.values, part.labels[rows])
    return [np.array([found.total, found.same]), found.classes, np.array(table.received)]


def add_arrays(backend: Backend, parts: list[list[np.ndarray]]) -> list[np.ndarray]:  # noqa: ARG001 - every task has one
    """Add partial results up."""
    return [sum(arrays[1:], start=arrays[0]) for arrays in zip(*parts, strict=True)]


def scatter_hops(
    backend: Backend,
    part: Part,
    rows: Array,
    cuts: list[Cut],
    blocks: list[Block],
    columns: np.ndarray,
    totals: np.ndarray,
    config: HeraldConfig,
) -> list[np.ndarray]:
    """Scatter of the training rows of a partition after each hop (partial)."""
    xp = backend.xp
    codes = part.labels[rows]
    scatter = ClassScatter(backend, codes, len(totals), config, backend.asarray(totals))
    own = dense_part(backend, part.features, rows, backend.asarray(columns)).astype(xp.float64)
    found = [scatter.of(own)]
    for cut, block in zip(cuts, blocks, strict=False):
        found.append(scatter.of(block.values[places_in(backend, cut.rows, rows)]))
    sums, within = xp.stack([one.sums for one in found]), xp.stack([one.within for one in found])
    told = [backend.to_host(one) for one in (scatter.counts, scatter.used, sums, within)]
    return [*told, np.array(sum(block.received for block in blocks))]


def merge_hops(backend: Backend, parts: list[list[np.ndarray]]) -> list[np.ndarray]:
    """Put the scatter of partitions together, hop by hop (combine)."""
    hops = range(len(parts[0][2]))
    merged = [merge_scatters(backend, [_scatter(backend, part, hop) for part in parts]) for hop in hops]
    xp = backend.xp
    sums, within = xp.stack([one.sums for one in merged]), xp.stack([one.within for one in merged])
    told = [backend.to_host(one) for one in (merged[0].counts, merged[0].used, sums, within)]
    return [*told, np.array(sum(int(part[4]) for part in parts))]


def _scatter(backend: Backend, part: list[np.ndarray], hop: int) -> Scatter:
    counts, used, sums, within = (backend.asarray(one) for one in part[:4])
    return Scatter(counts, sums[hop], within[hop], used)


def _ratios(backend: Backend, part: list[np.ndarray], config: HeraldConfig) -> np.ndarray:
    hops = [_scatter(backend, part, hop) for hop in range(len(part[2]))]
    return backend.to_host(backend.xp.stack([fisher_ratios(backend, one, config) for one in hops]))


def _weighed(backend: Backend, ratios: np.ndarray, h: float) -> np.ndarray:
    return backend.to_host(weigh_hops(backend, backend.asarray(ratios), h))


def abs_sums(backend: Backend, part: Part, rows: Array) -> list[np.ndarray]:
    """Sums of absolute values over training nodes (partial)."""
    return [backend.to_host(ops.column_abs_sums(backend, part.features[rows])), np.array(0)]


def _scaled(backend: Backend, sums: np.ndarray) -> np.ndarray:
    return backend.to_host(ops.scaled_by_max(backend, backend.asarray(sums)))
