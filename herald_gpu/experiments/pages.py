"""The pages of results: each is made of stored rows alone, so that it can be written anew anywhere."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import MissingDependencyError
from herald_gpu.experiments import figures
from herald_gpu.experiments.ablation import ablation_page
from herald_gpu.experiments.agreement import agreement_page
from herald_gpu.experiments.comparison import comparison_page
from herald_gpu.experiments.complexity import complexity_page
from herald_gpu.experiments.grids import GRIDS
from herald_gpu.experiments.large import large_page
from herald_gpu.experiments.markdown import complete
from herald_gpu.experiments.parts import parts_page
from herald_gpu.experiments.sensitivity import sensitivity_page
from herald_gpu.experiments.standings import chosen_rows, leaderboard_page
from herald_gpu.experiments.statistics import statistics_page
from herald_gpu.experiments.tables import accuracy_page
from herald_gpu.io.atomic import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

logger = logging.getLogger("herald_gpu")


@dataclass(frozen=True)
class Page:
    """How a page is made.

    Attributes
    ----------
    write : callable
        Rows in, Markdown out.
    rerun : str
        Options of ``herald reproduce`` for one cell of it.
    source : str
        The experiment whose rows it is made of, where that is another.
    """

    write: Callable[[pd.DataFrame], str]
    rerun: str
    source: str = ""


PAGES = {
    "accuracy": Page(accuracy_page, "--datasets cora --methods herald --ratios 0.01 --models GCN --seeds 1"),
    "ablation": Page(ablation_page, "--datasets squirrel --columns published --changes A2b --models GCN --seeds 1"),
    "sensitivity": Page(sensitivity_page, "--datasets cora --columns true --changes depth=3 --models GCN --seeds 1"),
    "statistics": Page(statistics_page, "--datasets squirrel --methods herald --columns published --ratios 0.005"),
    "large-scale": Page(
        large_page, "--datasets reddit-like-0.05 --methods herald --changes pca --ratios 0.01 --models GCN --seeds 1"
    ),
    "complexity": Page(complexity_page, "--sizes nodes=2000 --repeats 1"),
    "comparison": Page(comparison_page, "", source="accuracy"),
    "agreement": Page(agreement_page, "", source="accuracy"),
    "leaderboard": Page(
        leaderboard_page, "--datasets cora --methods herald-default --ratios 0.01 --models GCN --seeds 1 --splits 1"
    ),
    "parts": Page(parts_page, "--datasets actor --changes whole --models GCN --seeds 1"),
}
"""By the name of the experiment."""


def write_page(name: str, rows: pd.DataFrame, folder: Path) -> list[Path]:
    """Write ``NAME.md`` and its figures; gives the files.

    Parameters
    ----------
    name : str
    rows : pandas.DataFrame
        Of the experiment.
    folder : Path
        Where pages are; figures go to its folder ``figures``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text, drawn = PAGES[name].write(rows), []
    try:
        drawn = figures.draw(name, rows, folder / "figures")
    except MissingDependencyError as error:
        logger.warning("no figures: %s", error)
    shown = [f"![{caption}](figures/{path.name})\n" for caption, path in drawn if path.suffix == ".png"]
    if shown:
        text += "\n".join(["\n## Figures\n", *shown])
    page = folder / f"{name}.md"
    with whole_file(page, overwrite=True) as beside:
        beside.write_text(f"{text}\n{footer(name, rows)}", encoding="utf-8")
    return [page, *(path for _, path in drawn)]


def footer(name: str, rows: pd.DataFrame) -> str:
    """Say what was run, where, and how to run one cell of it again."""
    lines = ["## Where this comes from\n"]
    if name in GRIDS and len(rows):
        lines.append(f"- {coverage(name, rows)}")
        if GRIDS[name].models:
            lines.append(f"- {protocol(name)}")
    for column, what in (("machine", "Machine"), ("libraries", "Libraries"), ("version", "herald-gpu")):
        found = dict.fromkeys(rows[column].dropna()) if column in rows else ()
        lines += [f"- {what}: {value}" for value in found if value]
    source = PAGES[name].source or name
    if len(rows):  # else there is no such file yet
        lines.append(f"- Rows: [data/{source}.csv](data/{source}.csv)")
    if rerun := PAGES[name].rerun:
        lines.append("\nTo run one cell again, into a folder of its own:\n")
        lines.append(f"```sh\nherald reproduce {name} {rerun} --output again\n```\n")
    else:
        lines.append(f"\nTo write this page again:\n\n```sh\nherald reproduce {name}\n```\n")
    return "\n".join(lines)


def protocol(name: str) -> str:
    """Say how models were trained.

    Examples
    --------
    >>> print(protocol("accuracy"))
    200 epochs, 128 hidden units; of every 5th epoch, the weights with the best validation accuracy are kept.
    """
    from herald_gpu.evaluate import Training

    used = Training(**GRIDS[name].training)
    return (
        f"{used.epochs} epochs, {used.hidden} hidden units; of every {used.eval_every}th epoch, the weights with the "
        "best validation accuracy are kept."
    )


def coverage(name: str, rows: pd.DataFrame) -> str:
    """Say how much of a grid is there.

    Parameters
    ----------
    name : str
    rows : pandas.DataFrame
    """
    from herald_gpu.experiments.store import keys

    wanted: list[tuple[Any, ...]] = [cell.key for _, cells in GRIDS[name].groups() for cell in cells]
    if GRIDS[name].variants:
        there = set(keys(chosen_rows(complete(rows)).assign(change="")))
        tried = len(rows) - len(there)
        text = f"{len(there & set(wanted)):,} of the {len(wanted):,} cells of this experiment"
        return f"{text}, and {tried:,} that chose among variants of a method."
    there = set(keys(rows))
    of_grid = sum(key in there for key in wanted)
    text = f"{of_grid:,} of the {len(wanted):,} cells of this experiment"
    more = len(there) - of_grid
    impossible = int((rows["status"] == "infeasible").sum())
    if more:
        text += f", and {more:,} besides"
    return f"{text}; {impossible:,} of them below the smallest feasible ratio." if impossible else f"{text}."
