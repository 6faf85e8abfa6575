"""The pip line that adds a library, as messages print it.

It names libraries, with the versions that this package asks for, and not an extra of the package: it works from any
folder, whether the package was installed from a checkout or from a wheel.
"""

from __future__ import annotations

import importlib.metadata
import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NAME = "herald-gpu"


def pip_line(extra: str) -> str:
    """Return the command that installs what an extra of this package asks for.

    Parameters
    ----------
    extra : str
        As in pyproject.toml. Without metadata of this package, that is, if it was not installed at all, the line is
        that of a checkout.

    Examples
    --------
    >>> pip_line("arrow")
    "pip install 'pyarrow>=17'"
    """
    found = [wanted for wanted, group in _requirements() if group == extra]
    return f"pip install {shlex.join(found or [f'.[{extra}]'])}"


def pip_line_of(names: Iterable[str]) -> str:
    """Return the command that installs libraries by name, in the versions that this package itself asks for, if any.

    Parameters
    ----------
    names : iterable of str
        Names of distributions.

    Examples
    --------
    >>> pip_line_of(["networkx"])
    'pip install networkx'
    >>> pip_line_of(["numba", "tqdm"])
    "pip install 'numba<0.65,>=0.60' 'tqdm>=4.66'"
    """
    needed = {_name(wanted): wanted for wanted, group in _requirements() if group is None}
    return f"pip install {shlex.join(needed.get(name, name) for name in names)}"


def _requirements() -> list[tuple[str, str | None]]:
    """List what this package requires: (requirement without its marker, the extra that it belongs to)."""
    try:
        listed = importlib.metadata.requires(NAME) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    found = []
    for line in listed:
        wanted, _, marker = line.partition(";")
        extra = re.search(r"""extra == ['"]([\w-]+)['"]""", marker)
        found.append((wanted.strip(), None if extra is None else extra[1]))
    return found


def _name(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    return requirement if found is None else found[0]
