"""Accuracies in every form they are kept in, and only those of the graph at hand."""

from __future__ import annotations

import itertools
import json
import math
import re

import pandas as pd
import pytest

from herald_gpu.errors import InputError
from herald_gpu.report.charts import chart
from herald_gpu.report.evaluation import accuracy_figure, checked, read_evaluation


def as_json(rows):
    return json.loads(rows.to_json(orient="records"))


def test_tables_and_json_are_the_same(make, rows):
    report = make("default").report
    for given in (rows, as_json(rows), {"summary": [], "rows": as_json(rows)}):
        pd.testing.assert_frame_equal(checked(given, report), rows, check_dtype=False)


def test_files(make, rows, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps({"summary": [], "rows": as_json(rows)}))
    rows.to_csv(tmp_path / "a.csv", index=False)
    for name in ("a.json", "a.csv"):
        found = checked(read_evaluation(tmp_path / name), make("default").report)
        assert found["accuracy"].tolist() == rows["accuracy"].tolist()


def test_means_and_single_seeds(rows):
    figure = accuracy_figure(rows)
    assert figure.categories == ("GCN", "GIN")
    ours, full = figure.series
    assert (ours.name, ours.values) == ("condensed graph", (72.0, 61.5))  # noqa: PD011 - of a dataclass
    assert (full.name, full.role, full.values[0]) == ("full graph", "before", 80.0)  # noqa: PD011 - as above
    assert math.isnan(full.values[1])  # noqa: PD011 - as above
    assert figure.points == (((70.0, 74.0), (61.5,)), ((80.0,), ()))
    assert [row[2] for row in figure.table.rows] == ["72.00 ± 2.83 %", "61.50 %", "80.00 %"]
    assert [row[1] for row in figure.table.rows] == ["condensed graph", "condensed graph", "full graph"]


def test_what_was_trained_on_is_said_by_its_column_or_else_by_the_storage(rows):
    said = rows.assign(trained_on=["condensed", "condensed", "condensed", "full"], storage_ratio=0.5)
    assert accuracy_figure(said).table == accuracy_figure(rows).table


@pytest.mark.parametrize("highest", [97.31, 76.0, 100.0, 12.5, 61.5])
def test_the_axis_has_all_its_ticks(highest):
    """From zero to beyond the longest bar, at one distance from one another."""
    figure = accuracy_figure(pd.DataFrame({"model": ["A", "B"], "accuracy": [highest / 2, highest]}))
    ticks = [float(text) for text in re.findall(r'text-anchor="middle" class="tick">([\d.]+)<', chart(figure))]
    assert ticks[0] == 0
    assert ticks[-1] >= highest
    assert ticks[-2] < highest
    assert len(ticks) >= 4
    assert {round(b - a, 9) for a, b in itertools.pairwise(ticks)} == {ticks[1]}


def test_the_page_and_matplotlib_name_both_graphs(make, rows):
    drawn = chart(accuracy_figure(rows))
    assert ">condensed graph</text>" in drawn
    assert ">full graph</text>" in drawn
    assert drawn.count("<circle") == len(rows)
    legend = make("default").plot("accuracy", evaluation=rows).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["condensed graph", "full graph"]


def test_two_columns_are_enough():
    figure = accuracy_figure(pd.DataFrame({"model": ["A", "B"], "accuracy": [50.0, 60.0]}))
    assert figure.categories == ("A", "B")
    assert figure.table.rows[0][-1] == "not known"


def test_variants_are_told_apart(rows):
    rows["variant"] = ["standard", "published", "standard", "standard"]
    assert accuracy_figure(rows).categories == (
        "GCN, standard",
        "GCN, published",
        "GIN, standard",
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.drop(columns="model"), "no column 'model'"),
        (lambda rows: rows.iloc[:0], "no rows"),
        (lambda rows: rows.assign(accuracy="high"), "no numbers from 0 to 100"),
        (lambda rows: rows.assign(accuracy=700.0), "no numbers from 0 to 100"),
        (lambda rows: rows.assign(n_nodes=7), "another condensed graph, with 7 nodes"),
        (lambda _: {"summary": []}, "not a table of rows"),
        (lambda _: [1, 2], "not a table of rows"),
        (lambda _: 3, "not a table of rows"),
    ],
)
def test_what_is_no_evaluation_is_refused(make, rows, change, said):
    with pytest.raises(InputError, match=said):
        checked(change(rows), make("default").report)


def test_files_that_hold_none(tmp_path):
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        read_evaluation(tmp_path / "a.json")
