"""The page of accuracies."""

from __future__ import annotations

import pytest
from support.results import frame, infeasible, lines, row

from herald_gpu.experiments.tables import accuracy_page


def section(text, heading):
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]


def test_the_paper_and_both_columns_stand_below_each_other():
    published = {"column": "published", "storage_ratio": 0.6291, "published_ratio": 0.1213, "n_nodes": 2668}
    rows = frame(
        row(accuracy=49.0),
        row(accuracy=51.0, seed=1),
        row(accuracy=85.4, **published),
        row(accuracy=86.0, model="H2GCN", **published),
    )
    found = lines(section(accuracy_page(rows), "Cora"))
    assert found[0][3:7] == ["GCN", "GAT", "GIN", "H2GCN"]
    assert found[1] == [
        *("HERALD", "0.01", "paper", "86.9 ± 0.2", "83.8 ± 0.9", "86.8 ± 0.8", "82.5 ± 0.5", "", "", "")
    ]
    assert found[2] == ["", "", "as published", "85.4", "", "", "86.0", "2,668", "62.91", "12.13"]
    assert found[3] == ["", "", "true budget", "50.0 ± 1.4", "", "", "", "40", "0.90", ""]
    assert len(found) == 4


def test_the_sizes_that_the_paper_prints_stand_in_its_line():
    found = lines(section(accuracy_page(frame(row(dataset="squirrel", ratio=0.005))), "Squirrel"))
    assert found[1][2] == "paper"
    assert found[1][-3:] == ["3,643", "", "16.54"]


def test_a_ratio_that_cannot_be_kept():
    found = lines(section(accuracy_page(frame(infeasible(ratio=0.0001), row())), "Cora"))
    assert found[1][:3] == ["HERALD", "0.0001", "paper"]
    assert found[2] == ["", "", "true budget", *["infeasible"] * 4, "", "smallest r 2 %", ""]


def test_nothing_but_infeasible_rows():
    text = accuracy_page(frame(infeasible()))
    assert "over no initialisation yet" in text
    assert "smallest r 2 %" in text


def test_nothing_at_all():
    assert "Nothing has been run yet" in accuracy_page(frame())


def test_averages_only_over_graphs_that_are_all_there():
    rows = frame(
        row(dataset="cora", accuracy=50.0),
        row(dataset="citeseer", accuracy=60.0),
        row(dataset="cora", accuracy=10.0, model="GAT"),
    )
    text = accuracy_page(rows)
    found = lines(section(text, "Homophilic graphs, average"))
    assert found[1][:3] == ["HERALD", "0.01", "paper"]
    assert found[2] == ["", "", "true budget", "55.0", "", "", "", "0.90", ""]
    assert "Over Cora and CiteSeer" in text
    assert "Heterophilic graphs" not in text
    assert "All graphs" not in text  # they are the homophilic ones


def test_the_papers_average_is_over_the_same_graphs():
    rows = frame(row(dataset="cora"), row(dataset="squirrel"), row(dataset="cora", method="full", ratio=1.0))
    found = lines(section(accuracy_page(rows), "All graphs of the paper, average"))
    assert found[1][:3] == ["HERALD", "0.01", "paper"]  # the whole graph was run on one of them only
    paper_cora, paper_squirrel = 86.9, 26.8
    assert float(found[1][3]) == pytest.approx((paper_cora + paper_squirrel) / 2, abs=1.0)


def test_graphs_are_named_where_they_are_not_the_papers():
    text = accuracy_page(frame(row(dataset="actor"), row(dataset="cora")))
    assert text.index("## Cora") < text.index("## Actor")
    assert "Not in the paper's tables." in section(text, "Actor")
    assert "Actor, not in its table, stands in for them." in text


def test_seeds_are_counted():
    assert "over 1 to 2 initialisations" in accuracy_page(frame(row(), row(seed=1), row(model="GIN")))
    assert "over 2 initialisations" in accuracy_page(frame(row(), row(seed=1)))
