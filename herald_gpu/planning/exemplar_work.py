"""Work of choosing exemplars: seeing the graph through its features, ordering nodes, and trying what they teach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu.planning.exemplar_memory import KINDS, view_blocks, walk_blocks
from herald_gpu.planning.tasks import Work
from herald_gpu.stages.landmarks import AT_A_TIME, GRAM_COLUMNS, PER_CLASS, SEEN
from herald_gpu.stages.pool import FOLDS
from herald_gpu.stages.trials import LEARNERS, MOST_ROWS, PENALTIES
from herald_gpu.stages.views import GRAM_ROWS, HOPS, SIGHTS

if TYPE_CHECKING:
    from herald_gpu.planning.exemplar_sizes import Exemplars
    from herald_gpu.planning.sizes import Sizes

LOOKS = 6
"""Gains that the greedy cover works out anew, for each node to choose from: 3 to 9 on generated graphs."""
PARTS = {"mean": 1, "around": 2, "total": 1}
"""How many times as wide as the features the rows of a learner are."""


def most_work(s: Sizes, e: Exemplars) -> dict[str, Work]:
    """Work of the parts of the stage, each at the most there can be: what is tried is for landmarks to say."""
    found = [exemplar_work(s, one) for one in e.outcomes(s.train)]
    return {part: max((work[part] for work in found), key=lambda work: work.bytes) for part in found[0]}


def exemplar_work(s: Sizes, e: Exemplars) -> dict[str, Work]:
    """Work of the parts of the stage."""
    found = {"exemplars/views": _views(s, e)}
    if e.learnt:
        found["exemplars/landmarks"] = _landmarks(s, e)
    if e.options:
        found["exemplars/places"] = _places(s, e)
    return found | {"exemplars/trials": _trials(s, e)}


def _views(s: Sizes, e: Exemplars) -> Work:
    walk, pairs = walk_work(s, e), pair_work(e)
    return Work(
        flops32=walk.flops32 + pairs.flops32, bytes=walk.bytes + pairs.bytes, counts={**walk.counts, **pairs.counts}
    )


def walk_work(s: Sizes, e: Exemplars) -> Work:
    """Every column through one hop, and the last legs of the rows that are wanted."""
    walked, (batches, _) = max(e.viewed, e.learnt), walk_blocks(s, e)
    of_compared, of_held = (math.ceil(s.edges * part / s.nodes) for part in (e.compared, e.held))
    hop, sliced = s.edges * walked, (3 * of_compared + 2 * of_held) * walked
    dense, rows = s.nodes * walked, (60 * e.held + 100 * e.compared) * walked
    times = int(s.fisher) + int(bool(e.learnt and e.options))
    picking = times * (200 * s.values if s.sparse else 8 * dense)
    edges = 12 * (s.edges + 3 * of_compared + 2 * of_held) * batches
    return Work(
        flops32=2 * (hop + sliced) + 6 * dense,
        bytes=4 * (hop + sliced) + edges + 72 * dense + rows + picking,
        counts={"multiply_adds": hop, "sliced_multiply_adds": sliced},
    )


def pair_work(e: Exemplars) -> Work:
    """Products of rows inside classes, up to the diagonal, and similarities put together of them."""
    height = e.pairs / e.compared  # nodes that a node is compared with, on average
    pairs = math.ceil((HOPS + 1) * e.compared * _half(height, GRAM_ROWS) * e.viewed)
    return Work(
        flops32=2 * pairs + 9 * e.pairs * len(e.options),
        bytes=(16 * (HOPS + 1) * len(view_blocks(e)) + 100 * len(e.options)) * e.pairs,
        counts={"pair_multiply_adds": pairs},
    )


def _half(size: float, tile: int) -> float:
    """Columns that a row of a symmetric product is multiplied with, on average: those up to the end of its tile."""
    whole, rest = divmod(size, tile)
    return (tile**2 * whole * (whole + 1) / 2 + rest * size) / size


def _landmarks(s: Sizes, e: Exemplars) -> Work:
    """Products of the rows that directions are learnt from, factorised, directions, and trials of what they give."""
    k, kinds, outside = e.learnt, len(SEEN), math.ceil(e.taught * e.folds / FOLDS)
    rows = [(e.taught, k), *((outside, width) for width in e.factorised)]
    products = math.ceil(sum(kinds * n * width * _half(width, GRAM_COLUMNS) for n, width in rows))
    sides = [k, *(width for width in e.factorised for _ in range(e.folds + 1))]
    widths = [k, *e.refused, *(width for width in (*e.widths, *e.beside) for _ in range(e.folds + 1))]
    batches = kinds * (math.ceil(e.taught / AT_A_TIME) * k**2 + sum(e.folds * width**2 for width in e.factorised))
    copies = (SIGHTS * e.compared + KINDS * e.held) * k
    flops32 = 2.0 * products + (2.0 * s.classes + 5.0) * sum(kinds * n * width for n, width in rows)
    flops64 = sum(side**3 / 3 + side**2 * s.classes for side in sides) + sum(n**2 * s.classes for n in widths)
    moved = 52.0 * sum(kinds * n * width for n, width in rows) + 12.0 * batches + 8.0 * copies
    moved += sum(56.0 * side**2 for side in sides) + sum(20.0 * width**2 for width in widths)
    moved += sum(40.0 * e.compared * width for width in e.widths)
    n, nodes = (PER_CLASS + 1) * s.classes, 0
    for width in e.widths:
        narrow, wide, traffic = _trial(s, e, width, n, 2 * s.classes)
        flops32 += e.folds * narrow + 2.0 * (e.folds + 1) * e.compared * width * s.classes
        flops64, moved, nodes = flops64 + e.folds * wide, moved + e.folds * traffic, nodes + e.folds * n
    regressions = e.folds * len(e.widths) * len(LEARNERS) * len(PENALTIES)
    counts = {
        "gram_multiply_adds": products,
        "trials": len(e.widths),
        "nodes": nodes,
        "solves": regressions,
        "columns_factorised": sum(sides),
        "columns_solved": sum(widths),
    }
    return Work(flops32=flops32, flops64=flops64, bytes=moved, counts=counts)


def _solving(s: Sizes, sides: list[int]) -> float:
    """Operations of systems of these sizes, one column a class, each symmetric."""
    return sum(side**3 / 3 + 2.0 * side**2 * s.classes for side in sides)


def _places(s: Sizes, e: Exemplars) -> Work:
    """Sums of all similarities, then the greedy choice: looking for the best, working out its gain, noting it."""
    height = e.pairs / e.compared  # nodes that a node is compared with, on average
    free, most = e.compared * (FOLDS - 1) / FOLDS, max(option.places for option in e.options)
    finals = len(e.ordered) + 1 if e.linked else 1  # all nodes in order: how many links there are, and the best choice
    covers = len(e.options) + 1 if e.linked else 1  # herding, the second rule, has nothing to work out anew
    sums = (len(e.tried) * e.folds + finals) * e.pairs
    places = sum(e.folds * min(option.places * s.classes, free) for option in e.tried)
    places += finals * min(most * s.classes, e.compared)
    looked = LOOKS * ((e.folds * free * len(e.options) if e.tried else 0) + covers * e.compared)
    return Work(
        flops32=sums + 3 * (places + looked) * height,
        bytes=5 * sums + (34 * places + 26 * looked) * height,
        counts={"places": math.ceil(places), "sums": sums},
        note=f"one thread block a class and fold, a lower bound; gains worked out anew are taken for {LOOKS} a node",
    )


def _trials(s: Sizes, e: Exemplars) -> Work:
    """Condensed graphs of every fold, two hops inside them, and ridge regressions on their rows."""
    flops32 = flops64 = moved = 0.0
    nodes = marks = solves = 0
    for option in e.tried:
        narrow, wide, traffic = _trial(s, e, option.count, option.in_trial, option.chosen.edges)
        flops32, flops64, moved = flops32 + e.folds * narrow, flops64 + e.folds * wide, moved + e.folds * traffic
        nodes, marks = nodes + e.folds * option.in_trial, marks + e.folds * option.landmarks
        solves += e.folds * len(LEARNERS) * len(PENALTIES)
    drafts = len(e.tried) * e.folds + (len(e.ordered) + 1 if e.linked else 1)
    training = 400 if e.options else 50  # landmarks leave nothing to put in turns
    moved += drafts * (training * s.train + 40 * s.nodes + 48 * s.final.reach)
    note = "counted as for a homophilic graph: with links" if e.linked else ""
    return Work(
        flops32=flops32,
        flops64=flops64,
        bytes=moved,
        counts={"trials": len(e.tried), "nodes": nodes, "landmarks": marks, "solves": solves},
        note=note,
    )


def _trial(s: Sizes, e: Exemplars, k: int, n: int, inside: int) -> tuple[float, float, float]:
    """One fold of one trial with k features on n nodes: (operations in float32, in float64, traffic)."""
    rows = min(n, MOST_ROWS)
    edges = inside + 2 * n if e.linked else inside
    flops32, flops64 = 2.0 * 3 * edges * k + 12.0 * n * k, 0.0
    traffic = 4.0 * 3 * edges * k + 120.0 * n * k
    for learner, _ in LEARNERS:
        width = PARTS[learner] * k
        side = min(rows, width + 1)
        answers = e.fold * width * s.classes + rows * width * s.classes
        flops32 += 2.0 * len(PENALTIES) * answers
        flops64 += 2.0 * rows * width * side + len(PENALTIES) * _solving(s, [side])
        traffic += 24.0 * rows * width + len(PENALTIES) * (64.0 * side**2 + 8.0 * e.fold * width)
    return flops32, flops64, traffic
