"""Files and folders that appear whole or not at all, whatever ends the program while they are written."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from herald_gpu.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


@contextmanager
def whole_file(path: str | os.PathLike[str], *, example: str = "condensed.herald") -> Iterator[Path]:
    """Give a name beside `path` to write to; what is there at the end is moved to `path`, replacing it.

    Parameters
    ----------
    path : path-like
        A file; its folder exists.
    example : str
        A file name for the error message.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "a.txt") as beside:
    ...     _ = beside.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    target = Path(path)
    check_file(target, example=example)
    beside = _beside(target)
    try:
        yield beside
        with beside.open("rb") as stream:
            os.fsync(stream.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | os.PathLike[str], names: Collection[str]) -> Iterator[Path]:
    """Give a folder beside `path` to fill; at the end it is moved to `path`.

    Parameters
    ----------
    path : path-like
        Absent, empty, or a folder that holds nothing but files with these names: that one is replaced.
    names : collection of str
        Of the files that are written.
    """
    target = Path(path)
    check_folder(target, names)
    beside, former = _beside(target), _beside(target)
    try:
        beside.mkdir()
        yield beside
        if target.is_dir():
            target.rename(former)
        beside.rename(target)
    finally:
        if former.is_dir() and not target.exists():
            former.rename(target)
        for rest in (beside, former):
            shutil.rmtree(rest, ignore_errors=True)


def check_file(target: Path, *, example: str = "condensed.herald") -> None:
    """Refuse a name that no file can be written to; to be asked before long work as well."""
    check_place(target)
    if target.is_dir():
        msg = f"path={os.fspath(target)!r} is a folder: pass a file name, such as {example!r}"
        raise InputError(msg)


def check_folder(target: Path, names: Collection[str]) -> None:
    """Refuse a file, and a folder that holds other files than these."""
    check_place(target)
    if target.exists() and not target.is_dir():
        msg = f"path={os.fspath(target)!r} is a file: pass the name of a folder"
        raise InputError(msg)
    foreign = sorted(file.name for file in target.iterdir() if file.name not in names) if target.is_dir() else []
    if foreign:
        msg = f"path={os.fspath(target)!r} is a folder with other files in it, such as {foreign[0]!r}: pass a new one"
        raise InputError(msg)


def check_place(target: Path) -> None:
    """Refuse a destination whose folder does not exist."""
    if not target.parent.is_dir():
        msg = f"path={os.fspath(target)!r}: the folder {os.fspath(target.parent)!r} does not exist, create it first"
        raise InputError(msg)


def _beside(target: Path) -> Path:
    # The ending is kept: some writers choose the format by it.
    return target.with_name(f".{target.stem}.{secrets.token_hex(4)}.partial{target.suffix}")
