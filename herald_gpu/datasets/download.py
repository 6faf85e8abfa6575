"""Download one file: resumed where it was cut, repeated where that may help, whole or not at all."""

from __future__ import annotations

import http.client
import logging
import re
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

from herald_gpu import progress
from herald_gpu._version import __version__
from herald_gpu.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

logger = logging.getLogger(__name__)

ATTEMPTS = 5
"""Failures in a row, without a byte received, after which a download is given up."""
FIRST_WAIT = 1.0
"""Seconds before the second attempt; doubled for every further one."""
LONGEST_WAIT = 60.0
TIMEOUT = 30.0
"""Seconds without an answer, or without a byte, that count as a failure."""
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_PARTIAL, _NOT_SATISFIABLE = 206, 416
_BLOCK = 1 << 18


class _Interrupted(Exception):  # noqa: N818 - never leaves this file
    """The network failed in a way that may pass."""

    def __init__(self, reason: object, wait: float | None = None) -> None:
        super().__init__(str(reason) or type(reason).__name__)
        self.wait = wait


def download(url: str, target: Path, *, verified: bool) -> None:
    """Download a file; it takes its name only when it is complete.

    What came before a cut stays in ``NAME.part`` and is not asked for again, in this run or a later one.

    Parameters
    ----------
    url : str
        Address, http or https.
    target : Path
        The file to make; its folder exists.
    verified : bool
        Whether the caller checks the content afterwards. If not, the part of an earlier run is used only if the
        server can be asked whether it is still of the same file.

    Raises
    ------
    DatasetError
        If the server refuses, or the network fails too often.
    """
    if not url.startswith(("http://", "https://")):
        msg = f"url={url!r} cannot be downloaded: pass an http or https address"
        raise DatasetError(msg)
    part = target.with_name(f"{target.name}.part")
    tag = target.with_name(f"{target.name}.tag")
    failures = 0
    while True:
        before = _size(part)
        try:
            _receive(url, part, tag, verified=verified)
        except _Interrupted as error:
            failures = 1 if _size(part) > before else failures + 1
            if failures >= ATTEMPTS:
                msg = (
                    f"{url} could not be downloaded ({error}): check the network and try again, what came is kept; "
                    f"or put the file at {target} by hand"
                )
                raise DatasetError(msg) from error
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1) if error.wait is None else error.wait)
            logger.warning("download of %s was interrupted (%s): trying again in %g s", url, error, wait)
            time.sleep(wait)
        else:
            break
    part.replace(target)
    tag.unlink(missing_ok=True)


def _receive(url: str, part: Path, tag: Path, *, verified: bool) -> None:
    """Ask for what is missing, and append it or start again, as the server answers."""
    offset = _size(part)
    known = tag.read_text("utf-8") if tag.is_file() else ""
    headers = {"User-Agent": f"herald-gpu/{__version__}", "Accept-Encoding": "identity"}
    if offset and (known or verified):
        headers["Range"] = f"bytes={offset}-"
        if known:
            headers["If-Range"] = known
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)  # noqa: S310 - checked by download
    except urllib.error.HTTPError as error:
        with error:
            _refused(url, error, part, tag)
        return
    except (OSError, http.client.HTTPException) as error:
        raise _Interrupted(getattr(error, "reason", error)) from error
    with response:
        if response.status == _PARTIAL and not _continues(response, offset):
            part.unlink(missing_ok=True)
            msg = "the server sent another range than it was asked for"
            raise _Interrupted(msg)
        if response.status != _PARTIAL:
            offset = 0
            _remember(response, tag)
        _append(response, part, offset, url)


def _append(response: Any, part: Path, offset: int, url: str) -> None:  # noqa: ANN401 - urllib's, http.client's
    length = response.headers.get("Content-Length")
    total = offset + int(length) if length else None
    name = part.name.removesuffix(".part")
    with (
        progress.bar(desc=name, total=total, initial=offset, unit="B", unit_scale=True) as bar,
        part.open("ab" if offset else "wb") as file,
    ):
        for block in _blocks(response):
            file.write(block)
            bar.update(len(block))
    if total is not None and _size(part) < total:
        msg = f"{_size(part)} of {total} bytes came"
        raise _Interrupted(msg)
    logger.info("downloaded %s, %d bytes", url, _size(part))


def _blocks(response: Any) -> Iterator[bytes]:  # noqa: ANN401 - as above
    while True:
        try:
            block = response.read(_BLOCK)
        except (OSError, http.client.HTTPException) as error:
            raise _Interrupted(error) from error
        if not block:
            return
        yield block


def _refused(url: str, error: urllib.error.HTTPError, part: Path, tag: Path) -> None:
    """Tell refusals that may pass from those that stay; a part that is complete already is no refusal."""
    if error.code == _NOT_SATISFIABLE and part.is_file():
        complete = re.fullmatch(r"bytes \*/(\d+)", error.headers.get("Content-Range", ""))
        if complete and int(complete[1]) == _size(part):
            return
        part.unlink()
        tag.unlink(missing_ok=True)
        msg = "the file at the source has changed"
        raise _Interrupted(msg, wait=0.0) from error
    if error.code in _PASSING:
        asked = error.headers.get("Retry-After", "")
        msg = f"HTTP {error.code}"
        raise _Interrupted(msg, wait=float(asked) if asked.isdecimal() else None) from error
    msg = f"{url} answers HTTP {error.code} {error.reason}: the source may have moved, see docs/datasets.md"
    raise DatasetError(msg) from error


def _continues(response: Any, offset: int) -> bool:  # noqa: ANN401 - as above
    return response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")


def _remember(response: Any, tag: Path) -> None:  # noqa: ANN401 - as above
    """Keep what names this version of the file; a weak tag cannot vouch for bytes."""
    etag = response.headers.get("ETag", "")
    known = etag if etag.startswith('"') else response.headers.get("Last-Modified", "")
    if known:
        tag.write_text(known, "utf-8")
    else:
        tag.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
