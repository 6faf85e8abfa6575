"""Condensed graphs beside BONSAI's and the whole graph."""

from __future__ import annotations

import pytest
from support.results import frame, row

from herald_gpu.experiments.figures.statistics import draw


@pytest.fixture(autouse=True)
def _drawing():
    pytest.importorskip("matplotlib")


def test_statistics_beside_the_whole_graph():
    rows = frame(
        row(model="", density=0.5),
        row(model="", density=0.4, ratio=0.005),
        row(model="", density=0.2, method="bonsai"),
        row(model="", density=0.01, method="full", ratio=1.0, storage_ratio=1.0),
    )
    (drawn,) = draw(rows)
    axes = drawn.figure.axes[0]
    shown = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert axes.get_title() == "density"
    assert shown == {"whole graph": [0.01, 0.01], "HERALD, true budget": [0.4, 0.5], "BONSAI, true budget": [0.2]}
    storage = {line.get_label(): list(line.get_ydata()) for line in drawn.figure.axes[4].lines}
    assert storage["storage asked for"] == [0.5, 1.0]
    assert storage["HERALD, true budget"] == pytest.approx([0.9, 0.9])


@pytest.mark.parametrize(("whole", "scale"), [(1.2, "linear"), (9e6, "log")])
def test_values_of_other_orders_of_magnitude_leave_the_rest_readable(whole, scale):
    rows = frame(row(model="", feature_variance=0.9), row(model="", feature_variance=whole, method="full", ratio=1.0))
    (drawn,) = draw(rows)
    assert drawn.figure.axes[3].get_yscale() == scale
