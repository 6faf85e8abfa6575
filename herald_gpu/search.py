"""The search for the condensed graph that teaches best: candidates are built alike, tried, and the best one is kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from herald_gpu import encoding, ops, threads
from herald_gpu.budget import settle_prices
from herald_gpu.errors import BudgetError, ConfigError
from herald_gpu.guidance import (
    LANDMARKS,
    Guidance,
    GuidedDraft,
    bytes_beside,
    bytes_of_eight,
    counts_beside,
    landmark_codes,
    most_columns,
    with_landmarks,
)
from herald_gpu.stages.exemplars import RULES, fill, order_members, surround
from herald_gpu.stages.feature_grid import FEWEST, FeatureOption, feature_grid, tried_counts
from herald_gpu.stages.links import join, join_landmarks, link_share
from herald_gpu.stages.pool import draw_pool
from herald_gpu.stages.trials import LEARNERS, PENALTIES, LearntFrom, judge, score
from herald_gpu.stages.views import Rows, views_through, walk_along
from herald_gpu.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget, Pricing
    from herald_gpu.config import HeraldConfig
    from herald_gpu.encoding import Encoding
    from herald_gpu.graph import Graph
    from herald_gpu.stages import landmarks
    from herald_gpu.stages.exemplars import Order, Rule
    from herald_gpu.stages.links import Edges
    from herald_gpu.stages.pool import Pool
    from herald_gpu.stages.views import Remembered, Through, View

SPARE = 1.5
"""Order this many times as many nodes as are expected to fit."""
SPARE_NODES = 60
MOST_LEARNT = 2048
"""Features that landmarks are made of at most: the best-ranked ones."""
WIDTHS = 4
"""Numbers of features that are tried for landmarks: as many as fit, half of them, ...; the least telling half of all
features is never among them."""
AHEAD = 2.0
"""Standard errors that landmarks with one exemplar a class have to be ahead by of candidates with as many as fit."""
NEAR = 2
"""Numbers of features that differ by no more than this factor are next to one another."""


@dataclass(frozen=True)
class Trial:
    """A candidate and how it did.

    Attributes
    ----------
    feature_count : int
    rule : {"landmarks", "cover", "herd"}
    link_share : float
        Share of exemplars that were to be linked.
    score : float, optional
        Weighted share of held-out training nodes classified rightly; None if there was nothing to choose.
    """

    feature_count: int
    rule: Rule | Literal["landmarks"]
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
    coded : Encoding
        How features of exemplars are stored.
    nodes : int array
        Exemplars, ascending; where all training nodes fit, their neighbours too.
    edges : Edges
    landmarks : (2 x classes, k) float32 array, optional
    ranking : int array
        Training nodes in the order in which they were looked at.
    trial : Trial
    trials : tuple of Trial
        All that were made, the one chosen included.
    majority : float
        Share of the largest class among the held-out training nodes of all trials.
    validation_nodes : int
        Training nodes that were held out in all folds: a score is a share of them.
    """

    columns: Array
    kept: Matrix
    coded: Encoding
    nodes: Array
    edges: Edges
    landmarks: Array | None
    ranking: Array
    trial: Trial
    trials: tuple[Trial, ...]
    majority: float
    validation_nodes: int


@dataclass(frozen=True)
class _Draft:
    """A condensed graph in the making, of exemplars in their order."""

    nodes: Array
    order: Order
    landmarks: Array | None


@dataclass(frozen=True)
class _Priced:
    """A number of features, prices and room of exemplars, and for every fold the landmarks beside them, if any."""

    option: FeatureOption
    pricing: Pricing
    beside: list[Array] | None


@dataclass(frozen=True)
class _Candidate:
    """Exemplars by a rule: they are put in order for folds when they are tried, and for all nodes if they are best."""

    priced: _Priced
    similarity: Array
    rule: Rule
    trial: Trial


@dataclass(frozen=True)
class _Guided:
    """Landmarks in the best columns, with one exemplar a class, chosen among all training nodes."""

    coded: Encoding
    draft: GuidedDraft
    trial: Trial


@dataclass(frozen=True)
class Learnt:
    """What is known before exemplars are ordered; it may be taken to another search of the same graph.

    Attributes
    ----------
    ranking : int array
        Columns, the best first.
    options : list of FeatureOption
        Numbers of features that the pool was drawn for.
    widest : int
        Columns that may be seen.
    seen : Remembered, optional
        Rows of compared and held-out nodes.
    guided : list
        Candidates with landmarks and an exemplar a class; nodes have the names they have in the whole graph.
    beside : dict
        Landmarks of every fold by the number of their features, to go beside as many exemplars as fit.
    """

    ranking: Array
    options: list[FeatureOption]
    widest: int
    seen: Remembered | None
    guided: list[_Guided]
    beside: dict[int, list[Array]]


class Search:
    """Looks for the best number of features and the best rule.

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    ranking : int array, optional
        Columns, the best first; may be None where the search ranks all of them by itself (:func:`ranks_all`).
    budget : Budget
    homophily : float
    seed : int
    learnt : Learnt, optional
        By an earlier search of this graph: the pool is drawn as there.
    study : Study, optional
        Of earlier searches of this graph with other budgets and all else the same: what it holds is not done again.
    """

    def __init__(
        self,
        backend: Backend,
        graph: Graph,
        ranking: Array | None,
        budget: Budget,
        config: HeraldConfig,
        *,
        homophily: float,
        seed: int,
        learnt: Learnt | None = None,
        study: Study | None = None,
    ) -> None:
        self.backend, self.graph, self.budget, self.config = backend, graph, budget, config
        self.study = study
        self.homophilic = homophily > config.homophily_switch
        self.ranked_before = ranking is not None
        self.ranking: Array = backend.xp.arange(graph.n_features) if ranking is None else ranking
        self.options = self._grid(self.ranking) if learnt is None else learnt.options
        self.learnt = 0 if graph.n_classes == 1 else min(graph.n_features, MOST_LEARNT)
        self.widest = max(self.options[-1].count, self.learnt)
        pool = draw_pool(backend, graph, max(map(self._wanted, self.options)), config, seed=seed)
        self.pool: Pool = replace(pool, targets=backend.asarray(pool.targets))  # once, not for every draft
        self.held_codes = graph.labels[self.pool.held]

    # What is asked of all rows is asked here: a search that holds a part of them has its own ways.

    def _grid(self, ranking: Array) -> list[FeatureOption]:
        return feature_grid(self.backend, self.graph, ranking, self.budget, self.config)

    def _way(self, ranked: Matrix) -> Through:
        return walk_along(self.backend, self.graph, ranked, self.pool)

    def _pricing(self, kept: Matrix, budget: Budget) -> Pricing:
        return settle_prices(self.backend, self.graph, kept, budget, self.config)

    def _rows(self, kept: Matrix, nodes: Array) -> Matrix:
        return kept[nodes]

    def _named(self, nodes: Array) -> Array:
        """Give nodes the names they have in the whole graph."""
        return nodes

    def _of_name(self, names: Array) -> Array:
        return names

    @property
    def _everybody(self) -> int:
        return int(self.pool.members.shape[0])

    def run(self) -> Found:
        """Rank features, try landmarks, then exemplars; build the best on all training nodes."""
        return self.choose(self.learn())

    def _is_tried(self, rule: str) -> bool:
        return self.config.exemplar_rule in ("auto", rule)

    def learn(self) -> Learnt:
        """Rank features by how they tell classes apart after message passing, and try landmarks made of the best."""
        if not self.learnt:
            if self.config.exemplar_rule == LANDMARKS:
                msg = "exemplar_rule='landmarks' tells classes apart, but labels name a single one: pass another rule"
                raise ConfigError(msg)
            return Learnt(self.ranking, self.options, self.widest, None, [], {})
        backend, config = self.backend, self.config
        ranked = self.graph.features
        if self.ranked_before:
            ranked = ops.pick_columns(backend, ranked, self.ranking[: self.widest])
        study = Study() if self.study is None else self.study
        seen, lessons, order = study.of(backend, self._way(ranked), self.learnt, self.pool, config)
        guided: list[_Guided] = []
        beside: dict[int, list[Array]] = {}
        if config.landmarks and config.pca_variance is None:  # components would have no signs of their own
            guided, beside = self._guided_and_beside(seen, lessons, order)
        ranking = backend.xp.concatenate([self.ranking[: self.learnt][order], self.ranking[self.learnt :]])
        return Learnt(ranking, self.options, self.widest, seen, guided, beside)

    def choose(self, learnt: Learnt) -> Found:
        """Try exemplars in numbers of features that are worth it, and build the best of all candidates."""
        self.ranking = learnt.ranking
        rules = [rule for rule in RULES if self._is_tried(rule)]
        if not rules:
            trials = tuple(one.trial for one in learnt.guided)
            return self._landmarked(learnt.guided[preferred(trials, sum(self.pool.held_sizes))], trials)
        options = self._worth_trying(learnt)
        only = len(options) * len(rules) == 1 and not learnt.guided
        tried, refused = self._exemplars(learnt, options, rules, only=only)
        if not tried:  # of other numbers of features one may do: its cheapest nodes are others, with fewer edges
            counts = [count for count in tried_counts(self.graph.n_features, self.config) if count <= learnt.widest]
            others = [FeatureOption(count, 0.0, float(self.graph.n_classes)) for count in sorted(counts)]
            tried, refused = self._exemplars(learnt, others, rules, only=False)
        if not tried:  # landmarks do not make feasible what is not
            raise min(refused, key=lambda error: error.smallest_ratio)
        made: list[_Guided | _Candidate] = [*learnt.guided, *tried]
        trials = tuple(candidate.trial for candidate in made)
        best = made[preferred(trials, sum(self.pool.held_sizes))]
        return self._landmarked(best, trials) if isinstance(best, _Guided) else self._final(best, trials)

    def _exemplars(
        self, learnt: Learnt, options: list[FeatureOption], rules: list[Rule], *, only: bool
    ) -> tuple[list[_Candidate], list[BudgetError]]:
        """Try numbers of features; those that do not hold a node of every class are refused."""
        counts = [option.count for option in options]
        ranked = ops.pick_columns(self.backend, self.graph.features, self.ranking[: counts[-1]])
        through, known = (self._way(ranked), 0) if learnt.seen is None else (learnt.seen.through, learnt.seen.width)
        made: list[Callable[[], _Candidate]] = []
        refused: list[BudgetError] = []
        views = views_through(self.backend, through, counts, self.pool, known)
        with threads.errands(self.backend) as start:  # candidates are tried while the next view is put together
            for option, view in zip(options, views, strict=True):
                kept = ranked[:, : option.count]
                try:
                    priced = self._priced(option, kept, learnt.beside.get(option.count))
                except BudgetError as error:
                    refused.append(error.with_traceback(None))  # which would keep what was seen alive
                    continue
                made += [start(partial(self._candidate, priced, view, kept, rule, only=only)) for rule in rules]
            return [candidate() for candidate in made], refused

    def _priced(self, option: FeatureOption, kept: Matrix, beside: list[Array] | None) -> _Priced:
        """Price nodes; landmarks go beside them where a node of every class still fits."""
        if beside is not None:
            room = self.budget.limit - bytes_beside(option.count, self.graph.n_classes, self.config)
            try:
                pricing = self._pricing(kept, replace(self.budget, limit=room))
            except BudgetError:
                return self._priced(option, kept, None)
            if pricing.feasible:
                return _Priced(option, pricing, beside)
        return _Priced(option, self._pricing(kept, self.budget), None)

    def _worth_trying(self, learnt: Learnt) -> list[FeatureOption]:
        """Numbers of features next to the one that landmarks do best with, and those with which every node fits."""
        if learnt.seen is not None:  # the best columns are others than when the pool was drawn
            found = [one for one in self._grid(learnt.ranking) if one.count <= learnt.widest]
            self.options = found or learnt.options
        if not learnt.guided:
            return self.options
        best = _best_count(learnt.guided)
        everybody = self._everybody
        near = [one for one in self.options if best <= NEAR * one.count <= NEAR**2 * best or one.rows >= everybody]
        return near or self.options[-1:]

    def _guided_and_beside(
        self, seen: Remembered, lessons: landmarks.Lessons, order: Array
    ) -> tuple[list[_Guided], dict[int, list[Array]]]:
        """Try landmarks with an exemplar a class; make those that go beside more of them."""
        given = (self.backend, self.graph, self.pool, seen.compared, lessons, self.budget, self.config)
        guidance = Guidance(*given, order=order, factors=None if self.study is None else self.study.factors)
        guided = self._guided(guidance, seen.held) if self._is_tried(LANDMARKS) else []
        return guided, {count: guidance.beside(count) for count in self._counts_beside(guided)}

    def _counts_beside(self, guided: list[_Guided]) -> list[int]:
        """Numbers of features that exemplars may be tried with, as far as that is known before they are priced."""
        graph, most = self.graph, NEAR * _best_count(guided) if guided else self.learnt
        found = counts_beside(graph.n_features, self.learnt, graph.n_classes, self.budget.limit, self.config)
        roomy = [option.count for option in self.options if option.rows >= self._everybody]
        return [count for count in found if count <= most or count in roomy]

    def _guided(self, guidance: Guidance, held: Rows) -> list[_Guided]:
        """Make landmarks of as many features as fit, of half of them, a quarter, ..."""
        fewest = min(self.learnt, self.config.feature_count or FEWEST)
        n_classes, once = self.graph.n_classes, self.budget.column_bytes
        width = most_columns(self.learnt, n_classes, self.budget.limit, self.config.feature_count, once)
        made: list[tuple[Encoding, GuidedDraft, int, Callable[[], float]]] = []
        with threads.errands(self.backend) as start:  # one is made for folds and tried while the next is made
            while width >= fewest and len(made) < WIDTHS:
                final = guidance.draft(width, -1)
                coded, total = guidance.cheapest(final)
                over = total - self.budget.limit
                if over > 0 and width > fewest:  # it is taken off the rows of all landmarks, eight features a byte
                    width = max(fewest, width - 8 * math.ceil(over / bytes_of_eight(n_classes, once)))
                    continue
                if over > 0:
                    break
                share = start(partial(self._score, self._lessons_of(guidance, width, coded), held.first(width)))
                made.append((coded, replace(final, nodes=self._named(final.nodes)), width, share))
                width //= 2
            if not made and not any(map(self._is_tried, RULES)):
                guidance.refuse(fewest)
            return [_Guided(coded, best, Trial(width, LANDMARKS, 0.0, share())) for coded, best, width, share in made]

    def _lessons_of(self, guidance: Guidance, width: int, coded: Encoding) -> Callable[[int], LearntFrom | None]:
        def learnt_from(fold: int) -> LearntFrom | None:
            draft = guidance.draft(width, fold)
            if int(draft.nodes.shape[0]) == 0:
                return None  # all nodes are held out: there was nobody to learn from
            return self._learnt_from(draft, draft.rows, coded)

        return learnt_from

    def _landmarked(self, best: _Guided, trials: tuple[Trial, ...]) -> Found:
        """Put features in the order of the graph; the training nodes are ranked exemplars first."""
        xp, draft = self.backend.xp, replace(best.draft, nodes=self._of_name(best.draft.nodes))
        chosen = self.ranking[: best.trial.feature_count]
        order = xp.argsort(chosen)
        members = self.pool.members
        first = ops.mask_of(self.backend, draft.nodes, self.graph.n_nodes)[members]
        return Found(
            columns=chosen[order],
            kept=ops.take_columns(self.backend, self.graph.features, chosen[order]),
            coded=best.coded,
            nodes=draft.nodes,
            edges=self._edges(draft),
            landmarks=xp.ascontiguousarray(draft.landmarks[:, order]),
            ranking=xp.concatenate([members[xp.flatnonzero(first)], members[xp.flatnonzero(~first)]]),
            trial=best.trial,
            trials=trials,
            majority=self._majority(),
            validation_nodes=sum(self.pool.held_sizes),
        )

    def _majority(self) -> float:
        """Give the score of always answering the largest class."""
        (counts,) = ops.fetch(self.backend, ops.class_counts(self.backend, self.held_codes, self.graph.n_classes))
        return float(counts.max() / max(1.0, counts.sum()))

    def _wanted(self, option: FeatureOption) -> int:
        return int(SPARE * option.rows / self.graph.n_classes) + SPARE_NODES

    def _candidate(self, priced: _Priced, view: View, kept: Matrix, rule: Rule, *, only: bool) -> _Candidate:
        """Order the exemplars of every fold, and try them."""
        pool, option, pricing = self.pool, priced.option, priced.pricing
        made = _Candidate(priced, view.similarity, rule, Trial(option.count, rule, 0.0, None))
        if self.homophilic and self.config.edges == "auto" and not self.config.landmarks and pricing.feasible:
            plain = self._final_draft(made)
            share = link_share(self.backend, self.graph, plain.nodes, self.config)
            made = replace(made, trial=replace(made.trial, link_share=share))
        if only:
            return made
        places = self._places(made, slice(pool.n_folds))

        def learnt_from(fold: int) -> LearntFrom | None:
            draft = self._draft(made, places[fold], fold)
            if int(draft.nodes.shape[0]) == 0:
                return None  # no free node fits: no right answer, whatever landmarks could tell
            return self._learnt_from(draft, self._rows(kept, draft.nodes), pricing.budget.coded)

        return replace(made, trial=replace(made.trial, score=self._score(learnt_from, view.held)))

    def _places(self, made: _Candidate, folds: slice) -> Array:
        """Put the exemplars of some folds in order; the last fold has all training nodes."""
        free, most = self.pool.free[folds][:, self.pool.compared], self._wanted(made.priced.option)
        return self.backend.exemplar_places(made.similarity, self.pool.sizes, free, rule=made.rule, most=most)

    def _score(self, learnt_from: Callable[[int], LearntFrom | None], held: Rows) -> float:
        """Ask what was learnt in every fold for the classes of who was held out."""
        total, low = self.backend.xp.zeros((len(LEARNERS), len(PENALTIES))), 0
        for fold, size in enumerate(self.pool.held_sizes):
            rows = slice(low, low + size)
            low += size
            learnt = learnt_from(fold)
            if learnt is not None:
                asked = Rows(*(part[rows] for part in vars(held).values()))
                total = total + judge(self.backend, learnt, asked, self.held_codes[rows], self.graph.n_classes)
        (counts,) = ops.fetch(self.backend, total)
        return score(counts, low)

    def _final_draft(self, made: _Candidate) -> _Draft:
        last = self.pool.n_folds
        return self._draft(made, self._places(made, slice(last, last + 1))[0], last)

    def _draft(self, made: _Candidate, places: Array, fold: int) -> _Draft:
        """Choose the nodes of a candidate, its exemplars in order."""
        final = fold == self.pool.n_folds
        share, pricing, beside = made.trial.link_share, made.priced.pricing, made.priced.beside
        while True:
            order = order_members(self.backend, self.pool, places, fold, link_share=share)
            limit = pricing.budget.limit
            nodes = fill(self.backend, self.graph, self.pool, order, pricing, limit, self.config, every_class=final)
            if nodes is not None:
                return _Draft(nodes, order, None if beside is None else beside[fold])
            share = 0.0  # links left no room for a node of every class

    def _surrounded(self, made: _Candidate, draft: _Draft) -> _Draft:
        """Where all training nodes fit, fill up with their neighbours."""
        if int(draft.nodes.shape[0]) < self._everybody:
            return draft
        pricing = made.priced.pricing
        links = 2.0 * pricing.prices.edge * ops.scalar(draft.order.linked.sum())
        nodes = surround(self.backend, self.graph, draft.nodes, pricing, pricing.budget.limit - links, self.config)
        return replace(draft, nodes=nodes)

    def _edges(self, draft: _Draft | GuidedDraft) -> Edges:
        if isinstance(draft, _Draft) and draft.landmarks is None:
            return join(self.backend, self.graph, draft.nodes, self.pool, draft.order)
        marks: Array = draft.landmarks
        return join_landmarks(self.backend, self.graph, draft.nodes, int(marks.shape[0]), self.config)

    def _learnt_from(self, draft: _Draft | GuidedDraft, rows: Matrix, coded: Encoding) -> LearntFrom:
        features, _ = encoding.stored(self.backend, rows, coded)
        features = with_landmarks(self.backend, features, draft.landmarks)
        codes = landmark_codes(self.backend, self.graph.labels[draft.nodes], draft.landmarks, self.graph.n_classes)
        return LearntFrom(self._edges(draft).adjacency, features, codes)

    def _final(self, best: _Candidate, trials: tuple[Trial, ...]) -> Found:
        xp = self.backend.xp
        draft = self._surrounded(best, self._final_draft(best))
        chosen = self.ranking[: best.trial.feature_count]
        order = xp.argsort(chosen)
        columns = chosen[order]
        return Found(
            columns=columns,
            kept=ops.take_columns(self.backend, self.graph.features, columns),
            coded=best.priced.pricing.budget.coded,
            nodes=draft.nodes,
            edges=self._edges(draft),
            landmarks=None if draft.landmarks is None else xp.ascontiguousarray(draft.landmarks[:, order]),
            ranking=self.pool.members[draft.order.turn],
            trial=best.trial,
            trials=trials,
            majority=self._majority(),
            validation_nodes=sum(self.pool.held_sizes),
        )


def ranks_all(n_features: int, n_classes: int) -> bool:
    """Whether a search ranks all features by itself, so that none are to be ranked for it.

    Examples
    --------
    >>> ranks_all(2048, 7), ranks_all(2049, 7), ranks_all(100, 1)
    (True, False, False)
    """
    return n_classes > 1 and n_features <= MOST_LEARNT


def preferred(trials: tuple[Trial, ...], n_held: int) -> int:
    """Say which trial to follow: the best one of landmarks and an exemplar a class where that is clearly ahead.

    Networks make less of landmarks than regressions do: they have to be ahead by `AHEAD` standard errors of a share of
    right answers among `n_held`. Of the others, with as many exemplars as fit, those within half of one of the best are
    looked at: it is the one with the fewest features, and of these the best.

    Examples
    --------
    >>> tried = [Trial(8, "cover", 0.0, 0.7), Trial(16, "cover", 0.0, 0.795), Trial(32, "herd", 0.0, 0.8)]
    >>> preferred(tuple(tried), 1000)
    1
    >>> preferred((*tried, Trial(16, "landmarks", 0.0, 0.82)), 1000)
    1
    >>> preferred((*tried, Trial(16, "landmarks", 0.0, 0.9)), 1000)
    3
    """
    scores = [0.0 if trial.score is None else trial.score for trial in trials]
    guided = [place for place, trial in enumerate(trials) if trial.rule == LANDMARKS]
    others = [place for place, trial in enumerate(trials) if trial.rule != LANDMARKS]
    leader = max(guided, key=lambda place: scores[place], default=None)
    best = max((scores[place] for place in others), default=-1.0)
    error = math.sqrt(max(0.0, best * (1.0 - best)) / n_held)
    if leader is not None and scores[leader] >= best + AHEAD * error:
        return leader
    fewest = min(trials[place].feature_count for place in others if scores[place] >= best - error / 2)
    return max((place for place in others if trials[place].feature_count == fewest), key=lambda place: scores[place])


def _best_count(guided: list[_Guided]) -> int:
    """Features that landmarks do best with."""
    return max(guided, key=lambda one: one.trial.score or 0.0).trial.feature_count
