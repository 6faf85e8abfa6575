"""Stage 2: heterophily to score weights."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import reference

from herald_gpu.config import HeraldConfig
from herald_gpu.stages.weights import adapt_weights

CONFIG = HeraldConfig.paper()


def as_tuple(weights):
    return weights.alpha, weights.beta, weights.gamma


def test_at_the_midpoint():
    # t = 1/2: (0.4, 0.2, 0.15) over 0.75
    assert as_tuple(adapt_weights(0.4, CONFIG)) == pytest.approx((8 / 15, 4 / 15, 3 / 15), abs=1e-15)


def test_at_the_ends():
    low, high = math.exp(-3.2) / (1 + math.exp(-3.2)), 1 / (1 + math.exp(-4.8))
    for h, t in ((0.0, low), (1.0, high)):
        raw = (0.4, 0.4 * t, 0.1 + 0.1 * t)
        expected = tuple(part / sum(raw) for part in raw)
        assert as_tuple(adapt_weights(h, CONFIG)) == pytest.approx(expected, abs=1e-15)


def test_the_residual_flows_to_the_prototype():
    # t = 1/4: alpha = 0.2 + 0.4 * 0.75, beta = 0.3 * 0.25, gamma = 0.1 * 0.625
    weights = adapt_weights(0.4 - math.log(3) / 8, replace(CONFIG, base_weights=(0.2, 0.3, 0.1)))
    assert as_tuple(weights) == pytest.approx((0.5 / 0.6375, 0.075 / 0.6375, 0.0625 / 0.6375), abs=1e-15)


def test_steepness_and_midpoint():
    weights = adapt_weights(0.7, replace(CONFIG, steepness=2.0, midpoint=0.7))
    assert as_tuple(weights) == pytest.approx((8 / 15, 4 / 15, 3 / 15), abs=1e-15)


@pytest.mark.parametrize(("fixed", "expected"), [((1, 0, 0), (1, 0, 0)), ((2, 1, 1), (0.5, 0.25, 0.25))])
def test_fixed_weights_ignore_heterophily(fixed, expected):
    for h in (0.0, 0.5, 1.0):
        assert as_tuple(adapt_weights(h, replace(CONFIG, fixed_weights=fixed))) == expected


@given(st.floats(0, 1))
def test_against_the_reference(h):
    weights = adapt_weights(h, CONFIG)
    assert sum(as_tuple(weights)) == pytest.approx(1, abs=1e-15)
    assert as_tuple(weights) == pytest.approx(reference.score_weights(h), abs=1e-15)


@given(st.floats(0, 1), st.floats(0, 1))
def test_boundary_gains_and_prototype_loses_as_heterophily_grows(one, other):
    low, high = (adapt_weights(h, CONFIG) for h in sorted((one, other)))
    assert low.alpha >= high.alpha - 1e-15
    assert low.beta <= high.beta + 1e-15
