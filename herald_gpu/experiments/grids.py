"""The experiments of the paper, declared: which graphs, methods, ratios, models and seeds each table needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from herald_gpu.errors import ConfigError
from herald_gpu.experiments.cells import Cell, Column, Condensation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RATIOS = (0.0001, 0.005, 0.01, 0.03)
MODELS = ("GCN", "GAT", "GIN", "H2GCN")
HOMOPHILIC = ("cora", "citeseer", "pubmed")
HETEROPHILIC = ("chameleon", "squirrel", "roman-empire", "amazon-ratings")
MOST_FEATURES = 1_000_000
"""More than any graph has: all of them."""
STAND_INS = ("actor", "blogcatalog")
"""Take the place of Roman-empire and Amazon-ratings where those cannot be had; tables say so."""
CONFIRMING = ("amazon-photo", "coauthor-cs", "actor", "blogcatalog")
"""Graphs that nothing was tuned on."""
FULL: tuple[str, Column] = ("full", "true")
FULL_PUBLISHED: tuple[str, Column] = ("full", "published")

ABLATION: dict[str, dict[str, Any]] = {
    "A": {},
    "A1": {"fixed_weights": (0.4, 0.4, 0.2)},
    "A2a": {"fixed_weights": (1.0, 0.0, 0.0)},
    "A2b": {"fixed_weights": (0.0, 1.0, 0.0)},
    "A2c": {"fixed_weights": (0.0, 0.0, 1.0)},
    "A2d": {"fixed_weights": (0.5, 0.5, 0.0)},
    "A3": {"feature_ranking": "tree"},
    "A4": {"node_ranking": "random"},
}
"""Variants of the ablation: whole method, fixed weights, single scores, no LID, tree features, random ranking."""
AXES: dict[str, tuple[float, ...]] = {
    "lid_neighbours": (5, 10, 15, 20, 30),
    "depth": (1, 2, 3, 4),
    "steepness": (2, 4, 8, 12, 16, 24),
    "alpha0": (0.2, 0.3, 0.4, 0.5, 0.6),
}
"""One-at-a-time sweeps; the paper's own values are 10, 2, 8 and 0.4."""


PARTS: dict[str, dict[str, Any]] = {
    "whole": {},
    "landmarks only": {"exemplar_rule": "landmarks"},
    "no landmarks": {"landmarks": False},
    "real edges": {"edges": "real"},
    "real only": {"landmarks": False, "edges": "real"},
    "all features": {"feature_count": MOST_FEATURES},
    "paper's features": {"feature_density": True},
    "graph's storage": {"encoding": "graph"},
    "herding": {"exemplar_rule": "herd"},
    "covering": {"exemplar_rule": "cover"},
    "training shares": {"prior_share": 1.0},
}
"""The default preset with one part changed."""


def sweep() -> dict[str, dict[str, Any]]:
    """Changes of all sweeps by name, such as ``depth=3``."""
    made = {}
    for axis, values in AXES.items():
        for value in values:
            setting: dict[str, Any] = {axis: value}
            if axis == "alpha0":
                setting = {"base_weights": (value, 0.4, 0.2)}
            elif axis == "steepness":
                setting = {axis: float(value)}
            made[f"{axis}={value:g}"] = setting
    return made


def variants() -> dict[str, dict[str, dict[str, Any]]]:
    """Options that each method of the leaderboard is tried with: features, edges, and storage types like ours."""
    columns: dict[str, dict[str, Any]] = {name: {"features": name} for name in ("all", "tree", "fisher")}
    edges = {name: {"links": name} for name in ("induced", "expanded")}
    coded = {"encoding": "auto"}
    picked = {f"{f}, {e}": coded | columns[f] | edges[e] for f, e in product(columns, edges)}
    few = {"fisher 20": {"features": "fisher", "feature_count": 20}}
    rows = {"whole rows": {}, "20 entries": {"top": 20}}
    paper: dict[str, dict[str, Any]] = {
        "all": {"feature_count": MOST_FEATURES},
        "tree": {"feature_ranking": "tree"},
        "fisher": {},
    }
    depths = {"induced": {"depth": 0}, "expanded": {}}
    return {
        **dict.fromkeys(("random", "herding", "kcenter", "bonsai"), picked),
        "gdem": {name: coded | options for name, options in (columns | few).items()},
        "cluster": {f"{f}, {r}": coded | columns[f] | rows[r] for f, r in product(columns, rows)},
        "herald": {f"{f}, {d}": coded | paper[f] | depths[d] for f, d in product(paper, depths)},
    }


@dataclass(frozen=True)
class Grid:
    """One experiment.

    Attributes
    ----------
    name, about : str
    datasets : tuple of str
    methods : tuple of (method, column)
    ratios : tuple of float
    models : tuple of str
        Empty where condensed graphs are described, not trained on.
    seeds : int
        Initialisations of each model.
    changes : dict
        Configurations to compare, by name; one without any change by default.
    training : dict
        Options of :class:`herald_gpu.evaluate.Training` that differ from the paper's. Validation nodes are looked at
        every fifth epoch: on a small condensed graph that look, at the full graph, is nearly all of the work.
    variant : {"standard", "published"}
        Models as the paper's numbers were measured with, so that only the condensed graphs differ.
    splits : tuple of str
        ``paper``, and seeds of others.
    variants : dict
        For each method the options that it is tried with; the best on validation nodes is the one that is measured.
    """

    name: str
    about: str
    datasets: tuple[str, ...]
    methods: tuple[tuple[str, Column], ...]
    ratios: tuple[float, ...] = RATIOS
    models: tuple[str, ...] = MODELS
    seeds: int = 5
    changes: dict[str, dict[str, Any]] = field(default_factory=lambda: {"": {}})
    training: dict[str, Any] = field(default_factory=lambda: {"eval_every": 5})
    variant: Literal["standard", "published"] = "published"
    splits: tuple[str, ...] = ("paper",)
    variants: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)

    def groups(
        self,
        *,
        datasets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        ratios: Sequence[float] | None = None,
        models: Sequence[str] | None = None,
        changes: Sequence[str] | None = None,
        seeds: int | None = None,
        splits: int | None = None,
    ) -> Iterator[tuple[Condensation, list[Cell]]]:
        """Give condensed graphs and the cells that need each; what is named narrows the grid down.

        Graphs and ratios may also be others than the grid's own.

        Raises
        ------
        ConfigError
            If a name is not in the grid, or a number out of its range.
        """
        part = narrowed_to(self, methods=methods, models=models, ratios=ratios, seeds=seeds, splits=splits)
        sides = set(_among("columns", columns, tuple(dict.fromkeys(column for _, column in self.methods))))
        altered = _among("changes", changes, tuple(self.changes))
        for split, dataset in product(part.splits, self.datasets if datasets is None else datasets):
            for method, column in self.methods:
                if method not in part.methods or column not in sides:
                    continue
                if method == "full" and split != self.splits[0]:
                    continue
                settings = altered if method.startswith("herald") else ("",)
                for ratio, change in product((1.0,) if method == "full" else part.ratios, settings):
                    of = Condensation(dataset, method, column, float(ratio), change, split)
                    cells = [
                        Cell(of, model, self.variant, seed) for model, seed in product(part.models, range(part.seeds))
                    ]
                    yield of, cells or [Cell(of)]


@dataclass(frozen=True)
class Narrowed:
    """A part of a grid: methods, models, ratios, how many seeds, and splits."""

    methods: tuple[str, ...]
    models: tuple[str, ...]
    ratios: tuple[float, ...]
    seeds: int
    splits: tuple[str, ...]


def narrowed_to(
    grid: Grid,
    *,
    methods: Sequence[str] | None,
    models: Sequence[str] | None,
    ratios: Sequence[float] | None,
    seeds: int | None,
    splits: int | None,
) -> Narrowed:
    """Give the part of a grid that is asked for.

    Raises
    ------
    ConfigError
        If a name is not in the grid, or a number out of its range.
    """
    _check(ratios, seeds)
    if splits is not None and not 1 <= splits <= len(grid.splits):
        msg = f"splits={splits!r}: {grid.name} has {len(grid.splits)}, pass a number from 1 to that"
        raise ConfigError(msg)
    return Narrowed(
        _among("methods", methods, tuple(dict.fromkeys(method for method, _ in grid.methods))),
        _among("models", models, grid.models),
        grid.ratios if ratios is None else tuple(ratios),
        grid.seeds if seeds is None else seeds,
        grid.splits[:splits],
    )


def _check(ratios: Sequence[float] | None, seeds: int | None) -> None:
    wrong = [ratio for ratio in ratios or () if not 0 < ratio <= 1]
    if wrong:
        msg = f"ratios: {wrong[0]!r} is not in (0, 1]"
        raise ConfigError(msg)
    if seeds is not None and seeds < 1:
        msg = f"seeds={seeds!r}: at least one initialisation is needed"
        raise ConfigError(msg)


def _among(what: str, given: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """Narrow a list down, in its own order."""
    if given is None:
        return known
    unknown = [name for name in given if name not in known]
    if unknown:
        there = f"pass some of {', '.join(name or repr(name) for name in known)}" if known else "it has none"
        msg = f"{what}: {', '.join(unknown)} not in this experiment: {there}"
        raise ConfigError(msg)
    return tuple(name for name in known if name in given)


GRIDS: dict[str, Grid] = {
    grid.name: grid
    for grid in (
        Grid(
            "accuracy",
            "accuracies of all methods on every graph, with averages",
            (*HOMOPHILIC, *HETEROPHILIC, *STAND_INS),
            (
                FULL,
                FULL_PUBLISHED,
                ("random", "true"),
                ("herding", "true"),
                ("kcenter", "true"),
                ("bonsai", "true"),
                ("bonsai", "published"),
                ("gdem", "true"),
                ("cluster", "true"),
                ("herald", "true"),
                ("herald", "published"),
            ),
        ),
        Grid(
            "ablation",
            "the method without one of its parts",
            ("squirrel", "amazon-ratings", "chameleon"),
            (("herald", "true"), ("herald", "published")),
            ratios=(0.005,),
            models=("GCN", "H2GCN"),
            changes=ABLATION,
        ),
        Grid(
            "sensitivity",
            "the method with other constants, one at a time",
            ("cora", "amazon-ratings", "roman-empire", "chameleon", "actor"),
            (("herald", "true"), ("herald", "published")),
            ratios=(0.005,),
            models=("GCN", "H2GCN"),
            changes=sweep(),
        ),
        Grid(
            "statistics",
            "what condensed graphs look like, beside BONSAI's",
            ("roman-empire", "amazon-ratings", "squirrel", "chameleon", "cora", "citeseer", "pubmed", "actor"),
            (FULL, ("bonsai", "true"), ("bonsai", "published"), ("herald", "true"), ("herald", "published")),
            models=(),
        ),
        Grid(
            "large-scale",
            "a generated graph of Reddit's size, features reduced by PCA to 90 % of their variance",
            ("reddit", "reddit-like-1"),
            (FULL, ("random", "true"), ("herding", "true"), ("bonsai", "true"), ("herald", "true")),
            seeds=5,
            changes={"": {}, "pca": {"pca_variance": 0.9}},
            training={"hidden": 1024, "eval_every": 20},
        ),
        Grid(
            "leaderboard",
            "the default preset beside every other method at its best, at equal bytes",
            (*HOMOPHILIC, "chameleon", "squirrel", *CONFIRMING),
            (
                ("herald-default", "true"),
                ("random", "true"),
                ("herding", "true"),
                ("kcenter", "true"),
                ("bonsai", "true"),
                ("cluster", "true"),
                ("gdem", "true"),
                ("herald", "true"),
                FULL,
            ),
            ratios=(0.005, 0.01, 0.03),
            seeds=3,
            training={"eval_every": 20},
            splits=("paper", "1", "2"),
            variants=variants(),
        ),
        Grid(
            "parts",
            "the default preset without one of its parts, on graphs that nothing was tuned on",
            CONFIRMING,
            (("herald-default", "true"),),
            ratios=(0.01,),
            seeds=3,
            changes=PARTS,
            training={"eval_every": 20},
        ),
    )
}
"""Experiments by name."""
