"""README's commands and Python blocks run as they are written, on the example files of `herald demo --write`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from herald_gpu.cli import main

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
ELSEWHERE = "Planetoid"
"""Blocks with this word need data sets."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readme")
    assert main(["demo", "--write", str(folder), "--quiet"]) == 0
    return folder


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands():
    """Give the lines of the first block of commands under "## Use"."""
    use = README.split("\n## Use\n")[1].split("\n## ")[0]
    block = re.search(r"^```sh\n(.*?)^```$", use, re.MULTILINE | re.DOTALL)[1]
    lines = [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").splitlines()]
    return [words for words in lines if words]


def test_the_example_files_are_small_and_are_tables(folder):
    assert sorted(path.name for path in folder.iterdir()) == ["edges.csv", "nodes.csv"]
    assert (folder / "edges.csv").read_text().startswith("src,dst\n")
    assert (folder / "nodes.csv").read_text().startswith("node,label,train,f0,")


@pytest.mark.slow
def test_the_commands_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.chdir(tmp_path)
    lines = commands()
    assert {"condense", "report", "evaluate"} <= {words[1] for words in lines}
    for words in lines:
        assert words[0] == "herald", words
        assert main(words[1:]) == 0, words
    assert "accuracy" in capsys.readouterr().out
    assert (tmp_path / "small.herald").is_file()
    assert (tmp_path / "small.html").is_file()


def test_the_python_blocks_run(folder, monkeypatch):
    pytest.importorskip("torch_geometric", reason="PyG is not installed")
    monkeypatch.chdir(folder)
    found = [block for block in blocks("python") if ELSEWHERE not in block]
    assert found
    namespace = {"__name__": "readme"}
    for block in found:
        exec(compile(block, "README.md", "exec"), namespace)  # noqa: S102 - our own page
