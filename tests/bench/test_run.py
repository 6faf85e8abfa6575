"""What is measured, and what is not measured twice."""

from __future__ import annotations

import pytest

from herald_gpu.bench import run, worker
from herald_gpu.bench.alone import measure_alone
from herald_gpu.bench.cases import Case
from herald_gpu.bench.results import Results
from herald_gpu.bench.sections import SECTIONS
from herald_gpu.errors import ConfigError


@pytest.fixture
def asked(monkeypatch):
    """Stand in for measuring: note what was asked for."""
    seen = []
    monkeypatch.setattr(run, "measure_alone", lambda case: seen.append(case.name) or {"ratio": 1.0})
    monkeypatch.setattr(run, "facts", lambda: {"commit": "a"})
    return seen


def test_a_run_goes_on_where_it_was(tmp_path, asked, monkeypatch):
    def stopped(case):
        asked.append(case.name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return {"ratio": 1.0}

    monkeypatch.setattr(run, "measure_alone", stopped)
    with pytest.raises(KeyboardInterrupt):
        run.bench(Results(tmp_path, quick=False), ["fisher"])
    tally = run.bench(Results(tmp_path, quick=False), ["fisher"])
    assert asked == ["pubmed", "coauthor-cs", "coauthor-cs", "generated, 100,000 x 602"]
    assert tally == {"measured": 2, "there already": 1, "skipped": 0, "failed": 0}


def test_again(tmp_path, asked):
    results = Results(tmp_path, quick=True)
    run.bench(results, ["fisher", "growth"])
    assert run.bench(results, ["fisher"])["there already"] == 1
    assert run.bench(results, ["fisher"], again=True)["measured"] == 1
    assert asked == ["generated", "300", "600", "1200", "generated"]


def test_what_is_skipped_or_fails_is_told_and_kept(tmp_path, monkeypatch, caplog):
    answers = iter([{"skipped": "not here"}, {"failed": "no memory"}, {"ratio": 1.0}])
    monkeypatch.setattr(run, "measure_alone", lambda _: next(answers))
    results = Results(tmp_path, quick=False)
    assert run.bench(results, ["fisher"]) == {"measured": 1, "there already": 0, "skipped": 1, "failed": 1}
    assert "fisher: pubmed skipped: not here" in caplog.text
    assert "fisher: coauthor-cs failed: no memory" in caplog.text
    assert results.cases("fisher")["pubmed"] == {"skipped": "not here"}


def test_sections_by_name():
    assert run.chosen(None) == run.chosen([]) == list(SECTIONS)
    with pytest.raises(ConfigError, match="'fishr' is no section of the benchmark: pass some of lid-dense"):
        run.chosen(["fisher", "fishr"])


@pytest.mark.parametrize("quick", [True, False])
def test_cases_can_be_told_apart_and_run(quick):
    for section in SECTIONS.values():
        cases = section.cases(quick)
        assert len({case.name for case in cases}) == len(cases)
        for case in cases:
            module, _, name = case.task.partition(":")
            task = getattr(__import__(f"{worker.TASKS}.{module}", fromlist=[name]), name)
            wanted = set(task.__code__.co_varnames[: task.__code__.co_argcount])
            assert set(case.options) <= wanted
            assert wanted - set(case.options) <= {"changes"}


def test_a_graph_that_is_not_here_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setenv("HERALD_DATA", str(tmp_path))
    monkeypatch.setenv("HERALD_CACHE", str(tmp_path))
    found = worker.measure("features:fisher", {"spec": {"dataset": "cora"}, "repeats": 1})
    assert "cora is not here" in found["skipped"]


def test_a_process_that_fails_says_why():
    case = Case("a", "first:no_such_task")
    assert measure_alone(case)["failed"].startswith("AttributeError: ")


def test_a_process_that_takes_too_long():
    case = Case("a", "first:first_result", {"spec": {"n_nodes": 300}, "repeats": 1}, timeout=0.01)
    assert measure_alone(case) == {"failed": "not done after 0.01 s"}
