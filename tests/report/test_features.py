"""Kept features, classes, and what transform does, on the page."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from herald_gpu.report import page
from herald_gpu.report.features import SHOWN, class_table, feature_table, kept, transform_steps, weights


def test_weights_by_hand(make):
    contents = make("default")._host
    x = np.array([[0, 0, 5, 1], [0, 2, 5, 1], [1, 0, 5, 2], [1, 2, 5, 3], [9, 9, 9, 9]], dtype=np.float32)
    codes = np.array([0, 0, 1, 1, -1])
    given = replace(contents, features=x, codes=codes, train_mask=codes >= 0, reduction=None)
    # The class alone; not at all; a constant; between 1, 1 and 2, 3: 2.25 of 2.75.
    assert weights(given) == pytest.approx([1, 0, 0, 2.25 / 2.75])
    sparse = replace(given, features=scipy.sparse.csr_matrix(x))
    assert weights(sparse) == pytest.approx(weights(given))


def test_every_kept_feature_is_listed_with_its_column(result):
    contents = result._host
    listed = kept(contents)
    assert {(name, column) for name, column, _ in listed} == {
        (str(name), int(column))
        for name, column in zip(contents.feature_ids.tolist(), contents.feature_positions.tolist(), strict=True)
    }
    found = [weight for *_, weight in listed]
    if contents.reduction is None:
        assert found == sorted(found, reverse=True)
        assert all(0 <= weight <= 1 for weight in found)
    else:
        assert set(found) == {None}


def test_the_table_is_light_and_the_data_whole():
    listed = [(f"f{i}", i, 0.5) for i in range(1200)]
    table = feature_table(listed)
    assert len(table.rows) == SHOWN
    assert table.caption == "Kept features: the first 50 of 1,200"


def test_classes_before_and_after(result):
    contents, report = result._host, result.report
    rows = class_table(contents, report).rows
    assert [row[0] for row in rows] == [str(value) for value in contents.class_values.tolist()]
    assert [int(row[2].replace(",", "")) for row in rows] == [
        report.class_counts[v] for v in contents.class_values.tolist()
    ]
    assert sum(int(row[3]) for row in rows) == report.n_landmarks
    assert [int(row[1].replace(",", "")) for row in rows] == list(report.before.class_counts)


def test_what_transform_does(make):
    plain, reduced, scaled = (transform_steps(make(name)._host) for name in ("default", "pca", "published"))
    contents = make("default")._host
    assert plain[0].startswith(
        f"It keeps {len(contents.feature_ids)} of {contents.n_input_features} columns, by number"
    )
    assert plain[1].startswith("It changes no value")
    assert "principal components" in reduced[-1]
    assert any("spread" in step for step in scaled) == (make("published")._host.scaling is not None)
    assert "by name in a table" in transform_steps(make("odd names")._host)[0]


def test_the_page_has_them_without_its_script_and_for_it(result):
    text = page(result._host, result.report)
    data = json.loads(re.search(r'id="graph-data">(.*?)</script>', text, re.DOTALL)[1])
    assert [tuple(one) for one in data["features"]] == kept(result._host)
    before = text[: text.index('<script type="application/json"')]
    assert 'type="search" id="feature-search"' in before
    assert "What transform does to other nodes" in before
    assert before.count('<th scope="row">', before.index('id="feature-rows"')) >= min(SHOWN, len(data["features"]))
