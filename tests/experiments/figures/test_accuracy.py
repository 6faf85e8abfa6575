"""Accuracy against true storage."""

from __future__ import annotations

import pytest
from support.results import frame, infeasible, row

from herald_gpu.experiments.figures.accuracy import draw


@pytest.fixture
def drawn():
    pytest.importorskip("matplotlib")
    rows = frame(
        row(accuracy=50.0, storage_ratio=0.009),
        row(accuracy=54.0, storage_ratio=0.009, seed=1),
        row(accuracy=60.0, ratio=0.03, storage_ratio=0.028),
        row(accuracy=80.0, column="published", storage_ratio=0.6),
        row(accuracy=88.0, method="full", ratio=1.0, storage_ratio=1.0),
        row(accuracy=20.0, model="H2GCN", method="random"),
        infeasible(method="gdem"),
    )
    (one,) = draw(rows)
    return one


def test_a_panel_for_each_model_that_was_run(drawn):
    shown = [axes.get_title() for axes in drawn.figure.axes if axes.axison]
    assert shown == ["GCN", "H2GCN"]
    assert drawn.stem == "accuracy-cora"


def test_true_storage_in_percent_on_a_logarithmic_scale(drawn):
    axes = drawn.figure.axes[0]
    assert axes.get_xscale() == "log"
    lines = {container.get_label(): container[0] for container in axes.containers}
    assert lines["HERALD"].get_xdata().tolist() == pytest.approx([0.9, 2.8])
    assert lines["HERALD"].get_ydata().tolist() == [52.0, 60.0]
    assert lines["HERALD, as published"].get_xdata().tolist() == pytest.approx([60.0])


def test_columns_are_told_apart(drawn):
    lines = {container.get_label(): container[0] for container in drawn.figure.axes[0].containers}
    true, published = lines["HERALD"], lines["HERALD, as published"]
    assert true.get_color() == published.get_color()
    assert (true.get_linestyle(), published.get_linestyle()) == ("-", "--")
    assert published.get_markerfacecolor() == "white" != true.get_markerfacecolor()


def test_the_whole_graph_is_a_level(drawn):
    levels = [line for line in drawn.figure.axes[0].lines if line.get_label() == "whole graph"]
    assert [line.get_ydata() for line in levels] == [[88.0, 88.0]]
