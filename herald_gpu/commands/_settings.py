"""Options from a TOML file: at its top level, for all commands, or in a table named after one."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from herald_gpu.commands._parser import commands_of, is_flag, name_of, takes_many
from herald_gpu.commands._values import nearest
from herald_gpu.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from herald_gpu.commands._parser import CommandParser

PLAIN = (str, int, float)
PAIRS = "KEY=VALUE"
REPEATED = (PAIRS, "COL")
"""What options that may be repeated take."""


def parse(parser: argparse.ArgumentParser, argv: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; what it leaves open is taken from the file of ``--config``.

    Raises
    ------
    ConfigError
        If the file cannot be read, or holds what no option is named or no option takes.
    """
    words = list(argv)
    name = next((word for word in words if not word.startswith("-")), None)
    command = commands_of(parser).get(name or "")
    path = _config_path(words)
    if command is not None and name is not None and path is not None:
        found = _read(path)
        _check_names(found, commands_of(parser), path)
        _apply(_chosen(found, name, commands_of(parser)), command, words, path)
    return parser.parse_args(words)


def _config_path(words: list[str]) -> Path | None:
    """Find ``--config`` before the rest is parsed; mistakes in it are left to the parser proper."""
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--config", nargs="?", type=Path)
    path: Path | None = early.parse_known_args(words)[0].config
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as error:
        msg = f"--config {path} cannot be read: {error.strerror}"
        raise ConfigError(msg) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"--config {path} is no TOML: {error}"
        raise ConfigError(msg) from error


def _keys(command: CommandParser) -> dict[str, argparse.Action]:
    return {name_of(action): action for action in command.arguments if action.dest != "config"}


def _check_names(found: dict[str, Any], commands: dict[str, CommandParser], path: Path) -> None:
    """Refuse keys that mean nothing anywhere, also in tables of other commands: they are mistakes."""
    everything = {key for command in commands.values() for key in _keys(command)}
    for key, value in found.items():
        if key in commands and isinstance(value, dict):
            names = _keys(commands[key])
            for inner in value:
                if _dashed(inner) not in names:
                    msg = f"--config {path}: {inner!r} in [{key}] is no option of {key}: {nearest(inner, names)}"
                    raise ConfigError(msg)
        elif _dashed(key) not in everything:
            hint = nearest(key, [*everything, *commands], otherwise="'herald COMMAND --help' lists the options")
            msg = f"--config {path}: {key!r} is neither an option nor a command: {hint}"
            raise ConfigError(msg)


def _chosen(found: dict[str, Any], name: str, commands: dict[str, CommandParser]) -> dict[str, Any]:
    """Give the values that the command takes; its own table wins over the top level."""
    tables = {key: value for key, value in found.items() if key in commands and isinstance(value, dict)}
    common = {_dashed(key): value for key, value in found.items() if key not in tables}
    own = {_dashed(key): value for key, value in tables.get(name, {}).items()}
    return {key: value for key, value in (common | own).items() if key in _keys(commands[name])}


def _apply(values: dict[str, Any], command: CommandParser, words: list[str], path: Path) -> None:
    """Make the values the defaults of the command."""
    keys = _keys(command)
    given = {word.partition("=")[0].lstrip("-") for word in words if word.startswith("--")}
    named = {action.dest for key, action in keys.items() if key in given}
    dropped: set[str] = set()
    for groups in command.exclusive:
        if any(named & set(group) for group in groups):
            dropped |= {dest for group in groups if not named & set(group) for dest in group}
    taken: list[str] = []
    for key, value in values.items():
        action = keys[key]
        if action.dest in dropped:
            continue
        default = _converted(value, action, command, f"--config {path}: {key} = {_shown(value)}")
        if default:
            taken.append(action.dest)
        action.default, action.required = default, False
        if not action.option_strings:
            action.nargs = "*" if takes_many(action) else "?"
    for group in command.exclusive:
        both = [dest for ways in group for dest in ways[:1] if dest in taken]
        if len(both) > 1:
            msg = f"--config {path}: {both[0]} and {both[1]} rule each other out: leave one of them out"
            raise ConfigError(msg)


def _converted(value: Any, action: argparse.Action, command: CommandParser, told: str) -> Any:  # noqa: ANN401 - any TOML value
    """Let the option's own converter read the value."""
    if is_flag(action):
        if not isinstance(value, bool):
            msg = f"{told} is not valid: pass true or false"
            raise ConfigError(msg)
        return value if isinstance(action.default, bool) else (action.const if value else action.default)
    repeated = action.metavar in REPEATED
    several = takes_many(action) or repeated
    if action.metavar == PAIRS and isinstance(value, dict):
        value = [f"{key}={inner}" for key, inner in value.items()]
    items = value if isinstance(value, list) else [value]
    if (isinstance(value, list) and not several) or not all(isinstance(item, PLAIN) for item in items):
        lists = takes_many(action) or (repeated and action.metavar != PAIRS)
        wanted = "a list of values" if lists else "a table" if repeated else "one value"
        msg = f"{told} is not valid: pass {wanted}"
        raise ConfigError(msg)
    try:
        if repeated:
            return [command.read(action, [str(item)]) for item in items]
        return command.read(action, [str(item) for item in items])
    except argparse.ArgumentError as error:
        msg = f"{told} is not valid: {error.message}"
        raise ConfigError(msg) from error


def _dashed(key: str) -> str:
    return key.replace("_", "-")


def _shown(value: Any) -> str:  # noqa: ANN401 - any TOML value
    return str(value).lower() if isinstance(value, bool) else repr(value)
