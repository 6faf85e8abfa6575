"""Figures: their numbers are those of the graphs."""

from __future__ import annotations

import numpy as np
import pytest
from outcomes import sign_bytes

from herald_gpu.report.figures import SCORES, class_balance, degrees, figures, positions, scores, storage, timings
from herald_gpu.report.shapes import Bars
from herald_gpu.report.storage import full_parts, parts


def test_every_figure_is_complete(result):
    made = figures(result._host, result.report)
    assert len({figure.key for figure in made}) == len(made)
    for figure in made:
        assert figure.title
        assert figure.description.endswith(".")
        assert all(len(row) == len(figure.table.header) for row in figure.table.rows)
        length = len(figure.categories) if isinstance(figure, Bars) else figure.n_bins
        for series in figure.series:
            assert len(series.values) == length
            assert np.isfinite(series.values).all()
            if figure.key != "timings" and sum(series.values):
                assert sum(series.values) == pytest.approx(100)


def test_classes(result):
    figure, report = class_balance(result.report), result.report
    counts = np.array(list(report.class_counts.values()))
    assert figure.texts[-1] == tuple(f"{count:,}" for count in counts)
    np.testing.assert_allclose(figure.series[-1].values, 100 * counts / counts.sum())
    assert len(figure.series) == 2


def test_kept_nodes_are_found_among_all(result):
    contents, rows = result._host, positions(result._host)
    own = ~contents.is_landmark
    assert (contents.scores["node"][rows[own]] == contents.node_ids[own]).all()
    assert (rows[~own] == -1).all()


def test_scores(result):
    contents = result._host
    made = {figure.key: figure for figure in scores(contents)}
    assert made.keys() == SCORES.keys() & contents.scores.keys()
    for name, figure in made.items():
        assert len(figure.marks) == contents.is_root.sum()
        assert all(-1e-9 <= place <= figure.n_bins + 1e-9 for place in figure.marks)
        [whole, *_] = figure.table.rows
        assert whole[3] == f"{np.median(contents.scores[name]):.4g}"


def test_degrees(make):
    result = make("default")
    own, before = np.diff(result._host.adjacency.indptr), result.report.before
    figure = degrees(result._host, result.report)
    assert [label for _, label in figure.ticks][:3] == ["0", "1", "2-3"]
    assert figure.table.rows[0] == ("0", f"{before.degrees[0]:,}", f"{(own == 0).sum():,}")
    assert figure.series[1].values[0] == pytest.approx(100 * (own == 0).mean())


def test_bytes_add_up(result):
    found, report = parts(result._host, result.report), result.report
    assert sum(found.values()) == report.storage_bytes
    assert all(count > 0 for name, count in found.items() if name != "edges")
    assert found["edges"] + found.get("synthetic edges", 0) == 4 * report.n_edges
    assert ("features of landmarks" in found) == (report.n_landmarks > 0)
    assert ("principal components" in found) == (report.component_count is not None)
    assert sum(full_parts(report).values()) == report.full_bytes
    assert storage(result._host, report).table.rows[-1][-1] == f"{report.storage_bytes:,}"


def test_features_of_landmarks_are_priced_as_signs(make):
    result = make("words")
    rows = result._host.features[np.flatnonzero(result._host.is_landmark)]
    assert rows.shape[0] > 0
    assert parts(result._host, result.report)["features of landmarks"] == sign_bytes(*rows.shape)


def test_timings(result):
    figure = timings(result.report)
    assert figure.categories == tuple(result.report.timings)
    assert figure.series[0].values == tuple(result.report.timings.values())
