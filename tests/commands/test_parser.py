"""Help: every command has examples that parse, says what options do, and what they are by default."""

from __future__ import annotations

import argparse
import shlex

import pytest

from herald_gpu.cli import build_parser
from herald_gpu.commands._parser import CommandParser, abouts_of, commands_of, is_flag, takes_path

COMMANDS = commands_of(build_parser())
EXAMPLES = [line for command in COMMANDS.values() for line in command.examples]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_of_its_own(name):
    command = COMMANDS[name]
    assert command.examples
    assert all(line.startswith(f"herald {name}") for line in command.examples)
    assert command.format_help().endswith("\n".join(["examples:", *(f"  {line}" for line in command.examples), ""]))


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_parse(line):
    program, *argv = shlex.split(line)
    assert program == "herald"
    assert callable(build_parser().parse_args(argv).run)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_argument_is_described_with_its_default(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    command = COMMANDS[name]
    text = command.format_help()
    assert command.description[0].isupper()
    assert abouts_of(build_parser())[name]
    for action in command.arguments:
        assert action.help, action.dest
        shown = max([*action.option_strings, action.metavar or "{"], key=len)
        assert shown in text
        if action.default and not is_flag(action):
            entry = text.split(f"  {shown}" if action.option_strings else "positional arguments:")[-1]
            assert "default" in entry.partition("\n  -")[0], action.dest


def test_defaults_are_added_where_the_help_names_none():
    parser = CommandParser(prog="x")
    parser.add_argument("--far", default=3, help="how far")
    parser.add_argument("--on", action="store_true", help="flag")
    text = parser.format_help()
    assert "how far (default 3)" in text
    assert "flag (" not in text


def test_abbreviations_are_refused(capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["demo", "--rat", "0.1"])
    assert "--rat" in capsys.readouterr().err


def test_commands_talk_alike():
    for name, command in COMMANDS.items():
        dests = {action.dest for action in command.arguments}
        assert "config" in dests
        if name not in ("completion", "plan"):
            assert {"json", "quiet"} <= dests, name


def test_paths_are_known_by_type_or_metavar():
    parser = argparse.ArgumentParser()
    assert takes_path(parser.add_argument("--a", metavar="NAME|NPZ"))
    assert not takes_path(parser.add_argument("--b", metavar="NAME"))
    assert not takes_path(parser.add_argument("--c"))


def test_the_list_of_commands_has_each_beside_what_it_does(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = build_parser().format_help().splitlines()
    for name, about in abouts_of(build_parser()).items():
        (line,) = [text for text in lines if text.split()[:1] == [name]]
        assert line.split(maxsplit=1)[1] in about


def test_the_first_help_leads_from_files_to_accuracies():
    shown = [line.strip() for line in build_parser().format_help().splitlines() if line.startswith("  herald ")]
    assert [shlex.split(line)[1] for line in shown] == ["condense", "report", "evaluate"]
    for line in shown:
        assert callable(build_parser().parse_args(shlex.split(line)[1:]).run)


def test_names_in_descriptions_keep_their_letters():
    assert COMMANDS["evaluate"].description.startswith("Train GNNs on ")
