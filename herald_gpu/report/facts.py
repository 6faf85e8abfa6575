"""Tables of the page: what was asked, what came out, how."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from herald_gpu.config import HeraldConfig
from herald_gpu.ratios import percent
from herald_gpu.report.numbers import number, seconds, size
from herald_gpu.report.shapes import Table

if TYPE_CHECKING:
    from herald_gpu.summary import Report

NOT_KNOWN = "not known"
RULES = {
    "landmarks": "landmarks, with one exemplar a class",
    "cover": "exemplars that cover their class",
    "herd": "exemplars that follow the mean of their class",
}


def headlines(report: Report) -> list[tuple[str, str, str]]:
    """The figures to see first: (what, how much, beside what)."""
    width = report.component_count if report.component_count is not None else report.feature_count
    reduced = "" if report.component_count is None else f"components of {report.feature_count:,} features"
    return [
        ("storage", percent(report.storage_ratio), f"{percent(report.requested_ratio)} asked for"),
        ("nodes", number(report.n_nodes), f"{percent(report.node_ratio)} of the full graph"),
        ("directed edges", number(report.n_edges), f"{percent(report.edge_ratio)} of the full graph"),
        ("features", number(width), reduced or f"of {report.before.n_features:,}"),
        ("heterophily", f"{report.heterophily:.3f}", f"homophily {report.homophily:.3f} of 1"),
        ("time", seconds(sum(report.timings.values())), f"on {report.backend}"),
    ]


def outcome(report: Report) -> Table:
    """What was asked and what came out."""
    before, used = report.before, report.storage_bytes / report.budget_bytes if report.budget_bytes else float("nan")
    full = [number(n) for n in (before.n_nodes, before.n_edges, before.n_features, sum(before.class_counts))]
    share = percent(report.feature_count / before.n_features)
    trained = sum(report.class_counts.values())
    share_trained = percent(trained / max(1, sum(before.class_counts)))
    rows = [
        ("Storage asked for", size(report.full_bytes), size(report.budget_bytes), percent(report.requested_ratio)),
        ("Storage", size(report.full_bytes), size(report.storage_bytes), percent(report.storage_ratio)),
        ("Budget used", "", size(report.storage_bytes), f"{percent(used)} of the budget"),
        ("Nodes", full[0], number(report.n_nodes), percent(report.node_ratio)),
        ("Training nodes", full[3], number(trained), share_trained),
        ("Directed edges", full[1], number(report.n_edges), percent(report.edge_ratio)),
        ("Features", full[2], number(report.feature_count), share),
    ]
    if report.component_count is not None:
        rows.append(("Principal components", "", number(report.component_count), ""))
    if report.n_landmarks or report.n_synthetic_edges:
        rows.append(("Landmarks (synthetic nodes)", "", number(report.n_landmarks), ""))
        rows.append(("Synthetic directed edges", "", number(report.n_synthetic_edges), ""))
    if report.published_storage_ratio is not None:
        rows.append(("Storage as published accounts it", "", "", percent(report.published_storage_ratio)))
    return Table("Storage, nodes, edges and features", ("What", "Full graph", "Condensed graph", "Share"), tuple(rows))


def structure(report: Report) -> Table:
    """Figures of the condensed graph beside those of the full one."""
    before = report.before
    mean = f"{before.n_edges / before.n_nodes:.2f}"
    density = f"{before.n_edges / max(1, before.n_nodes * (before.n_nodes - 1)):.3g}"
    return Table(
        "Structure",
        ("What", "Full graph", "Condensed graph"),
        (
            ("Mean degree", mean, f"{report.mean_degree:.2f}"),
            ("Density", density, f"{report.density:.3g}"),
            ("Class entropy of training nodes", _entropy(report), f"{report.class_entropy:.3f}"),
            ("Feature variance, over the training set's", "1", f"{report.feature_variance:.3g}"),
        ),
    )


def _entropy(report: Report) -> str:
    import numpy as np

    counts = np.array([count for count in report.before.class_counts if count], dtype=float)
    return f"{-(counts / counts.sum() * np.log(counts / counts.sum())).sum() + 0.0:.3f}"


def choice(report: Report) -> Table:
    """How nodes were chosen: weights of scores, or exemplars."""
    rows = [("Heterophily (share of edges between classes)", f"{report.heterophily:.3f}")]
    rows.append(("Homophily (1: all edges inside classes, 0: as chance would)", f"{report.homophily:.3f}"))
    if report.weights is not None:
        w = report.weights
        rows += [
            ("Nodes chosen by", "score, with their neighbourhoods"),
            ("Weight of the prototype score", f"{w.alpha:.3f}"),
            ("Weight of the boundary score", f"{w.beta:.3f}"),
            ("Weight of the LID score", f"{w.gamma:.3f}"),
        ]
    else:
        rows.append(("Nodes chosen by", RULES.get(report.exemplar_rule or "", "exemplars")))
        rows.append(("Weights of scores", "none: exemplars are not chosen by a score"))
    if report.lid_search is not None:
        rows.append(("Neighbours for LID", report.lid_search))
    if report.lid_correlation is not None:
        rows.append(
            ("Recall, and rank correlation with exact LID", f"{report.lid_recall:.3f}, {report.lid_correlation:.3f}")
        )
    if report.expansion_depth is not None:
        rows.append(("Hops of the expansion", number(report.expansion_depth)))
    if report.n_scaled:
        rows.append(("Columns of the full graph that were scaled", f"{number(report.n_scaled)} ({report.scale})"))
    rows.append(("Features stored as", report.encoding))
    return Table("Heterophily and weights", ("What", "Value"), tuple(rows))


def trials(report: Report) -> Table | None:
    """What was tried on held-out training nodes."""
    if not report.trials:
        return None
    rows = tuple(
        (number(t["feature_count"]), str(t["rule"]), percent(t["link_share"]), percent(t["score"]))
        for t in report.trials
    )
    if report.majority_share is not None:
        rows = (*rows, ("", "always the largest class", "", percent(report.majority_share)))
    return Table(
        "What was tried, and the share of held-out training nodes it taught to classify",
        ("Features", "Rule", "Linked exemplars", "Right"),
        rows,
    )


def run(report: Report) -> Table:
    """Where and with what it ran."""
    memory = NOT_KNOWN if report.peak_memory_bytes is None else f"{report.peak_memory_bytes / 2**20:,.0f} MiB"
    rows = [("Backend", report.backend), ("Seed", str(report.random_state)), ("Peak memory", memory)]
    return Table("Run", ("What", "Value"), (*rows, *((name, str(value)) for name, value in report.versions.items())))


def options(report: Report) -> Table:
    """Every option of the method, those that differ from the default marked."""
    default = HeraldConfig()
    rows = tuple(
        (field.name, repr(getattr(report.config, field.name)), _default(report.config, default, field.name))
        for field in dataclasses.fields(HeraldConfig)
    )
    return Table("Options", ("Option", "Value", "Default"), rows)


def _default(config: HeraldConfig, default: HeraldConfig, name: str) -> str:
    return "the same" if getattr(config, name) == getattr(default, name) else repr(getattr(default, name))
