"""Device memory of choosing exemplars: what stands throughout, and the fullest moment of each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.planning.batches import Footprint
from herald_gpu.planning.tasks import graph_bytes, promoted_bytes
from herald_gpu.stages.landmarks import AT_A_TIME, GRAM_COLUMNS, PER_CLASS
from herald_gpu.stages.pool import FOLDS
from herald_gpu.stages.trials import MOST_ROWS
from herald_gpu.stages.views import GRAM_ROWS, HOPS, SIGHTS

if TYPE_CHECKING:
    from herald_gpu.planning.exemplar_sizes import Exemplars, Option
    from herald_gpu.planning.sizes import Sizes

SLICING = 13
"""Bytes of each stored value while columns are cut out of a CSR matrix."""
PICKING = (8, 72)
"""Bytes of each stored value, and of each that is kept, while columns of a CSR matrix are put in order."""
KINDS = 4
"""Kinds of rows of held-out nodes."""


def most_footprints(s: Sizes, e: Exemplars) -> dict[str, Footprint]:
    """Memory of the parts of the stage, each at the most there can be: what is tried is for landmarks to say."""
    found = [exemplar_footprints(s, one) for one in e.outcomes(s.train)]
    return {part: max((one[part] for one in found), key=lambda one: one.pool + one.workspace) for part in found[0]}


def exemplar_footprints(s: Sizes, e: Exemplars) -> dict[str, Footprint]:
    """Memory of the parts of the stage; a solver's workspace is taken for one matrix more."""
    standing = _standing(s, e)
    views = max(_base(s, e) + _drawing(s, e), _seen(s, e) + _walking(s, e, e.learnt))
    if e.options:
        views = max(views, _again(s, e), standing + _views(s, e))
    found = {"exemplars/views": Footprint(views, 0, *walk_blocks(s, e))}
    if e.learnt:
        found["exemplars/landmarks"] = Footprint(_seen(s, e) + _landmarks(s, e), 8 * e.learnt**2)
    if not e.options:
        return found | {"exemplars/trials": Footprint(_landmarked(s, e))}
    side = max(_side(option.count, option.in_trial) for option in e.options)
    return found | {
        "exemplars/places": Footprint(standing + _places(s, e)),
        "exemplars/trials": Footprint(max(standing + _trials(s, e), _final(s, e)), 8 * side**2 if e.tried else 0),
    }


def walk_blocks(s: Sizes, e: Exemplars) -> tuple[int, int]:
    """Blocks of columns that are walked along: (batches, batch)."""
    most, walks = _columns_at_once(s), [e.learnt, *_later_blocks(e)]
    return sum(math.ceil(width / most) for width in walks), min(most, max(walks))


def _columns_at_once(s: Sizes) -> int:
    return max(1, ops.BLOCK_ELEMENTS // s.nodes)


def view_blocks(e: Exemplars) -> list[tuple[int, int]]:
    """Blocks of columns whose products are added up; none crosses from one view to the next: (first, last).

    Those that are remembered are not cut.
    """
    most, counts = max(1, ops.BLOCK_ELEMENTS // e.compared), [option.count for option in e.options]
    found = []
    for first, last in zip([0, *counts], counts, strict=False):
        found += [(first, min(last, e.learnt))] if first < e.learnt else []
        found += [(low, min(last, low + most)) for low in range(max(first, e.learnt), last, most)]
    return found


def _later_blocks(e: Exemplars) -> list[int]:
    """Widths of what views need besides the columns that are remembered."""
    return [high - low for low, high in view_blocks(e) if low >= e.learnt]


def pool_bytes(s: Sizes, e: Exemplars) -> int:
    """Training nodes in the order they were drawn, with marks of each fold; the ranking of features."""
    return (12 + e.folds + 1) * s.train + 8 * e.compared + 12 * e.held + 8 * s.features


def _base(s: Sizes, e: Exemplars) -> int:
    return graph_bytes(s) + pool_bytes(s, e)


def _values(s: Sizes, count: int) -> int:
    """Stored values of so many columns: of a sparse matrix, those of all where they may all be there."""
    return min(s.values, s.nodes * count) if s.sparse else s.nodes * count


def _columns(s: Sizes, count: int) -> int:
    """So many columns of all nodes."""
    return 8 * _values(s, count) + 4 * s.nodes if s.sparse else 4 * _values(s, count)


def _picking(s: Sizes, count: int) -> int:
    """So many columns while they are put in order."""
    return PICKING[0] * s.values + PICKING[1] * _values(s, count) if s.sparse else _columns(s, count)


def _counting(s: Sizes, e: Exemplars) -> int:
    """Training rows whose non-zeros are counted, or the fewest columns priced."""
    if s.sparse:
        rows = math.ceil(12 * s.values * s.train / s.nodes) + 12 * s.train
        return 48 * s.train + max(rows, _picking(s, e.grid[0].count))
    return 48 * s.train + max(4 * s.train * s.features, 8 * s.nodes * e.grid[0].count + 24 * s.nodes)


def _drawing(s: Sizes, e: Exemplars) -> int:
    """Before anything is seen: non-zeros counted, columns put in order, or edges counted beside them."""
    walking = _ranked(s, e) + max(promoted_bytes(s), _legs(s, e)) + 28 * s.nodes
    return max(_counting(s, e), _picking(s, e.widest) if s.fisher else 0, walking)


def _ranked(s: Sizes, e: Exemplars) -> int:
    """Columns in their order; where nobody ranked them, they are the graph's own."""
    return _columns(s, e.widest) if s.fisher else 0


def _legs(s: Sizes, e: Exemplars) -> int:
    """Edges of compared nodes in three scales, of held-out nodes in two, and degrees; of all nodes to begin with."""
    edges = math.ceil(s.edges * (16 * e.compared + 12 * e.held) / s.nodes)
    return edges + 20 * e.compared + 12 * e.held + 20 * s.nodes


def _seen(s: Sizes, e: Exemplars) -> int:
    """What is seen from the first walk on: columns in their order, the way along edges, and rows remembered."""
    remembered = 4 * (SIGHTS * e.compared + KINDS * e.held) * e.learnt
    return _base(s, e) + _ranked(s, e) + _legs(s, e) + remembered


def _walking(s: Sizes, e: Exemplars, walked: int) -> int:
    """A block on its way: its columns (twice while they are turned for the product) and their sums.

    Where all columns are one dense block it is no copy of them.
    """
    if not walked:
        return 0
    width = min(walked, _columns_at_once(s))
    block, whole = 4 * s.nodes * width, not s.sparse and width == e.widest
    hop = (2 if whole else 3) * block
    taking = (1 if whole else 2) * block + 16 * max(e.compared, e.held) * width
    slicing = SLICING * _values(s, e.widest) + block if s.sparse else 0
    return max(hop, taking, slicing)


def _landmarks(s: Sizes, e: Exemplars) -> int:
    """Products of rows added up, the ranking, rows in their new order, factors of every fold, directions and trials.

    Rows of compared nodes are put in order one kind after another, those of held-out nodes all at once, while the last
    of the former are still there as they were.
    """
    k, table = e.learnt, 4 * e.compared * s.classes
    lessons = 8 * k * (k + s.classes) + 12 * e.compared
    moments = [
        12 * e.compared + 16 * min(AT_A_TIME, e.compared) * k,
        lessons + _adding(s, e, e.taught, k),
        lessons + 16 * k**2 + 24 * k * s.classes,
        lessons + 4 * (e.compared + KINDS * e.held) * k + 24 * k,
    ]
    moments += [lessons + _guidance(s, e) + _factorising(s, e, width) for width in e.factorised]
    if e.widths or e.refused:
        width = e.first
        drafts = 12 * s.classes * width * (e.folds + len(e.widths) + 1)
        lengths = 16 * min(AT_A_TIME, e.compared) * width + 8 * e.compared * (len(e.widths) + len(e.refused))
        standing_in = lengths + 4 * e.compared * width + 2 * table + 60 * e.compared
        regression = _regression(s, e, width, (PER_CLASS + 1) * s.classes)
        working = max(_directions(s, width), standing_in, regression)
        moments.append(lessons + (e.folds + 1) * _factor(s, width) + drafts + working)
    if e.beside:
        factors = (e.folds + 1) * _factor(s, e.factorised[-1])
        moments.append(lessons + factors + _guidance(s, e) + _directions(s, e.beside[0]))
    return max(moments)


def _adding(s: Sizes, e: Exemplars, nodes: int, width: int) -> int:
    """All kinds of rows of some nodes, the last of them in the making, or products of columns with some of these."""
    rows, tile = min(AT_A_TIME, nodes), min(GRAM_COLUMNS, width)
    inner = tile * ((width - 1) // tile)  # fewer columns than all of them are copied before they are multiplied
    products = max(4 * tile * (rows + width), 4 * rows * inner + 4 * tile * (rows + inner))
    working = 12 * rows * width + max(4 * rows * width, products)
    return working + 16 * (rows + width) * s.classes + 8 * nodes + 6 * e.compared


def _factor(s: Sizes, width: int) -> int:
    return 8 * width * (width + s.classes)


def _factorising(s: Sizes, e: Exemplars, width: int) -> int:
    """The best columns of what was added up, then every fold less those it holds out: added up, taken off, factorised.

    The fold before it is there a little longer.
    """
    one, outside = _factor(s, width), min(e.taught, math.ceil(e.taught / FOLDS) + s.classes)
    fold = max(2 * one + _adding(s, e, outside, width), 3 * one + 8 * width * s.classes)
    last = 2 * one + 8 * width * s.classes
    return one + max(8 * width * e.learnt, (e.folds - 1) * one + fold, e.folds * one + last)


def _directions(s: Sizes, width: int) -> int:
    """A factor turned for the solver, or what it gives written as signs."""
    return max(8 * width**2 + 24 * width * s.classes, 72 * width * s.classes)


def _again(s: Sizes, e: Exemplars) -> int:
    """The columns that exemplars are tried with put in order, beside what was learnt."""
    return _seen(s, e) + _guidance(s, e) + max(_counting(s, e), _picking(s, e.viewed)) if e.learnt else 0


def _standing(s: Sizes, e: Exemplars) -> int:
    """What views are made of: what was seen, their columns, held-out rows, products."""
    columns = _columns(s, e.viewed) if e.learnt else 0
    return _seen(s, e) + columns + 4 * KINDS * e.held * e.viewed + 4 * (HOPS + 1) * e.pairs


def _candidates(s: Sizes, e: Exemplars, options: int) -> int:
    """Columns of the last number of features (dense ones are not copied), prices and similarities of all so far."""
    columns = _columns(s, e.viewed) if s.sparse else 0
    return columns + _guidance(s, e) + options * (8 * s.nodes + 2 * e.pairs)


def _guidance(s: Sizes, e: Exemplars) -> int:
    """Landmarks of every number of features with a row of every class, and those of all folds beside exemplars."""
    alone, beside = sum(e.widths), (e.folds + 1) * sum(e.beside)
    return 4 * s.classes * ((PER_CLASS + 1) * alone + PER_CLASS * beside)


def _views(s: Sizes, e: Exemplars) -> int:
    """Rows of a class multiplied (cut out of those remembered), or similarities put together, beside candidates."""
    size = min(e.pool, math.isqrt(e.pairs) + 1)
    width = max(high - low for low, high in view_blocks(e))
    products = 8 * size * (min(size, GRAM_ROWS) + width) + (0 if e.learnt else 4 * SIGHTS * e.compared * width)
    later = max(_later_blocks(e), default=0)
    walking = _walking(s, e, later) + 4 * SIGHTS * e.compared * later
    scaling = 2 * e.pairs + 100 * size
    return max(products, walking, scaling) + _candidates(s, e, len(e.options) - 1)


def _alive(s: Sizes, e: Exemplars) -> int:
    """Candidates, and the places of those that are tried."""
    return _candidates(s, e, len(e.options)) + 4 * e.folds * e.compared


def _places(s: Sizes, e: Exemplars) -> int:
    """Columns cut out and priced, or the greedy choice of every fold."""
    values = _values(s, e.viewed)
    pricing = SLICING * values if s.sparse else 4 * values
    greedy = 30 * max(1, e.folds) * e.compared
    return _alive(s, e) + max(pricing + 24 * s.nodes + 48 * s.train, greedy)


def _draft(s: Sizes, option: Option) -> int:
    """Training nodes put in turns, prices with links, and the subgraph of the chosen."""
    chosen = option.chosen
    return max(136 * s.train, 8 * chosen.reach + 64 * (chosen.edges + chosen.nodes)) + 20 * s.train + 32 * s.nodes


def _trials(s: Sizes, e: Exemplars) -> int:
    """Rows of a condensed graph after no, one and two hops, and the regressions on them."""
    moments = [_draft(s, option) for option in e.options]
    moments += [20 * s.train + _regression(s, e, option.count, option.in_trial) for option in e.tried]
    return _alive(s, e) + max(moments)


def _regression(s: Sizes, e: Exemplars, k: int, n: int) -> int:
    """One fold of a trial with k features on n nodes."""
    rows = min(n, MOST_ROWS)
    learning = 24 * rows * k + 44 * _side(k, n) ** 2 + 4 * e.fold * k
    answers = 8 * rows * s.classes + 24 * s.classes * (2 * k + e.fold)
    return 16 * n * k + 16 * rows * k + max(12 * n * k, learning) + answers


def _side(k: int, n: int) -> int:
    """Rows of the largest system to solve: of what a regression learns from, or its columns if those are fewer."""
    return min(n, MOST_ROWS, 2 * k + 1)


def _final(s: Sizes, e: Exemplars) -> int:
    """The best candidate, and the kept columns as the caller has them."""
    best = _standing(s, e) - 4 * HOPS * e.pairs + _candidates(s, e, len(e.options))
    return best + _kept(s, e) + _draft(s, e.options[-1])


def _landmarked(s: Sizes, e: Exemplars) -> int:
    """The best landmarks, the kept columns, and training nodes with exemplars first."""
    return _seen(s, e) + _guidance(s, e) + _kept(s, e) + s.nodes + 26 * s.train


def _kept(s: Sizes, e: Exemplars) -> int:
    """The kept columns while they are cut out."""
    return 16 * _values(s, e.kept) + 4 * s.nodes if s.sparse else _columns(s, e.kept)
