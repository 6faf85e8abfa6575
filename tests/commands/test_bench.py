"""``herald bench``."""

from __future__ import annotations

import json

import pytest
from support.bench import result

from herald_gpu.bench import draw, run
from herald_gpu.bench.sections import SECTIONS
from herald_gpu.cli import main


@pytest.fixture
def measured(monkeypatch):
    """Stand in for measuring; figures of one case can be changed."""
    changes, asked = {}, []

    def measure(case):
        asked.append(case.name)
        section = next(name for name, one in SECTIONS.items() for quick in (True, False) if case in one.cases(quick))
        return dict(result(section, case.name)) | changes.get(case.name, {})

    monkeypatch.setattr(run, "measure_alone", measure)
    monkeypatch.setattr(run, "facts", lambda: {"commit": "a", "machine": "one"})
    return changes, asked


def bench(out, *options):
    return main(["bench", "--output", str(out), *options])


def test_a_section_is_run_kept_and_told(tmp_path, measured, capsys):
    assert bench(tmp_path, "--only", "lid-dense") == 0
    told, errors = capsys.readouterr()
    lines = told.splitlines()
    assert lines[:3] == ["bench: 1 measured", f"  {tmp_path / 'bench.json'}", f"  {tmp_path / 'bench.md'}"]
    assert lines[-1].split() == ["met", "dense", "LID", "<=", "0.8", "x", "0.5", "x", "N=20000,", "F=300"]
    assert errors.startswith("herald: info: ")
    assert bench(tmp_path, "--only", "lid-dense") == 0
    assert capsys.readouterr().out.startswith("bench: 1 there already")
    assert bench(tmp_path, "--only", "lid-dense", "--again") == 0
    assert len(measured[1]) == 2


def test_a_section_without_targets(tmp_path, measured, capsys, monkeypatch):  # noqa: ARG001 - nothing is measured
    monkeypatch.setattr(draw, "draw", lambda *_: [])
    assert bench(tmp_path, "--only", "stages") == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [f"  {tmp_path / 'bench.md'}", ""]
    assert bench(tmp_path, "--only", "stages", "--check") == 0


def test_check_passes_where_all_is_met(tmp_path, measured, capsys, monkeypatch):
    monkeypatch.setattr(draw, "draw", lambda *_: [])
    assert bench(tmp_path, "--check") == 0
    assert "missed" not in capsys.readouterr().out
    assert len(measured[1]) == sum(len(section.cases(False)) for section in SECTIONS.values())


def test_check_fails_where_one_is_missed(tmp_path, measured, capsys):
    measured[0]["cora"] = {"seconds": 4.0}
    assert bench(tmp_path, "--only", "first-result", "--check") == 1
    told, errors = capsys.readouterr()
    assert "missed      first result  < 3 s       4 s         cora" in told
    assert (
        errors.splitlines()[-1] == "herald: error: 1 of 2 figures miss their target (first result); 0 were not judged"
    )


def test_check_measures_anew(tmp_path, measured):
    bench(tmp_path, "--only", "lid-dense")
    bench(tmp_path, "--only", "lid-dense", "--check")
    assert len(measured[1]) == 2


def test_check_says_what_it_could_not_judge(tmp_path, measured, capsys):
    measured[0]["N=20000, F=300"] = {"failed": "no memory"}
    assert bench(tmp_path, "--only", "lid-dense", "--check") == 0
    told, errors = capsys.readouterr()
    assert "failed: no memory" in told
    assert "1 of 1 figures were not judged" in errors


def test_misses_without_check_are_no_failure(tmp_path, measured):
    measured[0]["cora"] = {"seconds": 4.0}
    assert bench(tmp_path, "--only", "first-result") == 0


@pytest.mark.usefixtures("measured")
def test_quick_is_said_and_not_judged(tmp_path, capsys):
    assert bench(tmp_path, "--quick", "--only", "growth", "--check") == 0
    told, errors = capsys.readouterr()
    assert "a quick run: sizes are small, and targets are not judged" in errors
    assert "not judged  growth of time" in told
    assert bench(tmp_path, "--only", "growth") == 2
    assert "holds a quick run" in capsys.readouterr().err


@pytest.mark.usefixtures("measured")
def test_json(tmp_path, capsys):
    assert bench(tmp_path, "--only", "approximate", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["target"], one["status"], one["value"]) for one in found] == [
        ("approximate LID", "met", 20.0), ("approximate LID agrees", "met", 0.98),
    ]  # fmt: skip


def test_rendering_runs_nothing(tmp_path, measured, capsys):
    bench(tmp_path, "--only", "lid-dense")
    (tmp_path / "bench.md").unlink()
    assert bench(tmp_path, "--render-only") == 0
    assert (tmp_path / "bench.md").is_file()
    assert len(measured[1]) == 1
    assert "bench: nothing was run" in capsys.readouterr().out


def test_an_interrupted_run_says_where_its_results_are(tmp_path, monkeypatch, capsys):
    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "measure_alone", stopped)
    assert bench(tmp_path) == 130
    assert str(tmp_path / "bench.json") in capsys.readouterr().err


def test_the_list(capsys):
    assert main(["bench", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(SECTIONS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "fishr"], "'fishr' is no section of the benchmark"),
        (["--render-only", "--check"], "--render-only runs nothing"),
        (["--render-only"], "there is nothing to render"),
    ],
)
def test_what_makes_no_sense(tmp_path, measured, capsys, options, said):
    assert bench(tmp_path / "out", *options) == 2
    assert said in capsys.readouterr().err
    assert not measured[1]
    assert not (tmp_path / "out").exists()


def test_a_corrupt_file_is_left_alone(tmp_path, measured, capsys):
    (tmp_path / "bench.json").write_text("{")
    assert bench(tmp_path) == 1
    assert "bench.json holds no results of herald bench" in capsys.readouterr().err
    assert (tmp_path / "bench.json").read_text() == "{"
    assert not measured[1]
