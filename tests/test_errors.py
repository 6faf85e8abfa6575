"""Every error a user can meet: its class, and that it names the argument, what was seen and what to do."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
import re
import zipfile
from dataclasses import dataclass, field, replace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import strangers
import torch
from outcomes import RATIO, small_graph

import herald_gpu
from herald_gpu import CondensedGraph, HeraldConfig, condense, errors
from herald_gpu.ratios import at_least

GRAPH = small_graph()
N = GRAPH.n_nodes
EDGES, NODES = GRAPH.to_frames()
ARRAYS = {"edges": GRAPH.edge_index, "feats": GRAPH.features, "labels": GRAPH.labels, "train": GRAPH.train}
FRAMES = {"edges": EDGES, "feats": NODES}
PRESETS = {"default": HeraldConfig(), "paper": HeraldConfig.paper()}


@dataclass
class Case:
    """A call that must fail: the changes to a good one, and what the message must hold."""

    error: type[Exception]
    says: tuple[str, ...]
    change: dict[str, Any] = field(default_factory=dict)
    base: dict[str, Any] = field(default_factory=lambda: ARRAYS)


def features_with(value, row=7, column=2):
    features = GRAPH.features.copy()
    features[row, column] = value
    return features


def labels_with(value, where):
    labels = GRAPH.labels.astype(object)
    labels[where] = value
    return labels


TRAIN = np.flatnonzero(GRAPH.train)

CASES = {
    # features
    "NaN": Case(errors.InputError, ("feats", "NaN", "column 2", "node 7", "clean"), {"feats": features_with(np.nan)}),
    "infinity": Case(errors.InputError, ("feats", "1 value", "node 7", "clean"), {"feats": features_with(np.inf)}),
    "beyond float32": Case(
        errors.InputError,
        ("feats", "beyond 1e+15", "column 2", "node 7", "clean"),
        {"feats": np.where(np.arange(N * 6).reshape(N, 6) == 44, 1e300, GRAPH.features.astype(np.float64))},
    ),
    "too large": Case(
        errors.InputError, ("beyond 1e+15", "column 2", "node 7", "scale"), {"feats": features_with(2e15)}
    ),
    "too small": Case(errors.InputError, ("1 value", "column 2", "node 7"), {"feats": features_with(-2e15)}),
    "NaN in CSR": Case(
        errors.InputError,
        ("feats", "NaN", "column 2", "node 7"),
        {"feats": scipy.sparse.csr_matrix(features_with(np.nan))},
    ),
    "NaN in a frame": Case(
        errors.InputError,
        ("feats", "NaN", "column 'f2'", "node 7"),
        {"feats": NODES.assign(f2=features_with(np.nan)[:, 2])},
        FRAMES,
    ),
    "missing value in polars": Case(
        errors.InputError,
        ("feats", "NaN", "column 'f0'", "node 0"),
        {
            "edges": pl.DataFrame(EDGES.to_dict("list")),
            "feats": pl.DataFrame({**NODES.to_dict("list"), "f0": [None] + [1.0] * (N - 1)}),
        },
        {},
    ),
    "no features": Case(errors.UnsupportedInputError, ("feats", "without features", "pass"), {"feats": None}),
    "no feature columns": Case(
        errors.UnsupportedInputError,
        ("feats", "without features", "add"),
        {"feats": NODES[["node", "label", "train"]]},
        FRAMES,
    ),
    "no columns": Case(
        errors.UnsupportedInputError, ("feats", "without features", "add"), {"feats": GRAPH.features[:, :0]}
    ),
    "text column": Case(
        errors.UnsupportedInputError,
        ("feats", "['name']", "are text", "categorical=['name']", "drop=['name']"),
        {"feats": NODES.assign(name="x")},
        FRAMES,
    ),
    "text matrix": Case(errors.UnsupportedInputError, ("feats", "dtype"), {"feats": GRAPH.features.astype(str)}),
    "flat features": Case(errors.InputError, ("feats", "(240,)", "2-D"), {"feats": GRAPH.features.ravel()}),
    # size and shape
    "no rows": Case(errors.InputError, ("feats", "no rows", "empty"), {"feats": NODES.iloc[:0]}, FRAMES),
    "no edges": Case(errors.InputError, ("edges", "empty", "pass at least one"), {"edges": GRAPH.edge_index[:, :0]}),
    "no edges in a frame": Case(errors.InputError, ("edges", "empty"), {"edges": EDGES.iloc[:0]}, FRAMES),
    "no edges in a matrix": Case(errors.InputError, ("edges", "empty"), {"edges": scipy.sparse.csr_matrix((N, N))}),
    "no edges in NetworkX": Case(errors.InputError, ("edges", "empty"), {"edges": nx.empty_graph(N)}),
    "only self loops": Case(
        errors.InputError,
        ("edges", "self loops", "pass at least one"),
        {"edges": np.stack([np.arange(N), np.arange(N)])},
    ),
    "edges missing": Case(errors.InputError, ("edges", "missing", "pass"), {"edges": None}),
    "edges transposed": Case(errors.InputError, ("edges", "shape", "transpose"), {"edges": GRAPH.edge_index.T}),
    "adjacency too small": Case(
        errors.InputError,
        ("edges", "(39, 39)", "40 rows", "pass"),
        {"edges": scipy.sparse.csr_matrix((N - 1, N - 1))},
    ),
    "labels too short": Case(errors.InputError, ("labels", "39", "40 nodes", "pass"), {"labels": GRAPH.labels[:-1]}),
    "mask too short": Case(errors.InputError, ("train", "39", "40 nodes", "pass"), {"train": GRAPH.train[:-1]}),
    "mask in two columns": Case(
        errors.InputError, ("train", "(40, 2)", "pass"), {"train": np.stack([GRAPH.train] * 2, axis=1)}
    ),
    "rows and NetworkX nodes": Case(
        errors.InputError, ("feats", "40 rows", "39 nodes", "pass"), {"edges": nx.path_graph(N - 1)}
    ),
    # ids
    "unknown end": Case(
        errors.InputError,
        ("edges", "to 40", "feats", "row numbers 0 to 39", "pass feats as a table"),
        {"edges": np.append(GRAPH.edge_index, [[0], [N]], axis=1)},
    ),
    "negative end": Case(
        errors.InputError,
        ("edges", "from -1", "feats", "row numbers 0 to 39", "pass feats as a table"),
        {"edges": np.append(GRAPH.edge_index, [[0], [-1]], axis=1)},
    ),
    "unknown name": Case(
        errors.InputError,
        ("edges", "['stranger']", "int64", "add those nodes"),
        {"edges": EDGES.assign(src=["stranger", *EDGES["src"].tolist()[1:]])},
        FRAMES,
    ),
    "missing end": Case(
        errors.InputError,
        ("edges", "'src'", "1 missing", "drop"),
        {"edges": EDGES.assign(src=EDGES["src"].where(EDGES.index > 0))},
        FRAMES,
    ),
    "duplicate ids": Case(
        errors.InputError,
        ("feats", "duplicate node ids", "[0]", "keep one row"),
        {"feats": NODES.assign(node=[0, 0, *range(2, N)])},
        FRAMES,
    ),
    "duplicate ids in the index": Case(
        errors.ColumnError,
        ("feats", "index repeats values", "node=", "node=None"),
        {"feats": NODES.drop(columns="node").set_axis(["a"] * N)},
        FRAMES,
    ),
    "ids of two types": Case(
        errors.InputError,
        ("node ids", "mix types", "make them all"),
        {"feats": NODES.assign(node=[*range(N - 1), "x"])},
        FRAMES,
    ),
    # labels
    "no labels": Case(errors.ColumnError, ("labels=", "label=", "'label'"), {"labels": None}),
    "nothing labelled": Case(errors.InputError, ("labels", "no labelled node", "needed"), {"labels": np.full(N, -1)}),
    "one class": Case(
        errors.InputError,
        ("labels", "one class only", "(1)", "at least two"),
        {"labels": np.ones(N, dtype=int)},
    ),
    "one class in training": Case(
        errors.InputError,
        ("labels", "one class only", "at least two"),
        {"train": np.flatnonzero(GRAPH.labels == GRAPH.labels[0])},
    ),
    "one class in a column": Case(
        errors.InputError, ("feats column 'label'", "one class only"), {"feats": NODES.assign(label="a")}, FRAMES
    ),
    "training node without label": Case(
        errors.InputError,
        ("train", "1 nodes without a label", "leave them out"),
        {"labels": labels_with(None, TRAIN[0])},
    ),
    "no training node": Case(
        errors.InputError, ("train", "marks no node", "needed"), {"train": np.zeros(N, dtype=bool)}
    ),
    "multi-label": Case(
        errors.UnsupportedInputError,
        ("labels", "(40, 3)", "multi-label", "pass one class"),
        {"labels": np.eye(3)[GRAPH.labels]},
    ),
    "regression": Case(
        errors.UnsupportedInputError,
        ("labels", "0.25", "regression", "pass"),
        {"labels": GRAPH.labels + 0.25 - GRAPH.labels.min()},
    ),
    "regression column": Case(
        errors.UnsupportedInputError,
        ("feats column 'label'", "regression"),
        {"feats": NODES.assign(label=np.linspace(0, 1, N))},
        FRAMES,
    ),
    "labels of two types": Case(
        errors.InputError, ("labels", "mixes types", "use one type"), {"labels": labels_with("x", TRAIN[0])}
    ),
    "labels twice": Case(
        errors.ColumnError, ("labels=", "'label'", "pass one of them"), {"labels": GRAPH.labels}, FRAMES
    ),
    "train twice": Case(errors.ColumnError, ("train=", "'train'", "pass one of them"), {"train": GRAPH.train}, FRAMES),
    # training mask
    "codes as mask": Case(errors.InputError, ("train", "[0.0, 1.0, 2.0]", "write 0/1"), {"train": np.arange(N) % 3.0}),
    "codes as mask column": Case(
        errors.InputError,
        ("feats column 'train'", "[0, 1, 2]", "write 0/1"),
        {"feats": NODES.assign(train=np.arange(N) % 3)},
        FRAMES,
    ),
    "unknown training ids": Case(errors.InputError, ("train", "[40, 41]", "feats"), {"train": [0, 1, 40, 41]}),
    # columns
    "unknown source": Case(
        errors.ColumnError, ("edges", "'from'", "['src', 'dst']", "source="), {"source": "from"}, FRAMES
    ),
    "unknown target": Case(
        errors.ColumnError, ("edges", "'to'", "['src', 'dst']", "target="), {"target": "to"}, FRAMES
    ),
    "unknown node": Case(errors.ColumnError, ("feats", "'id'", "['node', ", "node="), {"node": "id"}, FRAMES),
    "unknown label": Case(errors.ColumnError, ("labels=", "'y'", "label="), {"label": "y"}, FRAMES),
    "unknown train": Case(errors.ColumnError, ("feats", "'use'", "train_column="), {"train_column": "use"}, FRAMES),
    "node of an array": Case(errors.ColumnError, ("node='id'", "ndarray", "leave"), {"node": "id"}),
    "repeated columns": Case(
        errors.ColumnError,
        ("feats", "['f0']", "rename"),
        {"feats": pd.concat([NODES, NODES[["f0"]]], axis=1)},
        FRAMES,
    ),
    "lazy frame": Case(
        errors.UnsupportedInputError,
        ("LazyFrame", "collect()"),
        {"edges": pl.DataFrame(EDGES.to_dict("list")).lazy()},
        FRAMES,
    ),
    # devices
    "mixed devices": Case(
        errors.DeviceError,
        ("edges on host", "feats on cuda", "move them all to one"),
        {"feats": strangers.DataFrame(NODES)},
        FRAMES,
    ),
    "labels elsewhere": Case(
        errors.DeviceError, ("labels on cuda", "move them all to one"), {"labels": strangers.ndarray(GRAPH.labels)}
    ),
    "a tensor elsewhere": Case(
        errors.DeviceError,
        ("edges on cuda", "feats on host", "move them all to one"),
        {"edges": strangers.CudaTensor()},
    ),
    # options
    **{
        f"ratio {ratio!r}": Case(errors.ConfigError, (f"ratio={ratio!r}", "(0, 1]"), {"ratio": ratio})
        for ratio in (0, -0.1, 1.5, float("nan"), True, "0.1", None)
    },
    "config": Case(errors.ConfigError, ("config={'depth': 1}", "HeraldConfig"), {"config": {"depth": 1}}),
    "backend": Case(errors.ConfigError, ("backend='gpu'", "'auto', 'cpu' or 'rapids'"), {"backend": "gpu"}),
    "output_type": Case(errors.ConfigError, ("output_type='excel'", "pass one of"), {"output_type": "excel"}),
    "random_state": Case(errors.ConfigError, ("random_state=-1", "integer >= 0"), {"random_state": -1}),
    "random_state float": Case(errors.ConfigError, ("random_state=0.5", "integer"), {"random_state": 0.5}),
    "storage": Case(
        errors.ConfigError,
        ("storage='binary'", "feats", "pass"),
        {"config": HeraldConfig(storage="binary")},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_condense_refuses(name):
    case = CASES[name]
    with pytest.raises(case.error) as caught:
        condense(**{"ratio": RATIO, **case.base, **case.change})
    assert_says(caught.value, case.says)


def assert_says(error, says):
    message = str(error)
    assert isinstance(error, errors.HeraldError)
    for part in says:
        assert part in message, message
    assert not re.search(r"np\.\w+\(", message), f"values are shown as NumPy's own: {message}"
    assert "\n" not in message


def test_the_inputs_these_cases_spoil_are_good():
    for base in (ARRAYS, FRAMES):
        assert condense(**base, ratio=RATIO).report.storage_ratio <= RATIO


# PyG

PYG = {
    "heterogeneous": ("HeteroData", {}, errors.UnsupportedInputError, ("heterogeneous", "not supported", "pass")),
    "temporal": ("TemporalData", {}, errors.UnsupportedInputError, ("temporal", "not supported", "pass")),
    "no edges": ("Data", {"edge_index": None}, errors.InputError, ("edges", "edge_index", "set it")),
    "no features": ("Data", {"x": None}, errors.UnsupportedInputError, ("feats", "without features")),
    "multi-label": (
        "Data",
        {"y": torch.ones((N, 4))},
        errors.UnsupportedInputError,
        ("labels", "(40, 4)", "multi-label"),
    ),
    "regression": (
        "Data",
        {"y": torch.linspace(0, 1, N)},
        errors.UnsupportedInputError,
        ("labels", "regression"),
    ),
    "many splits": (
        "Data",
        {"train_mask": torch.ones((N, 10), dtype=torch.bool)},
        errors.InputError,
        ("train_mask", "(40, 10)", "train="),
    ),
    "codes as mask": (
        "Data",
        {"train_mask": torch.arange(N) % 3 / 2},
        errors.InputError,
        ("train", "[0.0, 0.5, 1.0]", "write 0/1"),
    ),
}


@pytest.mark.parametrize("name", PYG)
def test_condense_refuses_pyg_data(name):
    module = pytest.importorskip("torch_geometric.data", reason="torch_geometric is not installed")
    kind, change, error, says = PYG[name]
    parts = {
        "x": torch.tensor(GRAPH.features),
        "edge_index": torch.tensor(GRAPH.edge_index),
        "y": torch.tensor(GRAPH.labels),
    }
    data = module.Data(**{**parts, **change}) if kind == "Data" else getattr(module, kind)()
    with pytest.raises(error) as caught:
        condense(data, ratio=RATIO)
    assert_says(caught.value, says)


# Budget


@pytest.mark.parametrize("ratio", [1e-9, 1e-4, 0.002])
@pytest.mark.parametrize("features", ["dense", "bag_of_words"])
@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_an_infeasible_budget_names_the_smallest_ratio_that_works(config, features, ratio):
    graph = small_graph(features)
    given = (graph.edge_index, graph.features, graph.labels, graph.train)
    with pytest.raises(errors.BudgetError) as caught:
        condense(*given, ratio=ratio, config=config)
    error = caught.value
    assert_says(error, (f"ratio={ratio!r}", "3 classes", at_least(error.smallest_ratio), "best_effort"))
    result = condense(*given, ratio=error.smallest_ratio, config=config)
    assert result.report.missing_classes == []
    assert result.report.storage_ratio <= error.smallest_ratio
    with pytest.raises(errors.BudgetError):
        condense(*given, ratio=float(np.nextafter(error.smallest_ratio, 0)), config=config)


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_best_effort_names_the_missing_classes_instead(config):
    with pytest.raises(errors.BudgetError) as caught:
        condense(**ARRAYS, ratio=1e-9, config=config)
    ratio = 0.7 * caught.value.smallest_ratio
    result = condense(**ARRAYS, ratio=ratio, config=replace(config, on_infeasible="best_effort"))
    assert result.report.storage_ratio <= ratio
    assert result.report.missing_classes
    assert any(str(result.report.missing_classes) in warning for warning in result.report.warnings)


@pytest.mark.parametrize("config", PRESETS.values(), ids=PRESETS)
def test_best_effort_without_room_for_one_node_is_still_an_error(config):
    with pytest.raises(errors.BudgetError) as caught:
        condense(**ARRAYS, ratio=1e-9, config=replace(config, on_infeasible="best_effort"))
    assert caught.value.smallest_ratio > 1e-9


# Files


@pytest.fixture(scope="module")
def result():
    return condense(**ARRAYS, ratio=RATIO)


@pytest.fixture
def saved(result, tmp_path):
    path = tmp_path / "graph.herald"
    result.save(path)
    return path


def rewrite(path, name, change):
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    members[name] = change(members[name])
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


def meta(change):
    def edit(content):
        body = json.loads(content)
        change(body)
        return json.dumps(body).encode()

    return edit


def rename_codes(body):
    body["arrays"] = {name.replace("codes", "cods"): entry for name, entry in body["arrays"].items()}


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("meta.json", meta(lambda body: body.update(schema_version=99)), ("schema version 99", "reads 2", "upgrade")),
        ("meta.json", meta(lambda body: body.update(format="x")), ("not a saved condensed graph", "pass")),
        ("meta.json", meta(lambda body: body["content"].pop("report")), ("lacks a part", "'report'", "save")),
        ("meta.json", meta(lambda body: body["content"].update(columns={"a": 1})), ("lacks a part", "save")),
        ("meta.json", meta(rename_codes), ("lacks a part", "'codes'", "save")),
        ("meta.json", meta(lambda body: body["content"]["report"].pop("weights")), ("lacks a part", "'weights'")),
        ("arrays.bin", lambda content: content[:-1] + b"\x7f", ("arrays.bin", "checksum", "save")),
    ],
)
def test_load_refuses_changed_files(saved, name, change, says):
    rewrite(saved, name, change)
    with pytest.raises(errors.FileFormatError) as caught:
        CondensedGraph.load(saved)
    assert_says(caught.value, (f"path={str(saved)!r}", *says))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_load_refuses_truncated_files(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(errors.FileFormatError) as caught:
        CondensedGraph.load(saved)
    assert_says(caught.value, (f"path={str(saved)!r}", "damaged", "save"))


def test_load_refuses_foreign_files(tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(errors.FileFormatError) as caught:
        CondensedGraph.load(path)
    assert_says(caught.value, ("picture.png", "not a saved condensed graph", "pass"))


def test_load_refuses_an_unknown_output_type(saved):
    with pytest.raises(errors.ConfigError, match="output_type='excel' is not known"):
        CondensedGraph.load(saved, output_type="excel")


def test_save_refuses_folders(result, tmp_path):
    with pytest.raises(errors.InputError, match=r"path=.* is a folder: pass a file name"):
        result.save(tmp_path)


# transform


@pytest.mark.parametrize(
    ("feats", "error", "says"),
    [
        (GRAPH.features[:, :-1], errors.InputError, ("feats", "5 columns", "had 6", "pass all")),
        (pd.DataFrame({"a": [1.0]}), errors.InputError, ("feats", "lacks the columns [0, ", "pass")),
        (features_with(np.nan), errors.InputError, ("feats", "NaN", "clean")),
        (GRAPH.features[0], errors.InputError, ("feats", "(6,)", "2-D")),
        (None, errors.InputError, ("feats", "2-D")),
        (GRAPH.features.astype(str), errors.UnsupportedInputError, ("feats", "dtype")),
    ],
)
def test_transform_refuses(result, feats, error, says):
    with pytest.raises(error) as caught:
        result.transform(feats)
    assert_says(caught.value, says)


# The family


def test_bad_arguments_are_value_or_type_errors_too():
    for error in (errors.InputError, errors.ConfigError, errors.BudgetError, errors.FileFormatError):
        assert issubclass(error, ValueError)
    assert issubclass(errors.UnsupportedInputError, TypeError)
    assert issubclass(errors.MissingDependencyError, ImportError)
    assert issubclass(errors.BackendUnavailable, RuntimeError)
    assert issubclass(errors.ColumnError, errors.InputError)
    assert issubclass(errors.DeviceError, errors.InputError)


def test_every_error_is_documented_and_of_the_family():
    public = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len(public) >= 9
    for error in public:
        assert issubclass(error, errors.HeraldError)
        assert error.__doc__


def test_a_backend_that_cannot_run_says_why():
    try:
        herald_gpu.get_backend("rapids")
    except errors.BackendUnavailable:
        with pytest.raises(errors.BackendUnavailable, match="backend='rapids'"):
            condense(**ARRAYS, ratio=RATIO, backend="rapids")
    else:
        pytest.skip("the RAPIDS backend runs here")


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'condensate'"):
        _ = herald_gpu.condensate


@pytest.mark.parametrize(
    "error",
    [
        errors.BudgetError("too little", smallest_ratio=0.25),
        errors.OutOfMemory("no room", stage="features"),
        errors.ClusterError("gone", stage="scoring"),
    ],
)
def test_errors_come_back_from_other_processes(error):
    error.add_note("seen on worker 3")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))
    assert again.__notes__ == ["seen on worker 3"]


def every_error():
    """Make one of each class that this package has."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    extra = {errors.BudgetError: {"smallest_ratio": 0.25}}
    staged = {"stage": "features"}
    return [
        kind(f"what a {kind.__name__} says", **extra.get(kind, staged if issubclass(kind, errors.StageError) else {}))
        for kind in kinds
    ]


@pytest.mark.parametrize("error", every_error(), ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])  # noqa: S301 - our own
def test_every_error_can_be_copied(error, copied):
    again = copied(error)
    assert type(again) is type(error)
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


def test_errors_pass_through_spawned_processes():
    made = every_error()
    graph = small_graph()
    arguments = (graph.edge_index, graph.features, graph.labels, graph.train)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(copy.copy, made)
        with pytest.raises(errors.ConfigError, match=r"ratio=2 is not valid: pass a number in \(0, 1\]"):
            pool.apply(condense, arguments, {"ratio": 2})
        with pytest.raises(errors.BudgetError) as caught:
            pool.apply(condense, arguments, {"ratio": 1e-6, "backend": "cpu"})
    assert 1e-6 < caught.value.smallest_ratio < 1
    assert list(map(str, found)) == list(map(str, made))
    assert [vars(error) for error in found] == [vars(error) for error in made]
