"""What the pages show runs: every fenced Python block, in order, one namespace a page."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from herald_gpu.datasets import make_graph

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = {
    "README.md": ("torch_geometric",),
    "docs/index.md": (),
    "docs/getting-started.md": ("torch", "torch_geometric"),
    "docs/guide.md": (),
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


@pytest.mark.usefixtures("files")
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
