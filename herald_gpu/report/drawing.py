"""The condensed graph as a drawing: places, colours, what a node says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree

from herald_gpu.report.figures import SCORES, positions
from herald_gpu.report.packing import lay_out

if TYPE_CHECKING:
    from herald_gpu.result import Contents

WIDTH = 1000.0
MARGIN = 14.0
MOST_NODES = 8_000
MOST_EDGES = 100_000
"""What is beyond is left out of the drawing, and said to be."""
LARGEST, SMALLEST = 7.0, 1.3
"""Radii of nodes."""


@dataclass(frozen=True)
class Drawing:
    """Nodes and edges on a sheet.

    Attributes
    ----------
    width, height, radius : float
        Of the sheet, and of a node.
    places : (n, 2) array
    edges : (m, 2) int array
        Each undirected edge once.
    synthetic : (m,) bool array
    codes : (n,) int array
        Classes; -1 is unknown.
    classes : tuple of str
    ids : tuple of str
    is_root, is_landmark : (n,) bool arrays
    degrees : (n,) int array
    scores : dict of (n,) arrays
        Not a number for landmarks.
    left_out : str
        What is not drawn; empty if nothing.
    """

    width: float
    height: float
    radius: float
    places: np.ndarray
    edges: np.ndarray
    synthetic: np.ndarray
    codes: np.ndarray
    classes: tuple[str, ...]
    ids: tuple[str, ...]
    is_root: np.ndarray
    is_landmark: np.ndarray
    degrees: np.ndarray
    scores: dict[str, np.ndarray]
    left_out: str

    @property
    def description(self) -> str:
        """The drawing in words."""
        alone = int((self.degrees == 0).sum())
        told = [
            f"{len(self.ids):,} nodes, coloured by class, and {len(self.edges):,} undirected edges",
            f"{alone:,} nodes without an edge stand in blocks by class at the bottom" if alone else "",
            f"{int(self.is_landmark.sum()):,} landmarks are squares" if self.is_landmark.any() else "",
            f"{int(self.synthetic.sum()):,} synthetic edges are dashed" if self.synthetic.any() else "",
            self.left_out,
        ]
        return "; ".join(part for part in told if part) + "."


def draw(contents: Contents, *, seed: int = 0) -> Drawing:
    """Lay the condensed graph out.

    Parameters
    ----------
    contents : Contents
        On the host.
    seed : int
        Of the layout.
    """
    rows = positions(contents)
    shown = _shown(contents, rows)
    adjacency = contents.adjacency[shown][:, shown].tocsr()
    own = contents.adjacency.copy()
    own.data = np.where(contents.edge_is_synthetic, 2.0, 1.0)
    upper = own[shown][:, shown].tocoo()
    keep = upper.row < upper.col
    edges, synthetic = np.column_stack([upper.row[keep], upper.col[keep]]), upper.data[keep] > 1
    left = []
    if len(shown) < len(rows):
        left.append(f"{len(rows) - len(shown):,} {'nodes of lower rank' if contents.scores else 'nodes'}")
    if len(edges) > MOST_EDGES:
        left.append(f"{len(edges) - MOST_EDGES:,} edges")
        picked = np.linspace(0, len(edges) - 1, MOST_EDGES).astype(np.int64)
        edges, synthetic = edges[picked], synthetic[picked]
    places = lay_out(adjacency, contents.codes[shown], seed=seed)
    places, height, radius = _scaled(places)
    known = rows[shown]
    return Drawing(
        width=WIDTH,
        height=height,
        radius=radius,
        places=places,
        edges=edges,
        synthetic=synthetic,
        codes=contents.codes[shown],
        classes=tuple(str(value) for value in contents.class_values.tolist()),
        ids=tuple(str(value) for value in contents.node_ids[shown].tolist()),
        is_root=contents.is_root[shown],
        is_landmark=contents.is_landmark[shown],
        degrees=np.diff(contents.adjacency.indptr)[shown],
        scores={
            name: np.where(known >= 0, contents.scores[name][known], np.nan)
            for name in (*SCORES, "rank")
            if name in contents.scores
        },
        left_out=f"left out of the drawing: {' and '.join(left)}" if left else "",
    )


def _shown(contents: Contents, rows: np.ndarray) -> np.ndarray:
    """Choose the nodes to draw, ascending: all, or landmarks and then the best ranked (the first, without ranks)."""
    if len(rows) <= MOST_NODES:
        return np.arange(len(rows))
    rank = np.where(rows >= 0, contents.scores["rank"][rows], 0) if contents.scores else np.arange(len(rows)) + 1
    unranked = (rank == 0) & ~contents.is_landmark
    order = np.lexsort((rank, unranked, ~contents.is_landmark))
    return np.sort(order[:MOST_NODES])


def _scaled(places: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Fit the places to the width of the sheet; small graphs are not blown up."""
    low = places.min(axis=0)
    extent = places.max(axis=0) - low
    unit = min((WIDTH - 2 * MARGIN) / max(1e-9, float(extent[0])), 0.8 * WIDTH / max(1e-9, float(extent[1])), 60.0)
    middle = (WIDTH - unit * float(extent[0])) / 2
    moved = (places - low) * unit + (middle, MARGIN)
    crowd = 1.0
    if len(places) > 1:
        near = np.asarray(cKDTree(places).query(places, k=2)[0])[:, 1]
        crowd = min(crowd, 1.4 * float(np.percentile(near, 10)))  # where it is crowded nodes must be smaller
    radius = float(np.clip(0.3 * unit * crowd, SMALLEST, LARGEST))
    return moved.round(1), round(2 * MARGIN + unit * float(extent[1]), 1), round(radius, 2)


def as_json(drawing: Drawing) -> dict[str, Any]:
    """Give the drawing as plain values for the page's script."""
    return {
        "width": drawing.width,
        "height": drawing.height,
        "radius": drawing.radius,
        "x": drawing.places[:, 0].tolist(),
        "y": drawing.places[:, 1].tolist(),
        "edges": drawing.edges.ravel().tolist(),
        "synthetic": np.flatnonzero(drawing.synthetic).tolist(),
        "codes": drawing.codes.tolist(),
        "classes": list(drawing.classes),
        "ids": list(drawing.ids),
        "root": np.flatnonzero(drawing.is_root).tolist(),
        "landmark": np.flatnonzero(drawing.is_landmark).tolist(),
        "degrees": drawing.degrees.tolist(),
        "scores": {
            name: [None if not np.isfinite(v) else float(f"{v:.4g}") if name != "rank" else int(v) for v in values]
            for name, values in drawing.scores.items()
        },
    }
