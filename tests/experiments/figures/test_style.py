"""What all figures share."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from herald_gpu.experiments import condensers
from herald_gpu.experiments.figures.style import METHODS, curve, legend, level, panels


def test_methods_are_told_apart_by_colour_and_marker():
    assert set(METHODS) == set(condensers.METHODS)
    assert len({colour for colour, _ in METHODS.values()}) == len(METHODS)
    assert len({marker for _, marker in METHODS.values()}) == len(METHODS)


def test_a_curve_is_drawn_in_order_and_without_deviations_where_there_are_none():
    pytest.importorskip("matplotlib")
    made, (axes,) = panels(1, 1, width=2, height=2)
    part = pd.DataFrame({"storage": [3.0, 1.0], "mean": [30.0, 10.0], "std": [math.nan, 2.0]})
    curve(axes, part, "storage", label="one")
    line, _, (bars,) = axes.containers[0]
    assert line.get_xdata().tolist() == [1.0, 3.0]
    assert line.get_ydata().tolist() == [10.0, 30.0]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[8.0, 12.0], [30.0, 30.0]]
    legend(made, [axes, axes])
    assert [text.get_text() for text in made.legends[0].get_texts()] == ["one"]


def test_a_level_that_is_not_known_is_not_drawn():
    pytest.importorskip("matplotlib")
    _, (axes,) = panels(1, 1, width=2, height=2)
    level(axes, pd.DataFrame({"mean": [math.nan]}), "mean")
    level(axes, pd.DataFrame({"mean": []}), "mean")
    assert len(axes.lines) == 0
    level(axes, pd.DataFrame({"mean": [5.0]}), "mean")
    assert axes.lines[0].get_ydata() == [5.0, 5.0]
