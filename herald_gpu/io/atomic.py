"""Files and folders that appear whole or not at all, and replace nothing unless they are told to."""

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
def whole_file(
    path: str | os.PathLike[str], *, overwrite: bool = False, example: str = "condensed.herald"
) -> Iterator[Path]:
    """Give a name beside `path` to write to, and move what was written there to `path` at the end.

    Parameters
    ----------
    path : path-like
        A file; its folder exists. If it is a symbolic link, the file that the link leads to is written, and the link
        stays.
    overwrite : bool
        Replace an existing file.
    example : str
        A file name for the error message.

    Raises
    ------
    InputError
        If the file exists and may not be replaced, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "a.txt") as beside:
    ...     _ = beside.write_text("all of it")
    >>> [file.name for file in folder.iterdir()]
    ['a.txt']
    """
    check_file(path, overwrite=overwrite, example=example)
    target = _real(path)
    beside = _beside(target)
    try:
        yield beside
        with beside.open("rb") as stream:
            os.fsync(stream.fileno())
        if target.exists() and not overwrite:  # it appeared while this one was written
            raise _exists(path)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: str | os.PathLike[str], names: Collection[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Give a folder beside `path` to fill, and move it to `path` at the end.

    Parameters
    ----------
    path : path-like
        Absent, or an empty folder; with `overwrite` also a folder that holds nothing but files with these names.
    names : collection of str
        Of the files that are written.
    overwrite : bool
        Replace an existing folder.

    Raises
    ------
    InputError
        If the folder may not be replaced, or cannot be written.
    """
    check_folder(path, names, overwrite=overwrite)
    target = _real(path)
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


def check_file(path: str | os.PathLike[str], *, overwrite: bool = False, example: str = "condensed.herald") -> None:
    """Refuse a file that exists, unless it may be replaced, and one that cannot be written; ask before long work."""
    target = _real(path)
    if target.is_dir():
        msg = f"path={os.fspath(path)!r} is a folder: pass a file name, such as {example!r}"
        raise InputError(msg)
    if target.exists() and not target.is_file():
        msg = f"path={os.fspath(path)!r} is a device or a pipe: pass the name of a file"
        raise InputError(msg)
    _check_place(path, target)
    if target.exists() and not overwrite:
        raise _exists(path)


def check_folder(path: str | os.PathLike[str], names: Collection[str], *, overwrite: bool = False) -> None:
    """Refuse a file, a folder with other files than these, and one with these unless they may be replaced."""
    target = _real(path)
    if target.exists() and not target.is_dir():
        msg = f"path={os.fspath(path)!r} is a file: pass the name of a folder"
        raise InputError(msg)
    _check_place(path, target)
    there = sorted(file.name for file in target.iterdir()) if target.is_dir() else []
    foreign = [name for name in there if name not in names]
    if foreign:
        msg = f"path={os.fspath(path)!r} is a folder with other files in it, such as {foreign[0]!r}: pass a new one"
        raise InputError(msg)
    if there and not overwrite:
        raise _exists(path)


def would_replace(output: Path, given: Path) -> bool:
    """Tell whether writing `output` would replace `given` or a part of it, whatever names lead to the two.

    Parameters
    ----------
    output, given : Path
        Files or folders. Symbolic links are followed, and hard links are seen.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "edges.csv").touch()
    >>> would_replace(folder / ".." / folder.name / "edges.csv", folder / "edges.csv")
    True
    >>> would_replace(folder, folder / "edges.csv"), would_replace(folder / "new.herald", folder)
    (True, False)
    """
    if not (output.exists() and given.exists()):
        return False
    target, source = _real(output), _real(given)
    if target.samefile(source) or target in source.parents or source in target.parents:
        return True
    return target.is_dir() and source.is_file() and any(file.samefile(source) for file in target.iterdir())


def _check_place(path: str | os.PathLike[str], target: Path) -> None:
    """Refuse a destination whose folder does not exist, or takes no new file."""
    shown, folder = os.fspath(path), os.fspath(target.parent)
    if not target.parent.is_dir():
        msg = f"path={shown!r}: the folder {os.fspath(Path(path).parent)!r} does not exist, create it first"
        raise InputError(msg)
    probe = _beside(target)
    try:
        probe.touch(exist_ok=False)
        probe.unlink()
    except OSError as error:
        msg = f"path={shown!r} cannot be written in the folder {folder!r} ({error.strerror}): pass another path"
        raise InputError(msg) from error


def _exists(path: str | os.PathLike[str]) -> InputError:
    return InputError(f"path={os.fspath(path)!r} exists: pass overwrite=True to replace it, or another path")


def _real(path: str | os.PathLike[str]) -> Path:
    """Follow symbolic links, so that the file they lead to is replaced and not the link."""
    return Path(os.path.realpath(path))


def _beside(target: Path) -> Path:
    # The ending is kept: some writers choose the format by it.
    return target.with_name(f".{target.stem}.{secrets.token_hex(4)}.partial{target.suffix}")
