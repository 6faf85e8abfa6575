"""The little there is to format."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from support.results import frame, infeasible, row

from herald_gpu.experiments.markdown import accuracies, by_model, complete, figure, number, of, smallest, spread, table


def test_a_table_ends_with_a_line_break():
    assert table(["a", "b"], [["1", "2"]], left=2) == "| a | b |\n|---|---|\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("mean", "std", "text"), [(81.25, 0.55, "81.2 ± 0.6"), (81.0, math.nan, "81.0"), (math.nan, math.nan, "")]
)
def test_spread(mean, std, text):
    assert spread(mean, std) == text


def test_number():
    assert [number(1234.5, 0), number(0.5), number(math.nan)] == ["1,234", "0.50", ""]


def test_deviations_are_those_of_a_sample():
    rows = frame(row(accuracy=50.0), row(accuracy=52.0, seed=1), row(model="GAT", accuracy=7.0))
    means = accuracies(rows, ["model"])
    assert means["mean"].tolist() == [51.0, 7.0]
    assert means["std"][0] == pytest.approx(math.sqrt(2))
    assert math.isnan(means["std"][1])
    assert means["n"].tolist() == [2, 1]
    assert by_model(means, ["GAT", "GIN", "GCN"]) == ["7.0", "", "51.0 ± 1.4"]


def test_what_was_never_measured_is_missing():
    rows = complete(frame(infeasible()))
    assert math.isnan(figure(rows, "accuracy"))
    assert math.isnan(figure(rows, "published_ratio"))
    assert accuracies(of(rows, status="ok"), ["model"]).empty
    assert "accuracy" not in frame(infeasible())


def test_smallest():
    assert smallest(frame(infeasible(smallest_ratio=0.0213))) == "smallest r 2.1 %"
    assert smallest(frame(infeasible(smallest_ratio=math.nan))) == ""


def test_rows_are_picked_by_all_values():
    rows = frame(row(seed=0), row(seed=1), row(seed=1, model="GAT"))
    assert of(rows, seed=1, model="GAT").index.tolist() == [2]
    assert len(of(rows)) == 3


def test_a_figure_of_a_row_or_a_frame():
    rows = pd.DataFrame({"a": [1, 2], "b": [None, None]})
    assert figure(rows, "a") == figure(rows.iloc[0], "a") == 1.0
    assert math.isnan(figure(rows, "b"))
    assert math.isnan(figure(rows, "c"))
