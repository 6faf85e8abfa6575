"""Device memory of choosing exemplars: what stands throughout, and the fullest moment of each part."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from herald_gpu import ops
from herald_gpu.planning.batches import Footprint
from herald_gpu.planning.tasks import graph_bytes, kept_features, promoted_bytes
from herald_gpu.stages.trials import MOST_ROWS
from herald_gpu.stages.views import HOPS, TABLE_BLOCK

if TYPE_CHECKING:
    from herald_gpu.planning.exemplar_sizes import Exemplars, Option
    from herald_gpu.planning.sizes import Sizes

SLICING = 13
"""Bytes of each stored value while columns are cut out of a CSR matrix."""
PICKING = (8, 72)
"""Bytes of each stored value, and of each that is kept, while columns of a CSR matrix are put in order."""


def exemplar_footprints(s: Sizes, e: Exemplars) -> dict[str, Footprint]:
    """Memory of the parts of the stage; a solver's workspace is taken for one matrix more."""
    standing = _standing(s, e)
    side = max(_side(option, s) for option in e.options)
    solver = 8 * side**2 if e.tried else 0
    return {
        "exemplars/views": Footprint(max(_picking(s, e), standing + _views(s, e)), 0, *view_blocks(s, e)),
        "exemplars/places": Footprint(standing + _places(s, e)),
        "exemplars/trials": Footprint(max(standing + _trials(s, e), _final(s, e)), solver),
    }


def view_blocks(s: Sizes, e: Exemplars) -> tuple[int, int]:
    """Blocks of columns that views are opened by, none of which crosses from one view to the next: (batches, batch)."""
    width = max(1, ops.BLOCK_ELEMENTS // s.nodes)
    counts = [option.count for option in e.options]
    steps = [high - low for low, high in zip([0, *counts], counts, strict=False)]
    return sum(math.ceil(step / width) for step in steps), min(width, max(steps))


def pool_bytes(s: Sizes, e: Exemplars) -> int:
    """Training nodes in the order they were drawn, with marks of each fold; the ranking of features."""
    return (12 + e.folds + 1) * s.train + 8 * e.compared + 12 * e.held + 8 * s.features


def _base(s: Sizes, e: Exemplars) -> int:
    return graph_bytes(s) + pool_bytes(s, e) + kept_features(s)


def _picking(s: Sizes, e: Exemplars) -> int:
    """Training rows whose non-zeros are counted, columns put in order, or edges counted beside them."""
    held = graph_bytes(s) + pool_bytes(s, e) + 48 * s.train
    if s.sparse:
        counting = math.ceil(12 * s.values * s.train / s.nodes) + 12 * s.train
        ordering = PICKING[0] * s.values + PICKING[1] * s.kept_values
    else:
        counting = 4 * s.train * s.features
        ordering = max(kept_features(s), 8 * s.nodes * e.options[0].count + 24 * s.nodes)  # the narrowest is priced
    return held + max(counting, ordering, kept_features(s) + promoted_bytes(s) + 28 * s.nodes)


def _standing(s: Sizes, e: Exemplars) -> int:
    """What views are made of: sorted columns, rows of edges, held-out rows of four kinds, centres, products."""
    edges = math.ceil(s.edges * (8 * e.compared + 12 * e.held) / s.nodes) + 4 * (e.compared + e.held)
    marks = math.ceil(12 * e.free) + 8 * e.compared
    centres = 8 * (e.folds + 1) * s.classes * s.kept
    return _base(s, e) + edges + marks + 20 * s.nodes + _held(s, e) + centres + 4 * (HOPS + 1) * e.pairs


def _held(s: Sizes, e: Exemplars) -> int:
    return 16 * e.held * s.kept


def _candidates(s: Sizes, e: Exemplars, options: int) -> int:
    """Columns of the last number of features (dense ones are not copied), and prices and places of all so far."""
    columns = 8 * s.kept_values + 4 * s.nodes if s.sparse else 0
    return columns + options * (8 * s.nodes + 4 * e.rules * (e.folds + 1) * e.compared)


def _views(s: Sizes, e: Exemplars) -> int:
    """A block on its way, the class means of its rows, or similarities put together, beside earlier candidates."""
    batches, width = view_blocks(s, e)
    largest = 4 * min(e.pool**2, e.pairs)
    hops = 4 * (HOPS + 1) * e.compared * width
    block = 4 * s.nodes * width
    slicing = SLICING * s.kept_values + block if s.sparse else 0
    walking = (2 if batches > 1 else 1) * hops + max(2 * block + (8 * e.compared + 12 * e.held) * width, slicing)
    means = 2 * hops + 12 * e.compared * width + 16 * (e.folds + 1) * s.classes * width
    scaling = hops + 2 * e.pairs + 12 * min(TABLE_BLOCK, e.pairs)
    earlier = len(e.options) - 1
    before = 2 * e.pairs + _candidates(s, e, earlier) if earlier else 0
    return max(walking, means, hops + largest, scaling) + before


def _alive(s: Sizes, e: Exemplars) -> int:
    """Similarities, candidates, and the rows of the last block."""
    rows = 4 * (HOPS + 1) * e.compared * view_blocks(s, e)[1]
    return 2 * e.pairs + _candidates(s, e, len(e.options)) + rows


def _places(s: Sizes, e: Exemplars) -> int:
    """Columns cut out and priced, or the greedy choice of every fold."""
    pricing = SLICING * s.kept_values if s.sparse else 4 * s.nodes * s.kept
    greedy = 30 * (e.folds + 1) * e.compared
    return _alive(s, e) + max(pricing + 24 * s.nodes + 48 * s.train, greedy)


def _draft(s: Sizes, option: Option) -> int:
    """Training nodes put in turns, prices with links, and the subgraph of the chosen."""
    chosen = option.chosen
    return max(136 * s.train, 8 * chosen.reach + 64 * (chosen.edges + chosen.nodes)) + 20 * s.train + 32 * s.nodes


def _trials(s: Sizes, e: Exemplars) -> int:
    """Rows of a condensed graph after no, one and two hops, and the regressions on them."""
    moments = [_draft(s, option) for option in e.options]
    moments += [20 * s.train + _regression(s, e, option) for option in e.tried]
    return _alive(s, e) + max(moments)


def _regression(s: Sizes, e: Exemplars, option: Option) -> int:
    k, n = option.count, option.chosen.nodes + s.classes
    rows = min(n, MOST_ROWS)
    learning = 24 * rows * k + 44 * _side(option, s) ** 2 + 4 * e.fold * k
    return 16 * n * k + 16 * rows * k + max(12 * n * k, learning)


def _side(option: Option, s: Sizes) -> int:
    """Rows of the largest system to solve: of what a regression learns from, or its columns if those are fewer."""
    return min(option.chosen.nodes + s.classes, MOST_ROWS, 2 * option.count + 1)


def _final(s: Sizes, e: Exemplars) -> int:
    """The best candidate, and the kept columns as the caller has them."""
    best = _standing(s, e) - 4 * HOPS * e.pairs + _candidates(s, e, len(e.options))
    return best + (16 * s.kept_values + 4 * s.nodes if s.sparse else 4 * s.nodes * s.kept) + _draft(s, e.options[-1])
