"""Work of choosing exemplars: seeing the graph through its features, ordering nodes, and trying what they teach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.planning.exemplar_memory import view_blocks
from herald_gpu.planning.tasks import Work
from herald_gpu.stages.trials import LEARNERS, MOST_ROWS, PENALTIES
from herald_gpu.stages.views import HOPS

if TYPE_CHECKING:
    from herald_gpu.planning.exemplar_sizes import Exemplars, Option
    from herald_gpu.planning.sizes import Sizes

LOOKS = 6
"""Gains that the greedy cover works out anew, for each node to choose from: 3 to 9 on generated graphs."""
PARTS = {"mean": 1, "around": 2, "total": 1}
"""How many times as wide as the features the rows of a learner are."""


def exemplar_work(s: Sizes, e: Exemplars) -> dict[str, Work]:
    """Work of the parts of the stage."""
    return {"exemplars/views": _views(s, e), "exemplars/places": _places(s, e), "exemplars/trials": _trials(s, e)}


def _views(s: Sizes, e: Exemplars) -> Work:
    """Every column through one hop; a second one for the rows that are wanted; products of rows inside classes."""
    k, (batches, _) = s.kept, view_blocks(s, e)
    of_compared, of_held = (math.ceil(s.edges * part / s.nodes) for part in (e.compared, e.held))
    hop, sliced = s.edges * k, (of_compared + 2 * of_held) * k
    pairs, sums = (HOPS + 1) * e.pairs * k, e.free * k
    dense, rows = s.nodes * k, (60 * e.held + 80 * e.compared) * k
    picking = 200 * s.values if s.sparse else 8 * dense
    edges = 12 * (s.edges + of_compared + 2 * of_held) * batches
    tables = (16 * (HOPS + 1) * batches + 100 * len(e.options)) * e.pairs
    return Work(
        flops32=2 * (hop + sliced + pairs) + 6 * dense + 9 * e.pairs * len(e.options),
        flops64=2 * sums,
        bytes=4 * (hop + sliced) + edges + 72 * dense + rows + 12 * sums + tables + picking,
        counts={"multiply_adds": hop, "sliced_multiply_adds": sliced, "pair_multiply_adds": pairs},
    )


def _places(s: Sizes, e: Exemplars) -> Work:
    """Sums of all similarities, then the greedy choice: looking for the best, working out its gain, noting it."""
    folds, free = e.folds + 1, e.free / s.classes
    height = e.pairs / e.compared  # nodes that a node is compared with, on average
    sums = len(e.ordered) * folds * e.pairs
    places = sum(min(option.places * folds, free) * s.classes for option in e.ordered)
    looked = LOOKS * e.free * len(e.options)  # herding, the second rule, has nothing to work out anew
    return Work(
        flops32=sums + 3 * (places + looked) * height,
        bytes=5 * sums + (34 * places + 26 * looked) * height,
        counts={"places": math.ceil(places), "sums": sums},
        note=f"one thread block a class and fold, a lower bound; gains worked out anew are taken for {LOOKS} a node",
    )


def _trials(s: Sizes, e: Exemplars) -> Work:
    """Condensed graphs of every fold, two hops inside them, and ridge regressions on their rows."""
    flops32 = flops64 = moved = 0.0
    nodes = solves = 0
    for option in e.tried:
        narrow, wide, traffic = _trial(s, e, option)
        flops32, flops64, moved = flops32 + e.folds * narrow, flops64 + e.folds * wide, moved + e.folds * traffic
        nodes += e.folds * (option.chosen.nodes + s.classes)
        solves += e.folds * len(LEARNERS) * len(PENALTIES)
    drafts = len(e.ordered) + len(e.tried) * e.folds + 1
    moved += drafts * (400 * s.train + 40 * s.nodes + 48 * s.final.reach)
    return Work(
        flops32=flops32,
        flops64=flops64,
        bytes=moved,
        counts={"trials": len(e.tried), "nodes": nodes, "solves": solves},
        note="counted as for a homophilic graph: with landmarks and links",
    )


def _trial(s: Sizes, e: Exemplars, option: Option) -> tuple[float, float, float]:
    """One fold of one trial: (operations in float32, in float64, traffic)."""
    k, n = option.count, option.chosen.nodes + s.classes
    rows = min(n, MOST_ROWS)
    edges = option.chosen.edges + 2 * n
    flops32, flops64 = 2.0 * 3 * edges * k + 12.0 * n * k, 0.0
    traffic = 4.0 * 3 * edges * k + 120.0 * n * k
    for learner, _ in LEARNERS:
        width = PARTS[learner] * k
        side = min(rows, width + 1)
        answers = e.fold * width * s.classes + rows * width * s.classes
        flops32 += 2.0 * rows * width * side + 2.0 * len(PENALTIES) * answers
        flops64 += len(PENALTIES) * (2 / 3 * side**3 + 2 * side**2 * s.classes)
        traffic += 24.0 * rows * width + len(PENALTIES) * (64.0 * side**2 + 8.0 * e.fold * width)
    return flops32, flops64, traffic
