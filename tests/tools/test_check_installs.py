"""Which pip lines are found and resolved, and what counts as a failure."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import check_installs
from check_installs import Line, collect, judge, of_makefile, of_page, parse

PAGE = """
Install it with `pip install '.[cu13]'`, or pip install nothing.

```sh
pip install .            # no GPU
sudo pip install --constraint limits.txt \\
    '.[eval]' && pip --version
```

```python
small.plot()  # needs matplotlib (pip install '.[plot]')
```

```
herald: error: absent: pip install something-printed
```
"""


def test_lines_of_a_page():
    found = list(of_page(PAGE))
    assert found == [Line((".[cu13]",)), Line((".",)), Line((".[eval]",), ("limits.txt",)), Line((".[plot]",))]
    assert [line.needs_rapids for line in found] == [True, False, False, False]


def test_lines_of_a_makefile():
    text = (
        "PIP_INSTALL := -m pip install --quiet\n"
        "env:\n\tpython $(PIP_INSTALL) --constraint limits.txt \"$$wheel\" --editable '.[test,$(GPU_EXTRA)]'\n"
        "other:\n\tpython -m pip install \\\n\t\t--no-deps numpy\n"
    )
    assert list(of_makefile(text)) == [
        Line((".[test,cu13]",), ("limits.txt",)),
        Line((".[test,cu12]",), ("limits.txt",)),
        Line(("numpy",), (), ("--no-deps",)),
    ]


def test_nothing_to_install_is_no_line():
    assert parse("--quiet") is None


def test_lines_of_this_repository():
    everything, some = collect(everything=True), collect(everything=False)
    assert set(some) < set(everything)
    assert not any(line.needs_rapids for line in some)
    assert {"README.md", "Makefile"} <= set(everything[Line((".",))])
    assert "Makefile" in some[Line((".[dev]",), ("constraints-test.txt",))]
    assert {Line((f".[test-base,{extra}]",), ("constraints-test.txt",)) for extra in ("cu13", "cu12")} <= set(
        everything
    )
    assert Line((".[multi-cu12]",)) in everything


@pytest.mark.parametrize(
    ("code", "output", "outcome"),
    [
        (0, "", "ok"),
        (1, "ERROR: ResolutionImpossible: for help visit", "failed"),
        (1, "WARNING: Retrying after ReadTimeoutError\nERROR: ResolutionImpossible: for help visit", "failed"),
        (1, "ERROR: No matching distribution found for torch==99", "failed"),
        (1, "WARNING: Retrying: NewConnectionError\nERROR: No matching distribution found for numpy", "unreachable"),
        (1, "ERROR: HTTP error 503 while getting numpy", "unreachable"),
        (2, "error: Failed to fetch: `numpy`\n  cause: dns error", "unreachable"),
    ],
)
def test_a_contradiction_fails_and_a_silent_index_does_not(code, output, outcome):
    assert judge(code, output)[0] == outcome


@pytest.mark.parametrize(("outcome", "status"), [("unreachable", 0), ("failed", 1)])
def test_no_index_is_a_skip_with_a_reason(monkeypatch, capsys, outcome, status):
    monkeypatch.setattr(check_installs.Resolver, "prepare", lambda _: (outcome, "so it was"))
    assert check_installs.check({Line((".",)): ["README.md"]}) == status
    told = capsys.readouterr().out
    assert told.endswith("so it was\n")
    assert ("skipped" in told) == (status == 0)


def test_one_line_that_fails_is_enough(monkeypatch, capsys):
    monkeypatch.setattr(check_installs.Resolver, "prepare", lambda _: ("ok", ""))
    monkeypatch.setattr(check_installs.Resolver, "macos", lambda *_: ("ok", "3 packages"))
    outcomes = {Line(("a",)): ("ok", "2 packages"), Line(("b",)): ("failed", "ResolutionImpossible")}
    monkeypatch.setattr(check_installs.Resolver, "here", lambda _, line: outcomes[line])
    assert check_installs.check({line: ["Makefile"] for line in outcomes}) == 1
    assert "pip install b  [Makefile]" in capsys.readouterr().out
    assert check_installs.check({Line(("a",)): ["Makefile"]}) == 0


@pytest.mark.parametrize("word", [".", ".[dev]", "dist/herald_gpu-0.1.0-py3-none-any.whl[cu13]"])
def test_our_package_is_taken_from_the_wheel_that_was_built(word):
    extras = word.partition("[")[1] + word.partition("[")[2]
    assert re.sub(check_installs._OURS, "made.whl", word) == f"made.whl{extras}"


def test_pip_sees_nothing_of_this_machine(monkeypatch, tmp_path):
    seen = {}
    monkeypatch.setenv("PIP_FIND_LINKS", "wheels")
    monkeypatch.setenv("HERALD_PIP_INDEX", "https://index.invalid/simple")

    def run(command, *, env, **_):
        seen.update(command=command, env=env)
        return check_installs.subprocess.CompletedProcess(command, 1, "", "")

    monkeypatch.setattr(check_installs.subprocess, "run", run)
    check_installs.Resolver(tmp_path).here(Line(("numpy",)))
    assert "PIP_FIND_LINKS" not in seen["env"]
    assert {"--isolated", "--dry-run", "--ignore-installed", "https://index.invalid/simple"} <= set(seen["command"])
