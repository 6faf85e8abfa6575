"""Sizes of landmarks: numbers of features that they are made of, alone with an exemplar a class or beside many."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from herald_gpu import encoding
from herald_gpu.guidance import LANDMARKS, bytes_beside, counts_beside, most_columns, n_links
from herald_gpu.planning.gathered import EDGE_BYTES, Gathered
from herald_gpu.search import MOST_LEARNT, WIDTHS
from herald_gpu.stages import landmarks
from herald_gpu.stages.feature_grid import FEWEST

if TYPE_CHECKING:
    from herald_gpu.planning.gathered import Means


def learnt_columns(n_features: int, n_classes: int) -> int:
    """Features that are ranked anew by what they tell after message passing."""
    return 0 if n_classes == 1 else min(n_features, MOST_LEARNT)


def landmark_widths(learnt: int, wanted: int | None, means: Means) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Give the first number of features of landmarks, those they are tried with, and those refused on the way.

    As the search does it; exemplars beside the landmarks are taken for nodes like any other.
    """
    if not _are_made(learnt, means) or means.config.exemplar_rule not in ("auto", LANDMARKS):
        return 0, (), ()
    n_landmarks, fewest = landmarks.PER_CLASS * means.n_classes, min(learnt, wanted or FEWEST)
    width = most_columns(learnt, means.n_classes, means.limit, wanted)
    first, found, refused = max(width, fewest), list[int](), list[int]()
    while width >= fewest and len(found) < WIDTHS:
        over = bytes_with_every_class(width, means) - means.limit
        if over > 0:
            refused.append(width)
            if width == fewest:
                break
            width = max(fewest, width - 8 * math.ceil(over / n_landmarks))
            continue
        found.append(width)
        width //= 2
    return first, tuple(found), tuple(refused)


def fitting_beside(n_features: int, learnt: int, wanted: int | None, means: Means) -> tuple[int, ...]:
    """Give the numbers of features, falling, with which landmarks leave enough of the budget to exemplars."""
    if not _are_made(learnt, means):
        return ()
    config = replace(means.config, feature_count=wanted)
    return tuple(counts_beside(n_features, learnt, means.n_classes, means.limit, config))


def bytes_with_every_class(width: int, means: Means) -> float:
    """Bytes of landmarks with so many features and of a node of every class."""
    n_classes, config = means.n_classes, means.config
    prices = [
        n_classes * float(coded.bytes_of_rows(means.filled * width, width)) + coded.table_bytes(width)
        for coded in encoding.candidates(means.kind, config.stored_as)
    ]
    return min(prices) + EDGE_BYTES * _met(means) + bytes_beside(width, n_classes, config)


def guided_graph(means: Means) -> Gathered:
    """Give the sizes of a condensed graph of landmarks, with an exemplar of every class."""
    n_classes, around = means.n_classes, means.around
    reach = min(around.edges, math.ceil(n_classes * around.near_degree))
    return with_landmarks(Gathered(n_classes, _met(means), reach), means)


def with_landmarks(found: Gathered, means: Means) -> Gathered:
    """Give the sizes with landmarks beside the nodes, which have no edges but those between them."""
    links = n_links(means.n_classes, means.config)
    return Gathered(found.nodes + landmarks.PER_CLASS * means.n_classes, found.edges + links, found.reach)


def _are_made(learnt: int, means: Means) -> bool:
    return bool(learnt) and means.config.landmarks and means.config.pca_variance is None


def _met(means: Means) -> int:
    """Edges among nodes of which every class has one."""
    n_classes, around = means.n_classes, means.around
    return round(n_classes * around.near_degree * n_classes / around.nodes)
