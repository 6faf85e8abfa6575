"""The command ``herald``.

Exit codes: 0 done, 1 the run failed, 2 the request makes no sense, 130 interrupted.
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from herald_gpu._version import __version__
from herald_gpu.commands import COMMANDS
from herald_gpu.errors import ConfigError, HeraldError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process by default.

    Returns
    -------
    int
        0, or 1 if the run failed, 2 if an option has a value outside its range, 130 if interrupted. Errors
        are told on stderr in one line.

    Examples
    --------
    >>> from herald_gpu.cli import main
    >>> main(["demo", "--nodes", "400", "--ratio", "0.1", "--quiet"])
    0
    """
    args = build_parser().parse_args(argv)
    with _telling_on_stderr(verbose=args.verbose):
        try:
            args.run(args)
        except ConfigError as error:
            return _fail(error, USAGE)
        except (HeraldError, OSError) as error:
            return _fail(error, FAILED)
        except KeyboardInterrupt:
            return _fail("interrupted", INTERRUPTED)
    return 0


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of ``herald`` with all its subcommands."""
    parser = argparse.ArgumentParser(prog="herald", description="Condense graphs inside a storage budget.")
    parser.add_argument("--version", action="version", version=f"herald-gpu {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


def _fail(error: object, code: int) -> int:
    print(f"herald: error: {error}", file=sys.stderr)
    return code


@contextmanager
def _telling_on_stderr(*, verbose: bool) -> Iterator[None]:
    """Tell log lines and warnings in one line each, as errors are."""
    logger = logging.getLogger("herald_gpu")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter())
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: logger.warning("%s", message)
            yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"herald: {record.levelname.lower()}: {record.getMessage()}"
