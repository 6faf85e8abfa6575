"""The parser of a subcommand: help with examples and defaults, a config file, and a look inside for completion."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from herald_gpu.commands._values import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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


USAGE = 2
"""Exit code of a command line that makes no sense."""
KINDS = {int: "whole number", float: "number"}
PLAINER = {
    r"argument ([^:]+): expected one argument$": r"\1 needs a value",
    r"argument ([^:]+): expected at least one argument$": r"\1 needs one value or more",
    r"argument ([^:]+): ignored explicit argument (.*)$": r"\1 takes no value, and \2 was given",
    r"argument ([^:]+): not allowed with argument (.*)$": r"\1 and \2 rule each other out: leave one of them out",
    r"the following arguments are required: COMMAND$": "no command was given",
    r"the following arguments are required: (.*)$": r"\1 must be given",
    r"argument ([^:]+): ": r"\1 ",
}
"""What argparse says, and the same in our words."""


class OneLineParser(argparse.ArgumentParser):
    """Parser that says in one line what is wrong, and which name comes closest to a misspelt one."""

    def error(self, message: str) -> NoReturn:
        """Print the mistake in one line, and leave with the exit code of a usage error."""
        for said, plain in PLAINER.items():
            if re.match(said, message):
                message = re.sub(said, plain, message)
                break
        hint = "" if ": " in message else f": '{self.prog} --help' lists what there is"
        self.exit(USAGE, f"herald: error: {message}{hint}\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # noqa: ANN401 - as argparse has it
        """Parse, and refuse what is left over here, where the options are known."""
        words = list(sys.argv[1:] if args is None else args)
        options = [text for text in self._option_string_actions if text.startswith("--")]
        for word in words:
            if word == "--" or (commands_of(self) and not word.startswith("-")):
                break  # what follows is not of this parser
            name = word.partition("=")[0]
            if name.startswith("--") and " " not in word and name not in options:
                hint = nearest(name, options, otherwise=f"'{self.prog} --help' lists them")
                self.error(f"no option {name}: {hint}")
        found, rest = super().parse_known_args(words, namespace)
        if rest:
            self.error(f"{rest[0]!r} is not expected: '{self.prog} --help' lists what is")
        return found, rest

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:  # noqa: ANN401 - what the type makes of it
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            if action.type not in KINDS:
                raise
            example = f" such as {action.default}" if isinstance(action.default, int | float) else ""
            msg = f"{arg_string} is not a {KINDS[action.type]}: pass one{example}"
            raise argparse.ArgumentError(action, msg) from error

    def _check_value(self, action: argparse.Action, value: Any) -> None:  # noqa: ANN401 - as above
        if action.choices is None or value in action.choices:
            return
        names = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - argparse has no public name for it
            raise argparse.ArgumentError(None, f"no command {value!r}: {nearest(str(value), names)}")
        raise argparse.ArgumentError(action, f"{value} is not known: {nearest(str(value), names)}")


class CommandParser(OneLineParser):
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


def suggest(action: argparse.Action, words: Callable[[], Iterable[str]]) -> None:
    """Have shells offer words for an option that takes others too.

    Parameters
    ----------
    action : argparse.Action
    words : callable
        Gives them, when a script for a shell is written; those that end with ``=`` are to be continued.
    """
    action.suggestions = words  # type: ignore[attr-defined]


def words_of(action: argparse.Action) -> list[str]:
    """Give the words that a shell offers for the value of an option."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    words: Callable[[], Iterable[str]] | None = getattr(action, "suggestions", None)
    return [] if words is None else list(words())


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


def repeats(action: argparse.Action) -> bool:
    """Whether the option may be given several times."""
    return isinstance(action, argparse._AppendAction)  # noqa: SLF001 - as above


def is_flag(action: argparse.Action) -> bool:
    """Whether no value follows."""
    return action.nargs == 0
