"""Accuracy of each variant."""

from __future__ import annotations

import pytest
from support.results import frame, row

from herald_gpu.experiments.figures.ablation import draw


@pytest.fixture(autouse=True)
def _drawing():
    pytest.importorskip("matplotlib")


def test_ablation_has_a_place_for_each_variant():
    (drawn,) = draw(frame(row(change="A", accuracy=50.0), row(change="A4", accuracy=45.0)))
    (axes,) = drawn.figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["A", "A1", "A2a", "A2b", "A2c", "A2d", "A3", "A4"]
    points = [(round(float(one[0].get_xdata()[0])), float(one[0].get_ydata()[0])) for one in axes.containers]
    assert points == [(0, 50.0), (7, 45.0)]
