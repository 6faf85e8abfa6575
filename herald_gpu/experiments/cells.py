"""One cell of a grid: what is condensed, how, and which model is trained on it."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any, Literal

Column = Literal["true", "published"]
"""Inside the true budget, or with the published accounting."""
COLUMNS: tuple[Column, ...] = ("true", "published")


@dataclass(frozen=True, order=True)
class Condensation:
    """A condensed graph, told by how it is made.

    Attributes
    ----------
    dataset : str
    method : str
        A condenser of :mod:`herald_gpu.experiments.condensers`.
    column : {"true", "published"}
    ratio : float
        The share of the storage asked for; 1 for the whole graph.
    change : str
        Which change of its configuration a study makes, such as ``A2a`` or ``depth=3``; empty for none.
    split : str
        ``paper``, or the seed of another split.
    """

    dataset: str
    method: str
    column: Column = "true"
    ratio: float = 1.0
    change: str = ""
    split: str = "paper"

    def __str__(self) -> str:
        parts = [self.dataset, self.method, self.column, f"r={self.ratio:g}", self.change, self.split]
        return " ".join(part for part in parts if part and part != "paper")


@dataclass(frozen=True, order=True)
class Cell:
    """A model trained on a condensed graph from one seed; a model of "" stands for the condensed graph alone.

    Attributes
    ----------
    of : Condensation
    model : str
    variant : str
        Of the models, see :mod:`herald_gpu.evaluate`.
    seed : int
    """

    of: Condensation
    model: str = ""
    variant: str = ""
    seed: int = 0

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this cell from all others, in the order of :data:`KEY`."""
        return (*astuple(self.of), self.model, self.variant, self.seed)


KEY = (*(field.name for field in fields(Condensation)), "model", "variant", "seed")
"""Columns that tell cells apart."""
