"""The command ``herald``.

Exit codes: 0 done, 1 the run failed, 2 the request makes no sense, 130 interrupted, 143 terminated, 141 nobody reads
what is printed.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
import threading
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from herald_gpu import progress
from herald_gpu._version import __version__
from herald_gpu.backend._compiling import NOTICES
from herald_gpu.commands import COMMANDS, _settings
from herald_gpu.commands._parser import CommandParser, CommandsFormatter, OneLineParser
from herald_gpu.commands._wording import in_options, told
from herald_gpu.errors import ConfigError, HeraldError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

EPILOG = """from files to a page and accuracies:
  herald condense --edges edges.csv --features nodes.csv --ratio 0.05 --output small.herald
  herald report small.herald
  herald evaluate small.herald --edges edges.csv --features nodes.csv

'herald COMMAND --help' shows options and examples of a command; 'herald doctor' tells what can run here."""
FAILED, USAGE, INTERRUPTED, UNREAD, TERMINATED = 1, 2, 130, 141, 143


class Terminated(BaseException):
    """The process was asked to end: raised where it is, so that nothing half-written stays behind."""


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
    args: argparse.Namespace | None = None
    with _terminable():
        try:
            args = _settings.parse(build_parser(), sys.argv[1:] if argv is None else argv)
            quiet = getattr(args, "quiet", False)
            verbose = getattr(args, "verbose", False) and not quiet
            shown = getattr(args, "shows_report", False) and not (quiet or args.json)
            with _telling_on_stderr(verbose=verbose, quiet=quiet, shown=shown), progress.silent(silent=quiet):
                args.run(args)
            sys.stdout.flush()
        except ConfigError as error:
            return _fail(in_options(str(error), args), USAGE)
        except BrokenPipeError:
            return _leave_quietly()
        except (HeraldError, OSError) as error:
            return _fail(told(error, args) if isinstance(error, OSError) else in_options(str(error), args), FAILED)
        except KeyboardInterrupt:
            return _fail("interrupted", INTERRUPTED)
        except Terminated:
            return _fail("terminated", TERMINATED)
    return 0


def command() -> int:
    """Run the command of this process, which ends afterwards, and return its exit code.

    What libraries made is not looked through for garbage once more when Python ends: that took a quarter of a second,
    a tenth of condensing a small graph. What is to be done at the end is done all the same.
    """
    code = main()
    gc.freeze()
    return code


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of ``herald`` with all its subcommands."""
    parser = OneLineParser(
        prog="herald",
        description="Condense graphs inside a storage budget.",
        epilog=EPILOG,
        formatter_class=CommandsFormatter,
    )
    parser.add_argument("--version", action="version", version=f"herald-gpu {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=CommandParser)
    for command in COMMANDS:
        command.add_parser(commands)
    return parser


def _fail(error: str, code: int) -> int:
    with suppress(BrokenPipeError):
        print(f"herald: error: {error}", file=sys.stderr)
    return code


def _leave_quietly() -> int:
    """Let nothing more be written to a pipe that nobody reads, not even when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return UNREAD


@contextmanager
def _terminable() -> Iterator[None]:
    """Answer SIGTERM as Ctrl-C is answered: by an exception."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread may
        yield
        return

    def end(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _telling_on_stderr(*, verbose: bool, quiet: bool, shown: bool) -> Iterator[None]:
    """Tell log lines and warnings in one line each, as errors are: steps, if the command asks for them, and choices.

    Warnings of a report are left out where the report itself is `shown`.
    """
    logger = logging.getLogger("herald_gpu")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter())
    handler.addFilter(lambda record: verbose or record.levelno != logging.INFO or record.name == NOTICES)
    handler.addFilter(lambda record: not (shown and getattr(record, "reported", False)))
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    notices = logging.getLogger(NOTICES)
    notices.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: logger.warning("%s", message)
            yield
    finally:
        logger.setLevel(level)
        notices.setLevel(logging.NOTSET)
        logger.removeHandler(handler)


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        level = "info" if record.levelno <= logging.INFO else record.levelname.lower()
        return f"herald: {level}: {record.getMessage()}"
