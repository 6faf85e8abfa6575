"""Ratios in words have three digits, and those to pass back are never too small."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from herald_gpu import condense
from herald_gpu.datasets import make_graph
from herald_gpu.errors import BudgetError
from herald_gpu.ratios import at_least, percent


@given(st.floats(1e-12, 10, exclude_min=True))
def test_what_is_read_back_is_enough_and_little_more(ratio):
    text = at_least(ratio)
    assert ratio <= float(text) <= ratio * 1.011
    digits = re.sub(r"e.*|[^0-9]", "", text).strip("0")
    assert len(digits) <= 3


@pytest.mark.parametrize(
    ("ratio", "told"), [(0.09090909090909091, "0.091"), (0.12, "0.12"), (0.1, "0.1"), (0.9991, "1"), (1.0, "1")]
)
def test_rounded_up(ratio, told):
    assert at_least(ratio) == told


@pytest.mark.parametrize(
    ("share", "told"), [(0.0499999, "5 %"), (0.012345, "1.23 %"), (1.0, "100 %"), (15.5, "1550 %"), (0.0, "0 %")]
)
def test_percent(share, told):
    assert percent(share) == told


@pytest.mark.parametrize("seed", range(3))
def test_the_ratio_in_the_message_can_be_passed(seed):
    graph = make_graph(150, n_classes=4, n_features=9, seed=seed)
    arguments = (graph.edge_index, graph.features, graph.labels, graph.train)
    with pytest.raises(BudgetError) as caught:
        condense(*arguments, ratio=1e-6, backend="cpu")
    told = re.search(r"the smallest feasible ratio is ([\d.e-]+); pass that or more", str(caught.value))[1]
    assert len(re.sub(r"e.*|[^0-9]", "", told).strip("0")) <= 3
    assert float(told) >= caught.value.smallest_ratio
    assert condense(*arguments, ratio=float(told), backend="cpu").report.missing_classes == []
