"""The parser of a subcommand: help with examples and defaults, a config file, and a look inside for completion."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

PATHS = ("FILE", "FOLDER", "NPZ", "PATH", "RESULT", "TOML")
"""Words in a metavar that mean a path."""


def sentence(about: str) -> str:
    """Begin with a capital letter, and leave the others as they are.

    Examples
    --------
    >>> sentence("train GNNs")
    'Train GNNs'
    """
    return about[:1].upper() + about[1:]


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of examples, and adds defaults that the help does not name."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = action.help or ""
        plain = action.default is not argparse.SUPPRESS and not isinstance(action.default, bool)
        if action.default and plain and "default" not in text:
            text = f"{text} (default %(default)s)".lstrip()
        return text


class CommandsFormatter(Formatter):
    """Keeps what a subcommand does beside its name: argparse forgets the indentation when it measures names."""

    def add_argument(self, action: argparse.Action) -> None:
        """Measure the names as they are written."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as below
            widest = max(len(name) for name in action.choices)
            self._action_max_length = max(self._action_max_length, widest + 2 * self._indent_increment)


class CommandParser(argparse.ArgumentParser):
    """Parser of one subcommand.

    Parameters
    ----------
    examples : sequence of str
        Whole command lines, shown at the end of the help.
    ways : sequence of sequences of str
        Options by their dest, in groups that rule one another out: if the command line names one, those of the other
        groups are not taken from a config file.
    **options
        As for :class:`argparse.ArgumentParser`.

    Examples
    --------
    >>> parser = CommandParser(prog="herald fly", examples=["herald fly --far"])
    >>> print(parser.epilog)
    examples:
      herald fly --far
    """

    def __init__(
        self,
        *,
        examples: Sequence[str] = (),
        ways: Sequence[Sequence[str]] = (),
        **options: Any,  # noqa: ANN401 - those of argparse
    ) -> None:
        shown = "\n".join(["examples:", *(f"  {line}" for line in examples)]) if examples else None
        # An abbreviation that works today would be ambiguous once there is another option.
        plain: dict[str, Any] = {"formatter_class": Formatter, "epilog": shown, "allow_abbrev": False}
        super().__init__(**plain | options)
        self.examples = tuple(examples)
        self.ways = tuple(tuple(way) for way in ways)
        self.add_argument("--config", metavar="TOML", type=Path, help="take options from this file, unless given here")

    @property
    def arguments(self) -> list[argparse.Action]:
        """Everything that can be given, help aside."""
        return [action for action in self._actions if not isinstance(action, argparse._HelpAction)]  # noqa: SLF001 - argparse has no public way to them

    @property
    def exclusive(self) -> list[tuple[tuple[str, ...], ...]]:
        """Groups of options that rule one another out, by their dests."""
        pairs: list[tuple[tuple[str, ...], ...]] = [
            tuple((action.dest,) for action in group._group_actions)  # noqa: SLF001 - as above
            for group in self._mutually_exclusive_groups
        ]
        return [*pairs, self.ways] if self.ways else pairs

    def read(self, action: argparse.Action, words: list[str]) -> Any:  # noqa: ANN401 - what the type makes of it
        """Convert and check the words of an option as if they stood on the command line.

        Raises
        ------
        argparse.ArgumentError
            If they are not what the option takes.
        """
        return self._get_values(action, words)


def commands_of(parser: argparse.ArgumentParser) -> dict[str, CommandParser]:
    """Give the parsers of all subcommands by name."""
    for action in parser._actions:  # noqa: SLF001 - as above
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return dict(action.choices)
    return {}


def abouts_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Give what each subcommand does in one line."""
    for action in parser._actions:  # noqa: SLF001 - as above
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
    return {}


def name_of(action: argparse.Action) -> str:
    """Long name of an option without its dashes; that of a positional argument."""
    return max(action.option_strings, key=len).lstrip("-") if action.option_strings else action.dest.replace("_", "-")


def takes_path(action: argparse.Action) -> bool:
    """Whether the value is a path.

    Examples
    --------
    >>> takes_path(argparse.ArgumentParser().add_argument("--data", metavar="NAME|NPZ"))
    True
    """
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    return action.type is Path or any(word in metavar for word in PATHS)


def takes_many(action: argparse.Action) -> bool:
    """Whether several values may follow."""
    return action.nargs in ("+", "*") or (isinstance(action.nargs, int) and action.nargs > 1)


def is_flag(action: argparse.Action) -> bool:
    """Whether no value follows."""
    return action.nargs == 0
