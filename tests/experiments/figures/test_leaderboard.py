"""Accuracy against true bytes."""

from __future__ import annotations

import pytest
from support.results import frame, row

from herald_gpu.experiments.figures.leaderboard import draw
from herald_gpu.experiments.grids import MODELS


def runs(**facts):
    return [row(model=model, validation=1.0, **facts) for model in MODELS]


def test_a_panel_for_each_graph():
    pytest.importorskip("matplotlib")
    rows = frame(
        *runs(method="herald-default", accuracy=80.0),
        *runs(method="herald-default", accuracy=82.0, ratio=0.03, storage_ratio=0.029),
        *runs(method="random", change="all, induced", accuracy=70.0),
        *runs(method="full", ratio=1.0, storage_ratio=1.0, accuracy=88.0),
        *runs(method="herald-default", dataset="actor", accuracy=30.0),
    )
    (one,) = draw(rows)
    shown = [axes for axes in one.figure.axes if axes.axison]
    assert [axes.get_title() for axes in shown] == ["Cora", "Actor"]
    (ours,) = [c for c in shown[0].containers if c.get_label() == "HERALD, default preset"]
    assert ours.lines[0].get_xdata().tolist() == pytest.approx([0.9, 2.9])
    assert ours.lines[0].get_ydata().tolist() == [80.0, 82.0]


def test_nothing_to_draw():
    pytest.importorskip("matplotlib")
    assert list(draw(frame(row(method="herald-default")))) == []
