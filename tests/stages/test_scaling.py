"""Scale of features: which columns are scaled, by what, in which container."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from support.graphs import build, host, random_raw, raw

from herald_gpu import ops
from herald_gpu.config import SCALE_FACTOR
from herald_gpu.errors import ConfigError
from herald_gpu.stages.scaling import (
    ColumnFacts,
    Scaling,
    check_scale,
    column_facts,
    fit_scaling,
    merge_facts,
    plan_scaling,
    standard_scale,
)


def facts_of(x):
    """Facts of a matrix, on the host."""
    x = np.asarray(x, dtype=np.float64)
    moments = ops.Moments(len(x), x.mean(axis=0), ((x - x.mean(axis=0)) ** 2).sum(axis=0))
    return ColumnFacts(moments, (x != 0).sum(axis=0) * 1.0, ((x != 0) & (x != 1)).sum(axis=0) * 1.0)


def table(n=60, seed=0):
    """Columns of every kind: income, share, category, words, zeros, a constant."""
    rng = np.random.default_rng(seed)
    columns = [
        rng.lognormal(10, 0.5, n),
        rng.uniform(0, 1, n),
        rng.integers(0, 2, n),
        rng.poisson(0.1, n) * 2,
        np.zeros(n),
        np.full(n, 7.0),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def test_the_published_scaling_by_hand(backend):
    given = raw([], [[1, 5, 0], [3, 5, 0], [5, 5, 6]], [0, 1, 0])
    graph = build(backend, given)
    scaling = standard_scale(backend, graph)
    assert host(backend, scaling.center).tolist() == [3, 5, 2]
    assert host(backend, scaling.spread).tolist() == pytest.approx([np.sqrt(8 / 3), 1, np.sqrt(8)])
    scaled = scaling.widened(backend, graph.features)
    assert scaled.dtype == np.float64
    expected = [[-np.sqrt(1.5), 0, -np.sqrt(0.5)], [0, 0, -np.sqrt(0.5)], [np.sqrt(1.5), 0, np.sqrt(2)]]
    np.testing.assert_allclose(host(backend, scaled), expected, atol=1e-15)


@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_scaled_features_have_mean_zero_and_deviation_one(backend, kind, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", 150)
    graph = build(backend, random_raw(kind, 50, seed=1))
    scaled = host(backend, standard_scale(backend, graph).widened(backend, graph.features))
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_facts_by_hand(backend, sparse):
    x = table()
    given = scipy.sparse.csr_matrix(x) if sparse else x
    found, wanted = column_facts(backend, backend.asarray(given)), facts_of(x)
    np.testing.assert_allclose(host(backend, found.moments.mean), wanted.moments.mean, rtol=1e-12)
    np.testing.assert_allclose(host(backend, found.moments.squares), wanted.moments.squares, rtol=1e-12, atol=1e-9)
    assert host(backend, found.stored).tolist() == wanted.stored.tolist()
    assert host(backend, found.others).tolist() == wanted.others.tolist()


def test_facts_of_parts_are_those_of_the_whole():
    x = table()
    found, wanted = merge_facts([facts_of(x[:7]), facts_of(x[7:8]), facts_of(x[8:])]), facts_of(x)
    np.testing.assert_allclose(found.moments.squares, wanted.moments.squares, rtol=1e-12, atol=1e-9)
    assert found.moments.rows == len(x)
    assert found.stored.tolist() == wanted.stored.tolist()
    assert found.others.tolist() == wanted.others.tolist()


def test_auto_scales_dense_columns_that_differ():
    plan = plan_scaling(facts_of(table()), "auto")
    assert plan.scaled.tolist() == [True, True, False, False, False, True]  # income, share, the constant
    assert plan.centered.tolist() == plan.scaled.tolist()
    assert plan.n_scaled == 3
    assert plan.n_given == np.count_nonzero(table())
    assert "3 of 6 columns were standardized" in plan.note
    x = table().astype(np.float64)
    np.testing.assert_allclose(plan.center[[0, 1]], x[:, [0, 1]].mean(axis=0))
    np.testing.assert_allclose(plan.spread[[0, 1]], x[:, [0, 1]].std(axis=0))
    assert plan.spread[[2, 3, 4]].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("times", "scaled"), [(1, False), (0.9 * SCALE_FACTOR, False), (1.1 * SCALE_FACTOR, True), (1e6, True)]
)
@pytest.mark.parametrize("up", [True, False])
def test_auto_needs_a_factor(times, scaled, up):
    x = np.tile(np.array([-1.0, 1.0, -1.0, 1.0])[:, None], (1, 3))
    x[:, 1] *= times if up else 1 / times
    assert (plan_scaling(facts_of(x), "auto") is not None) == scaled


def test_auto_compares_dense_columns_with_categories():
    rng = np.random.default_rng(0)
    categories = np.eye(10)[rng.integers(0, 10, 200)]
    income = rng.normal(50_000, 10_000, size=(200, 1))
    plan = plan_scaling(facts_of(np.concatenate([categories, income], axis=1)), "auto")
    assert plan.scaled.tolist() == [False] * 10 + [True]
    assert plan_scaling(facts_of(np.concatenate([categories, income / 50_000], axis=1)), "auto") is None


def test_auto_sees_a_column_far_from_zero():
    year = np.random.default_rng(0).normal(2015, 5, size=(100, 1))
    plan = plan_scaling(facts_of(np.concatenate([year, year - 2015], axis=1)), "auto")
    assert plan.n_scaled == 2


@pytest.mark.parametrize("kind", ["binary", "counts", "dense"])
def test_auto_leaves_ordinary_features(backend, kind):
    assert fit_scaling(backend, build(backend, random_raw(kind, 50, seed=3)), "auto") is None


def test_none_and_zeros_and_ones_are_left(backend):
    assert plan_scaling(facts_of(table()), "none") is None
    assert plan_scaling(facts_of(table()[:, [2, 4]]), "standard") is None
    assert fit_scaling(backend, build(backend, random_raw("binary", 30, seed=0)), "standard") is None


def test_standard_keeps_the_zeros_of_columns_that_are_mostly_zero():
    plan = plan_scaling(facts_of(table()), "standard")
    assert plan.scaled.tolist() == [True, True, False, True, False, True]
    assert plan.centered.tolist() == [True, True, False, False, False, True]
    assert plan.center[3] == 0
    assert plan.note is None


def test_nearly_constant_columns_are_not_blown_up():
    x = np.ones((50, 2)) * 1e6
    x[:, 0] += np.random.default_rng(0).normal(size=50) * 0.05
    x[:, 1] = np.arange(50)
    plan = plan_scaling(facts_of(x), "standard")
    assert np.abs((x[:, 0] - plan.center[0]) / plan.spread[0]).max() < 1e-6


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("choice", ["standard", "robust"])
def test_scaled_columns(backend, kind, choice, monkeypatch):
    monkeypatch.setattr(ops, "BLOCK_ELEMENTS", 100)
    more = np.full((60, 4), 2.5, dtype=np.float32) if kind == "dense" else np.zeros((60, 8), dtype=np.float32)
    x = np.concatenate([table(), more], axis=1)
    graph = build(backend, raw([], x, [0, 1] * 30))
    assert graph.kind == kind
    found, plan = fit_scaling(backend, graph, choice)
    scaled = found.apply(backend, graph.features)
    assert scaled.dtype == np.float32
    assert backend.sparse.issparse(scaled) == (kind == "sparse")
    plain = host(backend, scaled)
    center, spread = (host(backend, part) for part in (found.center, found.spread))
    assert (center.dtype, spread.dtype) == (np.float32, np.float32)
    wanted = ((x.astype(np.float64) - center.astype(np.float64)) / spread.astype(np.float64)).astype(np.float32)
    assert (plain == wanted).all()
    if choice == "standard":
        np.testing.assert_allclose(plain[:, :2].mean(axis=0), 0, atol=1 / 4096)
        np.testing.assert_allclose(plain[:, :2].std(axis=0), 1, rtol=1 / 4096)
    else:
        np.testing.assert_allclose(np.median(plain[:, :2], axis=0), 0, atol=1 / 4096)
        quartiles = np.percentile(plain[:, :2], [25, 75], axis=0)
        np.testing.assert_allclose(quartiles[1] - quartiles[0], 1.349, rtol=1e-3)
        assert plan.spread[3] == pytest.approx(x[:, 3].std())  # its quartiles are both 0
    assert (plain[:, 3][x[:, 3] == 0] == 0).all()
    assert (plain[:, 2] == x[:, 2]).all()
    np.testing.assert_allclose(plain[:, 5], 0, atol=1e-3)


def test_sums_in_another_order_give_the_same_scaling(backend):
    x, rng = table(500), np.random.default_rng(1)
    found = [host(backend, part) for part in _parts(plan_scaling(facts_of(x), "auto").scaling(backend))]
    for _ in range(5):
        cut = np.sort(rng.integers(0, 500, 6))
        pieces = [facts_of(piece) for piece in np.split(x[rng.permutation(500)], cut) if len(piece)]
        other = plan_scaling(merge_facts(pieces), "auto").scaling(backend)
        assert all((one == host(backend, two)).all() for one, two in zip(found, _parts(other), strict=True))


def _parts(found):
    return found.center, found.spread


def test_a_center_that_is_nothing_but_rounding_is_zero(backend):
    x = np.array([[-1.0], [0.0], [1.0]] * 5) * 100
    x[0] += 1e-12
    center = plan_scaling(facts_of(np.concatenate([x, x / 1e4 + 1], axis=1)), "auto").scaling(backend).center
    assert host(backend, center)[0] == 0


def test_scaling_of_columns_without_a_center_stays_sparse(backend):
    x = backend.asarray(scipy.sparse.csr_matrix(np.array([[0, 4.0], [2, 0], [0, 0]], dtype=np.float32)))
    spread = Scaling(*(backend.asarray(np.array(part, dtype=np.float32)) for part in ([0, 0], [2, 8])))
    scaled = spread.apply(backend, x)
    assert host(backend, scaled).tolist() == [[0, 0.5], [1, 0], [0, 0]]
    assert int(scaled.nnz) == 2


@pytest.mark.parametrize("scale", ["Standard", None, True, "minmax"])
def test_unknown_choices_are_refused(scale):
    with pytest.raises(ConfigError, match="is not valid: pass one of"):
        check_scale(scale, exact=True)


@pytest.mark.parametrize("scale", ["standard", "robust"])
def test_the_published_accounting_has_a_scaling_of_its_own(scale):
    with pytest.raises(ConfigError, match=f"scale='{scale}' is not for the published accounting"):
        check_scale(scale, exact=False)
