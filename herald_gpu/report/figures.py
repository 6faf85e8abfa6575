"""The figures of a condensed graph, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from herald_gpu.ratios import percent
from herald_gpu.report.evaluation import accuracy_figure
from herald_gpu.report.numbers import cut, nice_ticks, number, seconds, shares, size
from herald_gpu.report.shapes import Bars, Columns, Series, Table
from herald_gpu.report.storage import full_parts, parts
from herald_gpu.stages.survey import DEGREE_BINS, RATIO_BINS, degree_bin

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from herald_gpu.report.shapes import Figure
    from herald_gpu.result import Contents
    from herald_gpu.summary import Report

SCORE_BINS = 40
SCORES = {
    "prototype": "how much a node looks like its class",
    "boundary": "share of its labelled neighbours that are of other classes",
    "lid": "local intrinsic dimension",
    "score": "weighted sum of the three, from 0 to 1",
}
FULL, CONDENSED = "full graph", "condensed graph"


def figures(contents: Contents, report: Report, rows: pd.DataFrame | None = None) -> list[Figure]:
    """All figures that can be drawn of a condensed graph, but for the drawing of the graph itself.

    Parameters
    ----------
    contents : Contents
        On the host.
    report : Report
    rows : pandas.DataFrame, optional
        What `evaluate` gave.
    """
    found: list[Figure] = [class_balance(report), *scores(contents), degrees(contents, report)]
    found += [variances(report), storage(contents, report), timings(report)]
    return found if rows is None else [*found, accuracy_figure(rows)]


def class_balance(report: Report) -> Bars:
    """Training nodes by class, before and after."""
    names = tuple(str(value) for value in report.class_counts)
    before, after = report.before.class_counts, tuple(report.class_counts.values())
    series = (Series(FULL, "before", shares(before)), Series(CONDENSED, "after", shares(after)))
    texts = tuple(tuple(number(count) for count in counts) for counts in (before, after))
    rows = zip(names, texts[0], _told(series[0]), texts[1], _told(series[1]), strict=True)
    least, most = min(after, default=0), max(after, default=0)
    return Bars(
        key="classes",
        title="Class balance",
        description=(
            f"Training nodes by class, in percent of all training nodes. The condensed graph has from {least:,} to "
            f"{most:,} per class (entropy {report.class_entropy:.3f}); landmarks are not counted."
        ),
        categories=tuple(cut(name) for name in names),
        series=series,
        axis="training nodes, %",
        texts=texts,
        table=Table(
            "Training nodes by class", ("Class", "Full graph", "Share", "Condensed graph", "Share"), tuple(rows)
        ),
    )


def _told(series: Series) -> tuple[str, ...]:
    return tuple(percent(value / 100) for value in series.values)  # noqa: PD011 - of a dataclass


def positions(contents: Contents) -> np.ndarray:
    """Rows of kept nodes in the table of scores; -1 for landmarks, and for all if there are no scores."""
    if not contents.scores:
        return np.full(len(contents.is_landmark), -1)
    import pandas as pd

    found = pd.Index(contents.scores["node"]).get_indexer(pd.Index(contents.node_ids))
    return np.where(contents.is_landmark, -1, found)


def scores(contents: Contents) -> Iterator[Columns]:
    """Distributions of scores over all nodes, and over kept ones; roots are marked."""
    rows = positions(contents)
    kept, roots = rows[rows >= 0], rows[(rows >= 0) & contents.is_root]
    for name, meaning in SCORES.items():
        values = contents.scores.get(name)
        if values is None or not np.isfinite(values).any():
            continue
        finite = values[np.isfinite(values)]
        edges = np.histogram_bin_edges(finite, SCORE_BINS)
        low, span = float(edges[0]), float(edges[-1] - edges[0])
        of_kept, of_roots = (part[np.isfinite(part)] for part in (values[kept], values[roots]))
        counts = [np.histogram(part, edges)[0] for part in (finite, of_kept)]
        quartiles = [np.percentile(part, [25, 50, 75]) if len(part) else None for part in (finite, of_kept, of_roots)]
        said = {"lid": "LID", "score": "combined"}.get(name, name)
        yield Columns(
            key=name,
            title=f"{said[0].upper()}{said[1:]} score",
            description=(
                f"Distribution of the {said} score ({meaning}) over all {len(finite):,} "
                f"nodes{_median(quartiles[0])} and over the {len(of_kept):,} kept ones{_median(quartiles[1])}. "
                f"Ticks below the axis are the {len(of_roots):,} nodes chosen for their own sake."
            ),
            series=(
                Series("all nodes", "before", shares(counts[0])),
                Series("kept nodes", "after", shares(counts[1])),
            ),
            n_bins=SCORE_BINS,
            ticks=tuple((SCORE_BINS * (t - low) / span, f"{t:g}") for t in nice_ticks(low, low + span)),
            axis=meaning,
            marks=tuple((SCORE_BINS * (of_roots - low) / span).tolist()),
            marks_name="chosen for their own sake",
            table=Table(
                f"Quartiles of the {said} score",
                ("Nodes", "Number", "Lower quartile", "Median", "Upper quartile"),
                tuple(
                    (who, number(len(part)), *(("none",) * 3 if q is None else tuple(f"{v:.4g}" for v in q)))
                    for who, part, q in zip(
                        ("all nodes", "kept nodes", "chosen for their own sake"),
                        (finite, of_kept, of_roots),
                        quartiles,
                        strict=True,
                    )
                ),
            ),
        )


def _median(quartiles: np.ndarray | None) -> str:
    return "" if quartiles is None else f" (median {quartiles[1]:.4g})"


def degrees(contents: Contents, report: Report) -> Columns:
    """Nodes by degree, before and after."""
    own = np.diff(contents.adjacency.indptr)
    before = report.before
    counts = {FULL: np.array(before.degrees), CONDENSED: np.bincount(degree_bin(own), minlength=DEGREE_BINS)}
    largest = {FULL: before.largest_degree, CONDENSED: int(own.max(initial=0))}
    mean = {FULL: before.n_edges / before.n_nodes, CONDENSED: report.mean_degree}
    shown = 1 + max(int(np.flatnonzero(values).max(initial=0)) for values in counts.values())
    labels = [_degree_label(i) for i in range(shown)]
    words = " and ".join(f"{mean[name]:.2f} in the {name} (at most {largest[name]:,})" for name in counts)
    return Columns(
        key="degrees",
        title="Degrees",
        description=f"Nodes by number of neighbours, in percent of the nodes of each graph. The mean is {words}.",
        series=tuple(
            Series(name, "before" if name == FULL else "after", shares(values[:shown]))
            for name, values in counts.items()
        ),
        n_bins=shown,
        ticks=tuple((i + 0.5, label) for i, label in enumerate(labels)),
        axis="neighbours",
        table=Table(
            "Nodes by number of neighbours",
            ("Neighbours", *(name.capitalize() for name in counts)),
            tuple((label, *(number(v[i]) for v in counts.values())) for i, label in enumerate(labels)),
        ),
    )


def _degree_label(place: int) -> str:
    if place <= 1:
        return str(place)
    low, high = 2 ** (place - 1), 2**place - 1
    return f"{_short(low)}+" if place == DEGREE_BINS - 1 else f"{_short(low)}-{_short(high)}"


def _short(value: int) -> str:
    return str(value) if value < 1024 else f"{value // 1024}k"  # noqa: PLR2004 - a power of two


def variances(report: Report) -> Columns:
    """Kept features by how their variance changed."""
    counts, middle = np.array(report.before.variance_ratios), RATIO_BINS // 2
    bounds = [2.0 ** ((i - middle - 0.5) / 2) for i in range(RATIO_BINS + 1)]
    within = percent(counts[middle - 2 : middle + 3].sum() / max(1, counts.sum()))
    rows = [
        ("less" if i == 0 else f"{bounds[i]:.3g}", "more" if i == RATIO_BINS - 1 else f"{bounds[i + 1]:.3g}", number(c))
        for i, c in enumerate(counts)
    ]
    ticks = ((i, 2.0 ** ((i - middle) / 2)) for i in range(1, RATIO_BINS - 1) if (i - middle) % 4 == 0)
    return Columns(
        key="variances",
        title="Feature variance",
        description=(
            "Kept features by their variance in the condensed graph over that in the training set, on a logarithmic "
            f"axis; 1 is no change. The mean is {report.feature_variance:.3g}; {within} of the features lie between "
            f"{bounds[middle - 2]:.2g} and {bounds[middle + 3]:.2g}. The outermost bars hold all beyond, such as "
            "features that do not vary at all."
        ),
        series=(Series("kept features", "after", shares(counts)),),
        n_bins=RATIO_BINS,
        ticks=tuple((i + 0.5, f"{v:g}" if v >= 1 else f"1/{1 / v:g}") for i, v in ticks),
        axis="variance over that in the training set",
        table=Table("Kept features by variance over that in the training set", ("From", "To", "Features"), tuple(rows)),
        share_of="features",
    )


def storage(contents: Contents, report: Report) -> Bars:
    """Where the bytes went, before and after."""
    ours, whole = parts(contents, report), full_parts(report)
    names = tuple(dict.fromkeys([*whole, *ours]))
    graphs = {FULL: whole, CONDENSED: ours}
    counts = {who: np.array([found.get(name, 0) for name in names]) for who, found in graphs.items()}
    free = report.budget_bytes - report.storage_bytes
    left = f"the budget has room for {free:,} more" if free >= 0 else f"{-free:,} more than the budget"
    return Bars(
        key="storage",
        title="Where the bytes went",
        description=(
            f"Parts of each graph in percent of its own storage: {size(report.storage_bytes)} condensed "
            f"({left}), {size(report.full_bytes)} before."
        ),
        categories=names,
        series=tuple(Series(who, "before" if who == FULL else "after", shares(found)) for who, found in counts.items()),
        axis="own storage, %",
        texts=tuple(tuple(number(int(v)) for v in found) for found in counts.values()),
        table=Table(
            "Bytes by part",
            ("Part", *(f"{who.capitalize()}, bytes" for who in counts)),
            (
                *((name, *(number(int(v[i])) for v in counts.values())) for i, name in enumerate(names)),
                ("all", *(number(int(v.sum())) for v in counts.values())),
            ),
        ),
    )


def timings(report: Report) -> Bars:
    """Seconds of every stage."""
    names, values = tuple(report.timings), tuple(report.timings.values())
    total = sum(values)
    slowest = max(report.timings, key=report.timings.__getitem__, default="nothing")
    told = tuple(seconds(value) for value in values)
    return Bars(
        key="timings",
        title="Stage timings",
        description=f"Seconds of each stage, {seconds(total)} in all on {report.backend}; most went to {slowest}.",
        categories=names,
        series=(Series("seconds", "after", values),),
        axis="seconds",
        texts=(told,),
        table=Table(
            "Seconds by stage", ("Stage", "Seconds"), (*zip(names, told, strict=True), ("all", seconds(total)))
        ),
    )
