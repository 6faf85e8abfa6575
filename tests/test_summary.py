"""The report: every figure that was promised, right, readable, and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from outcomes import RATIO, nominal_bytes, small_graph

import herald_gpu
from herald_gpu import HeraldConfig, Report, condense
from herald_gpu.pipeline import STAGES

GRAPH = small_graph()
PROMISED = (
    *("heterophily", "weights", "feature_count", "requested_ratio", "storage_ratio", "node_ratio", "edge_ratio"),
    *("storage_bytes", "budget_bytes", "class_counts", "class_entropy", "feature_variance", "mean_degree", "density"),
    *("lid_search", "lid_recall", "lid_correlation"),
    *("timings", "peak_memory_bytes", "backend", "versions", "config", "warnings"),
)


def condensed(**options):
    return condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train, **{"ratio": RATIO, **options})


@pytest.fixture(scope="module")
def result():
    return condensed()


@pytest.fixture(scope="module")
def report(result):
    return result.report


@pytest.mark.parametrize("name", PROMISED)
def test_every_promised_figure_is_there(report, name):
    assert hasattr(report, name)
    assert name in report.to_dict()


def test_sizes_are_those_of_the_result(result, report):
    n, edges = result.adjacency.shape[0], result.adjacency.nnz
    assert (report.n_nodes, report.n_edges) == (n, edges)
    assert report.requested_ratio == RATIO
    assert report.storage_kind == "dense"
    assert report.full_bytes == nominal_bytes("dense", GRAPH.features, GRAPH.n_edges)
    assert report.storage_bytes == nominal_bytes("dense", result.features, edges)
    assert report.budget_bytes == int(RATIO * report.full_bytes)
    assert report.storage_ratio == report.storage_bytes / report.full_bytes
    assert report.node_ratio == n / GRAPH.n_nodes
    assert report.edge_ratio == edges / GRAPH.n_edges
    assert report.mean_degree == edges / n
    assert report.density == edges / (n * (n - 1))
    assert report.feature_count == result.features.shape[1]


def test_classes_are_counted_over_labelled_nodes(result, report):
    labels = result.labels[result.labels >= 0]
    values, counts = np.unique(labels, return_counts=True)
    assert report.class_counts == dict(zip(values.tolist(), counts.tolist(), strict=True))
    shares = counts / counts.sum()
    assert report.class_entropy == pytest.approx(-(shares * np.log(shares)).sum())
    assert report.missing_classes == []


def test_feature_variance_is_relative_to_the_training_set(result, report):
    kept = GRAPH.features[:, result.feature_ids].astype(np.float64)
    ours, whole = kept[result.node_ids].var(axis=0), kept[GRAPH.train].var(axis=0)
    assert report.feature_variance == pytest.approx((ours / (whole + 1e-12)).mean())


def test_heterophily_and_weights(report):
    source, target = GRAPH.edge_index
    inside = GRAPH.train[source] & GRAPH.train[target]
    h = (GRAPH.labels[source] != GRAPH.labels[target])[inside].mean()
    assert report.heterophily == pytest.approx(h)
    t = 1 / (1 + np.exp(-8 * (h - 0.4)))
    raw = np.array([0.4, 0.4 * t, 0.2 * (0.5 + 0.5 * t)])
    weights = report.weights
    np.testing.assert_allclose([weights.alpha, weights.beta, weights.gamma], raw / raw.sum())


def test_the_run_is_described(report):
    assert set(report.timings) == {"reading", *STAGES}
    assert all(seconds >= 0 for seconds in report.timings.values())
    assert report.peak_memory_bytes is None or report.peak_memory_bytes > 1e6
    assert report.backend == herald_gpu.get_backend().name
    assert report.versions["herald_gpu"] == herald_gpu.__version__
    assert {"python", "numpy"} <= report.versions.keys()
    assert report.config == HeraldConfig()
    assert report.random_state == 0
    assert report.feature_tree


def test_a_report_is_json_and_comes_back(report):
    text = json.dumps(report.to_dict(), allow_nan=False)
    assert Report.from_dict(json.loads(text), [0, 1, 2]) == report


def test_configurations_come_back_with_their_types():
    config = HeraldConfig.paper(fixed_weights=(1, 2, 3), feature_count=3, pca_variance=0.5)
    report = condensed(config=config).report
    back = Report.from_dict(json.loads(json.dumps(report.to_dict())), [0, 1, 2])
    assert back.config == config
    assert isinstance(back.config.fixed_weights, tuple)


@pytest.mark.parametrize("names", [["x", "y", "z"], [-3, 50, 7000]])
def test_classes_keep_the_callers_values(names):
    labels = np.array(names)[GRAPH.labels]
    report = condense(GRAPH.edge_index, GRAPH.features, labels, GRAPH.train, ratio=RATIO).report
    assert list(report.class_counts) == names
    assert list(report.to_dict()["class_counts"]) == [str(name) for name in names]
    back = Report.from_dict(json.loads(json.dumps(report.to_dict())), names)
    assert list(back.class_counts) == names


def test_the_summary_says_what_matters(report):
    text = str(report)
    lines = text.splitlines()
    assert lines[0].startswith(f"Condensed graph: {report.n_nodes} nodes, {report.n_edges} directed edges")
    for part in (
        f"{report.storage_bytes:,} of {report.full_bytes:,} bytes",
        "40 % asked for",
        f"heterophily  {report.heterophily:.3f}",
        f"prototype {report.weights.alpha:.3f}",
        f"0: {report.class_counts[0]}",
        f"s on {report.backend}",
        *report.warnings,
    ):
        assert part in text
    assert "as published" not in text
    assert "missing" not in text


def test_the_summary_says_what_is_special():
    published = condensed(config=HeraldConfig.published("scaled")).report
    assert f"as published {100 * published.published_storage_ratio:.2f} %" in str(published)
    assert "does not keep the budget" in str(published)
    reduced = condensed(ratio=0.9, config=HeraldConfig(pca_variance=0.5)).report
    assert f"reduced to {reduced.component_count} components" in str(reduced)
    with pytest.raises(herald_gpu.errors.BudgetError) as caught:
        condensed(ratio=1e-9)
    short = condensed(ratio=0.7 * caught.value.smallest_ratio, config=HeraldConfig(on_infeasible="best_effort")).report
    assert f"missing      {', '.join(map(str, short.missing_classes))}" in str(short)


def test_an_unused_budget_is_explained():
    report = condensed(ratio=1.0).report
    assert report.storage_bytes / report.budget_bytes < 0.9
    assert any("of the budget" in warning for warning in report.warnings)


def test_a_report_cannot_be_changed(report):
    with pytest.raises(AttributeError):
        report.heterophily = 0.0


# How neighbours were found


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (HeraldConfig(), None),
        (HeraldConfig(lid="sampled", lid_reference=20), "LID          sampled (20 nodes)"),
        (HeraldConfig(lid="approximate"), "LID          approximate (FAISS HNSW): recall"),
    ],
)
def test_the_search_is_named(config, said):
    report = condensed(config=config, backend="cpu").report
    lines = [line.strip() for line in str(report).splitlines() if line.strip().startswith("LID ")]
    assert lines == [] if said is None else lines[0].startswith(said)
    measured = (report.lid_recall, report.lid_correlation)
    assert (
        all(0 <= share <= 1 for share in measured) if "approximate" in report.lid_search else measured == (None, None)
    )
    again = Report.from_dict(json.loads(json.dumps(report.to_dict())), report.class_counts)
    assert again == report


def test_a_poor_search_is_warned_of(monkeypatch):
    monkeypatch.setattr("herald_gpu.lid.GOOD_CORRELATION", 1.1)
    report = condensed(config=HeraldConfig(lid="approximate"), backend="cpu").report
    assert any("pass lid='exact'" in warning for warning in report.warnings)


@pytest.mark.parametrize(("size", "search"), [(None, "exact"), (40, "sampled")])
def test_reports_from_before_there_was_a_choice(report, size, search):
    plain = json.loads(json.dumps(report.to_dict()))
    for name in ("lid_search", "lid_recall", "lid_correlation"):
        del plain[name]
    for name in ("lid", "feature_tree"):
        del plain["config"][name]
    plain["config"]["lid_reference"] = size
    read = Report.from_dict(plain, report.class_counts)
    assert (read.lid_search, read.lid_recall, read.lid_correlation) == (search, None, None)
    assert read.config.lid == search
    assert read.config.lid_reference == (size or 512)
