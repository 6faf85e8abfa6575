"""What the site needs to know about our docstrings: an extension of griffe, which reads them for mkdocs.yml."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([^`]+)`")


class Roles(griffe.Extension):  # type: ignore[misc] # griffe is where the site is built only
    """Sphinx roles become plain names, and arguments that share a description keep defaults of their own."""

    def on_package(self, *, pkg: Any, **_: Any) -> None:  # noqa: ANN401 - griffe's object, and its hook
        """Go through everything, once all of it is known."""
        _correct(pkg)


def _correct(obj: Any) -> None:  # noqa: ANN401 - as above
    if obj.is_alias:
        return
    if obj.docstring is not None:
        obj.docstring.value = ROLE.sub(lambda found: f"`{found[1]}`", obj.docstring.value)
        if obj.is_function:
            _own_defaults(obj, {one.name: one.default for one in obj.parameters})
        elif obj.is_class:
            _own_defaults(obj, {name: one.value for name, one in obj.attributes.items()})
    for member in obj.members.values():
        _correct(member)


def _own_defaults(obj: Any, defaults: dict[str, Any]) -> None:  # noqa: ANN401 - as above
    """Undo what griffe does with arguments that are described together: all get the default of the first."""
    for section in obj.docstring.parsed:
        if section.kind is griffe.DocstringSectionKind.parameters:
            for parameter in section.value:
                if parameter.name in defaults:
                    parameter.value = defaults[parameter.name]
