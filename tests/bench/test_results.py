"""Results on disk."""

from __future__ import annotations

import json

import pytest

from herald_gpu.bench.cases import Case
from herald_gpu.bench.results import NAME, Results
from herald_gpu.errors import ConfigError, FileFormatError

CASE = Case("one", "lid:dense", {"n_rows": 5, "shape": (1, 2)})


def test_results_are_kept_and_found_again(tmp_path):
    Results(tmp_path / "new", quick=False).add("memory", CASE, {"excess": 1.0}, facts={"commit": "a"})
    again = Results(tmp_path / "new")
    assert again.has("memory", CASE)
    assert again.cases("memory") == {"one": {"excess": 1.0}}
    assert again.facts("memory") == [{"commit": "a"}]
    assert not again.quick
    assert [path.name for path in (tmp_path / "new").iterdir()] == [NAME]


def test_other_options_are_another_measurement(tmp_path):
    results = Results(tmp_path, quick=False)
    results.add("memory", CASE, {"excess": 1.0}, facts={})
    assert not results.has("memory", Case("one", CASE.task, {"n_rows": 6}))
    assert not results.has("memory", Case("one", "lid:sparse", CASE.options))
    assert not results.has("growth", CASE)


@pytest.mark.parametrize("state", ["skipped", "failed"])
def test_what_was_not_measured_is_tried_again(tmp_path, state):
    results = Results(tmp_path, quick=False)
    results.add("memory", CASE, {state: "for a reason"}, facts={})
    assert not results.has("memory", CASE)


def test_cases_that_are_no_more_are_dropped(tmp_path):
    results = Results(tmp_path, quick=False)
    results.add("memory", CASE, {}, facts={"commit": "a"})
    results.start("memory", [Case("other", "lid:dense")], again=False)
    assert results.cases("memory") == {}
    assert results.facts("memory") == []


def test_again_drops_what_is_there(tmp_path):
    results = Results(tmp_path, quick=False)
    results.add("memory", CASE, {}, facts={})
    results.start("memory", [CASE], again=False)
    assert results.has("memory", CASE)
    results.start("memory", [CASE], again=True)
    assert not results.has("memory", CASE)


def test_facts_are_told_once(tmp_path):
    results = Results(tmp_path, quick=False)
    for name in ("a", "b", "c"):
        results.add("memory", Case(name, "lid:dense"), {}, facts={"commit": name.replace("b", "a")})
    assert results.facts("memory") == [{"commit": "a"}, {"commit": "c"}]


def test_quick_and_full_runs_do_not_mix(tmp_path):
    Results(tmp_path, quick=True).add("memory", CASE, {}, facts={})
    with pytest.raises(ConfigError, match="holds a quick run, and this one is full"):
        Results(tmp_path, quick=False)
    assert Results(tmp_path).quick


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": 2, "quick": false, "sections": {}}',
        '{"format": 1, "quick": 0, "sections": {}}',
        '{"format": 1, "quick": false, "sections": {"memory": {}}}',
        '{"format": 1, "quick": false, "sections": {"memory": {"facts": [], "cases": {"a": {"task": "b"}}}}}',
    ],
)
def test_a_file_that_is_something_else(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(FileFormatError, match=r"bench\.json holds no results of herald bench: move it away"):
        Results(tmp_path)
    assert (tmp_path / NAME).read_text() == text


def test_the_file_is_json(tmp_path):
    results = Results(tmp_path, quick=True)
    results.add("memory", CASE, {"excess": 1.0}, facts={})
    assert json.loads(results.path.read_text()) == json.loads(results.to_json())
