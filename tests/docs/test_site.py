"""The site has every page, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import herald_gpu

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
PLAIN = ("README.md", "CONTRIBUTING.md", "docker/README.md", "notebooks/README.md")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_every_page_is_in_the_navigation():
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = re.findall(r"^\s+- (?:[^:\n]+: )?([\w/-]+\.md)$", config, re.MULTILINE)
    assert sorted(listed) == PAGES


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    shown = set(re.findall(r"^::: herald_gpu\.(\w+)$", page, re.MULTILINE))
    assert shown >= set(herald_gpu.__all__) - {"__version__"}


@pytest.mark.parametrize("page", [*PLAIN, *(f"docs/{page}" for page in PAGES)])
def test_links_lead_to_files(page):
    path = ROOT / page
    links = [link for link in LINK.findall(path.read_text("utf-8")) if not link.startswith(("http:", "https:"))]
    missing = [link for link in links if not (path.parent / link).exists()]
    assert missing == []


def test_nothing_is_fetched_from_other_hosts():
    config = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "font: false" in config
    assert not re.search(r"https?://", config)


@pytest.mark.parametrize("page", [f"docs/{page}" for page in PAGES])
def test_equations_are_closed_and_have_no_other_form(page):
    text = re.sub(r"```(?!math\n).*?```", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL)
    fences = re.findall(r"```math\n(.*?)```", text, re.DOTALL)
    lines = re.findall(r"\$`([^`\n]+)`\$", text)
    assert len(lines) == len(re.findall(r"\$`", text)) == len(re.findall(r"`\$(?!\w)", text))
    for one in (*fences, *lines):
        assert one.count("{") == one.count("}")
        assert one.count(r"\left") == one.count(r"\right")
    assert r"\(" not in text
    assert "$$" not in text


def test_the_method_has_its_equations():
    text = (ROOT / "docs" / "method.md").read_text("utf-8")
    assert text.count("```math") >= 5
