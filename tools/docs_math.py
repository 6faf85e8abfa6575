r"""Equations of the site: LaTeX in the sources, MathML on the pages, made when the site is built.

Sources are written as GitHub shows them: a fence with the name ``math``, or ``$`...`$`` in a line. Browsers draw
MathML by themselves, so that nothing is fetched and no script runs. A hook of MkDocs; see mkdocs.yml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latex2mathml.converter import convert
from markdown import Extension
from markdown.inlinepatterns import InlineProcessor

if TYPE_CHECKING:
    import re

INLINE = r"\$`([^`]+)`\$"
FIRST = 200
"""Before code in a line, which has the priority 190."""


def block(source: str, *_: Any, **__: Any) -> str:  # noqa: ANN401 - what superfences passes on
    """Write a fence as an equation of its own."""
    return f'<div class="math">{convert(_tidy(source), display="block")}</div>'


class Inline(InlineProcessor):  # type: ignore[misc] # Markdown has no types
    """An equation in a line."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: ARG002, N802 - Markdown's names
        """Give the equation, kept apart from what is Markdown."""
        return self.md.htmlStash.store(convert(_tidy(m.group(1)))), m.start(0), m.end(0)


class Equations(Extension):  # type: ignore[misc] # as above
    """Equations in lines."""

    def extendMarkdown(self, md: Any) -> None:  # noqa: ANN401, N802 - Markdown's own
        """Register the pattern."""
        md.inlinePatterns.register(Inline(INLINE, md), "equations", FIRST)


def on_config(config: Any) -> Any:  # noqa: ANN401 - MkDocs' own
    """Add both kinds to the build."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "math", "format": block})
    config.markdown_extensions.append(Equations())
    return config


def _tidy(source: str) -> str:
    return " ".join(source.split())
