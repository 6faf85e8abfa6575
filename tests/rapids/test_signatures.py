"""R1: every call of RAPIDS binds to the signature that the wheels of 26.10 have."""

from __future__ import annotations

import ast
import inspect
import keyword
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import doubles

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from rapids_calls import ROOT, uses, uses_in
from rapids_signatures import VERSION, Snapshot, parse_signature

SNAPSHOT = Snapshot()
USES = uses()
CALLS = [use for use in USES if use.call is not None]
COMMON = {*dir(np.ndarray), *dir(pd.Series)}
"""Methods that arrays and tables of the host have as well."""
REFRESH = "run `make rapids-signatures`"


def of_a_class(name):
    """Whether a dotted name is a method or attribute."""
    return name.rpartition(".")[0].rpartition(".")[2][:1].isupper()


CALLABLES = [name for name, text in SNAPSHOT.texts.items() if text is not None]
ATTRIBUTES = [name for name, text in SNAPSHOT.texts.items() if text is None and of_a_class(name)]


def bind(use):
    """Bind the arguments of a call; TypeError if they do not fit."""
    if any(isinstance(given, ast.Starred) for given in use.call.args) or any(k.arg is None for k in use.call.keywords):
        msg = f"{use.place}: spell the arguments of {use.target} out, so that they can be checked"
        raise TypeError(msg)
    signature = SNAPSHOT.signature(use.target)
    if signature is None:
        msg = f"{use.place}: {use.target} is not callable"
        raise TypeError(msg)
    signature.bind(*use.call.args, **{keyword.arg: keyword.value for keyword in use.call.keywords})


def test_there_are_calls_to_check():
    assert {use.target for use in CALLS} >= {
        "cuml.neighbors.NearestNeighbors.kneighbors",  # through the table of objects
        "cuml.decomposition.PCA.fit",  # on the object just made
        "cuml.ensemble.RandomForestClassifier.as_treelite",  # a method of a base class
        "pylibcugraph.neighbor_sample",
    }


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.place}-{use.target}")
def test_every_name_is_in_the_snapshot(use):
    assert use.target in SNAPSHOT.texts, f"{use.place}: {use.target} is not in the snapshot: {REFRESH}"


@pytest.mark.parametrize("use", CALLS, ids=lambda use: f"{use.place}-{use.target}")
def test_every_call_binds(use):
    bind(use)


def test_nothing_in_the_snapshot_is_out_of_use():
    assert set(SNAPSHOT.texts) == {use.target for use in USES}, REFRESH


def test_the_snapshot_is_of_the_release_that_the_extras_ask_for():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    pins = [pin.partition("==")[2] for extra in ("cu12", "cu13") for pin in extras[extra] if "==" in pin]
    assert set(pins) == {f"{VERSION}.*"}
    assert all(version.startswith(f"{VERSION}.") for version in SNAPSHOT.wheels.values())


@pytest.mark.parametrize("file", sorted({use.file for use in USES}))
def test_methods_of_objects_that_could_not_be_followed_are_found(file):
    """A method known from RAPIDS, called on something unknown, belongs into the table of objects."""
    methods = {name.rpartition(".")[2] for name in CALLABLES if of_a_class(name)} - COMMON
    source = (ROOT / file).read_text("utf-8")
    followed = {(use.call.lineno, use.call.col_offset) for use in uses_in(source, file) if use.call is not None}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
            place = f"{file}:{node.lineno}"
            assert (node.lineno, node.col_offset) in followed, f"{place}: add the object to rapids_calls.OBJECTS"


# The check itself

WRONG = {
    "positional where only keywords are taken": "from cuml.neighbors import NearestNeighbors\nNearestNeighbors(5)",
    "unknown keyword": "import cuml.neighbors as n\nn.NearestNeighbors(n_neighbours=5)",
    "unknown keyword of a method": (
        "from cuml.neighbors import NearestNeighbors as N\nmodel = N()\nmodel.kneighbors(x, k=3)"
    ),
    "too many for a method": "from cuml.decomposition import PCA\nPCA(n_components=2).fit(x, y, z)",
    "required keyword left out": "import pylibcugraph as p\np.neighbor_sample(h, g, v, f, with_replacement=False)",
    "hidden in a starred argument": "import pylibcugraph as p\np.SGGraph(*parts)",
    "hidden in a dictionary": "import pylibcugraph as p\np.SGGraph(**parts)",
    "attribute called": "from cuml.decomposition import PCA\nmodel = PCA()\nmodel.fit(x).components_()",
    "on a column of a table": "import cudf\ncudf.DataFrame(x)['a'].fillna(0).to_cupy(order='C')",
    "object in an attribute": (
        "from cuml.neighbors import NearestNeighbors\n"
        "class A:\n"
        "    def __init__(self):\n        self.model = NearestNeighbors()\n"
        "    def f(self):\n        self.model.kneighbors(1, 2, 3, 4)"
    ),
}


def bind_all(source):
    """Bind every call of a source."""
    calls = [use for use in uses_in(source, "wrong.py") if use.call is not None]
    assert calls
    for use in calls:
        bind(use)


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_refused(source):
    with pytest.raises(TypeError):
        bind_all(source)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("import cudf\ncudf.read_csv('x')", "cudf.read_csv"),
        ("def f(df):\n  return library('cudf').concat([df])", "cudf.concat"),
        ("import cudf\ncudf.DataFrame(x)['a'].sort_index()", "cudf.Series.sort_index"),
        ("from cuml import cluster\ncluster.KMeans()", "cuml.cluster.KMeans"),
        ("from cuml.decomposition import PCA\nPCA().transform(x)", "cuml.decomposition.PCA.transform"),
        ("import cugraph.dask\nmr = cugraph.dask.pagerank(x)", "cugraph.dask.pagerank"),
        ("def f():\n  return cugraph.Graph\nimport cugraph", "cugraph.Graph"),
    ],
)
def test_a_name_that_is_new_is_noticed(source, target):
    assert target in {use.target for use in uses_in(source, "new.py")}
    assert target not in SNAPSHOT.texts


def test_names_of_others_are_left_alone():
    assert uses_in("import cupy as cp\nfrom sklearn.cluster import KMeans\nKMeans().fit(cp.ones(3))", "other.py") == []


def test_signatures_are_read_back():
    signature = parse_signature("(a, b=1, *, c, d='x', **rest)")
    assert str(signature) == "(a, b='1', *, c, d=\"'x'\", **rest)"
    signature.bind(0, c=1, more=2)
    with pytest.raises(TypeError):
        signature.bind(0, 1, 2)


# The doubles


def double_of(target):
    """Find the double of a dotted name."""
    module = max((name for name in doubles.MODULES if target.startswith(f"{name}.")), key=len)
    owner, *rest = target.removeprefix(f"{module}.").split(".")
    found = doubles.MODULES[module][owner]
    return getattr(found, rest[0]) if rest else found


def written(default):
    """How Python writes a default: a literal, or the name of a sentinel."""
    return default if default.isidentifier() and not keyword.iskeyword(default) else repr(ast.literal_eval(default))


def plain_repr(source):
    """How a default shows: of a literal its value, of a name the name."""
    return source if source.isidentifier() else repr(ast.literal_eval(source))


@pytest.mark.parametrize("target", CALLABLES)
def test_doubles_have_the_real_signature(target):
    parameters = list(inspect.signature(double_of(target)).parameters.values())
    parameters = parameters[1:] if of_a_class(target) else parameters
    expected = SNAPSHOT.signature(target).parameters.values()
    assert [(p.name, p.kind) for p in parameters] == [(p.name, p.kind) for p in expected]
    for ours, theirs in zip(parameters, expected, strict=True):
        assert (ours.default is ours.empty) == (theirs.default is theirs.empty)
        assert ours.default is ours.empty or repr(ours.default) == written(theirs.default)


@pytest.mark.parametrize("target", ATTRIBUTES)
def test_doubles_have_the_attributes(target):
    owner, _, name = target.rpartition(".")
    double = double_of(owner)
    assert hasattr(double, name) or f"self.{name} = " in inspect.getsource(double)


@pytest.mark.parametrize("target", [name for name, text in SNAPSHOT.texts.items() if text is None])
def test_doubles_have_the_modules(target):
    assert of_a_class(target) or target in doubles.MODULES
