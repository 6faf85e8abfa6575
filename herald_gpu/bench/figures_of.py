"""The figures that targets are about, from the results of a section: by case, those that were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.bench.clocks import slope

if TYPE_CHECKING:
    from collections.abc import Callable

Cases = dict[str, dict[str, Any]]
GROWING = ("expansion", "pruning", "rebalance")
PUBLISHED = {"cora": 6.9, "citeseer": 6.5, "pubmed": 136.0}
"""Seconds that the published BONSAI code takes, on a busy machine with two cores."""
LARGE = 4e8
"""Bytes: more than the column blocks of Fisher hold at once."""
FEWEST = 3
"""Sizes that an exponent is fitted to at least."""


def field(name: str) -> Callable[[Cases], dict[str, float]]:
    """Give a figure that every case has.

    Examples
    --------
    >>> field("ratio")({"pubmed": {"ratio": 0.5}})
    {'pubmed': 0.5}
    """
    return lambda cases: {case: float(found[name]) for case, found in cases.items()}


def dense_share(cases: Cases) -> dict[str, float]:
    """Largest part of the matrix that was ever dense."""
    return field("dense_share")(cases)


def float64_copy(cases: Cases) -> dict[str, float]:
    """Memory that Fisher takes, over a float64 copy of dense features, or a dense float32 copy of sparse ones.

    Only where such a copy would show: it must be larger than the column blocks that pass by.
    """
    out = {}
    for case, found in cases.items():
        copy = found["float32_bytes"] if found["sparse"] else found["float64_bytes"]
        if copy >= LARGE:
            out[case] = found["grown"] / copy
    return out


def growth_share(cases: Cases) -> dict[str, float]:
    """Share of expansion, pruning and balance in all stages, where there are such.

    Examples
    --------
    >>> growth_share({"a paper": {"stages": {"features": {"seconds": 3.0}, "pruning": {"seconds": 1.0}}}})
    {'a paper': 0.25}
    """
    out = {}
    for case, found in cases.items():
        taken = {name: row["seconds"] for name, row in found["stages"].items()}
        growing = sum(taken.get(name, 0.0) for name in GROWING)
        if growing:
            out[case] = growing / sum(taken.values())
    return out


def stages_over_bare(cases: Cases) -> dict[str, float]:
    """All stages, over the sum of their bare kernels; reading the input is no stage."""
    out = {}
    for case, found in cases.items():
        rows = found["stages"].values()
        out[case] = sum(row["seconds"] for row in rows) / sum(row["bare"] or 0.0 for row in rows)
    return out


def reddit_peak(cases: Cases) -> dict[str, float]:
    """Most bytes resident at once while Reddit's like is condensed, interpreter and input included."""
    return {"condensation": float(cases["condensation"]["peak"])} if "condensation" in cases else {}


def cheaper_than_training(cases: Cases) -> dict[str, float]:
    """Seconds of training, extrapolated from a few epochs, over those of condensing."""
    if not {"condensation", "training"} <= set(cases):
        return {}
    return {"condensation": cases["training"]["seconds"] / cases["condensation"]["seconds"]}


def growth_slope(name: str) -> Callable[[Cases], dict[str, float]]:
    """Exponent of a figure in the number of nodes.

    Examples
    --------
    >>> cases = {str(n): {"seconds": n**1.5} for n in (10, 20, 40)}
    >>> {case: round(value, 6) for case, value in growth_slope("seconds")(cases).items()}
    {'N = 10 to 40': 1.5}
    """

    def fitted(cases: Cases) -> dict[str, float]:
        sizes = sorted(map(int, cases))
        if len(sizes) < FEWEST:
            return {}
        return {f"N = {sizes[0]:,} to {sizes[-1]:,}": slope(sizes, [cases[str(n)][name] for n in sizes])}

    return fitted


def published_over_default(cases: Cases) -> dict[str, float]:
    """Seconds of the published BONSAI code, over those of the default preset on the same graph."""
    found = {name: cases.get(f"{name} default") for name in PUBLISHED}
    return {name: PUBLISHED[name] / case["seconds"] for name, case in found.items() if case is not None}
