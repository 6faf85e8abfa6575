"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from herald_gpu.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: str | os.PathLike[str], *, example: str) -> Iterator[IO[bytes]]:
    """Give a stream to write a file to: written beside its destination, moved there when it is complete.

    Parameters
    ----------
    path : path-like
        Replaced if it exists; left as it is if anything goes wrong.
    example : str
        A file name for the error message.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a.txt", example="a.txt") as stream:
    ...         _ = stream.write(b"whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    target = Path(path)
    if target.is_dir():
        msg = f"path={os.fspath(path)!r} is a folder: pass a file name, such as {example!r}"
        raise InputError(msg)
    if not target.parent.is_dir():
        msg = f"path={os.fspath(path)!r}: the folder {os.fspath(target.parent)!r} does not exist, create it first"
        raise InputError(msg)
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
