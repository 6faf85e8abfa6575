"""Seconds of each stage."""

from __future__ import annotations

import pandas as pd
import pytest

from herald_gpu.experiments.figures.times import draw


@pytest.fixture(autouse=True)
def _drawing():
    pytest.importorskip("matplotlib")


def test_times_against_each_size():
    key = {"stage": "tree", "repeat": 0}
    rows = pd.DataFrame(
        [key | {"axis": axis, "value": v, "seconds": v / 10} for axis in ("nodes", "features") for v in (20, 10)]
    )
    (drawn,) = draw(rows)
    assert [axes.get_xlabel() for axes in drawn.figure.axes] == ["nodes N", "features F"]
    shown = {line.get_label(): list(line.get_ydata()) for line in drawn.figure.axes[0].lines}
    assert shown["3: feature count (decision tree)"] == [1.0, 2.0]
    assert drawn.figure.axes[0].get_xscale() == drawn.figure.axes[0].get_yscale() == "log"
