"""The leaderboard: every method at its best, chosen on validation nodes, then measured over splits and seeds."""

from __future__ import annotations

import logging
from itertools import product
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import ConfigError, DatasetError
from herald_gpu.experiments import graphs
from herald_gpu.experiments.cells import Cell, Condensation
from herald_gpu.experiments.grids import narrowed_to
from herald_gpu.experiments.runner import Tally, run_group

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from herald_gpu.datasets import LabelledGraph
    from herald_gpu.experiments.grids import Grid, Narrowed
    from herald_gpu.experiments.store import Store

logger = logging.getLogger("herald_gpu")
PAPER = "paper"
CHOOSER = "GCN"
"""The model that chooses among variants: one initialisation on the paper's split, by validation accuracy."""


def run(
    grid: Grid,
    store: Store,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    ratios: Sequence[float] | None = None,
    models: Sequence[str] | None = None,
    changes: Sequence[str] | None = None,
    seeds: int | None = None,
    splits: int | None = None,
) -> Tally:
    """Run what is missing: split by split, so that all graphs have been measured once before any is again.

    Parameters
    ----------
    grid : Grid
        With variants.
    store : Store
    datasets, methods, ratios, models, seeds, splits
        Narrow the grid down; seeds and splits are counts.
    columns, changes
        The leaderboard has neither.
    """
    for name, value in (("columns", columns), ("changes", changes)):
        if value is not None:
            msg = f"{name} does not belong to {grid.name}: leave it out"
            raise ConfigError(msg)
    part = narrowed_to(grid, methods=methods, models=models, ratios=ratios, seeds=seeds, splits=splits)
    board, missing = _Board(grid, store, part), set[str]()
    for split in part.splits:
        for dataset in grid.datasets if datasets is None else datasets:
            if dataset in missing:
                continue
            try:
                board.play(dataset, split)
            except DatasetError as error:
                logger.warning("%s is left out: %s", dataset, error)
                missing.add(dataset)
    return board.tally


class _Board:
    """Runs cells of the leaderboard that are not there yet; the last graph stays loaded."""

    def __init__(self, grid: Grid, store: Store, part: Narrowed) -> None:
        self.grid, self.store, self.part, self.tally = grid, store, part, Tally()
        self._loaded: tuple[str, str] | None = None
        self._graph: LabelledGraph | None = None

    def play(self, dataset: str, split: str) -> None:
        """Measure all methods on one split of a graph."""
        for method, ratio in product(self.part.methods, self.part.ratios):
            if method != "full":
                self._measure(dataset, method, float(ratio), split, self.part.seeds)
        if "full" in self.part.methods and split == PAPER:
            self._measure(dataset, "full", 1.0, split, 1)

    def _measure(self, dataset: str, method: str, ratio: float, split: str, seeds: int) -> None:
        """Choose the variant of a method, if that is still open, and train all models on what it gives."""
        options = self.grid.variants.get(method, {"": {}})
        if len(options) > 1:
            for change in options:
                where = Condensation(dataset, method, "true", ratio, change, PAPER)
                self._attempt(where, [Cell(where, CHOOSER, self.grid.variant, 0)], options[change])
        best = choice(self.store.frame, dataset, method, ratio, options)
        if best is None:
            return
        where = Condensation(dataset, method, "true", ratio, best, split)
        pairs = product(self.part.models, range(seeds))
        self._attempt(where, [Cell(where, model, self.grid.variant, seed) for model, seed in pairs], options[best])

    def _attempt(self, where: Condensation, wanted: list[Cell], options: dict[str, Any]) -> None:
        left = [cell for cell in wanted if cell not in self.store]
        self.tally.there += len(wanted) - len(left)
        if not left:
            return
        if self._graph is None or self._loaded != (where.dataset, where.split):
            self._graph = graphs.load(where.dataset, "paper" if where.split == PAPER else int(where.split))
            self._loaded = (where.dataset, where.split)
        run_group(self.grid, self.store, where, left, self._graph, self.tally, changes=options)


def choice(rows: pd.DataFrame, dataset: str, method: str, ratio: float, options: dict[str, Any]) -> str | None:
    """Name the variant of a method with the best validation accuracy; of equals the first, None if none fits.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the leaderboard.
    dataset, method, ratio
        What it is chosen for.
    options : dict
        Variants by name.
    """
    if len(options) == 1:
        return next(iter(options))
    if rows.empty or "validation" not in rows:
        return None
    same = (rows["dataset"] == dataset) & (rows["method"] == method) & (rows["ratio"] == ratio)
    same &= (rows["split"] == PAPER) & (rows["model"] == CHOOSER) & (rows["seed"] == 0) & (rows["status"] == "ok")
    tried = dict(zip(rows[same]["change"], rows[same]["validation"], strict=True))
    known = [name for name in options if name in tried]
    return max(known, key=lambda name: float(tried[name])) if known else None


def measured(rows: pd.DataFrame, grid: Grid) -> Iterator[tuple[str, str, float, str]]:
    """Give every (graph, method, ratio) with the variant that was chosen for it."""
    for dataset in dict.fromkeys(rows["dataset"]):
        for (method, _), ratio in product(grid.methods, dict.fromkeys(sorted(rows["ratio"]))):
            if (method == "full") != (ratio == 1.0):
                continue
            best = choice(rows, dataset, method, ratio, grid.variants.get(method, {"": {}}))
            if best is not None:
                yield dataset, method, ratio, best
