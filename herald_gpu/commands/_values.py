"""Values of options that are more than a number or a word."""

from __future__ import annotations

import argparse
import ast
import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
EQUALLY = 0.1
"""Names that are less like a misspelt one than the closest name is, by no more than this, are suggested too."""


def nearest(key: str, names: Collection[str], *, otherwise: str | None = None) -> str:
    """Say which names come closest to an unknown one.

    Parameters
    ----------
    key : str
    names : collection of str
    otherwise : str, optional
        What to say if none comes close; by default all names.

    Examples
    --------
    >>> nearest("ration", ["ratio", "seed"])
    'did you mean ratio?'
    >>> nearest("x", ["ratio", "seed"])
    'pass one of ratio, seed'
    """
    close = difflib.get_close_matches(key, list(names), n=3)
    if close:
        likeness = [difflib.SequenceMatcher(None, name, key).ratio() for name in close]
        alike = [name for name, one in zip(close, likeness, strict=True) if one > likeness[0] - EQUALLY]
        return f"did you mean {' or '.join(alike)}?"
    return f"pass one of {', '.join(sorted(names))}" if otherwise is None else otherwise


def share(text: str) -> float:
    """Read a share of something.

    Examples
    --------
    >>> share("0.05")
    0.05
    """
    try:
        return float(text)
    except ValueError:
        msg = f"{text} is not a number: pass a share such as 0.01"
        raise argparse.ArgumentTypeError(msg) from None


def literal(text: str) -> object:
    """Read a Python literal; what is none stays text.

    Examples
    --------
    >>> literal("0.5"), literal("(1, 0, 0)"), literal("rank")
    (0.5, (1, 0, 0), 'rank')
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def assignment(text: str) -> tuple[str, object]:
    """Read ``KEY=VALUE``.

    Examples
    --------
    >>> assignment("depth=1")
    ('depth', 1)
    """
    key, equals, value = text.partition("=")
    if not (key and equals):
        msg = f"{text!r} is no assignment: pass KEY=VALUE, as in depth=1"
        raise argparse.ArgumentTypeError(msg)
    return key.strip(), literal(value.strip())


def split_choice(text: str) -> str | int | tuple[str, int]:
    """Read the name of a split, its seed, or its place among those that come with a graph.

    Examples
    --------
    >>> split_choice("paper"), split_choice("source"), split_choice("3"), split_choice("source:1")
    ('paper', 'source', 3, ('source', 1))
    """
    name, colon, place = text.partition(":")
    if text in ("paper", "source"):
        return text
    if not colon and name.isdecimal():
        return int(name)
    if name == "source" and place.isdecimal():
        return name, int(place)
    msg = f"{text!r} is no split: pass paper, source, source:1 for the second of several, or a whole number as seed"
    raise argparse.ArgumentTypeError(msg)
