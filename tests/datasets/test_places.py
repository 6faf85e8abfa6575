"""Where things are kept, and who may be in a folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from herald_gpu.datasets import places


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"HERALD_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a/datasets"),
        ({"HERALD_CACHE": "", "XDG_CACHE_HOME": "/b"}, "/b/herald_gpu/datasets"),
    ],
)
def test_variables_name_the_cache(monkeypatch, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert places.cache_folder() == Path(expected)


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux", "/home/me/.cache/herald_gpu/datasets"),
        ("darwin", "/home/me/Library/Caches/herald_gpu/datasets"),
        ("win32", "/home/me/AppData/Local/herald_gpu/Cache/datasets"),
    ],
)
def test_every_system_has_its_place(monkeypatch, platform, expected):
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(places.Path, "home", lambda: Path("/home/me"))
    monkeypatch.setattr(places.sys, "platform", platform)
    assert places.cache_folder() == Path(expected)


def test_prepared_folder(monkeypatch):
    assert places.prepared_folder() is None
    monkeypatch.setenv("HERALD_DATA", "/data")
    assert places.prepared_folder() == Path("/data")


@pytest.mark.parametrize(
    ("value", "offline"), [("1", True), ("true", True), ("0", False), ("", False), ("No", False), ("off", False)]
)
def test_offline(monkeypatch, value, offline):
    assert not places.is_offline()
    monkeypatch.setenv("HERALD_OFFLINE", value)
    assert places.is_offline() == offline


def test_a_second_process_waits_for_the_first(tmp_path):
    code = (
        "import pathlib, sys; from herald_gpu.datasets.places import locked\n"
        "folder = pathlib.Path(sys.argv[1]); print('ready', flush=True)\n"
        "with locked(folder): print((folder / 'done').exists())\n"
    )
    with places.locked(tmp_path):
        other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own code
        assert other.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.3)
        (tmp_path / "done").touch()
    assert other.communicate(timeout=30)[0] == "True\n"
