"""Several ratios of one graph: the same graphs as one by one, and which one to take."""

from __future__ import annotations

import dataclasses
import logging

import numpy as np
import pandas as pd
import pytest

import herald_gpu
from herald_gpu import HeraldConfig, api, pipeline, search
from herald_gpu.datasets import make_graph, paper_split
from herald_gpu.errors import BudgetError, ConfigError
from herald_gpu.stages import landmarks
from herald_gpu.sweeps import Sweep

RATIOS = (0.02, 0.05, 0.1, 0.3)
PRESETS = {
    "default": HeraldConfig(),
    "small pools": HeraldConfig(smallest_pool=20, feature_count=40),
    "exemplars": HeraldConfig(landmarks=False, edges="real"),
    "paper": HeraldConfig.paper(),
    "scaled": HeraldConfig.published("scaled"),
}
ARRAYS = ("features", "codes", "train_mask", "is_root", "is_landmark", "edge_is_synthetic", "node_ids")


@pytest.fixture(scope="module")
def graph():
    return make_graph(600, n_classes=3, n_features=40, homophily=0.7, seed=3)


@pytest.fixture(scope="module")
def given(graph):
    return graph.edge_index, graph.features, graph.labels, paper_split(600).train


@pytest.fixture(scope="module")
def found(given):
    return herald_gpu.sweep(*given, ratios=RATIOS, backend="cpu")


def dense(value):
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value)


@pytest.mark.parametrize("preset", PRESETS)
def test_graphs_are_those_of_single_calls(given, preset):
    config = PRESETS[preset]
    together = herald_gpu.sweep(*given, ratios=RATIOS, config=config, backend="cpu", random_state=2)
    assert list(together.graphs) == list(RATIOS)
    for ratio, small in together.graphs.items():
        alone = herald_gpu.condense(*given, ratio=ratio, config=config, backend="cpu", random_state=2)
        one, other = small._contents, alone._contents
        for name in ("adjacency", "feature_positions", *ARRAYS):
            np.testing.assert_array_equal(dense(getattr(one, name)), dense(getattr(other, name)), err_msg=name)
        assert one.scores.keys() == other.scores.keys()
        for name, values in one.scores.items():
            np.testing.assert_array_equal(values, other.scores[name], err_msg=name)
        unlike = {"timings", "peak_memory_bytes"}
        plain, wanted = small.report.to_dict(), alone.report.to_dict()
        assert plain.keys() == wanted.keys()
        assert {k: v for k, v in plain.items() if k not in unlike} == {
            k: v for k, v in wanted.items() if k not in unlike
        }
        assert small.report.timings.keys() == alone.report.timings.keys()


def test_pools_that_differ_are_among_the_cases(given, monkeypatch):
    """Small pools make searches take rows of others' pools: without that, sharing them would go untested."""
    sizes = []
    first = search.Search.learn

    def learn(self):
        sizes.append(sum(self.pool.sizes))
        return first(self)

    monkeypatch.setattr(search.Search, "learn", learn)
    herald_gpu.sweep(*given, ratios=RATIOS, config=PRESETS["small pools"], backend="cpu")
    assert len(set(sizes)) > 1
    assert sizes == sorted(sizes, reverse=True)


def test_a_larger_pool_than_before_is_studied_anew(given, monkeypatch):
    def rising(backend, graph, ratios, config, *, seed, shared):
        return original(backend, graph, ratios, config, seed=seed, shared=shared)[::-1]

    original = api.in_turn
    wanted = herald_gpu.sweep(*given, ratios=RATIOS, config=PRESETS["small pools"], backend="cpu")
    monkeypatch.setattr(api, "in_turn", rising)
    turned = herald_gpu.sweep(*given, ratios=RATIOS, config=PRESETS["small pools"], backend="cpu")
    for ratio, small in turned.graphs.items():
        assert small.report.trials == wanted.graphs[ratio].report.trials
        np.testing.assert_array_equal(dense(small._contents.features), dense(wanted.graphs[ratio]._contents.features))


def counted(monkeypatch, home, name):
    calls, function = [], getattr(home, name)

    def count(*given, **options):
        calls.append(name)
        return function(*given, **options)

    monkeypatch.setattr(home, name, count)
    return calls


def test_what_does_not_depend_on_the_ratio_is_done_once(given, monkeypatch):
    lessons = counted(monkeypatch, landmarks, "prepare_lessons")
    hetero = counted(monkeypatch, pipeline, "measure_heterophily")
    herald_gpu.sweep(*given, ratios=RATIOS, backend="cpu")
    assert (len(lessons), len(hetero)) == (1, 1)


def test_the_paper_counts_features_and_scores_nodes_once(given, monkeypatch):
    trees, scores = (counted(monkeypatch, pipeline, name) for name in ("count_features", "score_nodes"))
    herald_gpu.sweep(*given, ratios=RATIOS, config=HeraldConfig.paper(), backend="cpu")
    assert (len(trees), len(scores)) == (1, 1)


def test_the_table(found):
    table = found.table
    assert table["ratio"].tolist() == list(RATIOS)
    assert (table["bytes"] <= table["budget_bytes"]).all()
    report = found.graphs[0.1].report
    row = table[table["ratio"] == 0.1].iloc[0]
    assert (row["nodes"], row["edges"], row["features"]) == (report.n_nodes, report.n_edges, report.feature_count)
    scores = {(one["rule"], one["feature_count"]): one["score"] for one in report.trials}
    assert row["score"] == scores[row["rule"], row["features"]]
    assert report.validation_nodes == paper_split(600).train.sum()
    assert row["score_error"] == pytest.approx((row["score"] * (1 - row["score"]) / report.validation_nodes) ** 0.5)
    assert row["seconds"] == pytest.approx(sum(report.timings.values()))


def test_the_graph_is_read_once(found):
    read = [small.report.timings["reading"] for small in found.graphs.values()]
    assert sum(seconds > 0 for seconds in read) == 1


def test_ratios_are_sorted_and_each_is_taken_once(given):
    found = herald_gpu.sweep(*given, ratios=iter([0.3, 0.1, 0.3]), backend="cpu")
    assert found.table["ratio"].tolist() == [0.1, 0.3]


def test_infeasible_ratios_are_listed(given):
    config = HeraldConfig(feature_count=40, landmarks=False)
    found = herald_gpu.sweep(*given, ratios=[1e-4, 0.2], config=config, backend="cpu")
    assert list(found.graphs) == [0.2]
    with pytest.raises(BudgetError) as alone:
        herald_gpu.condense(*given, ratio=1e-4, config=config, backend="cpu")
    assert str(found.infeasible[1e-4]) == str(alone.value)
    smallest = alone.value.smallest_ratio
    assert found.infeasible[1e-4].smallest_ratio == smallest
    assert f"ratio 0.0001 is infeasible: the smallest feasible ratio is {smallest:.3g}" in str(found)


def test_if_no_ratio_is_feasible_the_nearest_error_is_raised(given):
    config = HeraldConfig(feature_count=40, landmarks=False)
    with pytest.raises(BudgetError, match=r"ratio=(0\.0001|1e-05) allows"):
        herald_gpu.sweep(*given, ratios=[1e-5, 1e-4], config=config, backend="cpu")


def test_a_warning_of_all_ratios_is_told_once(given, caplog):
    edges = np.concatenate([given[0], [[5], [5]]], axis=1)
    with caplog.at_level(logging.WARNING, "herald_gpu"):
        found = herald_gpu.sweep(edges, *given[1:], ratios=[0.1, 0.3], backend="cpu")
    assert [record.getMessage() for record in caplog.records].count("1 self loops dropped") == 1
    assert all("1 self loops dropped" in small.report.warnings for small in found.graphs.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ratios": []}, r"ratios=\[\] is not valid"),
        ({"ratios": 0.1}, "ratios=0.1 is not valid"),
        ({"ratios": [0.1, 1.5]}, "ratio=1.5 is not valid"),
        ({"ratios": ["many"]}, "ratio='many' is not valid"),
        ({"ratio": 0.1}, r"ratio=0.1 is not an argument of sweep: pass ratios=\[...\]"),
        ({"resume": "folder"}, "resume='folder' is not an argument of sweep"),
    ],
)
def test_bad_options_are_refused(given, options, message):
    with pytest.raises(ConfigError, match=message):
        herald_gpu.sweep(*given, backend="cpu", **options)


def test_unknown_options_are_refused(given):
    with pytest.raises(TypeError, match=r"sweep\(\) got an unexpected keyword argument 'ration'"):
        herald_gpu.sweep(*given, ration=[0.1])


# What is recommended.


def scored(found, scores, *, n=400):
    """Give graphs other scores."""
    graphs = {}
    for (ratio, small), value in zip(found.graphs.items(), scores, strict=True):
        report = small.report
        trial = {"feature_count": report.feature_count, "rule": report.exemplar_rule, "link_share": 0.0, "score": value}
        told = dataclasses.replace(report, trials=[trial], validation_nodes=n)
        graphs[ratio] = herald_gpu.CondensedGraph(small._contents, told)
    return Sweep(graphs, {})


def test_the_smallest_within_one_standard_error_is_recommended(found):
    one = scored(found, [0.700, 0.785, 0.800, 0.79])  # one standard error is 0.02
    assert one.recommended == 0.05
    assert one.reason == (
        "Take ratio 0.05: it is the smallest whose trial score, 0.785, is within one standard error "
        "(0.020, of 400 validation nodes) of the best, 0.800 at ratio 0.1."
    )
    assert str(one).endswith(one.reason)


def test_the_best_is_recommended_if_it_is_clearly_ahead(found):
    one = scored(found, [0.70, 0.72, 0.74, 0.80])
    assert one.recommended == 0.3
    assert "no smaller ratio is within one standard error" in one.reason


def test_nothing_is_recommended_below_the_share_of_the_largest_class(found):
    counts = next(iter(found.graphs.values())).report.before.class_counts
    share = max(counts) / sum(counts)
    one = scored(found, [share, share - 0.1, share, share])
    assert one.recommended is None
    assert f"no trial score exceeds the share of the largest class among training nodes, {share:.3f}" in one.reason
    assert scored(found, [share, share, share, share + 0.01]).recommended is not None


def test_without_trials_nothing_is_recommended(given):
    found = herald_gpu.sweep(*given, ratios=[0.1, 0.3], config=HeraldConfig.paper(), backend="cpu")
    assert found.table["score"].isna().all()
    assert found.graphs[0.1].report.validation_nodes is None
    assert found.recommended is None
    assert "makes no trials" in found.reason
    with pytest.raises(ConfigError, match="nothing to draw"):
        found.plot()


def measured(found, validation, test=None):
    rows = {
        ratio: pd.DataFrame({"model": "GCN", "variant": "standard", "validation": seen, "accuracy": asked})
        for ratio, seen, asked in zip(found.graphs, validation, validation if test is None else test, strict=True)
    }
    return dataclasses.replace(found, evaluated=rows)


def test_validation_accuracy_counts_where_it_was_measured(found):
    one = measured(scored(found, [0.9, 0.5, 0.5, 0.5]), [[70, 71], [80, 81], [80, 82], [81, 79]])
    assert one.table["validation"].tolist() == [70.5, 80.5, 81, 80]
    assert one.table["validation_error"].tolist() == pytest.approx([0.5, 0.5, 1.0, 1.0])
    assert one.recommended == 0.05
    assert "81.00 ± 1.00" in str(one)


def test_test_nodes_have_no_say(found):
    validation = [[70, 71], [80, 81], [80, 82], [81, 79]]
    one = measured(found, validation, [[99, 99], [1, 1], [50, 50], [60, 60]])
    assert one.recommended == 0.05
    assert one.table["accuracy"].tolist() == [99, 1, 50, 60]
    assert "validation accuracy" in one.reason


def test_errors_of_several_models_are_combined(found):
    rows = pd.DataFrame(
        {"model": ["GCN", "GCN", "GAT", "GAT"], "variant": "standard", "accuracy": [80.0, 82.0, 70.0, 72.0]}
    ).assign(validation=50.0)
    one = dataclasses.replace(found, evaluated=dict.fromkeys(found.graphs, rows))
    first = one.table.iloc[0]
    assert first["accuracy"] == 76.0
    assert first["accuracy_error"] == pytest.approx(2**0.5 / 2)


def test_one_seed_has_no_standard_error(found):
    one = measured(found, [[70], [79], [81], [80]])
    assert one.table["accuracy_error"].isna().all()
    assert one.recommended == 0.1
    assert "one seed gives no standard error" in one.reason


def test_evaluation_is_that_of_every_graph(found, graph):
    from herald_gpu.evaluate import Training, evaluate

    options = {"split": paper_split(600), "models": ["GCN"], "seeds": 2, "training": Training(epochs=5, hidden=8)}
    one = found.evaluate(graph, device="cpu", **options)
    wanted = evaluate(found.graphs[0.1], graph, device="cpu", **options)
    assert one.table["accuracy"].tolist()[2] == pytest.approx(wanted["accuracy"].mean())
    assert found.evaluated is None


def test_the_plot(found):
    pytest.importorskip("matplotlib")
    one = measured(found, [[70, 71], [79, 80], [81, 82], [80, 79]])
    (axes,) = one.plot().axes
    assert axes.get_xscale() == "log"
    names = axes.get_legend_handles_labels()[1]
    assert sorted(names) == ["recommended", "test accuracy", "trial score"]
    lines = {line.get_label(): line for line in axes.containers}
    np.testing.assert_array_equal(lines["trial score"].lines[0].get_xdata(), one.table["bytes"])
    np.testing.assert_allclose(lines["trial score"].lines[0].get_ydata().astype(float), 100 * one.table["score"])


def test_the_plot_goes_into_given_axes(found):
    figures = pytest.importorskip("matplotlib.figure")
    axes = figures.Figure().subplots()
    assert found.plot(axes) is axes.get_figure()
