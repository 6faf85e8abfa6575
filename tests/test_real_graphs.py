"""Real graphs: the numbers that are known of them, and the promises of every condensation."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from outcomes import assert_same, storage_ratio
from sklearn.model_selection import train_test_split

from herald_gpu import HeraldConfig, condense
from herald_gpu.datasets.files import read_npz
from herald_gpu.stages import scoring

pytestmark = pytest.mark.data

RATIOS = (0.005, 0.01, 0.03, 0.1)
REPEATED = 0.03
COUNTS = {"pubmed": 374, "amazon-photo": 227, "coauthor-cs": 605, "blogcatalog": 439}
"""k* of graphs on which growing the tree takes longest: given, not counted again for every ratio."""
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def graph(data_dir):
    """Give a reader of graphs by name."""
    return functools.cache(lambda name: read_npz(data_dir / f"{name}.npz"))


def training_nodes(n, seed):
    """56 % of the nodes: 70 % of what is left beside the test set. The paper draws with seed 42, BONSAI with 0."""
    rest, _ = train_test_split(np.arange(n), test_size=0.2, random_state=42)
    return np.random.RandomState(seed).choice(rest, int(0.7 * len(rest)), replace=False)


def training_mask(n, seed):
    mask = np.zeros(n, dtype=bool)
    mask[training_nodes(n, seed)] = True
    return mask


def run(g, *, ratio, seed=42, labels=None, **options):
    labels = g.labels if labels is None else labels
    return condense(g.edge_index, g.features, labels, training_mask(len(g.labels), seed), ratio=ratio, **options)


# Known numbers


@pytest.mark.parametrize(
    ("name", "low", "high", "count"),
    [
        ("cora", 0.195, 0.205, 175),
        ("citeseer", 0.26, 0.275, 291),
        ("chameleon", 0.765, 0.775, 204),
        ("squirrel", 0.775, 0.785, 421),
    ],
)
def test_heterophily_and_feature_count(graph, name, low, high, count):
    report = run(graph(name), ratio=0.05, seed=0, config=HeraldConfig.paper()).report
    assert low <= report.heterophily < high
    assert report.feature_count == count


@pytest.fixture(scope="module")
def published(graph):
    """Squirrel as published at three ratios; the tree grows once, and its count serves the others."""
    first = run(graph("squirrel"), ratio=0.01, config=HeraldConfig.published("scaled"))
    config = HeraldConfig.published("scaled", feature_count=first.report.feature_count)
    return {0.01: first, **{ratio: run(graph("squirrel"), ratio=ratio, config=config) for ratio in (0.005, 0.03)}}


@slow
def test_published_squirrel_selects_the_features_of_the_paper(published):
    report = published[0.01].report
    assert round(report.heterophily, 4) == 0.7757
    assert report.feature_count == 432


@slow
@pytest.mark.parametrize("ratio", [0.01, 0.03])
def test_published_squirrel_is_exact(published, ratio):
    report = published[ratio].report
    assert report.n_nodes == 3868
    assert report.n_edges == 262_910 == 2 * 131_455
    assert round(100 * report.published_storage_ratio, 2) == 17.45
    assert any("published accounting does not keep the budget" in warning for warning in report.warnings)


@slow
def test_published_squirrel_at_the_binding_ratio_is_close(published):
    report = published[0.005].report
    assert report.n_nodes == pytest.approx(3643, rel=0.005)
    assert report.n_edges / 2 == pytest.approx(129_755, rel=0.005)
    assert 100 * report.published_storage_ratio == pytest.approx(16.54, rel=0.005)


@slow
def test_the_order_of_ties_explains_the_rest(graph, published, monkeypatch):
    """The published code leaves equal scores as NumPy's unstable sort does, which differs from machine to machine.

    Here they are put into drawn orders instead: the paper's figures lie among those that come out.
    """
    squirrel, config = graph("squirrel"), published[0.01].report.config
    config = replace(config, feature_count=published[0.01].report.feature_count)
    reports = []
    for seed in range(8):
        drawn = np.random.default_rng(seed).permutation(training_nodes(len(squirrel.labels), 42))

        def ranking(backend, graph, score, config, seed, drawn=drawn):  # noqa: ARG001
            return drawn[np.argsort(-score[drawn], kind="stable")]

        monkeypatch.setattr(scoring, "_ranking", ranking)
        reports.append(run(squirrel, ratio=0.005, config=config).report)
    figures = (
        ([report.n_nodes for report in reports], 3643),
        ([report.n_edges / 2 for report in reports], 129_755),
        ([100 * report.published_storage_ratio for report in reports], 16.54),
    )
    for found, paper in figures:
        assert min(found) <= paper <= max(found), found


# Promises


def assert_promises(result, g, ratio):
    report, train = result.report, training_mask(len(g.labels), 42)
    assert storage_ratio(result, g.edge_index, g.features) <= ratio
    assert report.storage_ratio <= ratio
    own = ~result.is_landmark
    ids, labels = result.node_ids[own], result.labels[own]
    inside = train[ids]
    np.testing.assert_array_equal(labels, np.where(inside, g.labels[ids], -1))
    np.testing.assert_array_equal(result.train_mask, np.append(inside, np.ones(report.n_landmarks, dtype=bool)))
    assert report.missing_classes == []
    assert set(np.unique(labels[inside])) == set(np.unique(g.labels[train]))
    classes = np.unique(g.labels[train])
    np.testing.assert_array_equal(result.labels[~own], np.tile(classes, 2)[: report.n_landmarks])
    assert report.n_landmarks in (0, 2 * len(classes))
    linked = result.labels[result.edge_index[:, result.edge_is_synthetic]]
    np.testing.assert_array_equal(linked[0], linked[1])
    used = report.storage_bytes / report.budget_bytes
    told = any(f"only {100 * used:.0f} % of the budget" in warning for warning in report.warnings)
    assert used >= 0.9 or told or report.n_landmarks


GRAPHS = pytest.mark.parametrize("name", ["cora", "citeseer", "chameleon", "squirrel", "actor", "amazon-photo"])


@GRAPHS
def test_every_promise_of_the_default_holds_and_repeats_are_identical(graph, name):
    g = graph(name)
    for ratio in RATIOS:
        result = run(g, ratio=ratio)
        assert_promises(result, g, ratio)
        if ratio == REPEATED:
            assert_same(run(g, ratio=ratio), result)


@GRAPHS
def test_every_promise_of_the_paper_holds_and_repeats_are_identical(graph, name):
    g, count = graph(name), COUNTS.get(name)
    for ratio in RATIOS:
        config = HeraldConfig.paper(feature_count=count)
        result = run(g, ratio=ratio, config=config)
        assert_promises(result, g, ratio)
        if ratio == REPEATED:
            assert_same(run(g, ratio=ratio, config=config), result)
        count = count or result.report.feature_count


@slow
@pytest.mark.parametrize("name", ["pubmed", "coauthor-cs", "blogcatalog"])
def test_every_promise_holds_on_the_largest(graph, name):
    """Nothing before the expansion depends on the ratio: here the four runs repeat each other up to there."""
    g = graph(name)
    first = None
    for ratio in RATIOS:
        result = run(g, ratio=ratio, config=HeraldConfig.paper(feature_count=COUNTS[name]))
        assert_promises(result, g, ratio)
        first = first or result
        np.testing.assert_array_equal(result.feature_ids, first.feature_ids)
        np.testing.assert_array_equal(result.scores, first.scores)


@pytest.mark.parametrize("name", ["cora", "chameleon"])
def test_in_few_bytes_landmarks_teach_most(graph, name):
    g = graph(name)
    report = run(g, ratio=0.01).report
    n_classes = len(np.unique(g.labels))
    assert (report.exemplar_rule, report.n_landmarks) == ("landmarks", 2 * n_classes)
    assert (report.n_nodes, report.n_synthetic_edges) == (3 * n_classes, 2 * n_classes)


@slow
@pytest.mark.parametrize("name", ["pubmed", "coauthor-cs", "blogcatalog"])
def test_every_promise_of_the_default_holds_on_the_largest(graph, name):
    g = graph(name)
    for ratio in RATIOS:
        assert_promises(run(g, ratio=ratio), g, ratio)


@pytest.mark.parametrize("preset", ["default", "paper"])
@pytest.mark.parametrize("name", ["cora", "chameleon"])
def test_test_labels_change_not_one_bit(graph, name, preset):
    g = graph(name)
    config = HeraldConfig() if preset == "default" else HeraldConfig.paper()
    result = run(g, ratio=0.01, config=config)
    outside = ~training_mask(len(g.labels), 42)
    hidden = np.where(outside, -1, g.labels)
    wrong = np.where(outside, (g.labels + 1) % (g.labels.max() + 1), g.labels)
    for labels in (hidden, wrong):
        assert_same(run(g, ratio=0.01, labels=labels, config=config), result)


def test_published_reads_labels_outside_training_and_says_so(graph):
    g = graph("chameleon")
    config = HeraldConfig.published("scaled", feature_count=100)
    hidden = np.where(training_mask(len(g.labels), 42), g.labels, -1)
    one, two = (run(g, ratio=0.001, labels=labels, config=config) for labels in (g.labels, hidden))
    assert one.scores["prototype"].tolist() != two.scores["prototype"].tolist()
    assert (one.labels[~one.train_mask & ~training_mask(len(g.labels), 42)[one.node_ids]] == -1).all()


@slow
def test_the_tree_counts_what_is_given_above(graph):
    report = run(graph("pubmed"), ratio=0.01, config=HeraldConfig.paper()).report
    assert report.feature_count == COUNTS["pubmed"]
