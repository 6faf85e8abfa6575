"""What can be read from Cython source without compiling it: imports, classes, function headers, assigned names."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

CLASS = re.compile(r"(?:cdef\s+)?class\s+(?P<name>\w+)\s*(?:\((?P<bases>.*?)\))?\s*:")
DEF = re.compile(r"(?:(?:async\s+)?def\s+|cpdef\s+(?:[\w.\[\]*]+\s+)*?)(?P<name>\w+)\s*\(")
IMPORT = re.compile(r"(?:from\s+[\w.]+\s+import|import)\b")
ASSIGNED = re.compile(r"(?P<own>self\.)?(?P<name>\w+)\s*=(?!=)")
PROPERTY = re.compile(r"@(\w+\.)*(\w*property|setter|getter|deleter)$")
LITERAL = re.compile(
    r"'''.*?'''|\"\"\".*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|\#[^\n]*",
    re.DOTALL,
)


@dataclass(frozen=True)
class Header:
    """One statement of interest.

    Attributes
    ----------
    depth : int
        Columns of indentation.
    kind : {"class", "function", "property", "import", "name", "own"}
        `name` is assigned where it stands, `own` through ``self``.
    name : str
        What is defined; the statement itself for imports.
    bases : list of str
        Of a class.
    arguments : ast.arguments, optional
        Of a function, without C types.
    """

    depth: int
    kind: Literal["class", "function", "property", "import", "name", "own"]
    name: str
    bases: tuple[str, ...] = ()
    arguments: ast.arguments | None = None


def headers(text: str) -> Iterator[Header]:
    """Read the statements of interest, in order."""
    is_property = False
    for depth, line in logical_lines(text):
        if found := CLASS.match(line):
            bases = tuple(base for base in _split(found["bases"] or "") if "=" not in base)
            yield Header(depth, "class", found["name"], bases=bases)
        elif found := DEF.match(line):
            arguments = parse_arguments(_inside_brackets(line, found.end() - 1))
            yield Header(depth, "property" if is_property else "function", found["name"], arguments=arguments)
        elif IMPORT.match(line):
            yield Header(depth, "import", line)
        elif found := ASSIGNED.match(line):
            yield Header(depth, "own" if found["own"] else "name", found["name"])
        is_property = bool(PROPERTY.match(line)) or (is_property and line.startswith("@"))


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Statements with their indentation; docstrings and comments dropped, lines inside brackets joined."""
    plain = LITERAL.sub(_short, text).replace("\\\n", " ")
    pending, depth, open_brackets = "", 0, 0
    for line in plain.splitlines():
        if not pending:
            depth = len(line.expandtabs()) - len(line.lstrip())
        pending = f"{pending} {line.strip()}".strip()
        open_brackets += sum((letter in "([{") - (letter in ")]}") for letter in line)
        if open_brackets <= 0:
            if pending:
                yield depth, pending
            pending, open_brackets = "", 0


def parse_arguments(text: str) -> ast.arguments:
    """Parse a list of parameters, their C types and annotations dropped.

    Examples
    --------
    >>> ast.unparse(parse_arguments("ResourceHandle handle not None, int* n, *, bool_t check=False, **rest"))
    'handle, n, *, check=False, **rest'
    """
    parts = []
    for part in _split(text):
        declared, equals, default = part.partition("=")
        typed = re.sub(r"\[[^\]]*\]|\b(not|or)\s+None\b", "", declared).partition(":")[0]
        words = re.findall(r"\*{1,2}|/|\w+", typed)
        stars = words[0] if len(words) > 1 and words[0].startswith("*") else ""
        parts.append(stars + words[-1] + equals + default)
    function = ast.parse(f"lambda {', '.join(parts)}: 0", mode="eval").body
    if not isinstance(function, ast.Lambda):
        msg = f"{text!r} is not a list of parameters"
        raise TypeError(msg)
    return function.args


def _short(found: re.Match[str]) -> str:
    """Keep plain strings, which may be defaults; docstrings go, and brackets in strings would be miscounted."""
    literal = found[0]
    if literal.startswith("#"):
        return ""
    return '""' if literal.startswith(('"""', "'''")) or re.search(r"[()\[\]{}]", literal) else literal


def _inside_brackets(text: str, start: int) -> str:
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return text[start + 1 : place]
    msg = f"unbalanced brackets in {text!r}"
    raise ValueError(msg)


def _split(text: str) -> list[str]:
    """Split at commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
