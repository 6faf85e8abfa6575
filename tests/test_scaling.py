"""Scaled features from the front door to the models: found, priced, stored, applied once; and loud where it fails."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from support.crew import Here
from support.sameness import assert_same_graph

import herald_gpu
from herald_gpu import HeraldConfig, condense
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.budget import SCALING_BYTES
from herald_gpu.datasets import make_graph
from herald_gpu.datasets.splits import rest_split
from herald_gpu.distributed.front import condense_collections
from herald_gpu.errors import ConfigError
from herald_gpu.io.read import Columns
from herald_gpu.report.storage import parts

GRAPH = make_graph(600, n_classes=3, n_features=7, homophily=0.7, class_imbalance=0.2, signal=3.0, seed=1)
SHARES = 1 / (1 + np.exp(-GRAPH.features))
INCOME = np.random.default_rng(0).lognormal(10, 1, size=(600, 1))
TABLE = np.concatenate([SHARES, INCOME], axis=1).astype(np.float32)
FLOAT = HeraldConfig(encoding="float32")


def run(x=TABLE, **options):
    options = {"ratio": 0.1, "backend": "cpu", **options}
    return condense(GRAPH.edge_index, x, GRAPH.labels, GRAPH.train, **options)


def best(small):
    return max(trial["score"] for trial in small.report.trials)


@pytest.fixture(scope="module")
def scaled():
    return run(config=FLOAT)


def test_one_column_that_rules_the_others_is_found(caplog):
    with caplog.at_level(logging.WARNING):
        ruled, found = run(scale="none"), run()
    assert best(ruled) <= ruled.report.majority_share < 0.5
    assert best(found) > 0.8
    loud, note = ruled.report.warnings[-1], found.report.warnings[-1]
    assert "is no better than always answering the largest class" in loud
    assert "8 of 8 columns were standardized" in note
    assert not any("largest class" in text for text in found.report.warnings)
    assert {loud, note} <= {record.getMessage() for record in caplog.records}
    assert loud in str(ruled)
    assert (ruled.report.scale, ruled.report.n_scaled) == ("none", 0)
    assert (found.report.scale, found.report.n_scaled) == ("auto", 8)
    assert "8 of 8 columns scaled (auto)" in str(found)


def test_the_page_says_so(tmp_path):
    for name, scale, wanted in (("ruled", "none", "no better than always answering"), ("found", "auto", "8 (auto)")):
        run(scale=scale).to_html(tmp_path / f"{name}.html")
        page = (tmp_path / f"{name}.html").read_text()
        assert wanted in page
        assert "always the largest class" in page


def test_auto_changes_nothing_where_columns_are_alike():
    one, other = run(SHARES, scale="auto"), run(SHARES, scale="none")
    assert (one.features == other.features).all()
    assert (one.node_ids == other.node_ids).all()
    assert (one.adjacency != other.adjacency).nnz == 0
    assert one._contents.scaling is None
    assert one.report.storage_bytes == other.report.storage_bytes


@pytest.mark.parametrize("scale", ["auto", "standard", "robust"])
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix, pd.DataFrame])
def test_transform_gives_what_was_condensed(scale, container, tmp_path):
    x = container(TABLE)
    small = run(x, scale=scale, config=FLOAT)
    small.save(tmp_path / "small.herald")
    real = ~np.asarray(small.is_landmark)
    for one in (small, herald_gpu.CondensedGraph.load(tmp_path / "small.herald")):
        found, held = (_plain(part) for part in (one.transform(x), one.features))
        assert (found[np.asarray(one.node_ids)[real]] == held[real]).all()
        assert all(part.dtype == np.float32 for part in one._contents.scaling)


def _plain(x):
    return x.toarray() if hasattr(x, "toarray") else np.asarray(x)


def test_sparse_stays_sparse_and_zeros_stay_zeros():
    rng = np.random.default_rng(0)
    categories = np.eye(12, dtype=np.float32)[rng.integers(0, 12, 600)]
    counts = (rng.poisson(0.1, (600, 20)) * 3).astype(np.float32)
    x = scipy.sparse.csr_matrix(np.concatenate([categories, counts, TABLE[:, -1:]], axis=1))
    small = run(x, config=HeraldConfig(encoding="float32", exemplar_rule="cover", feature_count=33), scale="auto")
    assert (small.report.storage_kind, small.report.n_scaled) == ("sparse", 1)
    whole = small.transform(x)
    assert scipy.sparse.issparse(whole)
    assert scipy.sparse.issparse(small.features)
    assert (whole[:, :32] != x[:, :32]).nnz == 0
    last = whole[:, [32]].toarray()
    assert abs(last.mean()) < 1e-3
    assert last.std() == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("scale", ["auto", "standard", "robust"])
@pytest.mark.parametrize("config", [HeraldConfig(), HeraldConfig.paper(feature_count=8)], ids=["default", "paper"])
def test_backends_scale_alike(backend, scale, config):
    found, wanted = run(config=config, scale=scale, backend=backend), run(config=config, scale=scale)
    assert (found.node_ids == wanted.node_ids).all()
    assert (found.features == wanted.features).all()
    for one, other in zip(found._host.scaling, wanted._contents.scaling, strict=True):
        assert (one == other).all()
    assert found.report.storage_bytes == wanted.report.storage_bytes


def test_models_are_tested_on_features_that_were_scaled_once():
    inputs = pytest.importorskip("herald_gpu.evaluate.inputs", reason="torch is not installed")
    full = pytest.importorskip("herald_gpu.evaluate.full", reason="torch is not installed")
    split = rest_split(GRAPH.train, np.ones(600, dtype=bool))
    whole = SimpleNamespace(edge_index=GRAPH.edge_index, features=TABLE, labels=GRAPH.labels)
    small = run(config=FLOAT)
    read = inputs.read_small(small, full.read_full(whole, split))
    assert (read.full_features == small.transform(TABLE)).all()
    assert np.abs(read.full_features.mean(axis=0)).max() < 1e-3


@pytest.mark.parametrize("ratio", [0.03, 0.05, 0.1, 0.5])
@pytest.mark.parametrize(
    "config", [HeraldConfig(), HeraldConfig(exemplar_rule="landmarks"), FLOAT, HeraldConfig.paper()]
)
def test_centers_and_spreads_are_priced(ratio, config):
    small = run(ratio=ratio, config=config)
    plain = run(ratio=ratio, config=config, scale="none")
    report, width = small.report, len(small.feature_ids)
    assert report.full_bytes == plain.report.full_bytes  # of the graph as it was given
    assert report.storage_bytes <= report.budget_bytes
    named = parts(small._host, report)
    assert named["centers and spreads of features"] == SCALING_BYTES * width
    features = small._host.features[: int((~small.is_landmark).sum())]
    bytes_of_rows = small._contents.encoding.bytes_of_rows(np.count_nonzero(features, axis=1) * 1.0, width)
    assert named["features of nodes"] == bytes_of_rows.sum()


@pytest.mark.parametrize("storage", ["sparse", "dense"])
def test_the_full_graph_is_priced_as_it_was_given(storage):
    x = TABLE.copy()
    x[::3, 0] = 0
    config = HeraldConfig(storage=storage)
    one, other = run(x, config=config), run(x, config=config, scale="none")
    assert one.report.n_scaled == 8
    assert one.report.full_bytes == other.report.full_bytes


def test_components_of_scaled_features_keep_the_budget():
    small = run(ratio=0.5, config=HeraldConfig.paper(pca_variance=0.9))
    assert small.report.component_count is not None
    assert small.report.storage_bytes <= small.report.budget_bytes
    assert sum(parts(small._host, small.report).values()) == small.report.storage_bytes
    real = np.asarray(small.node_ids)
    np.testing.assert_allclose(small.transform(TABLE)[real], small.features, atol=1e-4)


def test_the_published_preset_ignores_auto():
    config = HeraldConfig.published("scaled", feature_count=4)
    one, other = run(config=config), run(config=config, scale="none")
    assert_same_graph(one, other)
    assert (one.report.scale, one.report.n_scaled) == ("none", 0)
    with pytest.raises(ConfigError, match="scale='standard' is not for the published accounting"):
        run(config=config, scale="standard")


@pytest.mark.parametrize("scale", ["auto", "standard"])
@pytest.mark.parametrize("config", [HeraldConfig(), HeraldConfig.paper()], ids=["default", "paper"])
@pytest.mark.parametrize("bounds", [(0, 600), (0, 1, 250, 251, 600)])
def test_partitions_are_scaled_alike(scale, config, bounds):
    graph = (da.from_array(GRAPH.edge_index), da.from_array(TABLE, chunks=(170, -1)), GRAPH.labels, GRAPH.train)
    options = {"columns": Columns(), "unlabelled": -1, "output_type": "input", "seed": 0, "backend": "cpu"}
    crew = Here(CpuBackend())
    found = condense_collections(graph, 0.1, config=config, scale=scale, crew=crew, bounds=bounds, **options)
    wanted = run(config=config, scale=scale)
    assert_same_graph(found, wanted)
    assert found.report.storage_bytes == wanted.report.storage_bytes
    assert found.report.full_bytes == wanted.report.full_bytes
    assert found.report.warnings == wanted.report.warnings
    assert (found.report.scale, found.report.n_scaled) == (scale, wanted.report.n_scaled)
    assert (found.transform(TABLE) == wanted.transform(TABLE)).all()


def test_quartiles_of_partitions_are_refused():
    graph = (da.from_array(GRAPH.edge_index), da.from_array(TABLE), GRAPH.labels, GRAPH.train)
    with pytest.raises(ConfigError, match="scale='robust' is not there for Dask collections"):
        condense(*graph, scale="robust", backend="cpu")


def told(caplog, call):
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        call()
    return [record.getMessage() for record in caplog.records]


def test_features_as_they_were_condensed_are_not_doubted(scaled, caplog):
    rows = [TABLE, TABLE[:10], TABLE[np.argsort(INCOME[:, 0])[:50]], TABLE[GRAPH.labels == 0], TABLE[:3] * 1e6]
    assert told(caplog, lambda: [scaled.transform(x) for x in rows]) == []
    plain = run(SHARES)
    assert told(caplog, lambda: plain.transform(SHARES)) == []
    words = make_graph(800, n_features=400, features="bag_of_words", mean_words=5, seed=2)
    for encoding in ("auto", "float32"):
        small = condense(
            *(words.edge_index, words.features, words.labels, words.train),
            config=HeraldConfig(encoding=encoding),
            ratio=0.05,
            backend="cpu",
        )
        assert told(caplog, lambda small=small: small.transform(words.features)) == []


def test_features_that_were_scaled_before_are_noticed(scaled, caplog):
    twice = (TABLE - TABLE.mean(axis=0)) / TABLE.std(axis=0)
    (text,) = told(caplog, lambda: scaled.transform(twice))
    assert "feats looks scaled already in 1 columns" in text


@pytest.mark.parametrize("factor", [1e-3, 100])
@pytest.mark.parametrize("scale", ["auto", "none"])
def test_features_in_other_units_are_noticed(factor, scale, caplog):
    small = run(scale=scale)
    (text,) = told(caplog, lambda: small.transform(TABLE * np.float32(factor)))
    assert "feats has values unlike those condensed" in text
    assert "in the same units and not scaled" in text


def test_labels_that_tell_nothing_are_loud():
    labels = np.random.default_rng(0).permutation(GRAPH.labels)
    small = condense(GRAPH.edge_index, np.ones((600, 9), dtype=np.float32), labels, ratio=0.1, backend="cpu")
    assert any("is no better than always answering the largest class" in text for text in small.report.warnings)
