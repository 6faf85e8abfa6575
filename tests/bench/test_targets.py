"""What a run says of the targets."""

from __future__ import annotations

import pytest
from support.bench import fill

from herald_gpu.bench import targets
from herald_gpu.bench.cases import Case
from herald_gpu.bench.results import Results
from herald_gpu.bench.sections import SECTIONS
from herald_gpu.bench.targets import TARGETS, judge


def spoil(results, section, name, **changes):
    """Change figures of one case."""
    case = next(case for case in SECTIONS[section].cases(results.quick) if case.name == name)
    results.add(section, case, results.cases(section)[name] | changes, facts={})


def missed(results):
    return [(verdict.target.name, verdict.case) for verdict in judge(results) if verdict.status == "missed"]


def test_all_met(full):
    assert {verdict.status for verdict in judge(full)} == {"met"}
    assert {verdict.target for verdict in judge(full)} == set(TARGETS)


@pytest.mark.parametrize(
    ("section", "case", "changes", "name"),
    [
        ("lid-dense", "N=20000, F=300", {"ratio": 0.81}, "dense LID"),
        ("lid-sparse", "pubmed", {"ratio": 1.0}, "sparse LID"),
        ("lid-sparse", "pubmed", {"dense_share": 1.0}, "sparse LID stays sparse"),
        ("fisher", "coauthor-cs", {"ratio": 1.31}, "Fisher"),
        ("fisher", "coauthor-cs", {"grown": 8e8}, "Fisher copies nothing"),
        ("fisher", "coauthor-cs", {"grown": 4e8, "sparse": True}, "Fisher copies nothing"),
        ("feature-count", "pubmed", {"ratio": 0.11}, "feature count"),
        ("first-result", "cora", {"seconds": 3.0}, "first result"),
        ("presets", "chameleon", {"ratio": 2.1}, "default preset"),
        ("memory", "coauthor-cs paper", {"excess": 2.1e9}, "memory"),
        ("approximate", "N=200000, F=300", {"speedup": 9.9}, "approximate LID"),
        ("approximate", "N=200000, F=300", {"spearman": 0.94}, "approximate LID agrees"),
        ("reddit", "condensation", {"peak": 12.1e9}, "Reddit's memory"),
        ("reddit", "condensation", {"seconds": 101.0}, "Reddit's time"),
        ("peers", "cora default", {"seconds": 0.14}, "published BONSAI"),
    ],
)
def test_one_missed(full, section, case, changes, name):
    spoil(full, section, case, **changes)
    assert [found for found, _ in missed(full)] == [name]


def test_stages_of_the_paper_that_grow(full):
    stages = {
        "features/fisher": {"seconds": 0.8, "bare": 1.0},
        "expansion": {"seconds": 0.1, "bare": 0.0},
        "rebalance": {"seconds": 0.1, "bare": None},
    }
    spoil(full, "pipeline", "pubmed paper", stages=stages)
    assert missed(full) == [("growth, pruning, balance", "pubmed paper")]


def test_stages_over_their_bare_kernels(full):
    spoil(full, "pipeline", "pubmed default", stages={"scoring": {"seconds": 1.4, "bare": 1.0}})
    assert missed(full) == [("whole pipeline", "pubmed default")]


def test_exponents(full):
    for case, found in full.cases("growth").items():
        spoil(full, "growth", case, seconds=found["seconds"] ** 1.2)
    assert missed(full) == [("growth of time", "N = 10,000 to 640,000")]


def test_reasons_stand_beside_what_is_missed(full, monkeypatch):
    monkeypatch.setitem(targets.REASONS, "memory", "for a reason")
    spoil(full, "memory", "coauthor-cs paper", excess=3e9)
    by_case = {verdict.case: verdict.why for verdict in judge(full) if verdict.target.name == "memory"}
    assert by_case["coauthor-cs paper"] == "for a reason"
    assert by_case["coauthor-cs default"] == ""


def test_what_failed_or_is_not_here_is_not_judged(full):
    case = next(case for case in SECTIONS["lid-sparse"].cases(False) if case.name == "pubmed")
    full.add("lid-sparse", case, {"skipped": "not here"}, facts={})
    verdicts = [verdict for verdict in judge(full, ["lid-sparse"]) if verdict.case == "pubmed"]
    assert {(verdict.status, verdict.why) for verdict in verdicts} == {("not judged", "skipped: not here")}
    assert not missed(full)


def test_what_was_not_measured_is_said(tmp_path):
    verdicts = judge(Results(tmp_path, quick=False))
    assert {(verdict.status, verdict.why) for verdict in verdicts} == {("not judged", "not measured")}
    assert len(verdicts) == len(TARGETS)


def test_a_quick_run_is_not_judged(tmp_path):
    results = Results(tmp_path, quick=True)
    fill(results)
    assert {verdict.status for verdict in judge(results)} == {"not judged"}


def test_one_half_of_reddit_says_nothing_of_time(tmp_path):
    results = Results(tmp_path, quick=False)
    results.add("reddit", Case("training", "training:gcn"), {"seconds": 5.0}, facts={})
    assert {verdict.why for verdict in judge(results, ["reddit"])} == {"not measured"}


def test_figures_are_told_in_their_units():
    told = {target.name: (target.wanted, target.told(target.limit)) for target in TARGETS}
    assert told["growth, pruning, balance"] == ("<= 10 %", "10 %")
    assert told["Reddit's memory"] == ("<= 12 GB", "12 GB")
    assert told["approximate LID agrees"] == (">= 0.95", "0.95")
