"""Tables of the sections, in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from herald_gpu.bench.figures_of import PUBLISHED, growth_slope
from herald_gpu.bench.sections import PEERS
from herald_gpu.experiments.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from herald_gpu.bench.figures_of import Cases

    Column = tuple[str, str, Callable[[float], str]]

MEGA, GIGA = 1e6, 1e9
WHOLE = 100.0
"""Seconds from which no fractions are told."""


def section_table(name: str, cases: Cases) -> str:
    """Write the table of a section.

    Examples
    --------
    >>> print(section_table("first-result", {"cora": {"seconds": 1.5, "first": 9.0, "kernels_cached": 12}}))
    | case | seconds | first run, s | kernels on disk |
    |---|--:|--:|--:|
    | cora | 1.50 | 9.00 | 12 |
    <BLANKLINE>
    """
    if not cases:
        return ""
    return WRITERS[name](cases) if name in WRITERS else _plain(name, cases)


def _plain(name: str, cases: Cases) -> str:
    columns = COLUMNS[name]
    rows = [[case, *(write(found[key]) for _, key, write in columns)] for case, found in cases.items()]
    return table(["case", *(title for title, _, _ in columns)], rows)


def secs(value: float) -> str:
    """Seconds to three digits.

    Examples
    --------
    >>> secs(1234.5), secs(1.5), secs(0.001234), secs(0.0)
    ('1,234', '1.50', '0.00123', '0')
    """
    return f"{value:,.0f}" if value >= WHOLE or value == 0 else f"{value:#.3g}"


def times(value: float) -> str:
    """A ratio."""
    return f"{value:.2f} x"


def mega(value: float) -> str:
    """Millions."""
    return f"{value / MEGA:,.0f}"


def giga(value: float) -> str:
    """Billions."""
    return f"{value / GIGA:.3g}"


def share(value: float) -> str:
    """Percent."""
    return f"{100 * value:.1f} %"


def correlation(value: float) -> str:
    """A correlation."""
    return f"{value:.3f}"


def count(value: float) -> str:
    """A whole number."""
    return f"{value:,.0f}"


COLUMNS: dict[str, tuple[Column, ...]] = {
    "lid-dense": (
        *(("LID, s", "lid", secs), ("N x N product, s", "gemm", secs), ("ratio", "ratio", times)),
        *(("GFLOP of the product", "flops", giga), ("memory, MB", "grown", mega)),
    ),
    "lid-sparse": (
        *(("rows", "rows", count), ("features", "features", count), ("LID, s", "lid", secs)),
        *(("densified, s", "densified", secs), ("ratio", "ratio", times), ("memory, MB", "grown", mega)),
        ("largest dense part", "dense_share", share),
    ),
    "fisher": (
        *(("Fisher, s", "fisher", secs), ("products, s", "products", secs), ("ratio", "ratio", times)),
        *(("memory, MB", "grown", mega), ("X in float64, MB", "float64_bytes", mega)),
    ),
    "feature-count": (
        *(("rows", "rows", count), ("features", "features", count), ("search, s", "search", secs)),
        *(("number given, s", "given", secs), ("tree, s", "tree", secs)),
        *(("ratio", "ratio", times), ("kept by the search", "count", count)),
        ("by the tree", "tree_count", count),
    ),
    "first-result": (
        *(("seconds", "seconds", secs), ("first run, s", "first", secs)),
        ("kernels on disk", "kernels_cached", count),
    ),
    "presets": (
        *(("default preset, s", "default", secs), ("paper preset, s", "paper", secs), ("ratio", "ratio", times)),
    ),
    "memory": (
        *(("seconds", "seconds", secs), ("memory, GB", "taken", giga), ("input, GB", "input", giga)),
        *(("kept features, GB", "kept", giga), ("besides, GB", "excess", giga)),
    ),
    "approximate": (
        *(("exact, s", "exact", secs), ("approximate, s", "approximate", secs)),
        *(("faster", "speedup", times), ("rank correlation", "spearman", correlation)),
    ),
}
"""Title, key and format of each column."""


def stage_rows(cases: Cases) -> str:
    """Every stage of every case, and their sums."""
    lines = []
    for case, found in cases.items():
        rows = found["stages"]
        total = {key: sum(row[key] or 0.0 for row in rows.values()) for key in ("seconds", "bare", "flops", "bytes")}
        total["peak"] = max(row["peak"] for row in rows.values())
        for number, (stage, row) in enumerate([*rows.items(), ("all stages", total)]):
            lines.append([case if number == 0 else "", stage, *_figures(row)])
        lines.append(["", "reading the input", secs(found["reading"]), *([""] * 5)])
    return table(
        ["case", "stage", "seconds", "bare kernel, s", "ratio", "GFLOP", "GB moved", "peak, MB"], lines, left=2
    )


def _figures(row: dict[str, Any]) -> list[str]:
    bare = row["bare"]
    head = [secs(row["seconds"]), "" if bare is None else secs(bare), times(row["seconds"] / bare) if bare else ""]
    work = ["" if row[key] is None else giga(row[key]) for key in ("flops", "bytes")]
    return [*head, *work, mega(row["peak"])]


def growth_rows(cases: Cases) -> str:
    """Seconds and memory by number of nodes, and their exponents."""
    lines = [
        [f"{int(case):,}", secs(found["seconds"]), giga(found["taken"]), giga(found["input"])]
        for case, found in sorted(cases.items(), key=lambda item: int(item[0]))
    ]
    slopes = [list(growth_slope(name)(cases).values()) for name in ("seconds", "taken")]
    if all(slopes):
        lines.append(["exponent", *(f"{value:.2f}" for (value,) in slopes), ""])
    return table(["nodes", "seconds", "memory, GB", "input, GB"], lines)


def peer_rows(cases: Cases) -> str:
    """One line a graph, one column a method."""
    graphs = list(dict.fromkeys(case.rpartition(" ")[0] for case in cases))
    head = ["graph", "default preset, s", "paper preset, s", "our BONSAI, s", "plain recipe, s", "published BONSAI, s"]
    lines = []
    for name in graphs:
        own = [cases.get(f"{name} {method}") for method in PEERS]
        published = PUBLISHED.get(name)
        cells = ["" if found is None else secs(found["seconds"]) for found in own]
        lines.append([name, *cells, "" if published is None else secs(published)])
    note = "The last column is what others measured, on a busy machine with two cores; all others are of this run.\n"
    return f"{table(head, lines)}\n{note}"


def reddit_rows(cases: Cases) -> str:
    """Stages of the condensation, and the training beside it."""
    parts = []
    if found := cases.get("condensation"):
        s = found["sizes"]
        parts.append(
            f"{s['nodes']:,} nodes, {s['edges']:,} directed edges, {s['features']} dense float32 features, "
            f"{s['classes']} classes, generated. {secs(found['seconds'])} s, {giga(found['peak'])} GB at most, "
            f"of which {giga(found['input'])} GB are the input.\n"
        )
        lines = [
            [stage, secs(taken), giga(found["work"][stage]["flops"]), giga(found["work"][stage]["bytes"])]
            for stage, taken in found["timings"].items()
        ]
        parts.append(table(["stage", "seconds", "GFLOP", "GB moved"], lines))
    if trained := cases.get("training"):
        parts.append(
            f"A GCN with {trained['hidden']} hidden units takes {secs(trained['epoch'])} s an epoch on the whole graph "
            f"(median of {trained['epochs']}); {trained['of']} epochs, extrapolated from those, "
            f"{secs(trained['seconds'])} s.\n"
        )
    return "\n".join(parts)


WRITERS: dict[str, Callable[[Cases], str]] = {
    "stages": stage_rows,
    "pipeline": stage_rows,
    "growth": growth_rows,
    "peers": peer_rows,
    "reddit": reddit_rows,
}
