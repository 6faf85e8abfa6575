"""Elements of HTML and SVG; whatever is not an element is escaped."""

from __future__ import annotations

import html

EMPTY = frozenset({"meta", "link", "br", "input"})
"""Elements that have no end."""


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def tag(name: str, /, *content: str, **attributes: object) -> Markup:
    """Write an element.

    Parameters
    ----------
    name : str
    content : str
        Escaped, unless it is markup itself.
    attributes : object
        Underscores stand for hyphens, one at the end is dropped; None and False leave an attribute out, True gives it
        without a value.

    Examples
    --------
    >>> tag("p", "a < b", class_="note", aria_hidden=None)
    '<p class="note">a &lt; b</p>'
    """
    parts = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        own = key.rstrip("_").replace("_", "-")
        parts.append(own if value is True else f'{own}="{html.escape(str(value), quote=True)}"')
    start = f"<{' '.join(parts)}>"
    return Markup(start) if name in EMPTY else Markup(f"{start}{join(*content)}</{name}>")


def join(*content: str) -> Markup:
    """Put pieces together, plain ones escaped.

    Examples
    --------
    >>> join("a & ", tag("b", "c"))
    'a &amp; <b>c</b>'
    """
    return Markup("".join(part if isinstance(part, Markup) else html.escape(str(part), quote=True) for part in content))
