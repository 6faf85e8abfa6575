"""The page that compares methods."""

from __future__ import annotations

from support.results import frame, infeasible, lines, row

from herald_gpu import baselines
from herald_gpu.experiments.comparison import HERE, PROPERTIES, comparison_page


def test_every_method_of_the_package_is_there():
    assert set(HERE) == {*baselines.NAMES, "herald"}
    assert {len(said) for said in HERE.values()} == {len(PROPERTIES)}


def test_where_the_paper_says_otherwise():
    found = {line[0]: line[1:] for line in lines(comparison_page(frame()))}
    assert found["HERALD"] == ["yes"] * 6
    assert found["BONSAI"] == ["yes", "yes", "yes", "no", "no", "yes"]
    assert found["GDEM"] == ["no", "yes (paper: no)", "yes", "no", "no", "yes (paper: no)"]
    assert found["GCond (not run)"] == ["no", "no", "yes", "no", "no", "no"]


def test_the_largest_excess_and_its_place():
    rows = frame(
        row(method="full", ratio=1.0, storage_ratio=1.0),
        row(storage_ratio=0.009),
        row(storage_ratio=0.0299, ratio=0.03, dataset="citeseer"),
        row(column="published", storage_ratio=0.62),
        row(method="random", storage_ratio=0.005),
        infeasible(method="gdem"),
    )
    found = lines(comparison_page(rows).split("## Kept its budget?")[1])[1:]
    assert found == [
        ["Random", "0.500", "Cora, r = 0.01", "", ""],
        ["HERALD", "0.997", "CiteSeer, r = 0.03", "62.0", "Cora, r = 0.01"],
    ]


def test_nothing_was_run():
    assert "No accuracies have been run yet" in comparison_page(frame())
    assert lines(comparison_page(frame(infeasible())).split("## Kept")[1])[1:] == []
