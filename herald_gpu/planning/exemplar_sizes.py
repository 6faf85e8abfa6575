"""Sizes of the search for exemplars: numbers of features tried, nodes compared, nodes held out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from herald_gpu import encoding
from herald_gpu.guidance import bytes_beside
from herald_gpu.planning.gathered import Gathered, best_encoding, gather
from herald_gpu.planning.landmark_sizes import bytes_with_every_class, with_landmarks
from herald_gpu.search import NEAR, SPARE, SPARE_NODES
from herald_gpu.stages.exemplars import RULES
from herald_gpu.stages.feature_grid import tried_counts
from herald_gpu.stages.landmarks import PER_CLASS
from herald_gpu.stages.pool import FOLDS

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.planning.gathered import Means


@dataclass(frozen=True)
class Option:
    """A number of features to try.

    Attributes
    ----------
    count : int
    rows : float
        Nodes that fit without any edge, and without landmarks.
    places : int
        Exemplars of a class that are put in order.
    landmarks : int
        Those beside the exemplars.
    chosen : Gathered
        Exemplars that fit with the edges among them, landmarks included.
    in_trial : int
        Nodes of a trial: as many, as far as exemplars are left that are not held out.
    fits : Gathered
        Nodes that fit with the edges among them; more than `chosen` where those are all training nodes.
    marked : Option, optional
        The same with landmarks, where those and a node of every class fit.
    """

    count: int
    rows: float
    places: int
    landmarks: int
    chosen: Gathered
    in_trial: int
    fits: Gathered
    marked: Option | None = None


@dataclass(frozen=True)
class Exemplars:
    """How exemplars are looked for.

    Attributes
    ----------
    grid : tuple of Option
        Numbers of features, rising, that nodes to compare are drawn for.
    options : tuple of Option
        Those of them that exemplars are tried with. Which ones is for landmarks to say: the most features there can be.
        None where landmarks are all that is asked for.
    learnt : int
        Features that are ranked anew, and whose rows are remembered; 0 where there is one class only.
    first : int
        Features that landmarks alone would have first, and the fewest they may have at least; 0 where none are tried.
    widths : tuple of int
        Numbers of features that landmarks are tried with, falling; each beside one exemplar a class.
    refused : tuple of int
        Numbers of features with which landmarks turned out not to fit.
    fitting : tuple of int
        Numbers of features, falling, with which landmarks may go beside as many exemplars as fit.
    beside : tuple of int
        Those of them that they are made with. Which ones is for landmarks to say, as of `options`.
    rules : int
        Rules that are tried on each option.
    linked : bool
        Whether exemplars are joined where a graph is homophilic.
    pool : int
        Nodes of a class that are compared with one another, at most.
    compared, pairs : int
        Compared nodes of all classes, and pairs of them inside classes, each both ways.
    taught : int
        Those of the compared nodes that features are ranked, and landmarks learnt, by.
    folds, fold, held : int
        How often nodes are held out, how many of them at a time, and in all.
    """

    grid: tuple[Option, ...]
    options: tuple[Option, ...]
    learnt: int
    first: int
    widths: tuple[int, ...]
    refused: tuple[int, ...]
    fitting: tuple[int, ...]
    beside: tuple[int, ...]
    rules: int
    linked: bool
    pool: int
    compared: int
    pairs: int
    taught: int
    folds: int
    fold: int
    held: int

    @property
    def ordered(self) -> tuple[Option, ...]:
        """What exemplars are ordered for: every option, by every rule."""
        return self.options * self.rules

    @property
    def tried(self) -> tuple[Option, ...]:
        """What is tried on held-out nodes besides landmarks: nothing where there is nothing to choose."""
        return self.ordered if len(self.ordered) > 1 or self.widths else ()

    @property
    def widest(self) -> int:
        """Columns that are put in order to be seen."""
        return max(self.grid[-1].count, self.learnt)

    @property
    def factorised(self) -> tuple[int, ...]:
        """Columns in which folds are held out: those of the widest landmarks and, where they do not do, of more."""
        alone = (self.first,) if self.widths or self.refused else ()
        wider = self.beside[:1] if self.beside and self.beside[0] > max(alone, default=0) else ()
        return alone + wider

    @property
    def viewed(self) -> int:
        """Columns that nodes are compared on; 0 where they are not."""
        return self.options[-1].count if self.options else 0

    @property
    def kept(self) -> int:
        """Features that are kept at most."""
        return max(self.viewed, *self.widths, 0) if self.options or self.widths else self.first

    def led_by(self, best: int, train: int) -> Exemplars:
        """Say what is tried where landmarks do best with so many features.

        As :meth:`herald_gpu.search.Search._worth_trying` does: numbers of features next to it, and those with which
        all training nodes fit. Landmarks go beside exemplars in no others.
        """
        if not self.rules:
            return self
        near = [one for one in self.grid if best <= NEAR * one.count <= NEAR**2 * best or one.rows >= train]
        roomy = [one.count for one in self.grid if one.rows >= train]
        beside = tuple(count for count in self.fitting if count <= NEAR * best or count in roomy)
        return self._trying(tuple(near) or self.grid[-1:], beside)

    def everywhere(self) -> Exemplars:
        """Say what is tried where no landmarks were."""
        return self._trying(self.grid, self.fitting) if self.rules else self

    def _trying(self, options: tuple[Option, ...], beside: tuple[int, ...]) -> Exemplars:
        marked = tuple((one.count in beside and one.marked) or one for one in options)
        return replace(self, options=marked, beside=beside)

    def outcomes(self, train: int) -> list[Exemplars]:
        """All ways that the search may go: landmarks do best with one or another number of features.

        Not among them is its last resort, where no number of features holds a node of every class: to try all of them.
        """
        return [self.led_by(best, train) for best in self.widths] or [self.everywhere()]


def feature_options(n_features: int, wanted: int | None, train: int, means: Means) -> tuple[Option, ...]:
    """Give the numbers of features worth trying, as :func:`herald_gpu.stages.feature_grid.feature_grid` does.

    Where the best columns hold more than the others, the stage may halve once more. `wanted` is the one number to try.
    """
    config, options = means.config, list[Option]()
    for count in tried_counts(n_features, replace(config, feature_count=wanted)):
        options.append(_option(count, train, means))
        if options[-1].rows >= train:  # and so one of every class, which the stage looks after besides
            break
    enough = [option for option in options if option.rows >= config.fewest_exemplars * means.n_classes]
    return tuple(sorted(enough or options[-1:], key=lambda option: option.count))


def _option(count: int, train: int, means: Means) -> Option:
    stored, n_classes = means.filled * count, means.n_classes
    coded = best_encoding(means.kind, stored, count, means.limit, means.config)
    rows = encoding.rows_within(coded, stored, count, means.limit)
    places = max(1, int(SPARE * rows / n_classes) + SPARE_NODES)
    alone = Option(count, rows, places, 0, *_filled(count, means.limit, train, means))
    if bytes_with_every_class(count, means) > means.limit:
        return alone
    room = means.limit - bytes_beside(count, n_classes, means.config)
    chosen, in_trial, fits = _filled(count, room, train, means)
    n_landmarks = PER_CLASS * n_classes
    return replace(
        alone,
        marked=replace(
            alone,
            landmarks=n_landmarks,
            chosen=with_landmarks(chosen, means),
            in_trial=in_trial + n_landmarks,
            fits=with_landmarks(fits, means),
        ),
    )


def _filled(count: int, limit: float, train: int, means: Means) -> tuple[Gathered, int, Gathered]:
    """Exemplars that a number of bytes holds, those of a trial, and nodes that fit."""
    stored = means.filled * count
    coded = best_encoding(means.kind, stored, count, limit, means.config)
    price = float(coded.bytes_of_rows(stored, count))
    fits = gather(limit - coded.table_bytes(count), price, means.around, brought=0)
    chosen = fits if fits.nodes <= train else Gathered(train, fits.edges, fits.reach)
    free = min(train, math.ceil(train * (FOLDS - 1) / FOLDS) + means.n_classes)
    return chosen, min(chosen.nodes, free), fits


def exemplar_sizes(
    grid: tuple[Option, ...],
    learnt: int,
    first: int,
    widths: tuple[int, ...],
    refused: tuple[int, ...],
    *,
    fitting: tuple[int, ...],
    train: int,
    n_classes: int,
    class_skew: float,
    config: HeraldConfig,
) -> Exemplars:
    """Size the search, as :func:`herald_gpu.stages.pool.draw_pool` does."""
    wanted = max(option.places for option in grid)
    pool = min(max(config.smallest_pool, wanted), max(config.smallest_pool, config.largest_pool), train)
    compared = min(train, n_classes * pool)
    folds = max(1, min(FOLDS, math.ceil(config.trial_nodes * FOLDS / train)))
    # Every class starts anew with the first fold, which therefore is the largest.
    fold = min(config.trial_nodes, train, math.ceil((train + (FOLDS - 1) / 2 * n_classes) / FOLDS))
    rules = sum(config.exemplar_rule in ("auto", rule) for rule in RULES)
    found = Exemplars(
        grid=grid,
        options=(),
        learnt=learnt,
        first=first,
        widths=widths,
        refused=refused,
        fitting=fitting,
        beside=(),
        rules=rules,
        linked=config.edges == "auto" and not config.landmarks,
        pool=pool,
        compared=compared,
        pairs=min(compared * pool, math.ceil(class_skew * compared**2 / n_classes)),
        taught=min(compared, n_classes * config.smallest_pool),
        folds=folds,
        fold=fold,
        held=min(train, folds * fold),
    )
    return max(found.outcomes(train), key=lambda one: sum(option.count for option in one.options))
