"""Bars: for terminals only, and not inside silent()."""

from __future__ import annotations

import sys

from herald_gpu.progress import bar, silent


def test_a_bar_needs_a_terminal(capsys, monkeypatch):
    with bar(total=2) as shown:
        shown.update()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with bar(total=2) as shown:
        shown.update(2)
    assert "2/2" in capsys.readouterr().err


def test_silence_ends_with_its_block(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with silent(), silent(silent=False), bar(total=1) as shown:
        assert shown.disable
    with silent(silent=False), bar(total=1) as shown:
        assert not shown.disable
