"""The paper's tables and figures as declarative grids: run, kept, and rendered beside the paper's numbers."""

from herald_gpu.experiments.cells import Cell, Condensation
from herald_gpu.experiments.grids import GRIDS, Grid
from herald_gpu.experiments.runner import run
from herald_gpu.experiments.store import Store

__all__ = ["GRIDS", "Cell", "Condensation", "Grid", "Store", "run"]
