"""The page of the sensitivity study."""

from __future__ import annotations

from support.results import frame, infeasible, lines, row

from herald_gpu.experiments.grids import AXES
from herald_gpu.experiments.sensitivity import CONSTANTS, curves, sensitivity_page

DEPTHS = [
    row(change=f"depth={value}", accuracy=accuracy + seed, seed=seed)
    for value, accuracy in ((1, 50.0), (2, 53.0), (3, 51.0), (4, 49.5))
    for seed in (0, 1)
]


def test_every_constant_is_named():
    assert list(CONSTANTS) == list(AXES)


def test_the_swing_is_that_of_the_means():
    found = [line for line in lines(sensitivity_page(frame(*DEPTHS))) if line[:2] == ["depth L", "Cora"]]
    assert found == [["depth L", "Cora", "0.22", "", "3.50", "0.89", "", ""]]


def test_no_swing_unless_all_values_were_run():
    text = sensitivity_page(frame(*DEPTHS[:-2], row(change="alpha0=0.2")))
    found = [line for line in lines(text) if line[:2] == ["depth L", "Cora"]]
    assert found == [["depth L", "Cora", "0.22", "", "", "0.89", "", ""]]


def test_graphs_of_the_paper_that_were_not_run_keep_their_lines():
    text = sensitivity_page(frame(*DEPTHS))
    assert ["depth L", "Roman-empire", "0.14", "", "", "0.16", "", ""] in lines(text)
    assert "Not run: Amazon-ratings and Roman-empire, which the paper has here.\n" in text


def test_curves_read_the_value_of_a_change():
    found = curves(frame(*DEPTHS, infeasible(change="depth=9")))
    assert found["axis"].unique().tolist() == ["depth"]
    assert dict(zip(found["value"], found["mean"], strict=True)) == {1.0: 50.5, 2.0: 53.5, 3.0: 51.5, 4.0: 50.0}


def test_nothing_was_run():
    assert "Nothing has been run yet" in sensitivity_page(frame())
    assert "| Cora | 0.22 |" in sensitivity_page(frame(infeasible(change="depth=1")))
