"""The drawing of the graph as SVG: what is seen without the page's script, and what it starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.report.markup import Markup, tag

if TYPE_CHECKING:
    from herald_gpu.report.drawing import Drawing

UNKNOWN = "unknown"
LAYERS = 12
"""Edges are drawn in so many paths: those of one do not add up where they cross, those of several do."""
DARKEST = 0.4
"""How much of the paper edges may cover together where most of them cross, so that nodes stay visible."""
CELL = 20.0


def sheet(drawing: Drawing) -> Markup:
    """Draw all edges as one path of each kind, and all nodes of a class as another."""
    r, layer = drawing.radius, np.arange(len(drawing.edges)) % LAYERS
    parts = [
        tag("title", "The condensed graph", id="graph-title"),
        tag("desc", drawing.description, id="graph-desc"),
        *(_edges(drawing, ~drawing.synthetic & (layer == k), "edge") for k in range(LAYERS)),
        _edges(drawing, drawing.synthetic, "edge synthetic"),
    ]
    for code in np.unique(drawing.codes).tolist():
        colour = f"--class-{UNKNOWN if code < 0 else code}"
        own, style = drawing.codes == code, f"stroke:var({colour})"
        plain = own & ~drawing.is_landmark
        parts += [
            _dots(drawing, plain & ~drawing.is_root, 2 * r * 0.75, style, "dots"),
            _dots(drawing, plain & drawing.is_root, 2 * r, style, "dots"),
            _squares(drawing, own & drawing.is_landmark, r * 1.6, f"fill:var({colour})"),
        ]
    return tag(
        "svg",
        *parts,
        viewBox=f"0 0 {drawing.width:g} {drawing.height:g}",
        role="img",
        aria_labelledby="graph-title",
        aria_describedby="graph-desc",
        class_="sheet",
        id="sheet",
        style=_style(drawing),
    )


def _style(drawing: Drawing) -> str:
    """Width and opacity of edges: here, where those of one path do not add up, and on the canvas, where all do."""
    per_node = max(1.0, len(drawing.edges) / max(1, len(drawing.ids)))
    width = float(np.clip(0.4 * drawing.radius / np.sqrt(per_node), 0.5, 1.2))
    crossing = overlap(drawing)
    layers = LAYERS * (1 - np.exp(-crossing * width / LAYERS))
    return f"--edge-width:{width:.2g}px;--edge-opacity:{opacity(layers):.2g};--canvas-opacity:{opacity(crossing):.2g}"


def opacity(lines: float) -> float:
    """Opacity of a line, of which so many lie over one another, that leaves the paper visible below them."""
    return float(np.clip(1 - (1 - DARKEST) ** (1 / max(lines, 1e-3)), 0.005, 0.75))


def overlap(drawing: Drawing) -> float:
    """How many edges, one unit wide, lie over a spot in the most crowded tenth of the drawing.

    Parameters
    ----------
    drawing : Drawing
    """
    if not len(drawing.edges):
        return 0.0
    start, end = (drawing.places[drawing.edges[:, side]] for side in (0, 1))
    along = np.linspace(0.05, 0.95, 10)
    spots = (start[:, None] + along[:, None] * (end - start)[:, None]).reshape(-1, 2) // CELL
    length = np.repeat(np.hypot(*(end - start).T) / len(along), len(along))
    cells = spots[:, 0].astype(np.int64) * 100_003 + spots[:, 1].astype(np.int64)
    ink = np.bincount(np.unique(cells, return_inverse=True)[1], weights=length) / CELL**2
    return float(np.percentile(ink, 90))


def _edges(drawing: Drawing, which: np.ndarray, class_: str) -> Markup:
    if not which.any():
        return Markup("")
    ends = drawing.places[drawing.edges[which]]
    path = "".join(f"M{a:g} {b:g}L{c:g} {d:g}" for (a, b), (c, d) in ends.tolist())
    return tag("path", d=path, class_=class_)


def _dots(drawing: Drawing, which: np.ndarray, width: float, style: str, class_: str) -> Markup:
    """Lines of no length with round ends: discs at a dozen characters each."""
    if not which.any():
        return Markup("")
    path = "".join(f"M{x:g} {y:g}h0" for x, y in drawing.places[which].tolist())
    return tag("path", d=path, class_=class_, style=f"{style};stroke-width:{width:.3g}")


def _squares(drawing: Drawing, which: np.ndarray, half: float, style: str) -> Markup:
    if not which.any():
        return Markup("")
    side = f"{2 * half:.3g}"
    path = "".join(f"M{x - half:.5g} {y - half:.5g}h{side}v{side}h-{side}z" for x, y in drawing.places[which].tolist())
    return tag("path", d=path, class_="landmark", style=style)
