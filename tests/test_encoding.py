"""Encodings of features: what they cost, what they keep, and which one is taken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from outcomes import HOMOPHILIC, encoded_bytes, plain, small_graph
from support.graphs import host

from herald_gpu import CondensedGraph, HeraldConfig, condense
from herald_gpu.encoding import OF_KIND, Encoding, candidates, int8_scales, most_rows_first, stored
from herald_gpu.errors import BudgetError, ConfigError

PAPER = HeraldConfig.paper()
DEFAULT = HeraldConfig(exemplar_rule="landmarks")
TYPES = ("float32", "float16", "int8")
LAYOUTS = ("dense", "sparse")
X = np.float32([[0, 1, 0.25, 300], [2, 0, 0, -1], [-127, 3, 1, 0]])


def given(backend, layout, x=X):
    return backend.asarray(x if layout == "dense" else scipy.sparse.csr_matrix(x))


def as_array(backend, x):
    return plain(host(backend, x))


# What rows cost


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (Encoding("dense", "float32"), 44),
        (Encoding("dense", "float16"), 22),
        (Encoding("dense", "int8"), 11),
        (Encoding("dense", "bits"), 2),
        (Encoding("sparse", "float32"), 18),
        (Encoding("sparse", "float16"), 12),
        (Encoding("sparse", "int8"), 9),
        (Encoding("sparse", "bits"), 6),
    ],
)
def test_bytes_of_a_row_of_eleven_with_three_non_zeros(encoding, expected):
    assert float(encoding.bytes_of_rows(np.float64(3), 11)) == expected
    assert encoding.table_bytes(11) == (44 if encoding.values == "int8" else 0)


def test_the_kinds_of_the_formula():
    for kind, units in (("dense", 2 * 11), ("binary", 3), ("sparse", 3 * 3)):
        assert float(OF_KIND[kind].bytes_of_rows(np.float64(3), 11)) == 2 * units


# What comes back


@pytest.mark.parametrize("layout", LAYOUTS)
def test_float32_and_bits_change_nothing(backend, layout):
    x = given(backend, layout)
    for values in ("float32", "bits"):
        back, scales = stored(backend, x, Encoding(layout, values))
        assert back is x
        assert scales is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_float16_rounds(backend, layout):
    x = X + np.float32(1e-4)
    back, scales = stored(backend, given(backend, layout, x), Encoding(layout, "float16"))
    np.testing.assert_array_equal(as_array(backend, back), x.astype(np.float16).astype(np.float32))
    assert scales is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_int8_keeps_small_whole_numbers_and_is_close_otherwise(backend, layout):
    back, scales = stored(backend, given(backend, layout), Encoding(layout, "int8"))
    found, scales = as_array(backend, back), host(backend, scales)
    np.testing.assert_array_equal(found[:, :2], X[:, :2])
    np.testing.assert_allclose(scales, np.float32([1, 1, 1 / 127, 300 / 127]), rtol=1e-6)
    assert (np.abs(found - X) <= 0.5 * scales * (1 + 1e-6)).all()
    assert found.dtype == np.float32


@pytest.mark.parametrize("layout", LAYOUTS)
def test_int8_is_stable(backend, layout):
    once, scales = stored(backend, given(backend, layout), Encoding(layout, "int8"))
    codes = np.rint(as_array(backend, once) / host(backend, scales))
    assert np.abs(codes).max() <= 127
    np.testing.assert_array_equal((codes * host(backend, scales)).astype(np.float32), as_array(backend, once))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_of_zeros_have_a_scale(backend, layout):
    x = np.zeros((2, 3), dtype=np.float32)
    assert host(backend, int8_scales(backend, given(backend, layout, x))).tolist() == [1, 1, 1]


# Which one is taken


def test_what_is_left_open():
    assert candidates("sparse", "graph") == [Encoding("sparse", "float32")]
    assert candidates("binary", "auto") == [Encoding("dense", "bits"), Encoding("sparse", "bits")]
    assert {e.values for e in candidates("dense", "auto")} == set(TYPES)
    assert candidates("dense", "int8") == [Encoding("dense", "int8"), Encoding("sparse", "int8")]


def first(kind, mean, n_columns, limit, largest=1.0):
    return most_rows_first(candidates(kind, "auto"), mean, n_columns, limit=limit, largest=largest)[0].name


def test_the_most_rows_win():
    assert first("binary", 4, 80, 1000) == "sparse bits"  # 8 bytes a row against 10
    assert first("binary", 6, 80, 1000) == "dense bits"  # 12 against 10
    assert first("sparse", 10, 100, 10_000) == "sparse int8"
    assert first("sparse", 60, 100, 10_000) == "dense int8"
    assert first("dense", 300, 300, 1_000_000) == "dense int8"
    assert first("dense", 300, 300, 2000) == "dense float16"  # the scales alone would take 1,200 bytes
    assert first("dense", 300, 300, 2000, largest=1e6) == "dense int8"  # float16 ends at 65,504


# The whole way


@pytest.mark.parametrize("features", ["dense", "counts", "binary"])
@pytest.mark.parametrize("wanted", ["auto", *TYPES])
@pytest.mark.parametrize("preset", [PAPER, DEFAULT], ids=["paper", "default"])
def test_the_budget_holds_and_files_keep_every_bit(tmp_path, preset, features, wanted):
    g = small_graph("dense" if features == "dense" else "bag_of_words", **HOMOPHILIC)
    x = {"counts": 3 * g.features, "binary": g.features}.get(features, g.features)
    small = condense(
        g.edge_index, x, g.labels, g.train, ratio=0.5, config=replace(preset, encoding=wanted), backend="cpu"
    )
    report = small.report
    assert report.storage_bytes == encoded_bytes(small) <= report.budget_bytes
    binary = report.storage_kind == "binary"
    if wanted != "auto":
        assert report.encoding.split()[1] == wanted
    elif binary:
        assert report.encoding.split()[1] == "bits"
    own, ours = ~small.is_landmark, plain(small.features)
    assert (~own).any() == (preset is DEFAULT)
    full = plain(small.transform(x))[np.asarray(small.node_ids[own])]
    scale = np.maximum(np.abs(full).max(axis=0), np.abs(ours).max(axis=0)) / 127
    loss = {"int8": 0.5 * scale + 1e-6, "float16": 1e-3 * np.abs(full) + 1e-6}.get(report.encoding.split()[1], 0)
    assert (np.abs(ours[own] - full) <= loss).all()
    small.save(tmp_path / "small.herald")
    again = CondensedGraph.load(tmp_path / "small.herald")
    np.testing.assert_array_equal(plain(again.features), plain(small.features))
    assert again.report.encoding == report.encoding
    assert again.report.config == small.report.config


def test_smaller_values_hold_more_nodes():
    g = small_graph("dense")
    sizes = []
    for wanted in ("graph", "auto"):
        config = HeraldConfig.paper(encoding=wanted, feature_count=6)
        sizes.append(condense(g.edge_index, g.features, g.labels, g.train, ratio=0.2, config=config).report.n_nodes)
    assert sizes[0] < sizes[1]


def test_bits_need_binary_features():
    g = small_graph("dense")
    for preset in (PAPER, DEFAULT):
        with pytest.raises(ConfigError, match="encoding='bits' holds zeros and ones only"):
            condense(g.edge_index, g.features, g.labels, g.train, ratio=0.5, config=replace(preset, encoding="bits"))


@pytest.mark.parametrize("preset", [PAPER, HeraldConfig()], ids=["paper", "default"])
def test_components_are_stored_as_floats(preset):
    g = small_graph("dense")
    config = replace(preset, encoding="int8", pca_variance=0.5)
    small = condense(g.edge_index, g.features, g.labels, g.train, ratio=0.8, config=config)
    assert small.report.component_count is not None
    assert small.report.encoding == "dense float32"


def test_published_accounting_has_no_other_encoding():
    with pytest.raises(ConfigError, match="encoding='int8' is not valid: pass 'graph' with the published accounting"):
        HeraldConfig.published("citation", encoding="int8")


@pytest.mark.parametrize("preset", [PAPER, HeraldConfig()], ids=["paper", "default"])
def test_too_small_a_budget_names_the_smallest_of_all_encodings(preset):
    g = small_graph("dense", n_features=40)
    arguments = (g.edge_index, g.features, g.labels, g.train)
    smallest = {}
    for wanted in ("float32", "float16", "int8", "auto"):
        with pytest.raises(BudgetError) as error:
            condense(*arguments, ratio=1e-6, config=replace(preset, encoding=wanted))
        smallest[wanted] = error.value.smallest_ratio
    assert smallest["auto"] == min(smallest.values()) < smallest["float32"]
    assert condense(*arguments, ratio=smallest["auto"], config=replace(preset, encoding="auto")).report.n_nodes >= 3
