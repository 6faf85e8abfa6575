"""The notebooks run, are stored without outputs, and explain themselves."""

from __future__ import annotations

import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from run_notebooks import FOLDER, execute, notebooks

NAMES = [path.stem for path in notebooks()]
MOST_CODE_CELLS_IN_A_ROW = 3


def cells(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))["cells"]


def text(cell):
    return "".join(cell["source"])


def code(name):
    return "\n".join(text(cell) for cell in cells(name) if cell["cell_type"] == "code")


@pytest.fixture
def quiet(monkeypatch, tmp_path):
    """Give the kernel small sizes, no network, and no settings of the user."""
    monkeypatch.setenv("HERALD_NOTEBOOK_SIZE", "small")
    monkeypatch.setenv("HERALD_OFFLINE", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)


def run(name, folder):
    folder.mkdir()
    book = execute(FOLDER / f"{name}.ipynb", folder)
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    assert [out.text for out in outputs if out.get("name") == "stderr"] == []
    return "".join(out.text for out in outputs if out.get("name") == "stdout")


def test_there_are_seven_in_order():
    assert NAMES == [
        "01_quickstart",
        "02_cudf_workflow",
        "03_heterophily_and_weights",
        "04_train_on_condensed",
        "05_budget_truth",
        "06_scaling_and_plan",
        "07_several_workers",
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_without_data(name, monkeypatch, tmp_path):
    monkeypatch.delenv("HERALD_DATA", raising=False)
    printed = run(name, tmp_path / "work")
    assert "cora:" not in printed
    if name == "07_several_workers":
        assert printed.count("the same") == printed.count(": True") == 3


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_on_cora(name, data_dir, tmp_path):
    if not (data_dir / "cora.npz").is_file():
        pytest.skip("HERALD_DATA has no cora.npz")
    printed = run(name, tmp_path / "work")
    assert "generated" not in printed


@pytest.mark.slow
@pytest.mark.usefixtures("quiet")
def test_a_folder_without_cora_is_no_obstacle(monkeypatch, tmp_path):
    monkeypatch.setenv("HERALD_DATA", str(tmp_path))
    monkeypatch.setenv("HERALD_CACHE", str(tmp_path))
    printed = run("06_scaling_and_plan", tmp_path / "work")
    assert "HERALD_DATA has no cora.npz" in printed


@pytest.mark.parametrize("name", NAMES)
def test_it_is_stored_without_outputs(name):
    book = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert book["metadata"]["kernelspec"]["name"] == "python3"
    assert set(book["metadata"]) == {"kernelspec", "language_info"}
    assert book["metadata"]["language_info"] == {"name": "python"}
    assert all(cell["metadata"] == {} for cell in book["cells"])
    made = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in made)
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", NAMES)
def test_prose_comes_before_code(name):
    kinds = [cell["cell_type"] for cell in cells(name)]
    assert kinds[0] == "markdown"
    assert text(cells(name)[0]).startswith(f"# {int(name[:2])}. ")
    assert kinds.count("markdown") * 1.5 >= kinds.count("code")
    assert "code" * MOST_CODE_CELLS_IN_A_ROW not in "".join(kinds)
    for before, after in pairwise(cells(name)):
        if (before["cell_type"], after["cell_type"]) == ("markdown", "code"):
            assert len(text(before).split()) >= 8, text(before)


@pytest.mark.parametrize("name", NAMES)
def test_it_names_no_machine_and_no_host(name):
    everything = "\n".join(text(cell) for cell in cells(name))
    assert not re.search(r"""["'`( ](/[a-z]+/|~/|[A-Z]:\\)""", everything)
    assert not re.search(r"https?://|urllib|requests\.|pip install|^[!]", everything, re.MULTILINE)
    assert all("download=False" in call for call in re.findall(r"load_graph\([^)]*\)", code(name)))


@pytest.mark.parametrize("name", NAMES)
def test_it_leaves_the_backend_to_the_machine(name):
    assert 'backend="cpu"' not in code(name)
    assert 'backend="rapids"' not in code(name)
    assert "HERALD_NOTEBOOK_SIZE" in code(name)


def test_the_readme_lists_them():
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert re.findall(r"^\| \[(\w+)\]\(\1\.ipynb\) \|", readme, re.MULTILINE) == NAMES
