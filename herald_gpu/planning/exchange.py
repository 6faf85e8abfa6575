"""Bytes that partitions of a graph exchange, stage by stage, predicted from sizes.

A partition asks others for the distinct nodes that its edges reach. Edges are taken to end anywhere: where they stay
near, `local` is the share that does not leave its partition. A test holds this against the counters of real runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu.search import SPARE
from herald_gpu.stages.feature_grid import tried_counts
from herald_gpu.stages.pool import FOLDS
from herald_gpu.stages.views import HOPS, SIGHTS

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.planning.sizes import Sizes

INDEX, FLOAT, DOUBLE = 4, 4, 8
KEY = 8
"""An edge on its way to the partition that holds its row: one 64-bit key, in each direction."""
TWICE = 2
FIRST_ROOTS = 128
"""Roots whose neighbourhoods are brought first; a test compares it with the stage's."""


@dataclass(frozen=True)
class Spread:
    """How a graph is spread: partitions, and the share of edges that stay inside theirs beyond chance."""

    parts: int
    local: float = 0.0

    @property
    def away(self) -> float:
        """Share of edges that lead to another partition."""
        return (1.0 - self.local) * (self.parts - 1) / self.parts


@dataclass(frozen=True)
class Level:
    """One hop of a walk: rows that are computed in all partitions, their edges, and rows asked of others."""

    rows: float
    edges: float
    asked: float


def levels(s: Sizes, spread: Spread, targets: float, hops: int) -> list[Level]:
    """Rows that a walk to some nodes takes, the last hop first.

    Degrees are taken to follow a Poisson distribution: of the nodes, ``exp(-d t)`` have no neighbour among a share t.
    """
    found: list[Level] = []
    share = min(1.0, targets / s.nodes)
    for _ in range(hops):
        rows = s.nodes * share
        # Nodes with a wanted neighbour have more neighbours than others; wanted ones themselves were drawn.
        edges = s.edges * share if not found else s.edges * _edge_share(found[-1].rows / s.nodes, s.degree)
        each, others = edges * spread.away / spread.parts, s.nodes * (spread.parts - 1) / spread.parts
        asked = spread.parts * others * -math.expm1(-each / others) if others else 0.0
        found.append(Level(rows, edges, asked))
        share = 1.0 - (1.0 - share) * math.exp(-s.degree * share)
    return found


def _edge_share(wanted: float, degree: float) -> float:
    """Share of edges that leave nodes which are wanted, or have a wanted neighbour."""
    return 1.0 - (1.0 - wanted) ** 2 * math.exp(-degree * wanted)


def exchanged(s: Sizes, config: HeraldConfig, spread: Spread) -> dict[str, float]:
    """Bytes exchanged in each stage."""
    train = levels(s, spread, s.train, max(1, config.hops))
    told = (spread.parts - 1) / spread.parts
    people = 12 * s.train * told
    out = {
        "reading": 2.0 * KEY * s.edges,  # given both ways
        "heterophily": INDEX * sum(level.asked for level in train) + INDEX * train[0].asked,
    }
    if s.fisher:
        out["features"] = _fisher(s, config, train)
    if s.exemplars is not None:
        return out | {"exemplars": _walk(s, spread) + brought(s, config, spread)["exemplars"]}
    out["features"] += people + INDEX * s.train * told
    if s.tree:
        out["features"] += (FLOAT * s.features + FLOAT) * train[0].asked + FLOAT * s.train * s.features
    out["scoring"] = _neighbours(s, config, spread)
    return out | brought(s, config, spread)


def brought(s: Sizes, config: HeraldConfig, spread: Spread) -> dict[str, float]:
    """Those of the bytes that go to the one worker that puts things together."""
    if s.exemplars is None:
        return {"expansion": _neighbourhoods(s, config, spread)}
    told, search = (spread.parts - 1) / spread.parts, s.exemplars
    rows = FLOAT * search.widest * (SIGHTS * search.compared + 4 * search.held)
    likely = SPARE * max(option.rows for option in search.grid) + FOLDS * config.patience
    seen = min(s.train, max(search.compared, likely * FOLDS / (FOLDS - 1)) + _rare(s))
    # Sizes of rows are told, and nodes are seen, once to learn what tells classes apart and once to choose exemplars.
    sizes = (12 + TWICE * INDEX * len(tried_counts(s.features, config))) * s.train * told
    return {"exemplars": rows + sizes + TWICE * _seen(s, seen, s.features, spread)}


def _fisher(s: Sizes, config: HeraldConfig, train: list[Level]) -> float:
    """Features go out as float32 before the first hop, means of them as float64 before each of the others."""
    walked = train[: config.hops]
    return sum((FLOAT if hop == len(walked) - 1 else DOUBLE) * s.features * lv.asked for hop, lv in enumerate(walked))


def _rare(s: Sizes) -> float:
    """Held-out nodes that are not compared as well."""
    return 0.0 if s.exemplars is None else s.exemplars.held * (1.0 - min(1.0, s.exemplars.compared / s.train))


def _walk(s: Sizes, spread: Spread) -> float:
    """The way to compared and held-out nodes."""
    if s.exemplars is None:
        return 0.0
    width = s.exemplars.widest
    last, first = levels(s, spread, s.exemplars.compared + _rare(s), HOPS)
    return INDEX * (last.asked + first.asked) + FLOAT * (width + 1) * last.asked + FLOAT * width * first.asked


def _seen(s: Sizes, nodes: float, width: int, spread: Spread) -> float:
    """Nodes brought to one worker: features, edges among them, and their ids told to every partition."""
    row = 8 * s.values / s.nodes * width / s.features + 4 if s.sparse else FLOAT * width
    inside = nodes * s.degree * min(1.0, nodes / s.nodes)
    return nodes * (row + 4 + 8 * spread.parts) + 8 * inside


def _neighbours(s: Sizes, config: HeraldConfig, spread: Spread) -> float:
    """Kept rows of every partition pass by all others; of a sample, they go to all."""
    row = 8 * s.kept_values / s.nodes + 4 if s.sparse else FLOAT * s.kept
    if config.lid == "sampled":
        return spread.parts * min(s.nodes, config.lid_reference) * (row + DOUBLE)
    return (spread.parts - 1) * s.nodes * (row + DOUBLE)


def _neighbourhoods(s: Sizes, config: HeraldConfig, spread: Spread) -> float:
    """Nodes within the hops of roots, and the ids of those on the way: brought again whenever roots are doubled."""
    needed, total = s.roots_considered(s.wide, config), 0.0
    around, _ = s.reach(config.depth)
    roots = FIRST_ROOTS
    while True:
        nodes = s.nodes * -math.expm1(-min(roots, s.train) * around / s.nodes)
        total += _seen(s, nodes, s.kept, spread) + DOUBLE * nodes
        if roots >= min(needed, s.train):
            return total
        roots *= 2
