"""Options from a TOML file."""

from __future__ import annotations

from pathlib import Path

import pytest

from herald_gpu.cli import build_parser, main
from herald_gpu.commands._parser import commands_of, is_flag, name_of, takes_many
from herald_gpu.commands._settings import parse
from herald_gpu.commands._values import literal, share, split_choice
from herald_gpu.errors import ConfigError


@pytest.fixture
def given(tmp_path):
    """Give a function that parses a command line with a config file."""

    def parsed(text, *argv):
        path = tmp_path / "run.toml"
        path.write_text(text)
        command, *rest = argv
        return parse(build_parser(), [command, "--config", str(path), *rest])

    return parsed


EVERYTHING = """
seed = 7
output = "small.herald"

[condense]
edges = "e.csv"
features = "n.csv"
ratio = 0.25
train_column = "is_train"
unlabelled = "?"
split = 3
preset = "paper"
backend = "cpu"
json = true
verbose = false

[condense.set]
depth = 1
fixed_weights = [1, 0, 0.5]
lid_scaling = "rank"
trim_roots = true
feature_count = "None"

[evaluate]
models = ["GCN"]
"""


def test_every_kind_of_value(given):
    args = given(EVERYTHING, "condense")
    assert (args.seed, args.output, args.edges, args.features) == (7, "small.herald", Path("e.csv"), Path("n.csv"))
    assert (args.ratio, args.train_column, args.unlabelled, args.split) == (0.25, "is_train", "?", 3)
    assert (args.preset, args.backend, args.json, args.verbose) == ("paper", "cpu", True, False)
    assert dict(args.set) == {
        "depth": 1,
        "fixed_weights": [1, 0, 0.5],
        "lid_scaling": "rank",
        "trim_roots": True,
        "feature_count": None,
    }


def test_the_command_line_wins(given):
    args = given(EVERYTHING, "condense", "--ratio", "0.5", "--seed=1", "--set", "depth=3")
    assert (args.ratio, args.seed, args.backend) == (0.5, 1, "cpu")
    assert dict(args.set)["depth"] == 3
    assert dict(args.set)["lid_scaling"] == "rank"


def test_the_table_of_the_command_wins_over_the_top(given):
    text = "ratio = 0.1\n[demo]\nratio = 0.2"
    assert given(text, "demo").ratio == 0.2
    assert given(text, "condense", "--dataset", "cora").ratio == 0.1
    assert given(text, "doctor").require == "cpu"  # which has no ratio


def test_lists_flags_and_required_options(given):
    args = given('[evaluate]\ndataset = "cora"\nmodels = ["GCN", "GIN"]\nlast = true', "evaluate", "small.herald")
    assert (args.models, args.dataset, args.last, args.result) == (["GCN", "GIN"], "cora", True, Path("small.herald"))
    args = given("[plan]\nnodes = 10\nedges = 20\nfeatures = 3\nclasses = 2", "plan", "--edges", "30")
    assert (args.nodes, args.edges) == (10, 30)


def test_columns_to_drop_and_to_encode(given):
    args = given('[condense]\ndrop = ["a", "b"]\ncategorical = "c"\nseparator = ";"', "condense", "--drop", "d")
    assert (args.drop, args.categorical, args.separator) == (["a", "b", "d"], ["c"], ";")
    with pytest.raises(ConfigError, match="pass a list of values"):
        given("[condense]\ndrop = {a = 1}", "condense")


def test_positional_arguments_too(given):
    args = given('[convert]\nresult = "a.herald"\nto = "npz"\noutput = "a.npz"', "convert")
    assert (args.result, args.to, args.output) == (Path("a.herald"), "npz", Path("a.npz"))
    text = '[datasets]\naction = "fetch"\nnames = ["cora", "citeseer"]'
    assert given(text, "datasets").names == ["cora", "citeseer"]
    assert given(text, "datasets", "fetch", "pubmed").names == ["pubmed"]


def test_what_the_command_line_rules_out_is_not_taken(given):
    args = given("quiet = true", "demo", "--verbose")
    assert (args.quiet, args.verbose) == (False, True)
    args = given(EVERYTHING, "condense", "--dataset", "cora")
    assert (args.edges, args.features, args.dataset) == (None, None, "cora")
    args = given('[condense]\ndata = "g.npz"', "condense", "--edges", "e.csv", "--features", "n.csv")
    assert args.data is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ration = 1", "'ration' is neither an option nor a command: did you mean ratio"),
        ("xyzzy = 1", "'xyzzy' is neither an option nor a command: 'herald COMMAND --help' lists the options"),
        ("[dem]\nratio = 1", "'dem' is neither an option nor a command: did you mean demo"),
        ("[demo]\nnode = 1", "'node' in [demo] is no option of demo: did you mean nodes"),
        ("[demo]\nxyzzy = 1", "'xyzzy' in [demo] is no option of demo: pass one of backend, force, homophily, json"),
        ("[condense]\nhomofily = 1", "'homofily' in [condense] is no option of condense"),
        ("config = 'a.toml'", "'config' is neither"),
        ("ratio = 'much'", "ratio = 'much' is not valid: much is not a number: pass a share such as 0.01"),
        ("ratio = true", "ratio = true is not valid: True is not a number"),
        ("seed = 1.5", "seed = 1.5 is not valid: 1.5 is not a whole number: pass one such as 0"),
        ("ratio = [0.1]", "ratio = [0.1] is not valid: pass one value"),
        ("ratio = {a = 1}", "is not valid: pass one value"),
        ("backend = 'tpu'", "backend = 'tpu' is not valid: tpu is not known: did you mean cpu?"),
        ("json = 1", "json = 1 is not valid: pass true or false"),
        ("quiet = true\nverbose = true", "quiet and verbose rule each other out"),
        ("ratio = ", "is no TOML"),
        ("ratio = 1979-05-27", "is not valid: pass one value"),
    ],
)
def test_mistakes_are_usage_errors(tmp_path, capsys, text, said):
    path = tmp_path / "run.toml"
    path.write_text(text)
    assert main(["demo", "--config", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"herald: error: --config {path}")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("dept = 1", "--set dept names no field of HeraldConfig: did you mean depth"),
        ("depth = -1", "depth=-1 is not valid"),
    ],
)
def test_fields_of_the_method_are_checked(tmp_path, capsys, fields, said):
    path = tmp_path / "run.toml"
    path.write_text(f"[condense]\ndataset = 'cora'\npreset = 'paper'\n[condense.set]\n{fields}")
    assert main(["condense", "--config", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_files_that_are_not_there(tmp_path, capsys):
    assert main(["demo", "--config", str(tmp_path / "none.toml")]) == 2
    assert "none.toml cannot be read: No such file" in capsys.readouterr().err
    with pytest.raises(SystemExit) as leaving:
        main(["demo", "--config"])
    assert leaving.value.code == 2


def test_two_ways_in_one_file(given):
    with pytest.raises(ConfigError, match="data and dataset rule each other out"):
        given('[condense]\ndata = "g.npz"\ndataset = "cora"', "condense")


def test_a_run_from_a_file(tmp_path, capsys):
    path = tmp_path / "run.toml"
    path.write_text(
        '[demo]\nnodes = 300\nratio = 0.1\nquiet = true\noutput = "PLACE"'.replace("PLACE", f"{tmp_path}/o")
    )
    assert main(["demo", f"--config={path}"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "o").is_file()


def value_of(action):
    """Give a value that the option takes, as TOML writes it, and what becomes of it."""
    if is_flag(action):
        return "true", True
    if action.metavar == "KEY=VALUE":
        return "{depth = 3}", [("depth", 3)]
    plain = (
        action.choices[0]
        if action.choices
        else {int: 3, float: 0.5, share: 0.5, Path: Path("x"), literal: 3}.get(action.type)
    )
    if action.type is split_choice:
        plain = "paper"
    plain = "word" if plain is None else plain
    told = str(plain) if isinstance(plain, int | float) else f"'{plain}'"
    return (f"[{told}]", [plain]) if takes_many(action) or action.metavar == "COL" else (told, plain)


EVERY = [(name, action) for name, command in commands_of(build_parser()).items() for action in command.arguments]


@pytest.mark.parametrize(
    ("name", "action"),
    [pytest.param(*one, id=f"{one[0]}-{name_of(one[1])}") for one in EVERY if one[1].dest != "config"],
)
def test_every_option_of_every_command_may_stand_in_a_file(given, name, action):
    needed = [one for one in commands_of(build_parser())[name].arguments if one.required and one.dest != action.dest]
    lines = [f"{name_of(one)} = {value_of(one)[0]}" for one in (*needed, action)]
    args = given("\n".join([f"[{name}]", *lines]), name)
    assert getattr(args, action.dest) == value_of(action)[1]
