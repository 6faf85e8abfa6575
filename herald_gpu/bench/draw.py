"""Figures of the benchmark: cost against N, E and F on logarithmic scales, and growth of time and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.bench.figures_of import growth_slope
from herald_gpu.experiments.figures import style

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from herald_gpu.bench.figures_of import Cases
    from herald_gpu.bench.results import Results

AXES = {
    "n_nodes": ("nodes", "nodes N"),
    "mean_degree": ("edges", "directed edges E"),
    "n_features": ("features", "features F"),
}
"""By what is varied: the size it changes, and its name."""
SHORTEST = 1e-3
"""Seconds: parts that never take as long are left out of figures."""
GIGA = 1e9


def draw(results: Results, folder: Path) -> list[tuple[str, Path]]:
    """Draw what there is, as PNG and SVG; gives captions and files.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    stages, growth = (_measured(results.cases(name)) for name in ("stages", "growth"))
    with style.settings():
        made = [*(drawn for preset in ("default", "paper") for drawn in _stages(stages, preset)), *_growth(growth)]
        return [saved for drawn in made for saved in style.save(drawn, folder)]


def _measured(cases: Cases) -> Cases:
    return {name: found for name, found in cases.items() if not {"skipped", "failed"} & set(found)}


def points(cases: Cases, preset: str, axis: str) -> list[tuple[int, dict[str, float]]]:
    """Sizes along an axis with the seconds of every part of a stage, rising.

    Examples
    --------
    >>> row = {"sizes": {"nodes": 5}, "stages": {"budget": {"seconds": 0.5}}}
    >>> points({"n_nodes=5 paper": row, "cora paper": row}, "paper", "n_nodes")
    [(5, {'budget': 0.5})]
    """
    size, _ = AXES[axis]
    found = [
        (case["sizes"][size], {stage: row["seconds"] for stage, row in case["stages"].items()})
        for name, case in cases.items()
        if name.startswith(f"{axis}=") and name.endswith(f" {preset}")
    ]
    return sorted(found, key=lambda point: point[0])


def _stages(cases: Cases, preset: str) -> Iterator[style.Drawn]:
    there = {axis: found for axis in AXES if len(found := points(cases, preset, axis)) > 1}
    if not there:
        return
    every = [taken for found in there.values() for _, taken in found]
    shown = [stage for stage in every[0] if max(taken.get(stage, 0.0) for taken in every) >= SHORTEST]
    made, axes = style.panels(1, len(there), width=3.6, height=3.8, sharey=True)
    for (axis, found), one in zip(there.items(), axes, strict=True):
        _scales(one, [size for size, _ in found])
        for number, stage in enumerate(shown):
            _line(one, [size for size, _ in found], [taken.get(stage, 0.0) for _, taken in found], number, stage)
        _line(one, [size for size, _ in found], [sum(taken.values()) for _, taken in found], -1, "all stages")
        one.set_xlabel(AXES[axis][1])
    axes[0].set_ylabel("median seconds")
    style.legend(made, axes, columns=2 if len(there) == 1 else 4)
    yield style.Drawn(f"bench-stages-{preset}", f"Seconds of each stage, preset {preset}, one size varied", made)


def _growth(cases: Cases) -> Iterator[style.Drawn]:
    sizes = sorted(map(int, cases))
    if len(sizes) < 2:  # noqa: PLR2004 - a line has two ends
        return
    made, axes = style.panels(1, 2, width=4.0, height=3.6)
    figures = {"seconds": ("median seconds", 1.0), "taken": ("GB, input included", GIGA)}
    for (name, (title, scale)), one in zip(figures.items(), axes, strict=True):
        values = [cases[str(size)][name] / scale for size in sizes]
        _scales(one, sizes)
        exponent = "".join(f", exponent {value:.2f}" for value in growth_slope(name)(cases).values())
        _line(one, sizes, values, 0, f"default preset{exponent}")
        ends = [values[0], values[0] * sizes[-1] / sizes[0]]
        one.plot([sizes[0], sizes[-1]], ends, color=style.GREY, linestyle=":", label="in proportion to N")
        one.set_xlabel("nodes N")
        one.set_ylabel(title)
        one.legend(loc="upper left")
    yield style.Drawn("bench-growth", "Time and memory of the default preset as a graph grows", made)


def _scales(axes: Any, values: list[int]) -> None:  # noqa: ANN401 - of matplotlib
    axes.set(xscale="log", yscale="log")
    axes.set_xticks(values, [f"{value:,}" for value in values], rotation=30)
    axes.set_xticks([], minor=True)


def _line(axes: Any, sizes: list[int], values: list[float], number: int, label: str) -> None:  # noqa: ANN401 - of matplotlib
    again = number >= len(style.CYCLE)
    colour = style.GREY if number < 0 else style.CYCLE[number % len(style.CYCLE)]
    axes.plot(
        sizes,
        values,
        color=colour,
        marker="" if number < 0 else style.MARKERS[number % len(style.MARKERS)],  # all together: no stage of its own
        markerfacecolor="white" if again else colour,
        linestyle="--" if again else "-",
        linewidth=2.2 if number < 0 else 1.4,
        label=label,
    )
