"""reproduce(): run what is missing of an experiment, keep the rows, write its page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.errors import ConfigError
from herald_gpu.experiments import leaderboard, timing
from herald_gpu.experiments.grids import GRIDS
from herald_gpu.experiments.pages import PAGES, write_page
from herald_gpu.experiments.runner import run
from herald_gpu.experiments.store import Store, write

if TYPE_CHECKING:
    import os

    import pandas as pd

    from herald_gpu.experiments.grids import Grid

NAMES = tuple(PAGES)


@dataclass(frozen=True)
class Outcome:
    """What came of an experiment.

    Attributes
    ----------
    name : str
    told : str
        How much was run.
    files : tuple of Path
        The page, its figures and its rows.
    """

    name: str
    told: str
    files: tuple[Path, ...]


def reproduce(
    name: str,
    folder: str | os.PathLike[str],
    *,
    render_only: bool = False,
    parquet: bool = False,
    plan: timing.Plan | None = None,
    **narrowed: Any,  # noqa: ANN401 - as Grid.groups takes them
) -> Outcome:
    """Run what is missing of an experiment, and write its page and figures.

    Parameters
    ----------
    name : str
        One of :data:`NAMES`.
    folder : path-like
        Pages go here, rows to its folder ``data``, figures to ``figures``.
    render_only : bool
        Run nothing.
    parquet : bool
        Write the rows as a Parquet file too.
    plan : Plan, optional
        Sizes of the experiment `complexity`.
    **narrowed
        See :meth:`Grid.groups`; not for `complexity` and `comparison`.

    Raises
    ------
    ConfigError
        If a name is not known, or an option does not belong to the experiment.
    """
    if name not in PAGES:
        msg = f"{name!r} is no experiment: pass one of {', '.join(NAMES)}"
        raise ConfigError(msg)
    _check(name, narrowed, plan)
    data = Path(folder) / "data"
    if name in GRIDS:
        rows, told = _grid(GRIDS[name], data, narrowed, render_only=render_only)
    elif name == "complexity":
        rows, told = _times(data, plan or timing.Plan(), render_only=render_only)
    else:
        rows, told = Store(data / f"{PAGES[name].source}.csv").frame, "nothing to run"
    files = write_page(name, rows, Path(folder))
    if parquet and not PAGES[name].source:
        files.append(data / f"{name}.parquet")
        write(rows, files[-1])
    return Outcome(name, told, tuple(files))


def _check(name: str, narrowed: dict[str, Any], plan: timing.Plan | None) -> None:
    given = [option for option, value in narrowed.items() if value is not None]
    if given and name not in GRIDS:
        msg = f"{given[0]} does not belong to {name}: leave it out"
        raise ConfigError(msg)
    if plan is not None and name != "complexity":
        msg = f"sizes and repeats belong to complexity, not to {name}: leave them out"
        raise ConfigError(msg)


def _grid(grid: Grid, data: Path, narrowed: dict[str, Any], *, render_only: bool) -> tuple[pd.DataFrame, str]:
    store = Store(data / f"{grid.name}.csv")
    play = leaderboard.run if grid.variants else run
    told = "nothing was run" if render_only else str(play(grid, store, **narrowed))
    return store.frame, told


def _times(data: Path, plan: timing.Plan, *, render_only: bool) -> tuple[pd.DataFrame, str]:
    path = data / "complexity.csv"
    told = "nothing was run" if render_only else f"{timing.measure(path, plan)} run"
    return timing.read(path), told


def within(grid: Grid, narrowed: dict[str, Any]) -> dict[str, Any] | None:
    """Narrow options down to what is in a grid; None if nothing of one is left.

    Parameters
    ----------
    grid : Grid
    narrowed : dict
        As :meth:`Grid.groups` takes them.

    Examples
    --------
    >>> within(GRIDS["ablation"], {"datasets": ["cora", "squirrel"], "models": None})
    {'datasets': ['squirrel'], 'models': None}
    """
    known = {
        "datasets": grid.datasets,
        "methods": [method for method, _ in grid.methods],
        "columns": [column for _, column in grid.methods],
        "ratios": grid.ratios,
        "models": grid.models,
        "changes": tuple(grid.changes),
    }
    left = dict(narrowed)
    for option, values in known.items():
        if narrowed.get(option) is None:
            continue
        left[option] = [value for value in narrowed[option] if value in values]
        if not left[option]:
            if option == "models" and not grid.models:  # describes condensed graphs: models do not matter
                left[option] = None
                continue
            return None
    return left
