"""Values of options that are more than a number or a word."""

from __future__ import annotations

import argparse
import ast


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
