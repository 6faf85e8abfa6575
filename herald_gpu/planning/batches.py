"""How stages cut their work: by fixed blocks, or by free memory as the RAPIDS backend does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu import ops

if TYPE_CHECKING:
    from herald_gpu.config import HeraldConfig
    from herald_gpu.planning.sizes import Sizes

# Constants of the RAPIDS backend, which cannot be imported where there is no CuPy; a test compares them.
SHARE_OF_FREE = 0.4
BYTES_PER_REACHED_EDGE = 64
FIRST_BATCH = 128
MARGIN = 8
BINS = 128
ALL_PAIRS_LIMIT = 1e14
CANDIDATES = 32
FEWEST_ROWS = 1024
BYTES_PER_ROW, BYTES_PER_VALUE = 320, 6

KNN_ROWS, NARROW = 512, 32
"""Queries of one tile inside cuVS brute force, twice as many where rows are narrow: the index is read for each."""
KNN_TILE = 512 * 2**20
"""Largest tile of distances inside cuVS brute force (half of the 1 GiB it aims at on cards above 8 GB)."""


@dataclass(frozen=True)
class Footprint:
    """Memory of one stage.

    Attributes
    ----------
    pool : int
        Most bytes alive in CuPy's pool, graph and earlier results included.
    workspace : int
        An estimate of what cuML, cuVS, cuGraph, cuSPARSE or cuSOLVER need besides.
    batches : int
        Parts that the work is done in.
    batch : int
        Rows, columns or roots of one part; 0 where the work is not cut.
    """

    pool: int
    workspace: int = 0
    batches: int = 1
    batch: int = 0


def columns(s: Sizes) -> tuple[int, int]:
    """Blocks of feature columns, and columns of one: (batches, batch)."""
    width = min(s.features, max(1, ops.BLOCK_ELEMENTS // s.nodes))
    return math.ceil(s.features / width), width


def rows(n_rows: int, n_columns: int) -> tuple[int, int]:
    """Blocks of rows, and rows of one: (batches, batch)."""
    height = min(n_rows, max(1, ops.BLOCK_ELEMENTS // n_columns))
    return math.ceil(n_rows / height), height


def candidates(s: Sizes, config: HeraldConfig) -> tuple[int, int, int]:
    """Nearest neighbours: (rows searched, neighbours wanted, candidates of each row)."""
    pool = min(s.nodes, config.lid_reference) if config.lid == "sampled" else s.nodes
    k = min(config.lid_neighbours, pool - 1)
    if approximate(s, config):
        return pool, k, max(CANDIDATES, k + MARGIN + 1)
    return pool, k, min(pool, k + MARGIN + 1)


def approximate(s: Sizes, config: HeraldConfig) -> bool:
    """Whether an index finds the neighbours: asked for, or taken because all pairs are too many."""
    wanted = config.lid == "approximate" or (config.lid == "auto" and s.nodes**2 * s.kept > ALL_PAIRS_LIMIT)
    return wanted and s.nodes >= max(FEWEST_ROWS, 4 * max(CANDIDATES, config.lid_neighbours + MARGIN + 1))


def growth_batches(s: Sizes, considered: int, fit: int) -> tuple[int, int, int]:
    """How roots are looked at, doubling up to what fits: (batches, roots of the largest, roots of all)."""
    done, size, largest, batches = 0, FIRST_BATCH, 0, 0
    while done < considered and size <= fit:
        step = min(size, s.train - done)
        done, size, largest, batches = done + step, size * 2, max(largest, step), batches + 1
    rest = math.ceil(max(0, considered - done) / fit)
    return batches + rest, max(largest, fit if rest else 0), min(s.train, done + rest * fit)


def neighbours(s: Sizes, config: HeraldConfig, kept: int, usable: int) -> Footprint:
    """The normalised index, and for each batch of queries their rows, candidates and distances."""
    pool, k, width = candidates(s, config)
    row = s.kept_values / s.nodes  # stored values of a row
    held = kept + 8 * s.nodes * (k + 6)
    if approximate(s, config):
        return _descent(s, held, width, usable)
    unit, making = (8 * row, 24 * row) if s.sparse else (4 * row, 4 * row)
    block = 0 if s.sparse else 12 * min(pool, rows(pool, s.kept)[1]) * s.kept
    live = held + unit * pool
    per_row = (24 * math.ceil(row) if s.sparse else 4 * s.kept) + 64 * width
    step = max(1, min(s.nodes, int(SHARE_OF_FREE * max(0, usable - live)) // per_row))
    batches = math.ceil(s.nodes / step)
    per_query = unit + 64 * width
    batch = step * max(making, per_query) + block
    # Besides the tile: norms, the distances that go with the candidates, and what selecting the best of a tile takes.
    tile = min(4 * min(step, KNN_ROWS if s.kept > NARROW else 2 * KNN_ROWS) * pool, KNN_TILE)
    workspace = math.ceil(1.5 * tile) + 12 * step * width + 4 * s.nodes
    return Footprint(math.ceil(max(held + making * pool + block, live + batch)), workspace, batches, step)


def _descent(s: Sizes, held: int, width: int, usable: int) -> Footprint:
    """Dense normalised rows, then the graph of neighbours, and for each batch their candidates and distances."""
    unit, graph = 4 * s.nodes * s.kept, 8 * s.nodes * width
    block = (20 if s.sparse else 12) * rows(s.nodes, s.kept)[1] * s.kept
    step = max(1, min(s.nodes, int(SHARE_OF_FREE * max(0, usable - held - graph)) // (64 * width)))
    pool = held + max(unit + block, graph + 48 * step * width)
    workspace = s.nodes * (BYTES_PER_ROW + (BYTES_PER_VALUE - 4) * s.kept)
    return Footprint(pool, workspace, math.ceil(s.nodes / step), step)


def expansion(s: Sizes, config: HeraldConfig, scores: int, usable: int) -> Footprint:
    """The graph for cuGraph, and for each batch of roots the edges that reach their neighbourhoods."""
    _, followed = s.reach(config.depth)
    held = scores + 4 * s.edges + 40 * s.nodes + 24 * s.train
    per_root = BYTES_PER_REACHED_EDGE * (followed + 1)
    fit = max(1, int(SHARE_OF_FREE * max(0, usable - held) / per_root))
    batches, largest, _ = growth_batches(s, s.roots_considered(s.wide, config), fit)
    workspace = 12 * s.edges + 8 * s.nodes + math.ceil(32 * largest * followed) if config.depth else 0
    return Footprint(held + max(math.ceil(per_root * largest), 12 * s.edges), workspace, batches, largest)
