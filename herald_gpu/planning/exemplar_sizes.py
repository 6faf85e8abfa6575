"""Sizes of the search for exemplars: numbers of features tried, nodes compared, nodes held out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu.encoding import rows_within
from herald_gpu.planning.gathered import Gathered, Surroundings, best_encoding, gather
from herald_gpu.search import SPARE, SPARE_NODES
from herald_gpu.stages.feature_grid import FEWEST, MOST
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
    rows, price : float
        Nodes that fit without any edge, and the bytes of one.
    places : int
        Exemplars of a class that are put in order.
    chosen : Gathered
        Exemplars that fit with the edges among them.
    fits : Gathered
        Nodes that fit with the edges among them; more than `chosen` where those are all training nodes.
    """

    count: int
    rows: float
    price: float
    places: int
    chosen: Gathered
    fits: Gathered


@dataclass(frozen=True)
class Exemplars:
    """How exemplars are looked for.

    Attributes
    ----------
    options : tuple of Option
        Numbers of features, rising.
    rules : int
        Rules that are tried on each of them.
    pool : int
        Nodes of a class that are compared with one another, at most.
    compared, pairs : int
        Compared nodes of all classes, and pairs of them inside classes, each both ways.
    folds, fold, held : int
        How often nodes are held out, how many of them at a time, and in all.
    """

    options: tuple[Option, ...]
    rules: int
    pool: int
    compared: int
    pairs: int
    folds: int
    fold: int
    held: int

    @property
    def ordered(self) -> tuple[Option, ...]:
        """What exemplars are ordered for: every option, by every rule."""
        return self.options * self.rules

    @property
    def tried(self) -> tuple[Option, ...]:
        """What is tried on held-out nodes: nothing where there is nothing to choose."""
        return self.ordered if len(self.ordered) > 1 else ()

    @property
    def free(self) -> float:
        """Compared nodes that may be chosen, summed over all folds and the final choice."""
        return self.compared * (1 + self.folds * (FOLDS - 1) / FOLDS)


def feature_options(
    n_features: int,
    wanted: int | None,
    *,
    filled: float,
    kind: FeatureKind,
    limit: float,
    train: int,
    n_classes: int,
    around: Surroundings,
    config: HeraldConfig,
) -> tuple[Option, ...]:
    """Give the numbers of features worth trying, as :func:`herald_gpu.stages.feature_grid.feature_grid` does.

    `filled` is the share of values that are not zero, the same in all columns; where the best columns hold more than
    the others, the stage may halve once more. `wanted` is the one number to try.
    """
    counts = _halved(n_features) if wanted is None else [min(wanted, n_features)]
    options = []
    for count in counts:
        stored = filled * count
        coded = best_encoding(kind, stored, count, limit, config)
        rows, price = rows_within(coded, stored, count, limit), float(coded.bytes_of_rows(stored, count))
        fits = gather(limit - coded.table_bytes(count), price, around, brought=0)
        chosen = fits if fits.nodes <= train else Gathered(train, fits.edges, fits.reach)
        places = max(1, int(SPARE * rows / n_classes) + SPARE_NODES)
        options.append(Option(count, rows, price, places, chosen, fits))
        if rows >= train:  # and so one of every class, which the stage looks after besides
            break
    enough = [option for option in options if option.rows >= config.fewest_exemplars * n_classes]
    return tuple(sorted(enough or options[-1:], key=lambda option: option.count))


def exemplar_sizes(
    options: tuple[Option, ...], *, train: int, n_classes: int, class_skew: float, config: HeraldConfig
) -> Exemplars:
    """Size the search, as :func:`herald_gpu.stages.pool.draw_pool` does."""
    wanted = max(option.places for option in options)
    pool = min(max(config.smallest_pool, wanted), max(config.smallest_pool, config.largest_pool), train)
    compared = min(train, n_classes * pool)
    folds = max(1, min(FOLDS, math.ceil(config.trial_nodes * FOLDS / train)))
    # Every class starts anew with the first fold, which therefore is the largest.
    fold = min(config.trial_nodes, train, math.ceil((train + (FOLDS - 1) / 2 * n_classes) / FOLDS))
    return Exemplars(
        options=options,
        rules=2 if config.exemplar_rule == "auto" else 1,
        pool=pool,
        compared=compared,
        pairs=min(compared * pool, math.ceil(class_skew * compared**2 / n_classes)),
        folds=folds,
        fold=fold,
        held=min(train, folds * fold),
    )


def _halved(n_features: int) -> list[int]:
    counts = [n_features]
    while counts[-1] // 2 >= FEWEST:
        counts.append(counts[-1] // 2)
    return [count for count in counts if count <= MOST] or [counts[-1]]
