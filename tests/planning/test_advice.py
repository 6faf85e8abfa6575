"""What plans advise: how the work is cut, and what would make it fit."""

from __future__ import annotations

import pytest

from herald_gpu import HeraldConfig
from herald_gpu.planning import DeviceSpec, plan

ARXIV = {"n_nodes": 169_343, "n_edges": 2_315_598, "n_features": 128, "n_classes": 40}
PAPER = {**ARXIV, "config": HeraldConfig.paper()}


def small_device(memory):
    return DeviceSpec(memory_bytes=int(memory), bandwidth=1e12, fp32=1e13, fp64=1e12, context_bytes=0)


def test_batches_shrink_until_it_fits():
    many = {**PAPER, "n_nodes": 1_000_000, "n_features": 64}
    fits = [plan(**many, feature_count=64, device=small_device(memory)) for memory in (8e10, 4e9, 3e9)]
    assert all(found.fits for found in fits)
    sizes = [found.stage("scoring/neighbours").batch for found in fits]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    assert all(f"{found.stage('scoring/neighbours').batch:,} queries" in found.advice[0] for found in fits)


def test_what_does_not_fit_is_told_with_what_would_help():
    wide = {**PAPER, "n_features": 2000, "feature_count": 2000}
    found = plan(**wide, device=small_device(4.5e9))
    assert not found.fits
    told = "\n".join(found.advice)
    assert "is the first to need more" in told
    assert "memory='managed'" in told
    assert "fits as it is on T4" in told
    kept = int(told.partition("feature_count=")[2].partition(")")[0])
    assert 1 <= kept < 2000
    assert plan(**{**wide, "feature_count": kept}, device=small_device(4.5e9)).fits
    assert not plan(**{**wide, "feature_count": kept + 1}, device=small_device(4.5e9)).fits


def test_a_search_that_does_not_fit_is_told_what_would_help():
    found = plan(**ARXIV, device=small_device(2e9))
    assert not found.fits
    told = "\n".join(found.advice)
    assert "exemplars/views is the first to need more" in told
    assert "fits as it is on T4" in told
    pool = int(told.partition("largest_pool=")[2].partition(")")[0])
    for size, fits in ((pool, True), (pool + 1, False)):
        smaller = HeraldConfig(smallest_pool=size, largest_pool=size)
        assert plan(**ARXIV, config=smaller, device=small_device(2e9)).fits is fits


def test_a_search_that_fits_with_fewer_features_is_told_so():
    wide = {"n_nodes": 500_000, "n_edges": 5_000_000, "n_features": 1000, "n_classes": 2, "feature_count": 1000}
    found = plan(**wide, device=small_device(6e9))
    assert not found.fits
    kept = int("\n".join(found.advice).partition("HeraldConfig(feature_count=")[2].partition(")")[0])
    assert 1 <= kept < 1000
    assert plan(**{**wide, "feature_count": kept}, device=small_device(6e9)).fits


@pytest.mark.parametrize(
    ("sizes", "said"), [(ARXIV, "no number of kept features, nor of compared nodes"), (PAPER, "no number of kept")]
)
def test_nothing_helps_where_the_graph_alone_is_too_much(sizes, said):
    found = plan(**sizes, device=small_device(1e8))
    assert any(line.startswith(said) for line in found.advice)


def test_more_edges_than_indices_can_address():
    found = plan(10**8, 2**31, 8, n_classes=2, feature_count=4, device=small_device(1e13))
    assert not found.fits
    assert "32-bit" in found.advice[0]


def test_unknown_arithmetic_is_told():
    found = plan(**ARXIV, device=DeviceSpec(memory_bytes=10**11, bandwidth=1e12))
    assert found.advice[-1].startswith("peak arithmetic of the device not given")
    assert found.seconds == pytest.approx(found.bytes_moved / 1e12)
    assert found.to_dict()["device"]["fp32"] is None
