"""Random: training nodes in a seeded random order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.baselines.options import NodeOptions, require
from herald_gpu.baselines.selection import Selection, fill
from herald_gpu.baselines.shares import take_turns

if TYPE_CHECKING:
    from herald_gpu.backend import Array, Backend
    from herald_gpu.budget import Budget
    from herald_gpu.graph import Graph


@dataclass(frozen=True, kw_only=True)
class RandomOptions(NodeOptions):
    """Options of Random.

    Attributes
    ----------
    balanced : bool
        Let classes take turns by their training shares; else one order of all training nodes.
    """

    balanced: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require("balanced", self.balanced, isinstance(self.balanced, bool), "True or False")


def select(backend: Backend, graph: Graph, budget: Budget, *, seed: int, options: RandomOptions) -> Selection:
    """Take training nodes in a random order while they fit."""
    ranking = random_ranking(backend, graph, seed=seed, balanced=options.balanced)
    return fill(backend, graph, ranking, budget, options)


def random_ranking(backend: Backend, graph: Graph, *, seed: int, balanced: bool) -> Array:
    """All training nodes in a random order drawn on the host."""
    xp = backend.xp
    nodes = xp.flatnonzero(graph.train)
    order = np.random.default_rng(seed).permutation(int(nodes.shape[0]))
    shuffled = nodes[backend.asarray(order)]
    if not balanced:
        return shuffled
    codes = graph.labels[shuffled]
    by_class = [shuffled[codes == code] for code in range(graph.n_classes)]
    return take_turns(backend, by_class, [int(part.shape[0]) for part in by_class])
