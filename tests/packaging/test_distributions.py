"""What goes into a wheel and an sdist."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import herald_gpu

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build both, away from the work tree's own dist/."""
    if importlib.util.find_spec("build") is None:
        pytest.skip("build is not installed")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own words
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return set(zipfile.ZipFile(wheel).namelist()), {name.partition("/")[2] for name in tarfile.open(sdist).getnames()}


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    wheel, _ = built
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "herald_gpu").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"herald_gpu/py.typed", "herald_gpu/backend/rapids/kernels.py"} <= sources
    assert any(name.startswith("herald_gpu/experiments/paper_tables/") and name.endswith(".csv") for name in sources)
    assert {name for name in wheel if ".dist-info/" not in name} == sources
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel)


@pytest.mark.slow
def test_the_sdist_holds_what_builds_and_tests_it(built):
    _, sdist = built
    named = {
        ".dockerignore",
        "LICENSE",
        "Makefile",
        "README.md",
        "CHANGELOG.md",
        "constraints-test.txt",
        "mkdocs.yml",
        "pyproject.toml",
    }
    assert named <= sdist
    for folder in ("herald_gpu", "tests", "tools", "docker", "docs", "notebooks"):
        kept = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and path.suffix in {".py", ".md", ".sh", ".csv", ".json", ".ipynb"}
        }
        assert kept <= sdist, folder


def test_the_version_is_said_once():
    assert "version" in PROJECT["dynamic"]
    said = re.compile(rf"""(?:version__|^version)\s*=\s*["']{re.escape(herald_gpu.__version__)}""", re.MULTILINE)
    sources = [ROOT / "pyproject.toml", *(ROOT / "herald_gpu").rglob("*.py")]
    assert [path.name for path in sources if said.search(path.read_text("utf-8"))] == ["_version.py"]


def test_the_changelog_tells_of_this_version():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    heads = re.findall(r"^## \[([^]]+)\]", text, re.MULTILINE)
    assert heads[0] == "Unreleased"
    assert herald_gpu.__version__ in heads
    kinds = set(re.findall(r"^### (\w+)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_every_extra_is_in_the_changelog_or_the_docs():
    told = "".join((ROOT / name).read_text("utf-8") for name in ("CHANGELOG.md", "docs/getting-started.md"))
    extras = set(PROJECT["optional-dependencies"]) - {"test-base"}
    assert [extra for extra in sorted(extras) if f"`{extra}`" not in told] == []
