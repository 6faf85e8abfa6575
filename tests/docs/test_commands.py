"""Command lines on the pages are such as the programs would take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.command_lines import read_command

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docker/README.md", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))]
FENCE = re.compile(r"^```(?:sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"(?<![\w./-])(herald (?:bench|condense|convert|demo|evaluate|plan|report|reproduce)\b[^>|;&\n]*)")


def commands(page):
    blocks = FENCE.findall((ROOT / page).read_text("utf-8"))
    found = [line for block in blocks for line in LINE.findall(block.replace("\\\n", " "))]
    return [shlex.split(line, comments=True) for line in found]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_options_are_those_of_the_programs(page):
    for words in commands(page):
        read_command(words)


def test_pages_that_show_many_are_read():
    assert len(commands("docs/command-line.md")) > 10
    assert len(commands("docs/distributed.md")) == 5
