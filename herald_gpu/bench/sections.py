"""The sections of the benchmark, and the cases of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from herald_gpu.bench.cases import Case

if TYPE_CHECKING:
    from collections.abc import Callable

RATIO = 0.01
BASE: dict[str, Any] = {"n_nodes": 10_000, "n_features": 128, "mean_degree": 10.0}
AXES: dict[str, tuple[float, ...]] = {
    "n_nodes": (5000, 10_000, 20_000, 40_000),
    "mean_degree": (5.0, 10.0, 20.0, 40.0, 80.0),
    "n_features": (32, 64, 128, 256, 512),
}
"""Sizes that are varied one at a time; edges are nodes times mean degree."""
PRESETS = ("default", "paper")
REAL = ("cora", "citeseer", "chameleon", "squirrel", "actor", "amazon-photo")
LARGER = ("pubmed", "coauthor-cs")
DENSE = {"n_nodes": 20_000, "n_features": 300, "mean_degree": 10.0}
WORDS = {"features": "bag_of_words", "mean_words": 50.0}
GROWTH = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000)
PEERS = ("default", "paper", "bonsai", "plain")
EPOCHS = 200
QUICK: dict[str, Any] = {"n_nodes": 600, "n_features": 32, "mean_degree": 6.0, "n_classes": 3}


@dataclass(frozen=True)
class Section:
    """A part of the benchmark.

    Attributes
    ----------
    about : str
        What it measures, in one line.
    cases : callable
        Whether sizes are small in, cases out.
    """

    about: str
    cases: Callable[[bool], list[Case]]


def axis_case(axis: str, value: float) -> str:
    """Name a case of the grid.

    Examples
    --------
    >>> axis_case("n_nodes", 5000)
    'n_nodes=5000'
    """
    return f"{axis}={value:.9g}"


def _stages(quick: bool) -> list[Case]:  # noqa: FBT001 - as all sections
    base, axes = (QUICK, {"n_nodes": (300, 600)}) if quick else (BASE, AXES)
    ratio, repeats = (0.1, 1) if quick else (RATIO, 3)
    specs: dict[str, dict[str, Any]] = {
        axis_case(axis, value): {**base, axis: value} for axis, values in axes.items() for value in values
    }
    if not quick:
        specs |= {name: {"dataset": name} for name in REAL}
    return _both(specs, ratio, repeats)


def _pipeline(quick: bool) -> list[Case]:  # noqa: FBT001
    if quick:
        return _both({"generated": QUICK}, 0.1, 1)
    specs: dict[str, dict[str, Any]] = {"generated": DENSE} | {name: {"dataset": name} for name in LARGER}
    return _both(specs, RATIO, 3)


def _both(specs: dict[str, dict[str, Any]], ratio: float, repeats: int) -> list[Case]:
    options = {"ratio": ratio, "repeats": repeats}
    return [
        Case(f"{name} {preset}", "stages:stages", {"spec": spec, "preset": preset, **options})
        for name, spec in specs.items()
        for preset in PRESETS
    ]


def _lid_dense(quick: bool) -> list[Case]:  # noqa: FBT001
    n, f = (600, 32) if quick else (20_000, 300)
    return [Case(f"N={n}, F={f}", "lid:dense", {"n_rows": n, "n_features": f, "repeats": 1 if quick else 5})]


def _lid_sparse(quick: bool) -> list[Case]:  # noqa: FBT001
    if quick:
        return [Case("generated", "lid:sparse", {"spec": QUICK | WORDS | {"mean_words": 4.0}, "repeats": 1})]
    return [Case(name, "lid:sparse", {"spec": {"dataset": name}, "repeats": 3}) for name in LARGER]


def _fisher(quick: bool) -> list[Case]:  # noqa: FBT001
    if quick:
        return [Case("generated", "features:fisher", {"spec": QUICK, "repeats": 1})]
    specs: dict[str, dict[str, Any]] = {name: {"dataset": name} for name in LARGER}
    specs["generated, 100,000 x 602"] = {"n_nodes": 100_000, "n_features": 602, "mean_degree": 20.0}
    return [Case(name, "features:fisher", {"spec": spec, "repeats": 3}) for name, spec in specs.items()]


def _feature_count(quick: bool) -> list[Case]:  # noqa: FBT001
    if quick:
        return [Case("generated", "features:feature_count", {"spec": QUICK, "ratio": 0.1, "repeats": 1})]
    reddit = {"n_nodes": 232_965, "n_features": 602, "n_classes": 41, "mean_degree": 10.0}
    specs = {"pubmed": {"dataset": "pubmed"}, "generated, 130,460 x 602 rows": reddit}
    return [
        Case(name, "features:feature_count", {"spec": spec, "ratio": RATIO, "repeats": 3 if name == "pubmed" else 1})
        for name, spec in specs.items()
    ]


def _first_result(quick: bool) -> list[Case]:  # noqa: FBT001
    made = {"n_nodes": 600 if quick else 2708, "n_features": 24, "n_classes": 7}
    cases = [Case("generated, CSV", "first:first_result", {"spec": made, "repeats": 1 if quick else 5})]
    if quick:
        return cases
    return [Case("cora", "first:first_result", {"spec": {"dataset": "cora"}, "repeats": 5}), *cases]


def _memory(quick: bool) -> list[Case]:  # noqa: FBT001
    words = {"n_nodes": 100_000, "n_features": 5000, "mean_degree": 10.0, **WORDS}
    dense = {"n_nodes": 200_000, "n_features": 300, "mean_degree": 20.0}
    specs: dict[str, tuple[dict[str, Any], str]] = {
        "dense, 200,000 x 300, default": (dense, "default"),
        "sparse, 100,000 x 5,000, default": (words, "default"),
        "coauthor-cs default": ({"dataset": "coauthor-cs"}, "default"),
        "coauthor-cs paper": ({"dataset": "coauthor-cs"}, "paper"),
        "dense, 20,000 x 300, paper": (DENSE, "paper"),
    }
    if quick:
        specs = {"generated default": (QUICK, "default"), "generated paper": (QUICK, "paper")}
    options = {"ratio": 0.1 if quick else RATIO, "repeats": 1}
    return [Case(n, "whole:whole", {"spec": spec, "preset": preset, **options}) for n, (spec, preset) in specs.items()]


def _approximate(quick: bool) -> list[Case]:  # noqa: FBT001
    n, f = (3000, 32) if quick else (200_000, 300)
    return [Case(f"N={n}, F={f}", "lid:approximate", {"n_rows": n, "n_features": f})]


def _reddit(quick: bool) -> list[Case]:  # noqa: FBT001
    name, hidden = ("reddit-like-0.02", 32) if quick else ("reddit-like-1", 1024)
    spec = {"dataset": name}
    training = {"spec": spec, "hidden": hidden, "epochs": 2, "extrapolated": EPOCHS}
    return [
        Case("condensation", "whole:reddit", {"spec": spec, "ratio": RATIO}),
        Case("training", "training:gcn", training),
    ]


def _growth(quick: bool) -> list[Case]:  # noqa: FBT001
    counts, base = ((300, 600, 1200), QUICK) if quick else (GROWTH, BASE)
    options = {"preset": "default", "ratio": 0.1 if quick else RATIO, "repeats": 1 if quick else 3}
    return [Case(f"{n}", "whole:whole", {"spec": {**base, "n_nodes": n}, **options}) for n in counts]


def _presets(quick: bool) -> list[Case]:  # noqa: FBT001
    specs: dict[str, dict[str, Any]] = {name: {"dataset": name} for name in (*REAL, *LARGER)}
    specs = {"generated": QUICK} if quick else specs
    options = {"ratio": 0.1, "repeats": 1} if quick else {"ratio": RATIO, "repeats": 3}
    return [Case(name, "whole:presets", {"spec": spec, **options}) for name, spec in specs.items()]


def _peers(quick: bool) -> list[Case]:  # noqa: FBT001
    specs: dict[str, dict[str, Any]] = {name: {"dataset": name} for name in ("cora", "citeseer", "pubmed")}
    specs = {"generated": QUICK} if quick else specs
    ratio = 0.1 if quick else RATIO
    repeats = dict.fromkeys(PEERS, 1) | {"default": 1 if quick else 5}  # the one that is judged, and the quickest
    return [
        Case(
            f"{name} {method}",
            "peers:peer",
            {"spec": spec, "method": method, "ratio": ratio, "repeats": repeats[method]},
        )
        for name, spec in specs.items()
        for method in PEERS
    ]


SECTIONS: dict[str, Section] = {
    "lid-dense": Section(
        "exact LID of dense rows beside the full product of the matrix with its transpose", _lid_dense
    ),
    "lid-sparse": Section("exact LID of sparse rows as they are, and made dense first", _lid_sparse),
    "fisher": Section("multi-hop Fisher beside its bare sparse products", _fisher),
    "feature-count": Section("the default preset's number of features beside the deep tree's", _feature_count),
    "pipeline": Section("both presets on larger graphs, stage by stage beside bare kernels", _pipeline),
    "first-result": Section("`herald condense` from its start to its end", _first_result),
    "presets": Section("the default preset beside the paper's, on real graphs", _presets),
    "memory": Section("most memory held at once, beside input and kept features", _memory),
    "approximate": Section("LID through an index beside exact LID", _approximate),
    "growth": Section("time and memory of the default preset as a graph grows", _growth),
    "peers": Section("both presets beside our BONSAI and the plain recipe", _peers),
    "reddit": Section("a generated graph of Reddit's size, beside training a GCN on it", _reddit),
    "stages": Section("every stage beside its bare kernel, sizes varied one at a time, and on real graphs", _stages),
}
"""In the order they are run: the short ones first."""
