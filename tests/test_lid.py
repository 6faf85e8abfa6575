"""Local intrinsic dimensionality: its values, and how neighbours are looked for."""

from __future__ import annotations

import logging
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr
from support import reference
from support.graphs import build, host, random_raw, raw

from herald_gpu import lid as lid_module
from herald_gpu import ops
from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.config import HeraldConfig
from herald_gpu.install import pip_line
from herald_gpu.lid import Search, choose_search, levelled, measure_lid, regular_lid

PAPER = HeraldConfig.paper()
AUTO = HeraldConfig.paper(lid="auto")
NO_ZEROS = HeraldConfig.paper(lid="auto", lid_zero_rows="zero")
KINDS = ("binary", "counts", "dense")
FLOOR = 1e-12


def measured(backend, x, config=PAPER):
    graph = build(backend, raw([], x, [0] * len(x)))
    inverse_norm = ops.inverse(backend, ops.row_norms(backend, graph.features))
    return measure_lid(backend, graph.features, inverse_norm, config)


def lids(backend, x, config=PAPER):
    return host(backend, measured(backend, x, config).values)


# Values


@pytest.mark.parametrize(
    ("distances", "expected"),
    [
        ([[0.1, 0.2, 0.4]], [3 / (math.log(4) + math.log(2))]),
        ([[0.0, 0.5]], [2 / math.log(0.5 / FLOOR)]),  # a duplicate counts as the floor
        ([[0.0, 0.0]], [0.0]),  # nothing but duplicates
        ([[0.0, 9e-13]], [0.0]),  # the largest below the floor
        ([[0.3, 0.3]], [0.0]),  # all equal, and no regular value to take
        ([[0.3, 0.3], [0.25, 0.5], [0.1, 0.9]], [2 / math.log(2), 2 / math.log(2), 2 / math.log(9)]),
        ([[0.3, 0.3 + 5e-13], [0.25, 0.5]], [2 / math.log(2)] * 2),  # equal up to the floor
        ([[1e-12, 2e-12], [0.25, 0.5]], [2 / math.log(2)] * 2),  # tiny but regular
        ([[0.4], [0.2]], [0.0, 0.0]),  # one neighbour: always all equal
    ],
)
def test_lid_by_hand(backend, distances, expected):
    found = levelled(backend, *regular_lid(backend, backend.asarray(np.array(distances)), FLOOR))
    assert host(backend, found).tolist() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("config", [PAPER, NO_ZEROS], ids=["paper", "zero rows have none"])
@pytest.mark.parametrize("kind", KINDS)
def test_lid_against_brute_force(backend, kind, config):
    x = random_raw(kind, 45, seed=12).x.copy()
    x[5] = x[6] = x[7] * 2  # duplicates, one of them up to its length
    x[9] = 0
    expected = reference.lids(reference.unit_rows(x), 10, zero_rows=config.lid_zero_rows)
    np.testing.assert_allclose(lids(backend, x, config), expected, rtol=1e-9)


def test_zero_rows_take_the_cap_or_nothing(backend):
    x = np.vstack([random_raw("counts", 20, seed=1).x, np.zeros((2, 14))])
    paper, zero = lids(backend, x), lids(backend, x, NO_ZEROS)
    assert paper[-2:].tolist() == [paper.max()] * 2
    assert zero[-2:].tolist() == [0.0, 0.0]
    filled = (x != 0).any(axis=1)
    np.testing.assert_array_equal(paper[filled], zero[filled])


def test_eleven_duplicates_have_no_dimension(backend):
    x = np.vstack([np.tile([1, 2, 3], (11, 1)), np.random.default_rng(0).random((9, 3))])
    found = lids(backend, x)
    assert (found[:11] == 0).all()
    assert (found[11:] > 0).all()


def test_near_duplicates_are_told_apart(backend):
    # Cosine distances around 1e-9: in float32 they would all be noise.
    x = np.ones((14, 4), dtype=np.float32)
    x[np.arange(14), np.arange(14) % 4] += np.linspace(1e-4, 5e-4, 14, dtype=np.float32)
    np.testing.assert_allclose(lids(backend, x), reference.lids(reference.unit_rows(x), 10, zero_rows="cap"), rtol=1e-7)


def test_fewer_nodes_than_neighbours(backend):
    x = np.array([[1, 0], [1, 1], [0.0, 1], [2, 1]])
    np.testing.assert_allclose(lids(backend, x), reference.lids(reference.unit_rows(x), 3, zero_rows="cap"), rtol=1e-9)


@pytest.mark.parametrize("kind", ["counts", "dense"])
def test_sampled_reference_with_clipped_distances(backend, kind):
    # The published rule: 20 drawn reference nodes, a node may find itself, distances at least 1e-8.
    x = random_raw(kind, 40, seed=3).x
    config = HeraldConfig.published("pubmed", lid_reference=20)
    drawn = np.random.default_rng(42).choice(40, 20, replace=False)
    unit = reference.unit_rows(x)
    expected = []
    for u in range(40):
        alive = [unit[u].any() and unit[v].any() for v in drawn]
        row = sorted(0.5 * ((unit[u] - unit[v]) ** 2).sum() if ok else 1.0 for v, ok in zip(drawn, alive, strict=True))
        near = np.maximum(row[:10], 1e-8)
        expected.append(-1 / min(float(np.log(near / near[-1]).mean()), -1e-8))
    np.testing.assert_allclose(lids(backend, x, config), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["counts", "dense"])
def test_a_sampled_reference_without_the_node_itself(backend, kind):
    x = random_raw(kind, 40, seed=3).x
    config = replace(PAPER, lid="sampled", lid_reference=12)
    drawn = np.random.default_rng(42).choice(40, 12, replace=False)
    unit = reference.unit_rows(x)
    rows = []
    for u in range(40):
        near = [v for v in drawn if v != u]
        alive = [unit[u].any() and unit[v].any() for v in near]
        rows.append(
            sorted(0.5 * ((unit[u] - unit[v]) ** 2).sum() if ok else 1.0 for v, ok in zip(near, alive, strict=True))
        )
    distances = np.array([row[:10] for row in rows])
    expected = levelled(CpuBackend(), *regular_lid(CpuBackend(), distances, FLOOR))
    found = measured(backend, x, config)
    np.testing.assert_allclose(host(backend, found.values), expected, rtol=1e-9)
    assert found.search == Search("sampled (12 nodes)")


def test_a_reference_of_all_nodes_is_exact(backend):
    x = random_raw("dense", 30, seed=3).x
    every = replace(PAPER, lid="sampled", lid_reference=512)
    np.testing.assert_allclose(lids(backend, x, every), lids(backend, x), rtol=1e-12)


# Which search


def structured(n, seed=0):
    """Rows near a surface of four dimensions, some of them zero, some of them equal: an index can find its way."""
    rng = np.random.default_rng(seed)
    x = np.tanh(rng.normal(size=(n, 4)) @ rng.normal(size=(4, 24))) + 0.02 * rng.normal(size=(n, 24))
    x[rng.choice(n, 20, replace=False)] = 0
    x[rng.choice(n, 15, replace=False)] = x[n // 2]
    return x.astype(np.float32)


def test_exact_unless_there_is_a_reason(backend):
    for config in (PAPER, AUTO):
        assert measured(backend, random_raw("dense", 30, seed=3).x, config).search == Search("exact", None, None)


@pytest.mark.parametrize("rule", ["exact", "clipped"])
def test_approximate_lid_and_what_is_said_of_it(backend, rule):
    x, options = structured(1500), {"lid_rule": rule, "lid_zero_rows": "zero"}
    exact = lids(backend, x, replace(PAPER, **options))
    found = measured(backend, x, replace(PAPER, lid="approximate", **options))
    values = host(backend, found.values)
    assert found.search.name == f"approximate ({backend.index_name})"
    filled = x.any(axis=1)
    assert 0.95 < found.search.correlation <= 1
    assert found.search.correlation == pytest.approx(spearmanr(values[filled], exact[filled])[0], abs=0.02)
    assert 0.9 < found.search.recall <= 1
    if rule == "exact":
        assert (values[~filled] == 0).all()


def test_distances_of_an_index_are_never_too_small(backend):
    x = structured(1500)
    given, inverse = backend.asarray(x), 1 / np.maximum(np.linalg.norm(x.astype(np.float64), axis=1), 1e-9)
    inverse = backend.asarray(np.where(x.any(axis=1), inverse, 0.0))
    exact = host(backend, backend.nearest_distances(given, inverse, 10))
    found = host(backend, backend.nearest_distances(given, inverse, 10, approximate=True))
    assert (found.dtype, found.shape) == (np.float64, (1500, 10))
    assert (np.diff(found, axis=1) >= 0).all()
    assert (found >= exact - 1e-15).all()
    assert (found <= exact[:, -1:] * (1 + 1e-12)).mean() > 0.9  # one that is missed moves all after it
    assert (found[~x.any(axis=1)] == 1).all()


@pytest.mark.parametrize("broken", ["far", "near"])
def test_recall_and_correlation_against_their_definitions(backend, broken, monkeypatch):
    """An index that finds neighbours 4 to 13 instead of 1 to 10 recalls seven of ten; a useless one is called so."""
    x = random_raw("dense", 300, seed=8).x
    real = type(backend).nearest_distances

    def poor(self, x, inverse_norm, k, reference=None, *, approximate=False, **options):
        if not approximate:
            return real(self, x, inverse_norm, k, reference, **options)
        return real(self, x, inverse_norm, k + 3 if broken == "near" else 200)[:, -k:]

    monkeypatch.setattr(type(backend), "nearest_distances", poor)
    monkeypatch.setattr(lid_module, "CHECKED_ROWS", 300)
    found = measured(backend, x, replace(PAPER, lid="approximate"))
    assert found.search.recall == pytest.approx(0.7 if broken == "near" else 0.0)
    rows = x.any(axis=1)
    expected = spearmanr(host(backend, found.values)[rows], lids(backend, x)[rows])[0]
    assert found.search.correlation == pytest.approx(expected, abs=1e-6)
    assert "lid='exact'" in Search("approximate (x)", 0.5, 0.6).warning
    assert Search("approximate (x)", 0.99, 0.96).warning is None


def test_nothing_but_zero_rows_has_nothing_to_check(backend):
    found = measured(backend, np.zeros((12, 3)), replace(PAPER, lid="approximate"))
    assert found.search == Search(f"approximate ({backend.index_name})")
    assert (host(backend, found.values) == 0).all()


def test_equal_rows_correlate(backend):
    found = measured(backend, np.ones((30, 3)), replace(PAPER, lid="approximate"))
    assert (found.search.recall, found.search.correlation) == (1.0, 1.0)


class Pretended(CpuBackend):
    """The CPU backend, with or without an index."""

    all_pairs_limit, index_name = 1e6, "some index"


class Bare(Pretended):
    index_name = None


def test_auto_is_exact_up_to_the_limit_of_the_backend(caplog):
    caplog.set_level(logging.INFO, "herald_gpu")
    assert choose_search(Pretended(), AUTO, 100, 100) == "exact"
    assert not caplog.messages
    assert choose_search(Pretended(), AUTO, 100, 101) == "approximate"
    assert "approximate" in caplog.messages[-1]
    assert choose_search(Bare(), AUTO, 100, 101) == "exact"
    assert pip_line("approx") in caplog.messages[-1]


@pytest.mark.parametrize("asked", ["exact", "approximate", "sampled"])
def test_what_is_asked_for_is_done(asked):
    for size in (10, 10**6):
        assert choose_search(Pretended(), replace(PAPER, lid=asked), size, 100) == asked


def test_graphs_of_the_papers_are_compared_exactly():
    """The largest has 22,662 nodes; a thousand kept features are more than any of them has."""
    assert choose_search(CpuBackend(), AUTO, 22_662, 1000) == "exact"
