"""Loading by name: where graphs come from, in which order, and what is said when they cannot be had."""

from __future__ import annotations

import dataclasses
import hashlib
import io
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse

from herald_gpu.datasets import DATASETS, Dataset, load_graph, paper_split, places, prepared
from herald_gpu.datasets.catalogue import Sizes
from herald_gpu.datasets.formats import parse_directed
from herald_gpu.datasets.loading import status
from herald_gpu.datasets.remote import RemoteFile
from herald_gpu.errors import ConfigError, DatasetError, FileFormatError

N = 10
SIZES = Sizes(N, 3, 4, 3)


def content(labels=(1, 2, 3, 1, 2, 3, 1, 2, 3, 1), edges=((0, 1), (2, 1), (5, 5)), **changes):
    """Give the archive of a published graph; classes are numbered from 1."""
    rng = np.random.default_rng(0)
    masks = np.zeros((2, N), dtype=bool)
    arrays = {
        "node_features": rng.standard_normal((N, 4)).astype(np.float32),
        "node_labels": np.array(labels),
        "edges": np.array(edges),
        "train_masks": masks.copy(),
        "val_masks": masks.copy(),
        "test_masks": masks.copy(),
    }
    for row, name in enumerate(("train_masks", "val_masks", "test_masks")):
        arrays[name][[0, 1], [row, row + 3]] = True
    file = io.BytesIO()
    np.savez(file, **{**arrays, **changes})
    return file.getvalue()


@pytest.fixture
def tiny(site, monkeypatch):
    """Publish a graph, with a checksum."""
    body = content()
    file = RemoteFile(site.put("tiny.npz", body), "tiny.npz", f"sha256:{hashlib.sha256(body).hexdigest()}")
    dataset = Dataset("tiny", SIZES, (file,), parse_directed, "tiny", "somewhere", "MIT")
    monkeypatch.setitem(DATASETS, "tiny", dataset)
    return dataset


@pytest.fixture
def unsure(tiny, monkeypatch):
    """Publish it without one."""
    dataset = dataclasses.replace(tiny, files=(dataclasses.replace(tiny.files[0], checksum=None),))
    monkeypatch.setitem(DATASETS, "tiny", dataset)
    return dataset


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HERALD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "datasets"


def prepare(folder, name="tiny", n_edges=3, **changes):
    folder.mkdir(exist_ok=True)
    arrays = {"edge_index": np.zeros((2, n_edges), np.int32), "x": np.ones((N, 4)), "y": np.arange(N) % 3}
    np.savez(folder / f"{name}.npz", **{**arrays, **changes})
    return folder


def test_from_the_source_and_then_from_the_cache(site, tiny, cache):
    first, again = load_graph("Tiny"), load_graph("tiny")
    assert len(site.asked) == 1
    for graph in (first, again):
        assert (graph.name, graph.n_nodes, graph.n_edges, graph.n_features, graph.n_classes) == ("tiny", N, 3, 4, 3)
        assert graph.edge_index.dtype == graph.labels.dtype == np.int64
        assert graph.edge_index.tolist() == [[0, 2, 5], [1, 1, 5]]
        assert graph.labels.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
        assert (graph.source, graph.licence) == ("somewhere", "MIT")
        assert np.array_equal(graph.train, paper_split(N).train)
        assert len(graph.own_splits) == 2
    assert np.array_equal(first.features, again.features)
    assert (cache / "tiny.npz").is_file()
    assert (cache / "raw" / "tiny" / tiny.files[0].name).is_file()


@pytest.mark.usefixtures("tiny")
def test_what_another_process_made_meanwhile_is_used(site, cache, monkeypatch):
    @contextmanager
    def locked(folder):
        folder.mkdir(parents=True)
        prepare(cache)
        yield

    monkeypatch.setattr(places, "locked", locked)
    assert (load_graph("tiny").features == 1).all()
    assert site.asked == []


@pytest.mark.usefixtures("tiny", "cache")
def test_splits():
    assert load_graph("tiny", split=None).train is None
    own = load_graph("tiny", split="source")
    assert [np.flatnonzero(mask).tolist() for mask in (own.train, own.validation, own.test)] == [[0], [1], [2]]
    second = own.with_split(own.own_splits[1])
    assert [np.flatnonzero(mask).tolist() for mask in (second.train, second.validation, second.test)] == [[3], [4], [5]]
    assert not np.array_equal(load_graph("tiny", split=1).test, load_graph("tiny", split=2).test)


def test_a_prepared_archive_comes_first(site, tiny, cache, tmp_path, monkeypatch):
    load_graph("tiny")
    assert status("tiny") == "cached"
    monkeypatch.setenv("HERALD_DATA", str(prepare(tmp_path / "data")))
    assert status("tiny") == "prepared"
    graph = load_graph("tiny")
    assert (graph.features == 1).all()
    assert graph.source == tiny.source
    assert len(site.asked) == 1
    assert cache.is_dir()


def test_root_stands_for_both(site, tiny, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("HERALD_DATA", str(prepare(tmp_path / "data")))
    assert status("tiny", root=tmp_path / "mine") == "source"
    graph = load_graph("tiny", root=tmp_path / "mine")
    assert not (graph.features == 1).all()
    assert (tmp_path / "mine" / "tiny.npz").is_file()
    assert status("tiny", root=tmp_path / "mine") == "cached"
    assert not cache.exists()
    assert [path for path, _ in site.asked] == [f"/{tiny.files[0].name}"]


def test_a_folder_of_data_that_lacks_it_is_passed_over(tiny, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("HERALD_DATA", str(tmp_path))
    assert load_graph("tiny").source == tiny.source
    assert (cache / "tiny.npz").is_file()
    assert not (tmp_path / "tiny.npz").exists()


@pytest.mark.parametrize("way", ["argument", "variable"])
def test_offline_names_the_address_the_variable_and_the_folder(site, tiny, cache, monkeypatch, way):
    if way == "variable":
        monkeypatch.setenv("HERALD_OFFLINE", "1")
    with pytest.raises(DatasetError, match="tiny is not here and the network may not be used") as caught:
        load_graph("tiny", download=way == "variable")
    said = str(caught.value)
    for part in (tiny.files[0].url, "HERALD_DATA", "HERALD_OFFLINE", str(cache / "raw" / "tiny"), "tiny.npz"):
        assert part in said
    assert site.asked == []
    assert not cache.exists()


def test_offline_counts_the_files_that_are_missing(cache):
    with pytest.raises(DatasetError, match=r"or 8 files such as ind\.cora\.x from https://raw"):
        load_graph("cora", download=False)
    assert not cache.exists()


def test_offline_with_raw_files_put_there_by_hand(site, tiny, cache):
    raw = cache / "raw" / "tiny"
    raw.mkdir(parents=True)
    (raw / tiny.files[0].name).write_bytes(content())
    assert load_graph("tiny", download=False).n_nodes == N
    assert site.asked == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"edges": ((0, 1), (1, 2))}, "it has 2 edges instead of 3"),
        ({"labels": (0, 1) * 5}, "it has 2 classes instead of 3"),
        ({"node_features": np.ones((N, 2))}, "it has 2 features instead of 4"),
    ],
)
def test_sizes_are_checked_and_what_was_trusted_blindly_is_deleted(site, unsure, cache, caplog, changes, said):
    site.put("tiny.npz", content(**changes))
    with pytest.raises(DatasetError, match=f"is not tiny: {said}"):
        load_graph("tiny")
    assert "was deleted" in caplog.text
    assert not (cache / "raw" / "tiny" / unsure.files[0].name).exists()
    assert not (cache / "raw" / "tiny" / f"{unsure.files[0].name}.sha256").exists()
    assert not (cache / "tiny.npz").exists()
    site.put("tiny.npz", content())
    assert load_graph("tiny").n_nodes == N


def test_an_error_page_is_not_remembered_as_the_file(site, unsure, cache):
    site.put("tiny.npz", b"<html>Too many requests</html>")
    with pytest.raises(FileFormatError, match="cannot be read as an NPZ archive"):
        load_graph("tiny")
    assert not (cache / "raw" / "tiny" / unsure.files[0].name).exists()
    site.put("tiny.npz", content())
    assert load_graph("tiny").n_nodes == N
    assert (cache / "raw" / "tiny" / "tiny.npz.sha256").is_file()


@pytest.mark.usefixtures("unsure")
def test_what_was_seen_first_holds(site, cache):
    load_graph("tiny")
    (cache / "tiny.npz").unlink()
    (cache / "raw" / "tiny" / "tiny.npz").unlink()
    site.put("tiny.npz", content(labels=(3, 2, 1, 1, 2, 3, 1, 2, 3, 1)))
    with pytest.raises(DatasetError, match=r"has checksum sha256:.*, not sha256:"):
        load_graph("tiny")


@pytest.mark.usefixtures("tiny", "cache")
def test_a_wrong_checksum(site):
    site.put("tiny.npz", content(labels=(3, 2, 1, 1, 2, 3, 1, 2, 3, 1)))
    with pytest.raises(DatasetError, match="it was deleted, load the graph again"):
        load_graph("tiny")


@pytest.mark.usefixtures("tiny")
def test_what_an_older_version_converted_is_converted_again(site, cache, monkeypatch):
    load_graph("tiny")
    monkeypatch.setattr(prepared, "CONVERSION", prepared.CONVERSION + 1)
    assert load_graph("tiny", download=False).n_nodes == N
    assert int(np.load(cache / "tiny.npz")["conversion"]) == prepared.CONVERSION
    assert len(site.asked) == 1


@pytest.mark.usefixtures("tiny")
def test_a_prepared_archive_of_another_graph(tmp_path):
    with pytest.raises(DatasetError, match=r"tiny\.npz is not tiny: it has 7 edges instead of 3; remove it"):
        load_graph("tiny", root=prepare(tmp_path / "data", n_edges=7))


def test_a_prepared_archive_of_ones_own(tmp_path):
    folder = prepare(tmp_path / "data", "mine", n_edges=7, y=np.array([5, 9, -1] * 3 + [5]))
    graph = load_graph("mine", root=folder, split=None)
    assert graph.labels.tolist() == [0, 1, -1] * 3 + [0]
    assert (graph.n_classes, graph.n_edges) == (2, 7)
    assert graph.source.endswith("mine.npz")


def test_sparse_prepared_archives_stay_sparse(tmp_path):
    x = sparse.csr_array(np.eye(N, 4))
    arrays = {"x_data": x.data, "x_indices": x.indices, "x_indptr": x.indptr, "x_shape": x.shape}
    np.savez(tmp_path / "mine.npz", edge_index=[[0], [1]], y=np.arange(N) % 2, **arrays)
    graph = load_graph("mine", root=tmp_path)
    assert graph.features.format == "csr"
    assert graph.features.dtype == np.float32


def test_a_prepared_archive_without_features(tmp_path):
    np.savez(tmp_path / "bare.npz", edge_index=[[0], [1]], y=[0, 1])
    with pytest.raises(FileFormatError, match="holds no features: its graph and labels alone are not enough"):
        load_graph("bare", root=tmp_path)


def test_unknown_names_and_splits(tmp_path):
    with pytest.raises(ConfigError, match="is no known data set"):
        load_graph("nothing", root=tmp_path)
    with pytest.raises(ConfigError, match="is not valid: pass 'paper'"):
        load_graph("mine", root=prepare(tmp_path, "mine"), split="best")


# Real graphs

TABLE = {
    "cora": (1_516, 650, 542, 0.810),
    "citeseer": (1_862, 799, 666, 0.736),
    "pubmed": (11_041, 4_732, 3_944, 0.802),
    "chameleon": (1_274, 547, 456, 0.230),
    "squirrel": (2_912, 1_248, 1_041, 0.222),
    "actor": (4_256, 1_824, 1_520, 0.217),
    "amazon-photo": (4_284, 1_836, 1_530, 0.827),
    "coauthor-cs": (10_266, 4_400, 3_667, 0.808),
    "blogcatalog": (2_909, 1_247, 1_040, 0.401),
}
"""Sizes of the paper's split, and edge homophily of the undirected graph."""


def undirected(graph):
    source, target = graph.edge_index
    keys = np.unique(np.minimum(source, target) * graph.n_nodes + np.maximum(source, target))
    pairs = np.stack([keys // graph.n_nodes, keys % graph.n_nodes])
    return pairs[:, pairs[0] != pairs[1]]


@pytest.mark.data
@pytest.mark.parametrize("name", TABLE)
def test_prepared_graphs_have_their_known_numbers(data_dir, name):
    graph = load_graph(name, root=data_dir, download=False)
    assert (graph.n_nodes, graph.n_edges, graph.n_features, graph.n_classes) == DATASETS[name].sizes
    assert set(np.unique(graph.labels).tolist()) == set(range(graph.n_classes))
    *split, homophily = TABLE[name]
    assert [int(mask.sum()) for mask in (graph.train, graph.validation, graph.test)] == split
    source, target = undirected(graph)
    assert np.mean(graph.labels[source] == graph.labels[target]) == pytest.approx(homophily, abs=0.005)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("cora", 0.195, 0.205), ("citeseer", 0.26, 0.275), ("chameleon", 0.765, 0.775), ("squirrel", 0.775, 0.785)],
)
def test_heterophily_inside_the_training_set(data_dir, name, low, high):
    graph = load_graph(name, root=data_dir, download=False, split=None)
    graph = graph.with_split(paper_split(graph.n_nodes, draw_seed=0))
    source, target = undirected(graph)
    inside = graph.train[source] & graph.train[target]
    assert low <= np.mean(graph.labels[source[inside]] != graph.labels[target[inside]]) < high


@pytest.mark.data
def test_heterophily_of_squirrel_as_stored_is_the_published_one(data_dir):
    graph = load_graph("squirrel", root=data_dir, download=False, split="paper")
    source, target = graph.edge_index
    inside = graph.train[source] & graph.train[target]
    assert round(np.mean(graph.labels[source[inside]] != graph.labels[target[inside]]), 4) == 0.7757


@pytest.mark.data
@pytest.mark.parametrize(("name", "sizes"), [("cora", (140, 500, 1000)), ("citeseer", (120, 500, 1000))])
def test_public_splits(data_dir, name, sizes):
    graph = load_graph(name, root=data_dir, download=False, split="source")
    assert tuple(int(mask.sum()) for mask in (graph.train, graph.validation, graph.test)) == sizes


@pytest.mark.data
def test_a_real_graph_without_features(data_dir):
    with pytest.raises(FileFormatError, match="holds no features"):
        load_graph("roman-empire-nofeatures", root=data_dir)
