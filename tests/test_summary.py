"""The report: every figure that was promised, right, readable, and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from outcomes import HOMOPHILIC, LANDMARKS, RATIO, encoded_bytes, nominal_bytes, small_graph

import herald_gpu
from herald_gpu import HeraldConfig, Report, condense
from herald_gpu.pipeline import COMPILATION, STAGES
from herald_gpu.search import Trial, preferred

GRAPH = small_graph(**HOMOPHILIC)
CONFIGS = {
    "default": HeraldConfig(),
    "linked": HeraldConfig(**LANDMARKS),
    "paper": HeraldConfig.paper(),
}
PROMISED = (
    *("heterophily", "weights", "feature_count", "requested_ratio", "storage_ratio", "node_ratio", "edge_ratio"),
    *("storage_bytes", "budget_bytes", "class_counts", "class_entropy", "feature_variance", "mean_degree", "density"),
    *("lid_search", "lid_recall", "lid_correlation"),
    *("homophily", "exemplar_rule", "trials", "n_landmarks", "n_synthetic_edges", "before"),
    *("timings", "peak_memory_bytes", "backend", "versions", "config", "warnings"),
)


def condensed(**options):
    return condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train, **{"ratio": RATIO, **options})


@pytest.fixture(scope="module", params=CONFIGS)
def result(request):
    return condensed(config=CONFIGS[request.param])


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
    assert report.storage_bytes == encoded_bytes(result)
    if report.config.encoding == "graph":
        assert report.storage_bytes == nominal_bytes("dense", result.features, edges)
    assert report.budget_bytes == int(RATIO * report.full_bytes)
    assert report.storage_ratio == report.storage_bytes / report.full_bytes
    assert report.node_ratio == n / GRAPH.n_nodes
    assert report.edge_ratio == edges / GRAPH.n_edges
    assert report.mean_degree == edges / n
    assert report.density == edges / (n * (n - 1))
    assert report.feature_count == result.features.shape[1]


def test_classes_are_counted_over_labelled_nodes(result, report):
    labels = result.labels[(result.labels >= 0) & ~result.is_landmark]
    values, counts = np.unique(labels, return_counts=True)
    assert report.class_counts == dict(zip(values.tolist(), counts.tolist(), strict=True))
    shares = counts / counts.sum()
    assert report.class_entropy == pytest.approx(-(shares * np.log(shares)).sum())
    assert report.missing_classes == []


def test_feature_variance_is_relative_to_the_training_set(result, report):
    kept = GRAPH.features[:, result.feature_ids].astype(np.float64)
    own = result.node_ids[~result.is_landmark]
    ours, whole = kept[own].var(axis=0), kept[GRAPH.train].var(axis=0)
    assert report.feature_variance == pytest.approx((ours / (whole + 1e-12)).mean())


def heterophily():
    source, target = GRAPH.edge_index
    inside = GRAPH.train[source] & GRAPH.train[target]
    return (GRAPH.labels[source] != GRAPH.labels[target])[inside].mean()


def test_heterophily_and_homophily(report):
    h, shares = heterophily(), np.bincount(GRAPH.labels[GRAPH.train]) / GRAPH.train.sum()
    assert report.heterophily == pytest.approx(h)
    assert report.homophily == pytest.approx(1 - h / (1 - (shares**2).sum()))


def test_synthetic_parts_are_counted(result, report):
    assert report.n_landmarks == result.is_landmark.sum()
    assert report.n_synthetic_edges == result.edge_is_synthetic.sum()
    assert (report.n_landmarks > 0) == (report.n_synthetic_edges > 0) == (report.exemplar_rule is not None)


def test_the_full_graph_is_counted(report):
    before, degrees = report.before, np.bincount(GRAPH.edge_index[0], minlength=GRAPH.n_nodes)
    assert (before.n_nodes, before.n_edges, before.n_features) == (
        GRAPH.n_nodes,
        GRAPH.n_edges,
        GRAPH.features.shape[1],
    )
    assert before.class_counts == tuple(np.bincount(GRAPH.labels[GRAPH.train]).tolist())
    assert before.degrees[:3] == ((degrees == 0).sum(), (degrees == 1).sum(), ((degrees == 2) | (degrees == 3)).sum())
    assert before.largest_degree == degrees.max()
    assert sum(before.variance_ratios) == report.feature_count


def test_trials_are_listed(report):
    if report.config.selection == "neighbourhoods":
        assert (report.exemplar_rule, report.trials) == (None, [])
        return
    assert {tuple(sorted(trial)) for trial in report.trials} == {("feature_count", "link_share", "rule", "score")}
    wanted = report.config.exemplar_rule
    rules = ["landmarks", "cover", "herd"] if wanted == "auto" else [wanted]
    assert [trial["rule"] for trial in report.trials] == rules
    best = report.trials[preferred(tuple(Trial(**trial) for trial in report.trials), int(GRAPH.train.sum()))]
    assert (report.exemplar_rule, report.feature_count) == (best["rule"], best["feature_count"])
    assert all(0 <= trial["score"] <= 1 and 0 <= trial["link_share"] <= 1 for trial in report.trials)


def test_weights_follow_heterophily():
    report, h = condensed(config=CONFIGS["paper"]).report, heterophily()
    t = 1 / (1 + np.exp(-8 * (h - 0.4)))
    raw = np.array([0.4, 0.4 * t, 0.2 * (0.5 + 0.5 * t)])
    weights = report.weights
    np.testing.assert_allclose([weights.alpha, weights.beta, weights.gamma], raw / raw.sum())
    assert condensed().report.weights is None


def test_the_run_is_described(report):
    assert set(report.timings) - {COMPILATION} == {"reading", *STAGES[report.config.selection]}
    assert all(seconds >= 0 for seconds in report.timings.values())
    assert report.peak_memory_bytes is None or report.peak_memory_bytes > 1e6
    assert report.backend == herald_gpu.get_backend().name
    assert report.versions["herald_gpu"] == herald_gpu.__version__
    assert {"python", "numpy"} <= report.versions.keys()
    assert report.config in CONFIGS.values()
    assert report.random_state == 0
    assert (report.feature_tree is None) == (report.config.selection == "exemplars")


def test_the_default_configuration_is_the_default_preset():
    assert condensed().report.config == HeraldConfig()


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
    rules = {
        "landmarks": "landmarks point the way of each class",
        "cover": "exemplars cover their class, best of 3 trials",
        "herd": "exemplars follow the mean of their class, best of 3 trials",
    }
    homophily = f"homophily {report.homophily:.3f} of 1, {rules.get(report.exemplar_rule)}"
    synthetic = f"synthetic    {report.n_landmarks} landmarks, {report.n_synthetic_edges} directed edges"
    assert (synthetic in text) == (report.n_landmarks > 0)
    assert lines[0].startswith(f"Condensed graph: {report.n_nodes} nodes, {report.n_edges} directed edges")
    for part in (
        f"{report.storage_bytes:,} of {report.full_bytes:,} bytes",
        "40 % asked for",
        f"heterophily  {report.heterophily:.3f}",
        homophily if report.weights is None else f"prototype {report.weights.alpha:.3f}",
        f"0: {report.class_counts[0]}",
        f"s on {report.backend}",
        *report.warnings,
    ):
        assert part in text
    assert "as published" not in text
    assert "missing" not in text


def test_the_summary_says_what_is_special():
    published = condensed(config=HeraldConfig.published("scaled")).report
    assert f"as published {100 * published.published_storage_ratio:.3g} %" in str(published)
    assert "does not keep the budget" in str(published)
    reduced = condensed(ratio=0.9, config=HeraldConfig.paper(pca_variance=0.5)).report
    assert f"reduced to {reduced.component_count} components" in str(reduced)
    with pytest.raises(herald_gpu.errors.BudgetError) as caught:
        condensed(ratio=1e-9)
    short = condensed(ratio=0.7 * caught.value.smallest_ratio, config=HeraldConfig(on_infeasible="best_effort")).report
    assert f"missing      {', '.join(map(str, short.missing_classes))}" in str(short)


def test_a_budget_that_holds_empty_nodes_alone_is_told():
    features = np.zeros((40, 8), dtype=np.float32)
    features[::4, :] = 1.0  # the others have no feature, and cost nothing
    edges, labels = np.array([[0, 4, 8], [4, 8, 12]]), np.arange(40) % 2
    report = condense(edges, features, labels, np.arange(40) % 4 > 0, ratio=1e-9, config=HeraldConfig.paper()).report
    assert report.storage_bytes == report.budget_bytes == 0
    assert "100.0 % of the budget used" in str(report)
    assert any("no model can learn" in warning for warning in report.warnings)


@pytest.mark.parametrize("name", CONFIGS)
def test_an_unused_budget_is_explained(name):
    report = condensed(ratio=1.0, config=CONFIGS[name]).report
    assert report.storage_bytes / report.budget_bytes < 0.9
    told = any("of the budget" in warning for warning in report.warnings)
    assert told != (report.exemplar_rule == "landmarks")  # which are expected to take few bytes


def test_a_report_cannot_be_changed(report):
    with pytest.raises(AttributeError):
        report.heterophily = 0.0


# How neighbours were found


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (HeraldConfig.paper(), None),
        (HeraldConfig.paper(lid="sampled", lid_reference=20), "LID          sampled (20 nodes)"),
        (HeraldConfig.paper(lid="approximate"), "LID          approximate (FAISS IVF): recall"),
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
    report = condensed(config=HeraldConfig.paper(lid="approximate"), backend="cpu").report
    assert any("pass lid='exact'" in warning for warning in report.warnings)
