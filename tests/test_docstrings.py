"""What the docstrings show is true, and they speak of every argument there is."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import herald_gpu

ROOT = Path(herald_gpu.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NEEDS = {"herald_gpu.backend.rapids": "cupy", "herald_gpu.evaluate": "torch", "herald_gpu.report": "matplotlib"}
"""Parts of the package that an extra brings to life."""


def module_names():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        if parts[-1] != "__main__":
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def load(name):
    for prefix, library in NEEDS.items():
        if name.startswith(prefix):
            pytest.importorskip(library, reason=f"{library} is not installed")
    return importlib.import_module(name)


@pytest.mark.parametrize("name", list(module_names()))
def test_examples_run(name):
    module = load(name)
    assert module.__doc__
    outcome = doctest.testmod(module, optionflags=FLAGS)
    assert outcome.failed == 0


@pytest.mark.parametrize("name", [name for name in herald_gpu.__all__ if name != "__version__"])
def test_public_names_have_a_runnable_example(name):
    assert ">>>" in inspect.getdoc(getattr(herald_gpu, name))


PUBLIC = {
    "condense": herald_gpu.condense,
    "get_backend": herald_gpu.get_backend,
    "HeraldConfig": herald_gpu.HeraldConfig,
    "transform": herald_gpu.CondensedGraph.transform,
    "save": herald_gpu.CondensedGraph.save,
    "load": herald_gpu.CondensedGraph.load,
}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_is_described(name):
    text = inspect.getdoc(PUBLIC[name])
    section = text.split("Parameters\n----------\n")[1].split("\n\n")[0]
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and not line.startswith(" ")]
    described = {argument.strip() for head in heads for argument in head.split(",")}
    assert described == {argument for argument in inspect.signature(PUBLIC[name]).parameters if argument != "self"}


def test_every_figure_of_the_report_is_described():
    text = inspect.getdoc(herald_gpu.Report)
    for name in herald_gpu.Report.__dataclass_fields__:
        assert name in text
