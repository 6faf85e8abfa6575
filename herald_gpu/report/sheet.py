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
        style=f"--edge-width:{_edge_width(drawing):.2g}px;--edge-opacity:{_opacity(drawing):.2g}",
    )


def _crowding(drawing: Drawing) -> float:
    return max(1.0, len(drawing.edges) / max(1, len(drawing.ids)))


def _opacity(drawing: Drawing) -> float:
    """Fainter the more edges there are to a node."""
    return float(np.clip(0.8 / np.sqrt(_crowding(drawing)), 0.08, 0.75))


def _edge_width(drawing: Drawing) -> float:
    return float(np.clip(0.4 * drawing.radius / np.sqrt(_crowding(drawing)), 0.5, 1.2))


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
