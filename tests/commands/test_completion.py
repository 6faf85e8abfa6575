"""Completion: what a shell offers."""

from __future__ import annotations

import dataclasses
import shlex
import shutil
import subprocess
from typing import get_args, get_type_hints

import pytest

from herald_gpu import HeraldConfig
from herald_gpu.cli import build_parser, main
from herald_gpu.commands._parser import commands_of
from herald_gpu.commands._shells import SHELLS
from herald_gpu.commands._values import assignment
from herald_gpu.datasets.catalogue import DATASETS
from herald_gpu.evaluate.names import OTHER_MODELS, PAPER_MODELS

BASH = shutil.which("bash")


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout  # noqa: S603 - our own


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    (folder / "herald.bash").write_text(SHELLS["bash"](build_parser()))
    (folder / "graph one.npz").touch()
    (folder / "small.herald").touch()
    return folder


@pytest.fixture
def offered(folder):
    """Give a function that says what bash offers for the last of some words."""
    if BASH is None:
        pytest.skip("bash is not installed")

    def complete(*words):
        listed = " ".join(f"'{word}'" for word in ("herald", *words))
        script = (
            f"source ./herald.bash; COMP_WORDS=({listed}); COMP_CWORD={len(words)}; _herald; "
            "printf '%s\\n' \"${COMPREPLY[@]}\""
        )
        return set(filter(None, run(BASH, "--norc", "-uc", script, cwd=folder).split("\n")))

    return complete


def test_commands(offered):
    assert offered("") == set(commands_of(build_parser()))
    assert offered("con") == {"condense", "convert"}


def test_options(offered):
    assert offered("demo", "--ra") == {"--ratio"}
    options = {text for action in commands_of(build_parser())["demo"].arguments for text in action.option_strings}
    assert offered("demo", "--") == options | {"--help"}
    assert offered("evaluate", "--models", "GCN", "--see") == {"--seeds"}


def test_choices(offered):
    assert offered("condense", "--preset", "pub") == {f"published-{k}" for k in ("citation", "pubmed", "scaled")}
    assert offered("convert", "small.herald", "--to", "") == {"pyg", "npz", "networkx", "graphml", "csv", "parquet"}
    assert offered("condense", "--backend", "=", "c") == {"cpu"}
    assert offered("condense", "--backend", "=") == {"auto", "cpu", "rapids"}
    assert offered("datasets", "f") == {"fetch"}
    assert offered("completion", "") == set(SHELLS)


def test_data_sets_and_models(offered):
    assert offered("condense", "--dataset", "co") == {name for name in DATASETS if name.startswith("co")} >= {"cora"}
    assert offered("evaluate", "--dataset", "=", "") == set(DATASETS)
    assert offered("datasets", "fetch", "cora", "citesee") == {"citeseer"}
    assert offered("evaluate", "--models", "GCN", "") == {*PAPER_MODELS, *OTHER_MODELS}


def test_fields_of_the_method_and_their_choices(offered):
    fields = {field.name for field in dataclasses.fields(HeraldConfig)}
    assert offered("condense", "--set", "") == {f"{name}=" for name in fields}
    assert offered("condense", "--set", "enc") == {"encoding="}
    # bash takes KEY=VALUE apart, unless it is told otherwise.
    assert offered("condense", "--set", "lid_rule", "=") == {"exact", "clipped"}
    assert offered("condense", "--set", "lid_rule", "=", "c") == {"clipped"}
    assert offered("condense", "--set", "lid_rule=c") == {"lid_rule=clipped"}
    assert offered("condense", "--set", "landmarks", "=", "") == {"True", "False"}
    assert offered("condense", "--set", "depth", "=", "") == set()
    assert offered("condense", "--set", "depth", "=", "1", "--ra") == {"--ratio"}


def test_every_assignment_that_is_offered_is_one(offered):
    for field in dataclasses.fields(HeraldConfig):
        for choice in offered("condense", "--set", field.name, "=", ""):
            name, value = assignment(f"{field.name}={choice}")
            allowed = get_args(get_type_hints(HeraldConfig)[name]) or (True, False)
            assert value in allowed


def test_files(offered):
    assert offered("condense", "--data", "gr") == {"graph one.npz"}
    assert offered("convert", "sm") == {"small.herald"}
    assert offered("convert", "--json", "sm") == {"small.herald"}
    assert offered("evaluate", "--seeds", "3", "sm") == {"small.herald"}
    assert offered("demo", "--config", "") == {"graph one.npz", "herald.bash", "small.herald"}


def test_values_that_cannot_be_known(offered):
    assert offered("demo", "--ratio", "") == set()
    assert offered("nonsense", "") == set()
    assert offered("nonsense", "--a") == set()


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_have_no_mistakes_in_their_syntax(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "script").write_text(SHELLS[shell](build_parser()))
    run(shutil.which(shell), "-n", str(tmp_path / "script"))


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_know_every_command_and_option(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "%(" not in script
    for name, command in commands_of(build_parser()).items():
        assert name in script
        for action in command.arguments:
            for text in action.option_strings:
                assert (f"-l {text[2:]} " if shell == "fish" else text) in script


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("herald con", {"condense", "convert"}),
        ("herald condense --preset p", {"paper", *(f"published-{k}" for k in ("citation", "pubmed", "scaled"))}),
        ("herald convert sm", {"small.herald"}),
        ("herald demo --rat", {"--ratio"}),
        ("herald condense --dataset cite", {"citeseer"}),
        ("herald evaluate --models GI", {"GIN"}),
        ("herald condense --set enc", {"encoding="}),
        ("herald condense --set lid_rule=", {"lid_rule=exact", "lid_rule=clipped"}),
    ],
)
def test_fish_offers_them(folder, line, wanted):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    (folder / "herald.fish").write_text(SHELLS["fish"](build_parser()))
    told = run(shutil.which("fish"), "--no-config", "-c", f"source herald.fish; complete -C '{line}'", cwd=folder)
    assert {text.split("\t")[0] for text in told.splitlines()} == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("herald condense --dataset cite", "herald condense --dataset citeseer "),
        ("herald condense --set enc", "herald condense --set encoding="),
        ("herald condense --set lid_rule=c", "herald condense --set lid_rule=clipped "),
        ("herald condense --set depth=1 --set fishe", "herald condense --set depth=1 --set fisher_eps="),
        ("herald evaluate --models GCN H2", "herald evaluate --models GCN H2GCN "),
        ("herald demo --rat", "herald demo --ratio "),
    ],
)
def test_zsh_completes_them(folder, line, wanted):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    (folder / "herald.zsh").write_text(SHELLS["zsh"](build_parser()))
    # A shell on a terminal of its own: the widget shows the line after completion, framed.
    inside = (
        "PS1=; autoload -Uz compinit; compinit -u -D; source ./herald.zsh; "
        "show() { zle complete-word; print -rn -- \"<<<$BUFFER>>>\"; exit }; zle -N show; bindkey '^T' show"
    )
    script = (
        "zmodload zsh/zpty; zpty z zsh -f -i; "
        f"zpty -w z {shlex.quote(inside)}; zpty -w -n z {shlex.quote(line)}$'\\x14'; "
        "while zpty -r z part; do print -rn -- $part; done"
    )
    told = run(shutil.which("zsh"), "-f", "-c", script, cwd=folder, timeout=60)
    assert told.rpartition("<<<")[2].partition(">>>")[0] == wanted


def test_zsh_takes_the_script(folder):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    (folder / "herald.zsh").write_text(SHELLS["zsh"](build_parser()))
    script = "autoload -Uz compinit; compinit -u -D; source ./herald.zsh; print $_comps[herald]"
    assert run(shutil.which("zsh"), "-f", "-c", script, cwd=folder) == "_herald\n"
