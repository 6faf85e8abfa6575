"""Files that others publish: where they are, and how to know that they are the right ones."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from herald_gpu.datasets.download import download
from herald_gpu.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)
_BLOCK = 1 << 20


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes
    ----------
    url : str
        Its public address.
    name : str
        What it is called on disk.
    checksum : str, optional
        ``sha256:`` and the digest, or ``git:`` and the id that git gives the file's content (SHA-1 over a header with
        the length, and the content). None: not known beforehand; the digest seen first is written down and holds from
        then on.
    """

    url: str
    name: str
    checksum: str | None = None

    def record(self, folder: Path) -> Path:
        """Give the file that the digest seen first is written to, in the form of ``sha256sum``."""
        return folder / f"{self.name}.sha256"

    def expected(self, folder: Path) -> str | None:
        """Give the checksum to hold: the published one, else the one written down, else none."""
        if self.checksum is not None:
            return self.checksum
        record = self.record(folder)
        return f"sha256:{record.read_text('utf-8').split()[0]}" if record.is_file() else None


def obtain(file: RemoteFile, folder: Path, *, network: bool) -> Path:
    """Give the file on disk, downloaded if need be and allowed, and verified where a checksum is known.

    Parameters
    ----------
    file : RemoteFile
        What to get.
    folder : Path
        Where it lies, or is to lie.
    network : bool
        Whether it may be downloaded.

    Raises
    ------
    DatasetError
        If it is not there and cannot be downloaded, or is not the right one; then it is deleted.
    """
    path = folder / file.name
    expected = file.expected(folder)
    if not path.is_file():
        if not network:
            msg = f"{path} is not there, and the network may not be used"
            raise DatasetError(msg)
        folder.mkdir(parents=True, exist_ok=True)
        # Without a checksum, only the server can say that a rest belongs to what is there already.
        download(file.url, path, verified=expected is not None)
    if expected is not None and (seen := digest(path, expected.partition(":")[0])) != expected:
        path.unlink()
        msg = (
            f"{path} from {file.url} has checksum {seen}, not {expected}: it was deleted, load the graph again "
            f"to download it"
        )
        if file.checksum is None:
            msg += f", or delete {file.record(folder)} if the source is known to have changed"
        raise DatasetError(msg)
    return path


def write_down(file: RemoteFile, folder: Path) -> None:
    """Write down the digest of a file whose checksum was not known, once it has proved to be what it should be."""
    record = file.record(folder)
    if file.checksum is not None or record.is_file():
        return
    seen = digest(folder / file.name, "sha256").partition(":")[2]
    partial = record.with_name(f"{record.name}.part")
    partial.write_text(f"{seen}  {file.name}\n", "utf-8")
    partial.replace(record)
    logger.info("%s: no checksum is published; sha256 %s was written down and holds from now on", file.url, seen)


def digest(path: Path, kind: str) -> str:
    """Compute the checksum of a file, with its kind in front.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "empty"
    >>> path.touch()
    >>> digest(path, "git")
    'git:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    if kind == "git":
        sums = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    else:
        sums = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            sums.update(block)
    return f"{kind}:{sums.hexdigest()}"
