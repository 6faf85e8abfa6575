"""Progress bars: shown where a terminal looks, and nowhere inside :func:`silent`."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silent(*, silent: bool = True) -> Iterator[None]:
    """Show no bar in this block.

    Parameters
    ----------
    silent : bool
        False changes nothing.

    Examples
    --------
    >>> with silent(), bar(total=3) as none:
    ...     none.disable
    True
    """
    token = _silent.set(silent or _silent.get())
    try:
        yield
    finally:
        _silent.reset(token)


def bar(**options: Any) -> Any:  # noqa: ANN401 - a tqdm bar and its options
    """Make a tqdm bar on stderr; one that shows nothing where stderr is no terminal."""
    from tqdm import tqdm

    return tqdm(**options, disable=_silent.get() or None)
