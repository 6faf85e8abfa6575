"""The page of complexities."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from support.results import lines

from herald_gpu.experiments.complexity import complexity_page, medians, slope


def times(power, *, factor=1e-9, values=(1000, 2000, 4000, 8000), axis="nodes", stage="neighbours"):
    return [
        {"axis": axis, "value": value, "stage": stage, "repeat": repeat, "seconds": factor * value**power * noise}
        for value in values
        for repeat, noise in enumerate((1.0, 5.0, 0.9))
    ]


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 2.5])
def test_the_slope_is_the_power(power):
    rows = pd.DataFrame(times(power, factor=0.01))
    assert slope(medians(rows)) == pytest.approx(power, abs=1e-9)


def test_the_slope_is_that_of_the_largest_sizes():
    flat_then_square = pd.DataFrame({"value": [1, 2, 10, 20, 40], "seconds": [1.0, 1.0, 1.0, 4.0, 16.0]})
    assert slope(flat_then_square) == pytest.approx(2.0)
    assert slope(flat_then_square.sample(frac=1, random_state=0)) == pytest.approx(2.0)


def test_no_slope_from_too_little():
    assert math.isnan(slope(pd.DataFrame({"value": [1, 2], "seconds": [1.0, 2.0]})))
    assert math.isnan(slope(pd.DataFrame({"value": [1, 2, 4], "seconds": [1e-4, 2.0, 3.0]})))


def test_slopes_stand_beside_the_papers_orders():
    rows = pd.DataFrame([*times(2), *times(1, axis="features", factor=1e-4), *times(0, stage="weights", factor=1e-5)])
    text = complexity_page(rows)
    found = {line[1]: line for line in lines(text)[:10]}
    assert found["what"] == ["stage", "what", "paper", "slope in N", "slope in F"]
    assert found["LID (exact nearest neighbours)"] == ["4", "LID (exact nearest neighbours)", "O(N² F)", "2.0", "1.0"]
    assert found["adaptive weights"][2:] == ["O(1)", "", ""]
    assert found["feature count (decision tree)"][2] == "not said"
    assert "## Against E" not in text


def test_medians_stand_below():
    text = complexity_page(pd.DataFrame(times(2, values=(1000, 2000))))
    found = {line[1]: line for line in lines(text.split("## Against N")[1])}
    assert found["what"][2:] == ["N = 1,000", "N = 2,000"]
    assert found["LID (exact nearest neighbours)"][2:] == ["0.0010", "0.0040"]
    assert found["PPR pruning"][2:] == ["", ""]
    assert "Median seconds over 3 graphs." in text


def test_nothing_was_run():
    assert "Nothing has been run yet" in complexity_page(pd.DataFrame(columns=["axis", "value", "stage", "repeat"]))
