"""What the models of all stages share: how work is told, and what of a graph stays on the device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from herald_gpu.planning.sizes import Sizes


@dataclass(frozen=True)
class Work:
    """Work of one stage.

    Attributes
    ----------
    flops32, flops64 : float
        Operations in single and double precision.
    bytes : float
        Memory traffic.
    counts : dict
        The counts behind them, by name.
    note : str
        What a reader should know.
    """

    flops32: float = 0.0
    flops64: float = 0.0
    bytes: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    note: str = ""


def graph_bytes(s: Sizes) -> int:
    """The graph on the device: CSR adjacency, features, labels, training mask."""
    features = 8 * s.values + 4 * s.nodes if s.sparse else 4 * s.values
    return 8 * s.edges + 4 * s.nodes + features + 5 * s.nodes


def kept_features(s: Sizes) -> int:
    """The kept features of all nodes."""
    return 8 * s.kept_values + 4 * s.nodes if s.sparse else 4 * s.kept_values


def kept_bytes(s: Sizes) -> int:
    """The graph, its kept features, prices, and the score of every feature."""
    return graph_bytes(s) + kept_features(s) + 8 * s.nodes + 16 * s.features


def promoted_bytes(s: Sizes) -> int:
    """The adjacency matrix in float64, as a product with a float64 array makes it."""
    return 12 * s.edges + 4 * s.nodes
