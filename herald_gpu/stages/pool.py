"""Which training nodes exemplars are chosen among, and which are held out to judge a choice by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph

FOLDS = 4
"""A quarter of the training nodes is held out at a time."""


@dataclass(frozen=True)
class Pool:
    """Training nodes in the order they were drawn.

    Attributes
    ----------
    members : int array
        All training nodes, class by class, each class in drawn order.
    codes : int array
        Their classes.
    counts : int array on the host
        Training nodes of each class.
    sizes : list of int
        How many of each class are compared with one another: the first ones drawn.
    compared : int array
        Where the compared nodes stand in `members`.
    held : int array
        Nodes held out, fold by fold.
    held_sizes : list of int
        How many of them belong to each fold.
    free : (folds + 1, len(members)) bool array
        Nodes that a fold may choose from; in the last row all of them.
    targets : float64 array
        Share of each class among the exemplars; on the host as drawn.
    """

    members: Array
    codes: Array
    counts: np.ndarray
    sizes: list[int]
    compared: Array
    held: Array
    held_sizes: list[int]
    free: Array
    targets: Array

    @property
    def n_folds(self) -> int:
        """How often nodes are held out."""
        return len(self.held_sizes)


def draw_pool(backend: Backend, graph: Graph, wanted: int, config: HeraldConfig, *, seed: int) -> Pool:
    """Draw the order of the training nodes of every class, and who is held out.

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    wanted : int
        How many nodes of a class exemplars may be chosen from at least, as far as there are that many.
    seed : int
        Of the order.
    """
    xp = backend.xp
    nodes = xp.flatnonzero(graph.train)
    codes = graph.labels[nodes]
    (found,) = ops.fetch(backend, ops.class_counts(backend, codes, graph.n_classes))
    counts = found.astype(np.int64)
    starts = np.cumsum(counts) - counts
    generator = np.random.default_rng(seed)
    drawn = np.concatenate([start + generator.permutation(count) for start, count in zip(starts, counts, strict=True)])
    order = xp.argsort(codes, kind="stable")[backend.asarray(drawn)]
    place = np.arange(len(drawn)) - np.repeat(starts, counts)
    size = min(max(config.smallest_pool, wanted), max(config.smallest_pool, config.largest_pool))
    sizes = np.minimum(counts, size)
    n_folds = max(1, min(FOLDS, math.ceil(config.trial_nodes * FOLDS / len(drawn))))
    held = []
    for fold in range(n_folds):
        out = np.flatnonzero(place % FOLDS == fold)
        held.append(np.sort(generator.permutation(out)[: config.trial_nodes]))
    free = np.stack([place % FOLDS != fold for fold in range(n_folds)] + [np.ones(len(drawn), dtype=bool)])
    members = nodes[order]
    return Pool(
        members=members,
        codes=codes[order],
        counts=counts,
        sizes=sizes.tolist(),
        compared=backend.asarray(np.flatnonzero(place < np.repeat(sizes, counts))),
        held=members[backend.asarray(np.concatenate(held))],
        held_sizes=[len(part) for part in held],
        free=backend.asarray(free),
        targets=class_shares(counts, config),
    )


def class_shares(counts: np.ndarray, config: HeraldConfig) -> np.ndarray:
    """Mix the classes' training shares with equal shares.

    Examples
    --------
    >>> from herald_gpu import HeraldConfig
    >>> class_shares(np.array([90, 10]), HeraldConfig()).tolist()
    [0.7, 0.3]
    """
    return config.prior_share * counts / counts.sum() + (1.0 - config.prior_share) / len(counts)
