"""Lines for pip in messages: they work from any folder, and stand in one place."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest

from herald_gpu import install
from herald_gpu.install import pip_line, pip_line_of

ROOT = Path(__file__).parents[1]
PACKAGE = Path(install.__file__).parent
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", ["cu13", "cu12", "eval", "plot", "arrow", "approx"])
def test_every_library_of_an_extra_is_named(extra):
    line = pip_line(extra)
    for wanted in EXTRAS[extra]:
        name = re.match(r"[\w-]+", wanted)[0]
        assert re.search(rf"'{name}[<>=]", line)
    assert "herald" not in line


def test_extras_of_extras_are_named():
    line = pip_line("multi-cu13")
    assert all(f"'{name}" in line for name in ("cupy-cuda13x", "dask-cuda", "dask-cudf-cu13", "dask[dataframe]"))


def test_the_package_that_was_not_installed_is_taken_from_its_checkout(monkeypatch):
    def refuse(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(install.importlib.metadata, "requires", refuse)
    assert pip_line("cu13") == "pip install '.[cu13]'"
    assert pip_line_of(["numba"]) == "pip install numba"


def test_libraries_have_the_bounds_of_this_package():
    assert pip_line_of(["networkx"]) == "pip install networkx"
    assert pip_line_of(["pandas", "networkx"]).startswith("pip install 'pandas<")


def test_no_other_line_is_written_in_the_package():
    """The package is on no index: its name after `pip install` would fail."""
    for path in PACKAGE.rglob("*.py"):
        if path.name != "install.py":
            assert "pip install" not in path.read_text("utf-8"), path


@pytest.mark.parametrize(
    "path", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")], ids=lambda path: path.name
)
def test_no_page_installs_it_from_an_index(path):
    assert not re.search(r"pip install ['\"]?herald[-_]gpu(?!\S*\.whl)", path.read_text("utf-8"))
