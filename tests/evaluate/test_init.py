"""The package's names load torch only when it is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

import herald_gpu.evaluate as package

HIDDEN = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
"""


def run(code):
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)  # noqa: S603 - our own code
    return json.loads(done.stdout.splitlines()[-1])


def test_importing_the_package_does_not_load_torch():
    assert run("import json, sys, herald_gpu.evaluate as e; dir(e); print(json.dumps('torch' in sys.modules))") is False


def test_splits_need_no_torch():
    code = f"{HIDDEN}from herald_gpu.evaluate import Split, paper_split, random_split\n"
    assert run(f"{code}import json; print(json.dumps(int(random_split(10, 1).test.sum())))") == 2


@pytest.mark.parametrize("name", ["evaluate", "train", "make_model", "MODELS", "Training"])
def test_without_torch_the_pip_line_is_told(name):
    code = (
        f"{HIDDEN}import json\nfrom herald_gpu.errors import MissingDependencyError\n"
        f"try:\n    from herald_gpu.evaluate import {name}\n"
        "except MissingDependencyError as error:\n    print(json.dumps(str(error)))\n"
    )
    assert re.search(r"pip install .*'torch>=2.4'", run(code))


def test_public_names_resolve_and_stay_what_they_are():
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert callable(package.evaluate)  # and not a module of that name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing


def test_splits_are_those_of_the_datasets():
    from herald_gpu.datasets import splits

    assert package.paper_split is splits.paper_split
    assert package.Split is splits.Split
