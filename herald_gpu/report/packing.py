"""A graph in pieces on one sheet: large components first, then small ones in rows, single nodes in blocks by class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csgraph

from herald_gpu.report.forces import arrange

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

ASPECT = 1.6
"""Width of the sheet over its height, about."""
GAP = 1.4
"""Between components, in lengths of an edge."""
CELL = 0.5
"""Width of the strips that room is looked for in."""
SINGLE = 1.0
"""From one node without edges to the next."""


def lay_out(adjacency: csr_matrix, codes: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Place all nodes, with an edge about 1 long; the same graph and seed give the same places.

    Parameters
    ----------
    adjacency : CSR matrix
        Symmetric.
    codes : int array
        Classes: nodes without edges stand in blocks of their class.
    seed : int

    Examples
    --------
    >>> import scipy.sparse
    >>> lay_out(scipy.sparse.csr_matrix((3, 3)), np.array([0, 1, 0])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]
    """
    n, rng = int(adjacency.shape[0]), np.random.default_rng(seed)
    places = np.zeros((n, 2))
    _, component = csgraph.connected_components(adjacency, directed=False)
    order = np.argsort(component, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    boxes = []
    for own in (group for group in members if len(group) > 1):
        inside = arrange(adjacency[own][:, own], rng)
        low = inside.min(axis=0)
        boxes.append((own, inside - low, inside.max(axis=0) - low))
    alone = np.array([group[0] for group in members if len(group) == 1], dtype=np.int64)
    width, bottom = _shelves(places, boxes, len(alone))
    _blocks(places, alone, codes, width=width, top=bottom)
    return places


def _shelves(
    places: np.ndarray, boxes: list[tuple[np.ndarray, np.ndarray, np.ndarray]], n_alone: int
) -> tuple[float, float]:
    """Put boxes as far up as there is room, the highest first; give the width of the sheet and where they end."""
    area = sum(float((extent + GAP).prod()) for *_, extent in boxes) + n_alone * SINGLE**2
    width = max([float(np.sqrt(ASPECT * area)), *(float(extent[0]) for *_, extent in boxes)])
    skyline = np.zeros(1 + int(np.ceil((width + GAP) / CELL)))  # how far down each strip of the sheet is taken
    for own, inside, extent in sorted(boxes, key=lambda box: (-box[2][1], -box[2][0], box[0][0])):
        strips = min(len(skyline), int(np.ceil((extent[0] + GAP) / CELL)))
        floors = np.lib.stride_tricks.sliding_window_view(skyline, strips).max(axis=1)
        first = int(floors.argmin())
        top = float(floors[first])
        places[own] = inside + np.array([first * CELL, top])
        skyline[first : first + strips] = top + float(extent[1]) + GAP
    return width, (float(skyline.max()) + GAP if boxes else 0.0)


def _blocks(places: np.ndarray, alone: np.ndarray, codes: np.ndarray, *, width: float, top: float) -> None:
    """Put nodes without edges in blocks side by side, one a class, all of one height."""
    if not len(alone):
        return
    # Unknown classes stand last.
    keys = np.where(codes[alone] < 0, codes.max(initial=0) + 1, codes[alone])
    groups = [alone[keys == key] for key in np.unique(keys)]
    rows = 1
    while sum(-(-len(group) // rows) + 1 for group in groups) * SINGLE > max(width, SINGLE) + SINGLE and rows < len(
        alone
    ):
        rows += 1
    x = 0
    for group in groups:
        columns, down = np.divmod(np.arange(len(group)), rows)
        places[group] = np.column_stack([x + columns, down]) * SINGLE + (0.0, top)
        x += -(-len(group) // rows) + 1
