"""Run the cells of a grid that are not there yet."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import BudgetError, DatasetError, HeraldError
from herald_gpu.experiments import graphs
from herald_gpu.experiments.cells import KEY
from herald_gpu.experiments.condensers import Made, make
from herald_gpu.experiments.fingerprints import fingerprint
from herald_gpu.experiments.provenance import origin
from herald_gpu.experiments.quiet import hushed

if TYPE_CHECKING:
    from herald_gpu.datasets import LabelledGraph
    from herald_gpu.experiments.cells import Cell, Condensation
    from herald_gpu.experiments.grids import Grid
    from herald_gpu.experiments.store import Store

logger = logging.getLogger("herald_gpu")
TAKEN = ("accuracy", "validation", "epoch", "n_nodes", "n_edges", "n_features")


@dataclass
class Tally:
    """How many cells were run, were there already, do not fit in their budget, failed, or lack their data."""

    done: int = 0
    there: int = 0
    infeasible: int = 0
    failed: int = 0
    without_data: int = 0

    def __str__(self) -> str:
        parts = {
            "run": self.done,
            "there already": self.there,
            "below the smallest feasible ratio": self.infeasible,
            "failed": self.failed,
            "without their data": self.without_data,
        }
        return ", ".join(f"{count} {what}" for what, count in parts.items() if count) or "nothing to do"


def run(grid: Grid, store: Store, **narrowed: Any) -> Tally:  # noqa: ANN401 - as Grid.groups takes them
    """Run what is missing of a grid, condensed graph by condensed graph.

    Rows are written after every model, so that whatever stops a run loses little; the next one goes on there.

    Parameters
    ----------
    grid : Grid
    store : Store
    **narrowed
        See :meth:`Grid.groups`.
    """
    tally, graph = Tally(), None
    missing: set[str] = set()
    for of, cells in grid.groups(**narrowed):
        wanted = [cell for cell in cells if cell not in store]
        tally.there += len(cells) - len(wanted)
        if not wanted:
            continue
        if of.dataset in missing:
            tally.without_data += len(wanted)
            continue
        if graph is None or graph.name != of.dataset:
            try:
                graph = graphs.load(of.dataset)
            except DatasetError as error:
                logger.warning("%s is left out: %s", of.dataset, error)
                missing.add(of.dataset)
                tally.without_data += len(wanted)
                continue
        run_group(grid, store, of, wanted, graph, tally, changes=grid.changes.get(of.change, {}))
    return tally


def run_group(
    grid: Grid,
    store: Store,
    of: Condensation,
    wanted: list[Cell],
    graph: LabelledGraph,
    tally: Tally,
    *,
    changes: dict[str, Any],
) -> None:
    """Condense a graph once and train what is wanted on it.

    Parameters
    ----------
    grid, store, tally
        The experiment, where its rows go, and what was done so far.
    of : Condensation
    wanted : list of Cell
    graph : LabelledGraph
    changes : dict
        Options of the method.
    """
    logger.info("%s: %d cells", of, len(wanted))
    try:
        with hushed():
            made = make(of, graph, changes)
    except BudgetError as error:
        facts = {"status": "infeasible", "smallest_ratio": error.smallest_ratio, **origin()}
        store.add((cell, facts) for cell in wanted)
        tally.infeasible += len(wanted)
        return
    except HeraldError as error:  # the other cells need not wait for this one
        logger.warning("%s failed: %s", of, error)
        tally.failed += len(wanted)
        return
    if not grid.models:
        store.add((cell, made.facts | {"status": "ok"}) for cell in wanted)
    if grid.models:
        made.facts["fingerprint"] = fingerprint(made)
    for model in dict.fromkeys(cell.model for cell in wanted if cell.model):
        cells = [cell for cell in wanted if cell.model == model]
        rows = [(cell, known | made.facts) for cell in cells if (known := _known(store, cell, made))]
        left = [cell for cell in cells if cell not in dict(rows)]
        rows += _train(grid, made, graph, left) if left else []
        store.add(rows)
        logger.info("%s %s: %s", of, model, ", ".join(f"{facts['accuracy']:.2f}" for _, facts in rows))
    tally.done += len(wanted)


def _known(store: Store, cell: Cell, made: Made) -> dict[str, Any] | None:
    """What the same model gave, from the same seed, on an equal graph of another ratio; None if there was none.

    Training is deterministic, so that this is what it would give again.
    """
    rows = store.frame
    if "fingerprint" not in rows or made.graph == "full":
        return None
    same = (rows["fingerprint"] == made.facts["fingerprint"]) & (rows["status"] == "ok")
    for name in ("dataset", "split", "model", "variant", "seed"):
        same &= rows[name] == dict(zip(KEY, cell.key, strict=True))[name]
    if not same.any():
        return None
    found: dict[str, Any] = rows[same].iloc[0].to_dict()
    return {name: found[name] for name in (*TAKEN, "train_seconds", "status")}


def _train(grid: Grid, made: Made, graph: LabelledGraph, cells: list[Cell]) -> list[tuple[Cell, dict[str, Any]]]:
    """Train one model from several seeds."""
    from herald_gpu.evaluate import Training, evaluate

    rows = evaluate(
        made.graph,
        graph,
        models=[cells[0].model],
        variant=grid.variant,
        seeds=[cell.seed for cell in cells],
        training=Training(**grid.training),
        graph_as=made.graph_as,
        scaled=made.scaled and made.graph == "full",
    )
    found = []
    for cell, row in zip(cells, rows.to_dict("records"), strict=True):
        facts = {name: row[name] for name in TAKEN} | {"train_seconds": row["seconds"]}
        found.append((cell, facts | made.facts | {"status": "ok"}))
    return found
