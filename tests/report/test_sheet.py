"""The drawing as SVG: edges leave the nodes visible, however many there are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from herald_gpu.report.sheet import DARKEST, opacity, overlap


def drawing(n, m, side=900.0):
    rng = np.random.default_rng(0)
    return SimpleNamespace(places=rng.uniform(0, side, (n, 2)), edges=rng.integers(0, n, (m, 2)), ids=range(n))


def test_no_edges_lie_over_nothing():
    assert overlap(drawing(5, 0)) == 0
    assert opacity(0) == 0.75


@pytest.mark.parametrize("lines", [1, 5, 30, 70])
def test_lines_over_one_another_stay_below_the_darkest(lines):
    assert 1 - (1 - opacity(lines)) ** lines == pytest.approx(DARKEST)


def test_overlap_is_the_length_of_edges_over_the_area():
    found = drawing(2000, 30_000)
    ends = found.places[found.edges]
    mean = np.hypot(*(ends[:, 0] - ends[:, 1]).T).sum() / 900**2
    assert mean < overlap(found) < 3 * mean


def test_more_edges_are_fainter():
    faint = [opacity(overlap(drawing(1000, m))) for m in (500, 5_000, 50_000)]
    assert faint == sorted(faint, reverse=True)
    assert faint[-1] < 0.05
