"""What the pages show runs: every fenced Python block, in order, one namespace a page."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

from herald_gpu.datasets import load_graph, make_graph

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {
    "README.md": ("torch_geometric",),
    "docs/index.md": (),
    "docs/getting-started.md": ("torch", "torch_geometric"),
    "docs/guide.md": ("torch_geometric", "networkx"),
    "docs/how-to.md": ("torch",),
    "docs/distributed.md": ("distributed",),
}
"""Pages whose examples need no data sets, and the libraries that they show."""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work where `edges.csv` and `nodes.csv` are, as readers do."""
    graph = make_graph(300, n_classes=2, n_features=24, homophily=0.7, seed=3)
    nodes = pd.DataFrame(graph.features).add_prefix("f")
    nodes.insert(0, "node", range(300))
    nodes.insert(1, "label", graph.labels)
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    pd.DataFrame(graph.edge_index.T, columns=["src", "dst"]).to_csv(tmp_path / "edges.csv", index=False)
    monkeypatch.chdir(tmp_path)


def stand_in(monkeypatch, graph, test):
    """Give PyG's data set without a download."""
    datasets = pytest.importorskip("torch_geometric.datasets", reason="torch_geometric is not installed")
    import torch
    from torch_geometric.data import Data

    words = graph.features.toarray() if hasattr(graph.features, "toarray") else graph.features
    fields = {"x": words, "edge_index": graph.edge_index, "y": graph.labels, "train_mask": graph.train}
    tensors = {name: torch.tensor(values) for name, values in (fields | {"test_mask": test}).items()}
    whole = {name: tensors[name].long() for name in ("edge_index", "y")}
    monkeypatch.setattr(datasets, "Planetoid", lambda root, name: [Data(**tensors | whole)])  # noqa: ARG005


@pytest.fixture
def planetoid(monkeypatch):
    """Stand in for the data sets of PyG with a graph of the same form."""
    if importlib.util.find_spec("torch_geometric") is not None:
        graph = make_graph(500, n_classes=3, n_features=300, features="bag_of_words", homophily=0.8, seed=2)
        stand_in(monkeypatch, graph, ~graph.train)


@pytest.mark.usefixtures("files", "planetoid")
@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page):
    for library in PAGES[page]:
        pytest.importorskip(library, reason=f"{library} is not installed")
    path = ROOT / page
    blocks = list(FENCE.finditer(path.read_text("utf-8")))
    assert blocks
    namespace = {"__name__": "page"}
    for block in blocks:
        line = path.read_text("utf-8")[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], str(path), "exec"), namespace)  # noqa: S102 - our own pages


@pytest.mark.data
def test_a_model_of_pyg_that_is_trained_on_one_percent_of_cora_works_on_the_whole_graph(data_dir, monkeypatch, capsys):
    graph = load_graph("cora", root=data_dir, split="source")
    stand_in(monkeypatch, graph, graph.test)
    sys.modules["torch"].manual_seed(0)
    page = (ROOT / "docs/guide.md").read_text("utf-8")
    script = next(block[1] for block in FENCE.finditer(page) if "Planetoid" in block[1])
    assert len([line for line in script.splitlines() if line]) == 15
    exec(script, {"__name__": "page"})  # noqa: S102 - our own page
    assert 0.7 < float(capsys.readouterr().out.rpartition(":")[2]) < 0.85
