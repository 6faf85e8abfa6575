"""Sizes of the search for exemplars: numbers of features tried, nodes compared, nodes held out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from herald_gpu import encoding
from herald_gpu.guidance import LANDMARKS
from herald_gpu.planning.gathered import EDGE_BYTES, Gathered, Surroundings, best_encoding, gather
from herald_gpu.search import MOST_LEARNT, NEAR, SPARE, SPARE_NODES, WIDTHS
from herald_gpu.stages import landmarks
from herald_gpu.stages.exemplars import RULES
from herald_gpu.stages.feature_grid import FEWEST, tried_counts
from herald_gpu.stages.pool import FOLDS

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import FeatureKind


@dataclass(frozen=True)
class Option:
    """A number of features to try.

    Attributes
    ----------
    count : int
    rows : float
        Nodes that fit without any edge.
    places : int
        Exemplars of a class that are put in order.
    chosen : Gathered
        Exemplars that fit with the edges among them.
    in_trial : int
        Exemplars of a trial: as many, as far as nodes are left that are not held out.
    fits : Gathered
        Nodes that fit with the edges among them; more than `chosen` where those are all training nodes.
    """

    count: int
    rows: float
    places: int
    chosen: Gathered
    in_trial: int
    fits: Gathered


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
        Features that landmarks would have first, and the fewest they may have at least; 0 where they are not asked for.
    widths : tuple of int
        Numbers of features that landmarks are tried with, falling.
    refused : tuple of int
        Numbers of features with which landmarks turned out not to fit.
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
        all training nodes fit.
        """
        if not self.rules:
            return self
        near = [one for one in self.grid if best <= NEAR * one.count <= NEAR**2 * best or one.rows >= train]
        return replace(self, options=tuple(near) or self.grid[-1:])

    def outcomes(self, train: int) -> list[Exemplars]:
        """All ways that the search may go: landmarks do best with one or another number of features.

        Not among them is its last resort, where no number of features holds a node of every class: to try all of them.
        """
        return [self.led_by(best, train) for best in self.widths] or [self]

    @property
    def free(self) -> float:
        """Compared nodes that may be chosen, summed over all folds and the final choice."""
        return self.compared * (1 + self.folds * (FOLDS - 1) / FOLDS)


@dataclass(frozen=True)
class Means:
    """What a condensed graph is made with.

    Attributes
    ----------
    limit : float
        Bytes that it may take.
    kind : {"dense", "binary", "sparse"}
    filled : float
        Share of feature values that are not zero, the same in all columns.
    n_classes : int
    around : Surroundings
    config : HeraldConfig
    """

    limit: float
    kind: FeatureKind
    filled: float
    n_classes: int
    around: Surroundings
    config: HeraldConfig


def feature_options(n_features: int, wanted: int | None, train: int, means: Means) -> tuple[Option, ...]:
    """Give the numbers of features worth trying, as :func:`herald_gpu.stages.feature_grid.feature_grid` does.

    Where the best columns hold more than the others, the stage may halve once more. `wanted` is the one number to try.
    """
    limit, n_classes, config = means.limit, means.n_classes, means.config
    options = []
    for count in tried_counts(n_features, replace(config, feature_count=wanted)):
        stored = means.filled * count
        coded = best_encoding(means.kind, stored, count, limit, config)
        rows, price = encoding.rows_within(coded, stored, count, limit), float(coded.bytes_of_rows(stored, count))
        fits = gather(limit - coded.table_bytes(count), price, means.around, brought=0)
        chosen = fits if fits.nodes <= train else Gathered(train, fits.edges, fits.reach)
        places = max(1, int(SPARE * rows / n_classes) + SPARE_NODES)
        free = min(train, math.ceil(train * (FOLDS - 1) / FOLDS) + n_classes)
        options.append(Option(count, rows, places, chosen, min(chosen.nodes, free), fits))
        if rows >= train:  # and so one of every class, which the stage looks after besides
            break
    enough = [option for option in options if option.rows >= config.fewest_exemplars * n_classes]
    return tuple(sorted(enough or options[-1:], key=lambda option: option.count))


def landmark_widths(learnt: int, wanted: int | None, means: Means) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Give the first number of features of landmarks, those they are tried with, and those refused on the way.

    As the search does it; exemplars beside the landmarks are taken for nodes like any other.
    """
    n_classes, config = means.n_classes, means.config
    asked_for = config.landmarks and config.exemplar_rule in ("auto", LANDMARKS)
    if not learnt or not asked_for or config.pca_variance is not None:
        return 0, (), ()
    fewest = min(learnt, wanted or FEWEST)
    n_landmarks = landmarks.PER_CLASS * n_classes
    each = int(means.limit // n_landmarks) - int(encoding.OF_LANDMARKS.bytes_of_rows(0.0, 0))
    width = min(wanted or max(FEWEST, learnt // 2), learnt, 8 * max(0, each))
    first, edges = max(width, fewest), guided_graph(means).edges
    found, refused = list[int](), list[int]()
    while width >= fewest and len(found) < WIDTHS:
        prices = [
            n_classes * float(coded.bytes_of_rows(means.filled * width, width)) + coded.table_bytes(width)
            for coded in encoding.candidates(means.kind, config.stored_as)
        ]
        over = min(prices) + EDGE_BYTES * edges + landmarks.landmark_bytes(n_classes, width) - means.limit
        if over > 0:
            refused.append(width)
            if width == fewest:
                break
            width = max(fewest, width - 8 * math.ceil(over / n_landmarks))
            continue
        found.append(width)
        width //= 2
    return first, tuple(found), tuple(refused)


def guided_graph(means: Means) -> Gathered:
    """Give the sizes of a condensed graph of landmarks, with an exemplar of every class."""
    n_classes, around = means.n_classes, means.around
    links = 2 * n_classes if means.config.edges == "auto" else 0
    met = round(n_classes * around.near_degree * n_classes / around.nodes)
    reach = min(around.edges, math.ceil(n_classes * around.near_degree))
    return Gathered((landmarks.PER_CLASS + 1) * n_classes, links + met, reach)


def exemplar_sizes(
    grid: tuple[Option, ...],
    learnt: int,
    first: int,
    widths: tuple[int, ...],
    refused: tuple[int, ...],
    *,
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
        options=grid if rules else (),
        learnt=learnt,
        first=first,
        widths=widths,
        refused=refused,
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


def learnt_columns(n_features: int, n_classes: int) -> int:
    """Features that are ranked anew by what they tell after message passing."""
    return 0 if n_classes == 1 else min(n_features, MOST_LEARNT)
