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
        An estimate of what cuML, cuVS, cuGraph or cuSPARSE need besides.
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
    pool = s.nodes if config.lid_reference is None else min(s.nodes, config.lid_reference)
    k = min(config.lid_neighbours, s.nodes - 1 if config.lid_reference is None else pool)
    return pool, k, min(pool, k + MARGIN + 1)


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
    unit, making = (8 * row, 28 * row) if s.sparse else (4 * row, 16 * row)
    held = kept + 8 * s.nodes * (k + 6)
    live = held + unit * pool
    per_row = 4 * pool + 8 * s.kept + 32 * width
    step = max(1, min(s.nodes, int(SHARE_OF_FREE * max(0, usable - live)) // per_row))
    batches = math.ceil(s.nodes / step)
    per_query = unit + 64 * width
    batch = step * (max(making, per_query) + (per_query if batches > 1 else 0))
    # Besides the tile: norms, the distances that go with the candidates, and what selecting the best of a tile takes.
    tile = min(4 * step * pool, KNN_TILE)
    workspace = math.ceil(1.5 * tile) + 12 * step * width + 4 * s.nodes
    return Footprint(math.ceil(max(held + making * pool, live + batch)), workspace, batches, step)


def expansion(s: Sizes, config: HeraldConfig, scores: int, usable: int) -> Footprint:
    """The graph for cuGraph, and for each batch of roots the edges that reach their neighbourhoods."""
    _, followed = s.reach(config.depth)
    held = scores + 4 * s.edges + 40 * s.nodes + 24 * s.train
    per_root = BYTES_PER_REACHED_EDGE * (followed + 1)
    fit = max(1, int(SHARE_OF_FREE * max(0, usable - held) / per_root))
    batches, largest, _ = growth_batches(s, s.roots_considered(s.wide, config), fit)
    workspace = 12 * s.edges + 8 * s.nodes + math.ceil(32 * largest * followed) if config.depth else 0
    return Footprint(held + max(math.ceil(per_root * largest), 12 * s.edges), workspace, batches, largest)
