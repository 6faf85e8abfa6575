"""The search for exemplars on one worker, which sees no more of the graph than the nodes it compares and chooses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops
from herald_gpu.budget import row_sizes, settle_sizes
from herald_gpu.distributed.lead import LeadBackend, Unseen, asking, told_sizes
from herald_gpu.search import SPARE, Search
from herald_gpu.stages.feature_grid import choose_counts, filled_columns
from herald_gpu.stages.pool import FOLDS

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget, Pricing
    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.lead import LeadGraph
    from herald_gpu.distributed.parts import Part
    from herald_gpu.search import Found, Learnt, _Candidate, _Draft
    from herald_gpu.stages.feature_grid import FeatureOption
    from herald_gpu.stages.views import Rows, Through


@dataclass(frozen=True)
class Wanted:
    """What a search wants to know of the graph.

    Attributes
    ----------
    widest : int
        The largest number of features that is tried.
    compared, held : int64 arrays
        Nodes whose rows it needs after no, one and two hops, in the order of the pool.
    first : int64 array
        Nodes it is likely to choose among, ascending.
    """

    widest: int
    compared: np.ndarray
    held: np.ndarray
    first: np.ndarray


@dataclass(frozen=True)
class Question:
    """What is looked for.

    Attributes
    ----------
    ranking : int array
        Columns, the best first.
    counts : list of int
        Numbers of features that may be tried, falling.
    budget, config, homophily, seed
        As of :class:`herald_gpu.search.Search`.
    """

    ranking: np.ndarray
    counts: list[int]
    budget: Budget
    config: HeraldConfig
    homophily: float
    seed: int


def option_sizes(backend: Backend, part: Part, rows: Array, ranking: np.ndarray, counts: list[int]) -> list[np.ndarray]:
    """Sizes of the training rows of a partition in every number of the best columns (partial).

    Gives non-zeros of training rows for each number; non-zeros of every column over training rows; for each number the
    largest absolute value of all rows.
    """
    stored, largest = [], []
    order = backend.asarray(ranking)
    ranked = ops.pick_columns(backend, part.features, order[: counts[0]])
    for count in counts:
        sizes = row_sizes(backend, ranked[:, :count])
        stored.append(backend.to_host(sizes.stored[rows]).astype(np.int32))
        largest.append(float(ops.scalar(sizes.largest)))
    filled = backend.to_host(filled_columns(backend, part.features[rows]))
    return [np.stack(stored), filled, np.array(largest), np.array(0)]


def merge_sizes(backend: Backend, parts: list[list[np.ndarray]]) -> list[np.ndarray]:  # noqa: ARG001 - every task has one
    """Sizes of several partitions (combine)."""
    stored, filled, largest, came = zip(*parts, strict=True)
    moved = sum(one.nbytes for one in stored[1:]) + sum(int(one) for one in came)
    return [np.concatenate(stored, axis=1), sum(filled), np.max(largest, axis=0), np.array(moved)]


class LeadSearch(Search):
    """A search that has the sizes of all training rows, and features and edges of those nodes alone that were seen."""

    def __init__(
        self,
        backend: Backend,
        graph: LeadGraph,
        sizes: list[np.ndarray],
        asked: Question,
        walked: list[Array] | None = None,
        learnt: Learnt | None = None,
    ) -> None:
        self.lead, self.asked = graph, asked
        self.walked = walked or []
        self.sizes = {
            count: told_sizes(backend, graph, sizes, place, count, asked.ranking[:count])
            for place, count in enumerate(asked.counts)
        }
        self.filled = backend.asarray(sizes[1])
        ranking = backend.asarray(asked.ranking)
        super().__init__(
            LeadBackend(backend, graph),
            graph,
            ranking,
            asked.budget,
            asked.config,
            homophily=asked.homophily,
            seed=asked.seed,
            learnt=learnt,
        )

    def _grid(self, ranking: Array) -> list[FeatureOption]:
        return choose_counts(
            self.backend, self.graph, self.filled[ranking], self.sizes.__getitem__, self.budget, self.config
        )

    def _way(self, ranked: Matrix) -> Through:  # noqa: ARG002 - rows were walked to
        return self._through

    def _through(self, low: int, high: int, held: Rows) -> list[Array]:
        sights, out = self.walked
        for place, part in enumerate(vars(held).values()):
            part[:, low:high] = out[place][:, low:high]
        return [self.backend.xp.ascontiguousarray(sights[place][:, low:high]) for place in range(int(sights.shape[0]))]

    def _pricing(self, kept: Matrix, budget: Budget) -> Pricing:
        sizes = self.sizes[int(kept.shape[1])]
        return settle_sizes(self.backend, self.graph, sizes, budget, self.config)

    def _rows(self, kept: Matrix, nodes: Array) -> Matrix:
        return kept[self.lead.place[nodes]]

    def _named(self, nodes: Array) -> Array:
        return self.lead.ids[nodes]

    def _of_name(self, names: Array) -> Array:
        return self.backend.xp.searchsorted(self.lead.ids, names)

    def learn(self) -> Learnt:
        """See :class:`~herald_gpu.search.Search`: what is learnt may go to another worker, or to its disk, alone."""
        learnt = super().learn()
        return learnt if learnt.seen is None else replace(learnt, seen=learnt.seen.along(None))

    def choose(self, learnt: Learnt) -> Found:
        """See :class:`~herald_gpu.search.Search`."""
        if learnt.seen is not None:
            learnt = replace(learnt, seen=learnt.seen.along(self._through))
        return super().choose(learnt)

    def _surrounded(self, made: _Candidate, draft: _Draft) -> _Draft:
        everybody = int(draft.nodes.shape[0]) == self._everybody
        if everybody and self.lead.around == 0:
            raise Unseen(self.lead.wanted(draft.nodes[:0], around=max(1, self.config.patience) * FOLDS))
        self.backend.to_the_end = everybody  # type: ignore[attr-defined]
        return super()._surrounded(made, draft)

    def wanted(self) -> Wanted:
        """Say what the search wants to know; of nodes to choose from, as many as are likely to be looked at."""
        xp, pool, config = self.backend.xp, self.pool, self.config
        likely = SPARE * max(option.rows for option in self.options) + FOLDS * config.patience
        place = xp.arange(int(pool.members.shape[0])) - xp.searchsorted(pool.codes, pool.codes, side="left")
        share = pool.targets[pool.codes.astype(xp.int64)] * (FOLDS / (FOLDS - 1.0))
        first = xp.flatnonzero(place < likely * share)
        chosen = xp.unique(xp.concatenate([pool.members[first], pool.members[pool.compared], pool.held]))
        named = (pool.members[pool.compared], pool.held, chosen)
        return Wanted(self.widest, *(self.backend.to_host(self.lead.ids[nodes]) for nodes in named))


@asking
def ask_search(backend: Backend, graph: LeadGraph, sizes: list[np.ndarray], asked: Question) -> Wanted:
    """Find out what a search wants to know; or which nodes must be seen first."""
    return LeadSearch(backend, graph, sizes, asked).wanted()


@asking
def learn_search(
    backend: Backend, graph: LeadGraph, sizes: list[np.ndarray], walked: list[Array], asked: Question
) -> Learnt:
    """Rank features and try landmarks; or say which nodes must be seen first."""
    return LeadSearch(backend, graph, sizes, asked, walked).learn()


def learnt_ranking(backend: Backend, learnt: Learnt) -> np.ndarray:
    """Features in the order that was learnt, on the host."""
    return backend.to_host(learnt.ranking)


@asking
def run_search(
    backend: Backend,
    graph: LeadGraph,
    sizes: list[np.ndarray],
    walked: list[Array],
    learnt: Learnt,
    asked: Question,
) -> Found:
    """Search; or say which nodes must be seen first."""
    return LeadSearch(backend, graph, sizes, asked, walked, learnt).choose(learnt)
