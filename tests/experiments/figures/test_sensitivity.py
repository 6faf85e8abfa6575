"""Accuracy against each constant."""

from __future__ import annotations

import pytest
from support.results import frame, row

from herald_gpu.experiments.figures.sensitivity import draw


@pytest.fixture(autouse=True)
def _drawing():
    pytest.importorskip("matplotlib")


def test_sensitivity_has_a_panel_for_each_constant():
    rows = frame(row(change="depth=3", accuracy=50.0), row(change="depth=1", accuracy=40.0))
    (drawn,) = draw(rows)
    panels = {axes.get_xlabel(): axes for axes in drawn.figure.axes}
    assert list(panels) == ["LID size k", "depth L", "steepness c", "base weight alpha0"]
    ((line, *_),) = panels["depth L"].containers
    assert (line.get_xdata().tolist(), line.get_ydata().tolist()) == ([1.0, 3.0], [40.0, 50.0])
    assert panels["depth L"].get_xticks().tolist() == [1, 2, 3, 4]
    usual = [line for line in panels["depth L"].lines if line.get_label() == "the paper's value"]
    assert usual[0].get_xdata() == [2.0, 2.0]


def test_sensitivity_keeps_columns_apart():
    rows = frame(row(change="depth=3"), row(change="depth=3", column="published"))
    assert [drawn.stem for drawn in draw(rows)] == ["sensitivity-published", "sensitivity-true"]
