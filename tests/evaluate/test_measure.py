"""evaluate(): rows, determinism, no leak, and the figures of the paper."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch

import herald_gpu
from herald_gpu.datasets import make_graph
from herald_gpu.datasets.files import read_npz
from herald_gpu.errors import BackendUnavailable, ConfigError
from herald_gpu.evaluate import Split, Training, evaluate, paper_split, summarise
from herald_gpu.evaluate.names import PAPER_MODELS

N = 300
QUICK = Training(epochs=15, lr=0.01, hidden=16)
COLUMNS = (
    *("model", "variant", "seed", "accuracy", "validation", "epoch", "seconds"),
    *("trained_on", "n_nodes", "n_edges", "n_features", "storage_ratio"),
)


@pytest.fixture(scope="module")
def graph():
    return make_graph(N, n_classes=3, n_features=20, homophily=0.7, seed=4)


@pytest.fixture(scope="module")
def split():
    return paper_split(N)


@pytest.fixture(scope="module")
def small(graph, split):
    return herald_gpu.condense(graph.edge_index, graph.features, graph.labels, split.train, ratio=0.3, backend="cpu")


def figures(frame):
    return frame.drop(columns="seconds")


def test_a_row_for_each_model_and_seed(small, graph, split):
    frame = evaluate(small, graph, split=split, seeds=2, training=QUICK)
    assert list(frame) == list(COLUMNS)
    assert frame["model"].tolist() == [name for name in PAPER_MODELS for _ in range(2)]
    assert frame["seed"].tolist() == [0, 1] * 4
    assert (frame["variant"] == "standard").all()
    assert frame["accuracy"].between(0, 100).all()
    assert frame["accuracy"].max() > 60  # a third of the nodes are of each class
    assert frame["epoch"].between(1, 15).all()
    report = small.report
    assert (frame["n_nodes"] == report.n_nodes).all()
    assert (frame["n_edges"] == report.n_edges).all()
    assert (frame["n_features"] == report.feature_count).all()
    assert (frame["storage_ratio"] == report.storage_ratio).all()


@pytest.mark.parametrize("variant", ["standard", "published"])
def test_rows_repeat_whatever_else_is_evaluated(small, graph, split, variant):
    options = {"split": split, "variant": variant, "training": QUICK}
    torch.manual_seed(1)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    whole = evaluate(small, graph, seeds=3, **options)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    part = evaluate(small, graph, models=["H2GCN", "GAT"], seeds=[2], **options)
    for name in ("H2GCN", "GAT"):
        wanted = whole[(whole["model"] == name) & (whole["seed"] == 2)]
        pd.testing.assert_frame_equal(
            figures(part[part["model"] == name]).reset_index(drop=True), figures(wanted).reset_index(drop=True)
        )


def test_seeds_differ(small, graph, split):
    frame = evaluate(small, graph, split=split, models="GCN", seeds=4, training=QUICK)
    assert len(set(frame["accuracy"])) > 1


def test_test_labels_change_nothing_but_the_accuracy(small, graph, split):
    rng = np.random.default_rng(0)
    mixed = graph.labels.copy()
    mixed[split.test] = rng.permutation(mixed[split.test])
    one, other = (
        evaluate(small, replace(graph, labels=labels), split=split, seeds=1, training=QUICK)
        for labels in (graph.labels, mixed)
    )
    same = ["model", "seed", "validation", "epoch"]
    pd.testing.assert_frame_equal(one[same], other[same])
    assert (one["accuracy"] != other["accuracy"]).any()


@pytest.mark.parametrize("full", [False, True])
def test_validation_labels_change_nothing_without_the_choice_of_weights(small, graph, split, full):
    mixed = graph.labels.copy()
    mixed[split.validation] = np.random.default_rng(0).permutation(mixed[split.validation])
    training = replace(QUICK, best_validation=False)
    one, other = (
        evaluate(None if full else small, replace(graph, labels=labels), split=split, seeds=1, training=training)
        for labels in (graph.labels, mixed)
    )
    pd.testing.assert_series_equal(one["accuracy"], other["accuracy"])
    assert (one["validation"] != other["validation"]).any()


def test_hidden_labels_outside_training_and_test_do_not_matter(graph, split):
    hidden = np.where(split.train | split.test, graph.labels, -1)
    training = replace(QUICK, best_validation=False)
    one, other = (
        evaluate("full", replace(graph, labels=labels), split=split, models="GCN", seeds=1, training=training)
        for labels in (graph.labels, hidden)
    )
    assert one["accuracy"].tolist() == other["accuracy"].tolist()


@dataclass
class Copy:
    """The full graph in the clothes of a condensed one."""

    graph: Any
    train_mask: np.ndarray

    @property
    def adjacency(self):
        ones = np.ones(self.graph.n_edges, dtype=np.float32)
        return scipy.sparse.csr_matrix((ones, tuple(self.graph.edge_index)), shape=(N, N))

    @property
    def features(self):
        return self.graph.features

    @property
    def labels(self):
        return np.where(self.train_mask, self.graph.labels, -1)

    def transform(self, feats):
        return feats


@pytest.mark.parametrize("variant", ["standard", "published"])
def test_a_condensed_graph_that_is_the_full_one_gives_the_full_rows(graph, split, variant):
    options = {"split": split, "variant": variant, "seeds": 1, "training": QUICK}
    copied = evaluate(Copy(graph, split.train), graph, **options)
    full = evaluate("full", graph, **options)
    differ = ["storage_ratio", "trained_on"]
    pd.testing.assert_frame_equal(figures(copied).drop(columns=differ), figures(full).drop(columns=differ))
    assert set(copied["trained_on"]) == {"condensed"}
    assert set(full["trained_on"]) == {"full"}
    assert full["storage_ratio"].tolist() == [1.0] * 4
    pd.testing.assert_frame_equal(figures(evaluate(None, graph, **options)), figures(full))


def test_directions_matter_where_the_graph_is_taken_as_stored(graph, split):
    one_way = replace(graph, edge_index=graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]])
    options = {"split": split, "models": ["GCN"], "seeds": 1, "training": QUICK}
    clean, stored = (evaluate(None, one_way, graph_as=kind, **options) for kind in ("clean", "stored"))
    assert clean["n_edges"].item() == 2 * stored["n_edges"].item() == graph.n_edges
    pd.testing.assert_frame_equal(figures(clean), figures(evaluate(None, graph, **options)))


def test_masks_of_the_graph_itself_serve_without_a_split(small, graph, split):
    @dataclass
    class Labelled:
        edge_index: Any
        features: Any
        labels: Any
        train: Any
        validation: Any
        test: Any

    own = Labelled(graph.edge_index, graph.features, graph.labels, split.train, split.validation, split.test)
    options = {"models": "GIN", "seeds": 1, "training": QUICK}
    pd.testing.assert_frame_equal(
        figures(evaluate(small, own, **options)), figures(evaluate(small, graph, split=split, **options))
    )


def test_labels_that_no_training_node_has_are_never_guessed(graph, split):
    strange = np.where(split.test, 99, graph.labels)
    frame = evaluate(None, replace(graph, labels=strange), split=split, models="GCN", seeds=1, training=QUICK)
    assert frame["accuracy"].item() == 0


def test_scaled_features_of_the_full_graph(graph, split):
    wide = replace(graph, features=graph.features * 1000 + 500)
    options = {"split": split, "models": "GCN", "seeds": 1, "training": QUICK}
    one, other = (evaluate(None, given, scaled=True, **options) for given in (graph, wide))
    assert one["accuracy"].item() == pytest.approx(other["accuracy"].item(), abs=4)
    assert evaluate(None, wide, **options)["accuracy"].item() != other["accuracy"].item()


def test_progress_is_shown_on_request(small, graph, split, capsys):
    options = {"split": split, "models": "GCN", "seeds": 2, "training": QUICK}
    evaluate(small, graph, **options)
    assert capsys.readouterr().err == ""
    evaluate(small, graph, progress=True, **options)
    assert "2/2" in capsys.readouterr().err


def test_summary_by_hand():
    rows = pd.DataFrame(
        {
            "model": ["H2GCN", "GCN", "GCN"],
            "variant": "standard",
            "accuracy": [50.0, 80.0, 84.0],
            "set": ["a", "a", "b"],
        }
    )
    made = summarise(rows)
    assert made["model"].tolist() == ["H2GCN", "GCN"]
    assert made["mean"].tolist() == [50, 82]
    assert made["std"].tolist()[1] == pytest.approx(np.sqrt(8))
    assert np.isnan(made["std"].tolist()[0])
    assert made["n"].tolist() == [1, 2]
    assert summarise(rows, by=["set"])["mean"].tolist() == [65, 84]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["ABC"]}, r"models=\['ABC'\] is not valid: pass one or more of GCN, GAT, GIN, H2GCN"),
        ({"models": []}, r"models=\[\] is not valid"),
        ({"seeds": 0}, r"seeds=0 is not valid: pass how many, at least 1"),
        ({"seeds": [-1]}, r"seeds=\[-1\] is not valid"),
        ({"seeds": True}, r"seeds=True is not valid"),
        ({"seeds": [0.5]}, r"seeds=\[0.5\] is not valid"),
        ({"variant": "best"}, r"variant='best' is not known"),
        ({"graph_as": "raw"}, r"graph_as='raw' is not known"),
        ({"device": "abacus"}, r"device='abacus' is not known to torch"),
        ({"scaled": True}, r"scaled=True is for the full graph only"),
    ],
)
def test_bad_options_are_told(small, graph, split, options, message):
    with pytest.raises(ConfigError, match=message):
        evaluate(small, graph, split=split, **options)


def test_bad_results_are_told(graph, split):
    with pytest.raises(ConfigError, match=r"result='whole' is not valid"):
        evaluate("whole", graph, split=split)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_no_gpu_is_told(small, graph, split):
    with pytest.raises(BackendUnavailable, match=r"device='cuda' but this torch sees no GPU"):
        evaluate(small, graph, split=split, device="cuda")


@pytest.mark.gpu
def test_a_gpu_gives_the_same_within_rounding(small, graph, split):
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    options = {"split": split, "variant": "published", "models": ["GCN", "GAT", "GIN"], "seeds": 1, "training": QUICK}
    one, other = (evaluate(small, graph, device=device, **options) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(one["accuracy"], other["accuracy"], atol=5)


# The paper's full-graph rows, published variant, paper split.
CORA = {"GCN": 87.60, "GAT": 85.42, "GIN": 87.27, "H2GCN": 85.28}
PUBMED = {"GCN": 85.74, "GAT": 85.14, "GIN": 84.71, "H2GCN": 86.87}


def measured(data_dir, name, models, seeds):
    given = read_npz(data_dir / f"{name}.npz")
    options = {"variant": "published", "graph_as": "stored", "split": paper_split(len(given.labels))}
    frame = evaluate(None, given, models=models, seeds=seeds, **options)
    return dict(summarise(frame).set_index("model")["mean"])


@pytest.mark.data
@pytest.mark.parametrize("model", CORA)
def test_cora_is_the_papers(data_dir, model):
    assert measured(data_dir, "cora", [model], 2)[model] == pytest.approx(CORA[model], abs=2)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("model", PUBMED)
def test_pubmed_is_the_papers(data_dir, model):
    assert measured(data_dir, "pubmed", [model], 1)[model] == pytest.approx(PUBMED[model], abs=2)


def test_a_split_object_is_what_the_datasets_give():
    assert isinstance(paper_split(10), Split)
