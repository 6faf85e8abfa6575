"""The command line: what it reads, prints, saves, and how it fails."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import logging
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import herald_gpu
from herald_gpu import cli
from herald_gpu.cli import main
from herald_gpu.commands._values import literal
from herald_gpu.commands.condense import build_config
from herald_gpu.config import HeraldConfig
from herald_gpu.datasets import make_graph
from herald_gpu.errors import BudgetError, ConfigError, HeraldError


class Stub:
    """Stands in for a condensed graph where only the command line is looked at."""

    report = None

    def __init__(self):
        self.report = self
        self.saved = []

    def to_dict(self):
        return {"n_nodes": 3}

    storage_bytes = 2000

    def save(self, path, **options):
        self.saved.append((path, options))
        return 3000

    def __str__(self):
        return "three nodes"


@pytest.fixture
def calls(monkeypatch):
    """Record what condense is called with, and answer with a stub."""
    recorded = []

    def condense(*args, **options):
        recorded.append((args, options, result := Stub()))
        return result

    monkeypatch.setitem(vars(herald_gpu), "condense", condense)
    return recorded


@pytest.fixture(scope="module")
def graph():
    return make_graph(400, n_classes=3, n_features=20, homophily=0.3, mean_degree=6)


@pytest.fixture(scope="module")
def files(graph, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph")
    edges, nodes = graph.to_frames()
    edges.to_csv(folder / "edges.csv", index=False)
    nodes.to_csv(folder / "nodes.csv", index=False)
    arrays = {"x": graph.features, "y": graph.labels, "train_mask": graph.train}
    np.savez(folder / "graph.npz", edge_index=graph.edge_index, **arrays)
    np.savez(folder / "edges.npz", edge_index=graph.edge_index)
    np.savez(folder / "nodes.npz", **arrays)
    return folder


def test_archive_is_passed_on(files, graph, calls):
    assert main(["condense", "--data", str(files / "graph.npz"), "--ratio", "0.1"]) == 0
    ((edges, features, labels, train), options, _) = calls[0]
    assert np.array_equal(edges, graph.edge_index)
    assert np.array_equal(features, graph.features)
    assert np.array_equal(labels, graph.labels)
    assert np.array_equal(train, graph.train)
    assert options["ratio"] == 0.1
    assert options["config"] == HeraldConfig()


def test_tables_are_passed_on_with_their_columns(files, calls):
    columns = ["--source", "a", "--target", "b", "--node", "c", "--label", "d", "--train-column", "e"]
    paths = ["--edges", str(files / "edges.csv"), "--features", str(files / "nodes.csv")]
    assert main(["condense", *paths, *columns, "--unlabelled", "?"]) == 0
    ((edges, nodes, labels, train), options, _) = calls[0]
    assert list(edges.columns) == ["src", "dst"]
    assert nodes.shape == (400, 23)
    assert labels is None
    assert train is None
    names = ("source", "target", "node", "label", "train_column", "unlabelled")
    assert [options[name] for name in names] == ["a", "b", "c", "d", "e", "?"]


def test_the_scale_is_passed_on(files, calls):
    for given, wanted in (([], "auto"), (["--scale", "robust"], "robust")):
        assert main(["condense", "--data", str(files / "graph.npz"), *given]) == 0
        assert calls[-1][1]["scale"] == wanted


def test_edges_and_features_in_archives_of_their_own(files, graph, calls):
    paths = ["--edges", str(files / "edges.npz"), "--features", str(files / "nodes.npz")]
    assert main(["condense", *paths, "--backend", "cpu", "--seed", "3", "--verbose"]) == 0
    (args, options, _) = calls[0]
    assert np.array_equal(args[0], graph.edge_index)
    assert np.array_equal(args[3], graph.train)
    assert (options["backend"], options["random_state"]) == ("cpu", 3)
    assert not options["verbose"]  # a bar is for terminals


def test_a_terminal_sees_a_bar_unless_quiet(calls, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for options, wanted in (([], True), (["--verbose"], True), (["--quiet"], False)):
        assert main(["demo", "--nodes", "50", *options]) == 0
        assert calls[-1][1]["verbose"] is wanted


def test_elsewhere_stages_are_told_in_lines_unless_quiet(capsys):
    argv = ["demo", "--nodes", "300", "--ratio", "0.1"]
    for options, stages, choices in (([], True, False), (["--verbose"], True, True), (["--quiet"], False, False)):
        assert main([*argv, *options]) == 0
        err = capsys.readouterr().err
        assert ("herald: info: stage assembly: " in err) is stages
        assert ("herald: info: backend: " in err) is choices


def test_split_is_passed_on(graph, tmp_path, calls):
    masks = np.stack([graph.train, ~graph.train], axis=1)
    np.savez(tmp_path / "g.npz", edge_index=graph.edge_index, x=graph.features, y=graph.labels, train_mask=masks)
    assert main(["condense", "--data", str(tmp_path / "g.npz"), "--split", "source:1"]) == 0
    assert np.array_equal(calls[0][0][3], ~graph.train)


def test_presets_and_fields():
    assert build_config("default", {}) == HeraldConfig()
    assert build_config("paper", {"depth": 1}) == HeraldConfig.paper(depth=1)
    for kind in ("citation", "pubmed", "scaled"):
        assert build_config(f"published-{kind}", {}) == HeraldConfig.published(kind)


def test_set_reaches_the_configuration(files, calls):
    fields = ["--set", "feature_count=7", "--set", "fixed_weights=(1, 0, 0)", "--set", "lid_scaling=minmax"]
    assert main(["condense", "--data", str(files / "graph.npz"), "--preset", "paper", *fields]) == 0
    config = calls[0][1]["config"]
    assert config == HeraldConfig.paper(feature_count=7, fixed_weights=(1, 0, 0), lid_scaling="minmax")


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("-0.5", -0.5), ("None", None), ("True", True), ("rank", "rank"), ("a b", "a b")],
)
def test_literal(text, value):
    assert literal(text) == value


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("options", "printed"), [([], "three nodes\n"), (["--quiet"], ""), (["--json"], '{\n  "n_nodes": 3\n}\n')]
)
def test_what_is_printed(options, printed, capsys):
    assert main(["demo", "--nodes", "50", *options]) == 0
    assert capsys.readouterr() == (printed, "")


def test_output_saves(tmp_path, calls, capsys):
    out = tmp_path / "out.npz"
    assert main(["demo", "--nodes", "50", "--output", str(out)]) == 0
    assert calls[0][2].saved == [(out, {"with_scores": False, "overwrite": False})]
    rest = "the rest is ids, names, the report and the file format"
    assert capsys.readouterr().out.splitlines()[-1] == f"  saved        {out}: 3,000 bytes (2,000 nominal; {rest})"
    assert main(["demo", "--nodes", "50", "--output", str(out), "--with-scores", "--force", "--json"]) == 0
    assert calls[1][2].saved == [(out, {"with_scores": True, "overwrite": True})]
    assert json.loads(capsys.readouterr().out) == {"n_nodes": 3, "file": {"path": str(out), "bytes": 3000}}


def test_a_file_below_its_nominal_bytes_has_no_rest(tmp_path, calls, monkeypatch, capsys):
    monkeypatch.setattr(Stub, "storage_bytes", 4000)
    assert main(["demo", "--nodes", "50", "--output", str(tmp_path / "x")]) == 0
    assert calls
    assert capsys.readouterr().out.endswith("x: 3,000 bytes (4,000 nominal)\n")


def test_an_existing_output_is_refused_before_the_work_unless_forced(tmp_path, calls, capsys):
    (tmp_path / "x").write_text("mine")
    assert main(["demo", "--nodes", "50", "--output", str(tmp_path / "x")]) == 1
    told = capsys.readouterr().err
    assert told == f"herald: error: --output {tmp_path / 'x'} exists: pass --force to replace it, or another path\n"
    assert calls == []
    assert (tmp_path / "x").read_text() == "mine"
    assert main(["demo", "--nodes", "50", "--output", str(tmp_path / "x"), "--force"]) == 0
    assert len(calls) == 1


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "forced"])
@pytest.mark.parametrize("output", ["edges.csv", "../graph/nodes.csv", "soft", "hard", "run.toml", "."])
def test_an_input_is_never_replaced(files, tmp_path, monkeypatch, calls, capsys, output, force):
    folder = tmp_path / "graph"
    folder.mkdir()
    for name in ("edges.csv", "nodes.csv"):
        (folder / name).write_bytes((files / name).read_bytes())
    (folder / "run.toml").write_text("seed = 1\n")
    (folder / "soft").symlink_to("edges.csv")
    (folder / "hard").hardlink_to(folder / "nodes.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.chdir(folder)
    paths = ["--edges", "edges.csv", "--features", str(folder / "nodes.csv"), "--config", "./run.toml"]
    assert main(["condense", *paths, "--output", output, *force]) == 1
    told = capsys.readouterr().err
    assert f"--output {output} would replace what --" in told
    assert calls == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_tables_of_a_folder_are_never_replaced_by_its_results(files, tmp_path, calls, capsys):
    for name in ("edges.csv", "nodes.csv"):  # these are names of results too
        (tmp_path / name).write_bytes((files / name).read_bytes())
    paths = ["--edges", str(tmp_path / "edges.csv"), "--features", str(tmp_path / "nodes.csv")]
    assert main(["condense", *paths, "--output", f"{tmp_path}/", "--force"]) == 1
    assert "would replace what --edges" in capsys.readouterr().err
    assert calls == []
    assert (tmp_path / "edges.csv").read_bytes() == (files / "edges.csv").read_bytes()


def test_the_archive_of_a_data_set_is_never_replaced(files, tmp_path, monkeypatch, calls, capsys):
    (tmp_path / "mine.npz").write_bytes((files / "graph.npz").read_bytes())
    monkeypatch.setenv("HERALD_DATA", str(tmp_path))
    assert main(["condense", "--dataset", "mine", "--output", str(tmp_path / "mine.npz"), "--force"]) == 1
    assert "mine.npz would replace what --dataset mine reads: pass another path" in capsys.readouterr().err
    assert calls == []


def test_an_output_beside_the_input_is_fine(files, calls, tmp_path):
    argv = ["condense", "--edges", str(files / "edges.csv"), "--features", str(files / "nodes.csv")]
    assert main([*argv, "--output", str(files / "new.herald")]) == 0
    assert main([*argv, "--output", str(tmp_path / "new.herald")]) == 0
    assert len(calls) == 2


N_IDS = 60
DAYS = [dt.date(2020, 1, 1) + dt.timedelta(day) for day in range(N_IDS)]
ID_TYPES = {
    "int8": pa.array(range(N_IDS), pa.int8()),
    "float64": pa.array([day / 2 for day in range(N_IDS)]),
    "text": pa.array([f"n{day:02d}" for day in range(N_IDS)]),
    "bytes": pa.array([b"n%02d" % day for day in range(N_IDS)]),
    "date": pa.array(DAYS),
    "timestamp in seconds": pa.array(DAYS).cast(pa.timestamp("s")),
    "timestamp in nanoseconds": pa.array(DAYS).cast(pa.timestamp("ns")),
    "duration": pa.array([dt.timedelta(day) for day in range(N_IDS)]),
    "decimal": pa.array([decimal.Decimal(day) / 4 for day in range(N_IDS)], pa.decimal128(8, 2)),
}


@pytest.mark.parametrize("as_label", [False, True], ids=["ids", "labels"])
@pytest.mark.parametrize("kind", ID_TYPES)
def test_whatever_ids_and_labels_a_table_has_are_saved(tmp_path, kind, as_label):
    graph = make_graph(N_IDS, n_classes=3, n_features=6, seed=1)
    values = ID_TYPES[kind]
    ids = pa.array(range(N_IDS)) if as_label else values
    # Whole steps, so that numbers are classes too.
    labels = values.take(pa.array(4 * graph.labels)) if as_label else pa.array(graph.labels)
    ends = {name: ids.take(pa.array(end)) for name, end in zip(("src", "dst"), graph.edge_index, strict=True)}
    features = {f"f{i}": graph.features[:, i] for i in range(6)}
    pq.write_table(pa.table(ends), tmp_path / "edges.parquet")
    pq.write_table(pa.table({"node": ids, "label": labels, **features}), tmp_path / "nodes.parquet")
    paths = [str(tmp_path / "edges.parquet"), str(tmp_path / "nodes.parquet")]
    out = str(tmp_path / "x.herald")
    assert main(["condense", "--edges", paths[0], "--features", paths[1], "--ratio", "0.5", "--output", out]) == 0
    saved, made = herald_gpu.load(out), herald_gpu.condense(*paths, ratio=0.5)
    for name in ("node_ids", "class_values"):
        found, wanted = (getattr(one._contents, name).tolist() for one in (saved, made))
        assert found == wanted
        assert list(map(type, found)) == list(map(type, wanted))
    assert saved.report.class_counts == made.report.class_counts
    assert as_label or set(saved.node_ids[~saved.is_landmark]) <= set(pd.read_parquet(paths[1])["node"])


def test_output_saves_a_folder(tmp_path, capsys):
    argv = ["demo", "--nodes", "300", "--ratio", "0.1", "--quiet", "--output", f"{tmp_path / 'out'}/"]
    assert main(argv) == 0
    assert main(argv) == 1
    assert f"--output {tmp_path / 'out'} exists: pass --force to replace it" in capsys.readouterr().err
    assert main([*argv, "--force"]) == 0  # what was written before is replaced
    names = ["condensed.herald", "edges.csv", "nodes.csv", "report.json"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    saved = herald_gpu.CondensedGraph.load(tmp_path / "out" / "condensed.herald")
    assert report == json.loads(json.dumps(saved.report.to_dict()))
    assert len(pd.read_csv(tmp_path / "out" / "nodes.csv")) == report["n_nodes"]


def test_a_folder_with_other_files_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["demo", "--nodes", "300", "--ratio", "0.1", "--output", str(tmp_path)]) == 1
    assert "a folder with other files in it, such as 'mine.txt'" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("output", ["none/small.herald", "none/small/", "file/", "folder"])
def test_a_destination_that_cannot_be_written_is_refused_before_the_work(tmp_path, calls, capsys, output):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.txt").write_text("mine")
    assert main(["demo", "--nodes", "50", "--output", f"{tmp_path}/{output}"]) == 1
    assert f"herald: error: --output {tmp_path}/{output}".rstrip("/") in capsys.readouterr().err
    assert calls == []


def test_demo_passes_its_options_on(calls):
    assert main(["demo", "--nodes", "60", "--homophily", "0.4", "--ratio", "0.3", "--seed", "5"]) == 0
    (edges, _, _, _), options, _ = calls[0]
    assert np.array_equal(edges, make_graph(60, homophily=0.4, seed=5).edge_index)
    assert (options["ratio"], options["random_state"]) == (0.3, 5)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "no command was given: 'herald --help' lists what there is"),
        (["condens"], "no command 'condens': did you mean condense?"),
        (["fly"], "no command 'fly': pass one of bench, completion, condense"),
        (["--verson"], "no option --verson: did you mean --version?"),
        (["condense", "--ration", "0.1"], "no option --ration: did you mean --ratio?"),
        (["condense", "--ration=0.1"], "no option --ration: did you mean --ratio?"),
        (["convert", "a.herald", "--too", "pyg"], "no option --too: did you mean --to?"),
        (["demo", "--xyzzy"], "no option --xyzzy: 'herald demo --help' lists them"),
        (["report", "a.herald", "b.herald"], "'b.herald' is not expected: 'herald report --help' lists what is"),
        (["condense", "-x"], "'-x' is not expected: 'herald condense --help' lists what is"),
        (["condense", "--ratio", "abc"], "--ratio abc is not a number: pass a share such as 0.01"),
        (["plan", "--ratio", "abc"], "--ratio abc is not a number: pass a share such as 0.01"),
        (["demo", "--homophily", "half"], "--homophily half is not a number: pass one such as 0.2"),
        (["demo", "--nodes", "1.5"], "--nodes 1.5 is not a whole number: pass one such as 2000"),
        (["condense", "--workers", "two"], "--workers two is not a whole number: pass one"),
        (["condense", "--preset", "papper"], "--preset papper is not known: did you mean paper?"),
        (["demo", "--backend", "tpu"], "--backend tpu is not known: did you mean cpu?"),
        (["datasets", "fetc"], "action fetc is not known: did you mean fetch?"),
        (["condense", "--set", "depth"], "--set 'depth' is no assignment: pass KEY=VALUE, as in depth=1"),
        (["demo", "--quiet", "--verbose"], "--verbose and --quiet rule each other out: leave one of them out"),
        (["demo", "--ratio"], "--ratio needs a value: 'herald demo --help' lists what there is"),
        (["evaluate", "--models"], "--models needs one value or more: 'herald evaluate --help' lists what there is"),
        (["demo", "--json=1"], "--json takes no value, and '1' was given: 'herald demo --help' lists what there is"),
        (["report"], "RESULT must be given: 'herald report --help' lists what there is"),
    ],
)
def test_arguments_that_do_not_parse_are_told_in_one_line(argv, said, capsys):
    with pytest.raises(SystemExit) as leaving:
        main(argv)
    assert leaving.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"herald: error: {said}")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["condense"], "pass either --data NPZ or both --edges"),
        (["condense", "--edges", "e.csv"], "pass either --data NPZ"),
        (["condense", "--data", "g.npz", "--features", "n.csv"], "pass either --data NPZ"),
        (
            ["condense", "--data", "g.npz", "--set", "deepness=2"],
            "--set deepness names no field of HeraldConfig",
        ),
        (["condense", "--data", "g.npz", "--set", "depth=-1"], "--set depth=-1 is not valid"),
        (["condense", "--data", "g.npz", "--set", "encoding=foo"], "--set encoding='foo' is not valid"),
        (["demo", "--homophily", "7"], "--homophily 7.0 is not valid"),
        (["demo", "--seed", "-1"], "--seed -1 is not valid"),
        (["condense", "--data", "nodes.csv"], "--data nodes.csv is no NPZ archive by its name: pass tables as --edges"),
        (["condense", "--data", "cora"], "--data cora is no file: pass the path of an NPZ archive, or --dataset cora"),
    ],
)
def test_requests_that_make_no_sense(argv, said, capsys):
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"herald: error: {said}")


def test_files_that_cannot_be_read(files, tmp_path, capsys):
    missing = tmp_path / "none.npz"
    assert main(["condense", "--data", str(missing)]) == 1
    assert f"--data {missing}: No such file or directory: check the path" in capsys.readouterr().err
    assert main(["condense", "--data", str(files / "edges.npz")]) == 1
    assert "edges.npz holds no features: store them as x" in capsys.readouterr().err
    assert main(["condense", "--data", str(files / "nodes.npz")]) == 1
    assert "nodes.npz holds no edges: store them as edge_index" in capsys.readouterr().err
    (tmp_path / "text.npz").write_text("src,dst")
    assert main(["condense", "--data", str(tmp_path / "text.npz")]) == 1
    assert "cannot be read as an NPZ archive" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BudgetError("too small", smallest_ratio=0.1), 1),
        (HeraldError("failed"), 1),
        (ConfigError("no value"), 2),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_one_line_and_a_code(monkeypatch, capsys, error, code):
    def condense(*_, **__):
        raise error

    monkeypatch.setitem(vars(herald_gpu), "condense", condense)
    assert main(["demo", "--nodes", "50"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"herald: error: {str(error) or 'interrupted'}\n"
    assert "Traceback" not in err


def test_bugs_keep_their_traceback(monkeypatch):
    def condense(*_, **__):
        return 1 / 0

    monkeypatch.setitem(vars(herald_gpu), "condense", condense)
    with pytest.raises(ZeroDivisionError):
        main(["demo", "--nodes", "50"])


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("verbose", [False, True])
def test_warnings_and_log_are_told_in_lines(monkeypatch, capsys, verbose):
    logger = logging.getLogger("herald_gpu")

    def condense(*_, **__):
        logger.info("backend: cpu")
        logger.warning("3 self loops dropped")
        warnings.warn("divided by zero", stacklevel=2)
        return Stub()

    monkeypatch.setitem(vars(herald_gpu), "condense", condense)
    before = warnings.showwarning, logger.handlers[:], logger.level
    assert main(["demo", "--nodes", "50", "--verbose" if verbose else "--quiet"]) == 0
    told = ["herald: info: backend: cpu"] if verbose else []
    told += ["herald: warning: 3 self loops dropped", "herald: warning: divided by zero"]
    assert capsys.readouterr().err.splitlines() == told
    assert (warnings.showwarning, logger.handlers, logger.level) == before


@pytest.fixture
def noted(tmp_path):
    """Give the options of a graph that a warning is due for: its edges have a column that is not used."""
    graph = make_graph(200, n_classes=2, n_features=8)
    edges, nodes = graph.to_frames()
    edges.assign(kind=1).to_csv(tmp_path / "edges.csv", index=False)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    options = ["--edges", tmp_path / "edges.csv", "--features", tmp_path / "nodes.csv", "--ratio", 0.3]
    return ["condense", *map(str, options)]


@pytest.mark.parametrize("options", [[], ["--verbose"], ["--json"], ["--quiet"], ["--json", "--quiet"]])
def test_a_warning_is_told_once(noted, options, capsys):
    assert main([*noted, *options]) == 0
    out, err = capsys.readouterr()
    told = [
        line for line in (*out.splitlines(), *err.splitlines()) if "'kind'" in line and not line.startswith('    "')
    ]
    assert len(told) == 1
    stated = "herald: warning: " if "--json" in options or "--quiet" in options else "  note  "
    assert told[0].startswith(stated)


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from herald_gpu.cli import build_parser; build_parser().format_help(); "
        "heavy = 'numpy', 'scipy', 'pandas', 'sklearn', 'numba', 'torch', 'cupy'; "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    assert done.stdout == "[]\n"


def test_module_runs_as_the_command():
    command = [sys.executable, "-m", "herald_gpu"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    assert done.stdout == f"herald-gpu {herald_gpu.__version__}\n"
    done = subprocess.run([*command, "convert"], capture_output=True, text=True, check=False)  # noqa: S603 - as above
    assert done.returncode == 2
    assert (
        done.stderr
        == "herald: error: RESULT, --to, --output must be given: 'herald convert --help' lists what there is\n"
    )


@pytest.mark.parametrize("code", [0, 1])
def test_the_command_of_a_process_leaves_no_garbage_to_look_for(monkeypatch, code):
    done = []
    monkeypatch.setattr(cli, "main", lambda: done.append("main") or code)
    monkeypatch.setattr(cli.gc, "freeze", lambda: done.append("freeze"))
    assert cli.command() == code
    assert done == ["main", "freeze"]


def test_demo_for_real(capsys):
    assert main(["demo", "--nodes", "500", "--ratio", "0.03"]) == 0
    summary, errors = capsys.readouterr()
    assert summary.strip()
    assert all(line.startswith("herald: info: stage ") for line in errors.splitlines())
    assert main(["demo", "--nodes", "500", "--ratio", "0.03", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("names", [("edges.csv", "nodes.csv"), ("edges.npz", "nodes.npz")])
def test_condense_for_real(files, names, tmp_path, capsys):
    edges, nodes = (str(files / name) for name in names)
    saved = tmp_path / "condensed"
    argv = [
        "condense",
        "--edges",
        edges,
        "--features",
        nodes,
        "--ratio",
        "0.1",
        "--json",
        "--output",
        str(saved),
    ]
    assert main(argv) == 0
    apart = json.loads(capsys.readouterr().out)
    assert list(tmp_path.iterdir())
    assert main(["condense", "--data", str(files / "graph.npz"), "--ratio", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == apart.keys() - {"file"}
    assert apart["file"] == {"path": str(saved), "bytes": saved.stat().st_size}


def test_a_budget_that_holds_nothing(files, capsys):
    assert main(["condense", "--data", str(files / "graph.npz"), "--ratio", "0.00001"]) == 1
    assert "ratio" in capsys.readouterr().err
