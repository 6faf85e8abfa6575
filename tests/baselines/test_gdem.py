"""GDEM: the graph it makes, its size, and what it may not look at."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from support.graphs import build, host, random_raw

from herald_gpu.backend.cpu import CpuBackend
from herald_gpu.baselines import gdem
from herald_gpu.baselines.gdem import GdemOptions, block_model_basis, dense_bytes, largest_size, select, targets
from herald_gpu.baselines.spectrum import ends_of_spectrum
from herald_gpu.budget import Budget, make_budget
from herald_gpu.config import HeraldConfig
from herald_gpu.errors import BudgetError, ConfigError, MissingDependencyError

CPU = CpuBackend()
RAW = random_raw("counts", 80, seed=9)
QUICK = {"epochs": 30, "init_epochs": 10}


def condensed(backend, limit, *, given=RAW, seed=0, **options):
    graph = build(backend, given)
    full = make_budget(backend, graph, 1.0, HeraldConfig()).full_bytes
    return select(
        backend, graph, Budget(graph.kind, full, limit, limit / full), seed=seed, options=GdemOptions(**options)
    )


@pytest.mark.parametrize("limit", [204, 500, 1000, 3333])
def test_the_most_nodes_that_fit_as_bonsai_charges_them(backend, limit):
    small = condensed(backend, limit, **QUICK)
    n = host(backend, small.features).shape[0]
    assert small.storage_bytes == 4 * n * n + 4 * n * 14 <= limit < 4 * (n + 1) ** 2 + 4 * (n + 1) * 14
    assert small.adjacency.nnz == n * n
    assert small.normalised
    assert set(host(backend, small.labels).tolist()) == {0, 1, 2}


@pytest.mark.parametrize("d", [1, 7, 100])
def test_sizes_by_trying(d):
    for limit in range(0, 5000, 37):
        fits = [n for n in range(60) if dense_bytes(n, d) <= limit]
        assert largest_size(limit, d) == max(fits)


def test_no_more_nodes_than_training_nodes():
    assert host(CPU, condensed(CPU, 10**6, **QUICK).features).shape[0] == sum(RAW.train)


def test_one_a_class_must_fit():
    with pytest.raises(BudgetError, match="dense weighted graph of 3 nodes") as caught:
        condensed(CPU, 203)
    assert caught.value.smallest_ratio > 0


def test_the_spectrum_is_that_of_the_real_graph():
    """With an orthonormal basis the eigenvalues of the small graph are 1 - lambda of the large one."""
    small = condensed(CPU, 1500, epochs=400)
    graph = build(CPU, RAW)
    weights = small.adjacency.toarray().astype(np.float64)
    n = len(weights)
    spectrum = ends_of_spectrum(graph.adjacency, n, low_share=0.95, seed=0)
    assert small.details["eigenvalues"] == pytest.approx(spectrum.values.tolist())
    np.testing.assert_allclose(weights, weights.T, atol=1e-6)
    found, wanted = np.sort(np.linalg.eigvalsh(weights)), np.sort(1 - spectrum.values)
    np.testing.assert_allclose(found, wanted, atol=0.1)
    assert small.details["orthogonality"][1] < 1e-3
    assert small.details["matching"][1] < small.details["matching"][0]


def test_fewer_eigenvectors_make_a_graph_of_lower_rank():
    small = condensed(CPU, 1500, eigenvectors=4, **QUICK)
    assert np.linalg.matrix_rank(small.adjacency.toarray(), tol=1e-4) <= 4


def test_targets_are_dense_formulas():
    graph = build(CPU, RAW)
    spectrum = ends_of_spectrum(graph.adjacency, 6, low_share=0.5, seed=0)
    x = graph.features.toarray().astype(np.float64)[spectrum.nodes]
    made = targets(spectrum, graph.features, np.array(RAW.y), graph.train, 3)  # labels outside training are passed over
    u = spectrum.vectors
    rows = u.T @ x
    np.testing.assert_allclose(made.projected, rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-9)
    filtered = u @ np.diag(1 - spectrum.values) @ u.T @ x
    for code in range(3):
        here = graph.train[spectrum.nodes] & (graph.labels[spectrum.nodes] == code)
        mean = filtered[here].mean(axis=0)
        np.testing.assert_allclose(made.classes[code], mean / np.linalg.norm(mean), atol=1e-9)


def test_a_class_outside_the_component_is_its_plain_mean():
    graph = build(CPU, RAW)
    spectrum = ends_of_spectrum(graph.adjacency, 4, low_share=1.0, seed=0)
    outside = np.setdiff1d(np.arange(80), spectrum.nodes)
    labels, train = np.full(80, -1), np.zeros(80, dtype=bool)
    labels[outside[:2]], train[outside[:2]] = 1, True
    labels[spectrum.nodes[:3]], train[spectrum.nodes[:3]] = 0, True
    x = np.random.default_rng(0).random((80, 5))
    mean = x[outside[:2]].mean(axis=0)
    np.testing.assert_allclose(targets(spectrum, x, labels, train, 2).classes[1], mean / np.linalg.norm(mean))


def test_the_first_basis_is_orthonormal_and_knows_the_classes():
    codes = np.repeat([0, 1], 30)
    basis = block_model_basis(codes, 5, np.random.default_rng(0))
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-12)
    second = basis[:, 1]
    assert max((np.sign(second) == np.where(codes == 0, s, -s)).mean() for s in (1, -1)) > 0.8


def test_the_same_seed_gives_the_same_graph_and_torch_is_left_alone():
    state = torch.random.get_rng_state()
    one, two, other = (condensed(CPU, 900, seed=s, **QUICK) for s in (3, 3, 4))
    np.testing.assert_array_equal(one.adjacency.toarray(), two.adjacency.toarray())
    np.testing.assert_array_equal(one.features, two.features)
    assert not np.array_equal(one.features, other.features)
    assert torch.equal(state, torch.random.get_rng_state())


def test_without_torch_it_says_what_to_install(monkeypatch):
    def missing(name, extra):
        msg = f"{name} is needed: {extra}"
        raise MissingDependencyError(msg)

    monkeypatch.setattr(gdem, "library", missing)
    with pytest.raises(MissingDependencyError, match="eval"):
        condensed(CPU, 900)


@pytest.mark.parametrize(
    "wrong",
    [{"eigenvectors": 0}, {"low_share": 1.5}, {"epochs": -1}, {"alpha": -1.0}, {"basis_rate": 0}, {"device": 3}],
)
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        GdemOptions(**wrong)
