"""The search for the condensed graph that teaches best: candidates are built alike, tried, and the best one is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from herald_gpu import encoding, ops
from herald_gpu.budget import encoded_bytes, settle_prices
from herald_gpu.errors import BudgetError
from herald_gpu.stages.exemplars import RULES, fill, order_members, surround
from herald_gpu.stages.feature_grid import feature_grid
from herald_gpu.stages.landmarks import make_landmarks
from herald_gpu.stages.links import join, link_share
from herald_gpu.stages.pool import draw_pool
from herald_gpu.stages.trials import LEARNERS, PENALTIES, LearntFrom, judge, score
from herald_gpu.stages.views import HeldOut, open_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget, Pricing
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph
    from herald_gpu.stages.exemplars import Order, Rule
    from herald_gpu.stages.feature_grid import FeatureOption
    from herald_gpu.stages.links import Edges
    from herald_gpu.stages.pool import Pool
    from herald_gpu.stages.views import View

SPARE = 1.5
"""Order this many times as many nodes as are expected to fit."""
SPARE_NODES = 60


@dataclass(frozen=True)
class Trial:
    """A candidate and how it did.

    Attributes
    ----------
    feature_count : int
    rule : str
    link_share : float
        Share of exemplars that were to be linked.
    score : float, optional
        Weighted share of held-out training nodes classified rightly; None if there was nothing to choose.
    """

    feature_count: int
    rule: Rule
    link_share: float
    score: float | None


@dataclass(frozen=True)
class Found:
    """The condensed graph that was found.

    Attributes
    ----------
    columns : int array
        Kept features, ascending.
    kept : matrix
        Kept features of all nodes.
    pricing : Pricing
    nodes : int array
        Exemplars, ascending; where all training nodes fit, their neighbours too.
    edges : Edges
    landmarks : (classes, k) float32 array, optional
    ranking : int array
        Training nodes in the order in which they were looked at.
    trial : Trial
    trials : tuple of Trial
        All that were made, the one chosen included.
    """

    columns: Array
    kept: Matrix
    pricing: Pricing
    nodes: Array
    edges: Edges
    landmarks: Array | None
    ranking: Array
    trial: Trial
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class _Draft:
    """A condensed graph in the making."""

    nodes: Array
    order: Order
    landmarks: Array | None


@dataclass(frozen=True)
class _Candidate:
    """A number of features with prices, class centres and an order of exemplars for every fold."""

    option: FeatureOption
    centres: Array
    pricing: Pricing
    places: Array
    trial: Trial


class Search:
    """Looks for the best number of features and the best rule.

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    ranking : int array
        Columns, the best first.
    budget : Budget
    homophily : float
    seed : int
    """

    def __init__(
        self,
        backend: Backend,
        graph: Graph,
        ranking: Array,
        budget: Budget,
        config: HeraldConfig,
        *,
        homophily: float,
        seed: int,
    ) -> None:
        self.backend, self.graph, self.budget, self.config = backend, graph, budget, config
        self.homophilic = homophily > config.homophily_switch
        self.options = self._grid(ranking)
        self.ranking = ranking[: self.options[-1].count]
        pool = draw_pool(backend, graph, max(map(self._wanted, self.options)), config, seed=seed)
        self.pool: Pool = replace(pool, targets=backend.asarray(pool.targets))  # once, not for every draft
        self.held_codes = graph.labels[self.pool.held]

    # What is asked of all rows is asked here: a search that holds a part of them has its own ways.

    def _grid(self, ranking: Array) -> list[FeatureOption]:
        return feature_grid(self.backend, self.graph, ranking, self.budget, self.config)

    def _views(self, ranked: Matrix, counts: list[int]) -> Iterator[View]:
        return open_views(self.backend, self.graph, ranked, counts, self.pool)

    def _pricing(self, kept: Matrix) -> Pricing:
        return settle_prices(self.backend, self.graph, kept, self.budget, self.config)

    def _rows(self, kept: Matrix, nodes: Array) -> Matrix:
        return kept[nodes]

    def run(self) -> Found:
        """Try every number of features with every rule, and build the best on all training nodes."""
        ranked = ops.pick_columns(self.backend, self.graph.features, self.ranking)
        counts = [option.count for option in self.options]
        rules = [rule for rule in RULES if self.config.exemplar_rule in ("auto", rule)]
        only = len(counts) * len(rules) == 1
        made: list[_Candidate] = []
        refused = []
        for option, view in zip(self.options, self._views(ranked, counts), strict=True):
            kept = ranked[:, : option.count]
            try:
                pricing = self._pricing(kept)
            except BudgetError as error:
                refused.append(error)
                continue
            made += [self._candidate(option, view, kept, pricing, rule, only=only) for rule in rules]
        if not made:
            raise min(refused, key=lambda error: error.smallest_ratio)
        trials = tuple(candidate.trial for candidate in made)
        return self._final(made[preferred(trials, sum(self.pool.held_sizes))], trials)

    def _wanted(self, option: FeatureOption) -> int:
        return int(SPARE * option.rows / self.graph.n_classes) + SPARE_NODES

    def _candidate(
        self, option: FeatureOption, view: View, kept: Matrix, pricing: Pricing, rule: Rule, *, only: bool
    ) -> _Candidate:
        """Order the exemplars of every fold, and try them."""
        pool = self.pool
        places = self.backend.exemplar_places(
            view.similarity, pool.sizes, pool.free[:, pool.compared], rule=rule, most=self._wanted(option)
        )
        made = _Candidate(option, view.centres, pricing, places, Trial(option.count, rule, 0.0, None))
        if self.homophilic and self.config.edges == "auto" and pricing.feasible:
            plain = self._draft(made, pool.n_folds)
            share = link_share(self.backend, self.graph, plain.nodes, self.config)
            made = replace(made, trial=replace(made.trial, link_share=share))
        if only:
            return made
        return replace(made, trial=replace(made.trial, score=self._score(made, view.held, kept)))

    def _score(self, made: _Candidate, held: HeldOut, kept: Matrix) -> float:
        total, low = self.backend.xp.zeros((len(LEARNERS), len(PENALTIES))), 0
        for fold, size in enumerate(self.pool.held_sizes):
            draft = self._draft(made, fold)
            rows = slice(low, low + size)
            low += size
            if draft.landmarks is None and int(draft.nodes.shape[0]) == 0:
                continue  # no free node fits: nothing to learn from, and no right answer
            asked = HeldOut(*(part[rows] for part in vars(held).values()))
            learnt = self._learnt_from(made, draft, kept)
            total = total + judge(self.backend, learnt, asked, self.held_codes[rows], self.graph.n_classes)
        (counts,) = ops.fetch(self.backend, total)
        return score(counts, low)

    def _draft(self, made: _Candidate, fold: int) -> _Draft:
        """Choose the nodes of a candidate; the last fold has all training nodes."""
        final = fold == self.pool.n_folds
        landmarks, share = None, made.trial.link_share
        room = made.pricing.budget
        if self.homophilic and self.config.landmarks and made.pricing.feasible:
            landmarks = make_landmarks(
                self.backend, made.centres[fold], room.coded, room.limit, made.option.mean_stored, self.config
            )
        while True:
            order = order_members(self.backend, self.pool, made.places[fold], fold, link_share=share)
            limit = room.limit - self._landmark_bytes(landmarks, room)
            nodes = fill(
                self.backend, self.graph, self.pool, order, made.pricing, limit, self.config, every_class=final
            )
            if nodes is not None:
                return _Draft(nodes, order, landmarks)
            landmarks, share = None, 0.0  # these left no room for a node of every class

    def _surrounded(self, made: _Candidate, draft: _Draft) -> _Draft:
        """Where all training nodes fit, fill up with their neighbours."""
        if int(draft.nodes.shape[0]) < int(self.pool.members.shape[0]):
            return draft
        room, prices = made.pricing.budget, made.pricing.prices
        links = 2.0 * prices.edge * ops.scalar(draft.order.linked.sum())
        limit = room.limit - self._landmark_bytes(draft.landmarks, room) - links
        return replace(draft, nodes=surround(self.backend, self.graph, draft.nodes, made.pricing, limit, self.config))

    def _landmark_bytes(self, landmarks: Array | None, room: Budget) -> float:
        if landmarks is None:
            return 0.0
        return ops.scalar(encoded_bytes(self.backend, room.coded, landmarks).sum())

    def _edges(self, draft: _Draft) -> Edges:
        n_landmarks = 0 if draft.landmarks is None else self.graph.n_classes
        return join(self.backend, self.graph, draft.nodes, self.pool, draft.order, n_landmarks=n_landmarks)

    def _learnt_from(self, made: _Candidate, draft: _Draft, kept: Matrix) -> LearntFrom:
        rows = with_landmarks(self.backend, self._rows(kept, draft.nodes), draft.landmarks)
        features, _ = encoding.stored(self.backend, rows, made.pricing.budget.coded)
        codes = self.graph.labels[draft.nodes]
        return LearntFrom(self._edges(draft).adjacency, features, landmark_codes(self.backend, codes, draft.landmarks))

    def _final(self, best: _Candidate, trials: tuple[Trial, ...]) -> Found:
        xp = self.backend.xp
        draft = self._surrounded(best, self._draft(best, self.pool.n_folds))
        chosen = self.ranking[: best.option.count]
        order = xp.argsort(chosen)
        columns = chosen[order]
        return Found(
            columns=columns,
            kept=ops.take_columns(self.backend, self.graph.features, columns),
            pricing=best.pricing,
            nodes=draft.nodes,
            edges=self._edges(draft),
            landmarks=None if draft.landmarks is None else xp.ascontiguousarray(draft.landmarks[:, order]),
            ranking=self.pool.members[draft.order.turn],
            trial=best.trial,
            trials=trials,
        )


def preferred(trials: tuple[Trial, ...], n_held: int) -> int:
    """Say which trial to follow: of those near the best the one with the fewest features, and of these the best.

    Near is within half the standard error of the best share of right answers, which `n_held` nodes do not tell apart.

    Examples
    --------
    >>> tried = [Trial(8, "cover", 0.0, 0.7), Trial(16, "cover", 0.0, 0.795), Trial(32, "herd", 0.0, 0.8)]
    >>> preferred(tuple(tried), 1000)
    1
    """
    scores = [0.0 if trial.score is None else trial.score for trial in trials]
    best = max(scores)
    near = best - math.sqrt(best * (1.0 - best) / n_held) / 2
    fewest = min(trial.feature_count for trial, value in zip(trials, scores, strict=True) if value >= near)
    return max(
        (place for place, trial in enumerate(trials) if trial.feature_count == fewest), key=lambda place: scores[place]
    )


def with_landmarks(backend: Backend, rows: Matrix, landmarks: Array | None) -> Matrix:
    """Put landmarks below the rows of chosen nodes."""
    if landmarks is None:
        return rows
    if not backend.sparse.issparse(rows):
        return backend.xp.concatenate([rows, landmarks])
    below = ops.to_csr(backend, landmarks)
    return backend.sparse.vstack([rows, below], format="csr")


def landmark_codes(backend: Backend, codes: Array, landmarks: Array | None) -> Array:
    """Put the landmarks' classes behind those of chosen nodes."""
    if landmarks is None:
        return codes
    return backend.xp.concatenate([codes, backend.xp.arange(int(landmarks.shape[0]), dtype=codes.dtype)])
