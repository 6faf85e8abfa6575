"""Accuracies in every form they are kept in, and only those of the graph at hand."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from herald_gpu.errors import InputError
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
    assert figure.categories == ("GCN", "GIN", "GCN (full graph)")
    assert figure.series[0].values == (72.0, 61.5, 80.0)  # noqa: PD011 - of a dataclass
    assert figure.points == ((70.0, 74.0), (61.5,), (80.0,))
    assert [row[2] for row in figure.table.rows] == ["72.00 ± 2.83 %", "61.50 %", "80.00 %"]
    assert [row[1] for row in figure.table.rows] == ["condensed graph", "condensed graph", "full graph"]


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
        "GCN, standard (full graph)",
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
