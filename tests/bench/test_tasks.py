"""Tasks on graphs of a few hundred nodes: what they say, not how long they take."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import scipy.sparse

from herald_gpu.bench import clocks, facts, memory
from herald_gpu.bench.graphs import latent_rows, load
from herald_gpu.bench.tasks import features, first, lid, peers, stages, whole
from herald_gpu.errors import HeraldError, MissingDependencyError

SPEC = {"n_nodes": 300, "n_classes": 3, "n_features": 24, "mean_degree": 4.0}
WORDS = SPEC | {"features": "bag_of_words", "mean_words": 4.0}


def test_stages_with_work_from_the_cost_model():
    found = stages.stages(SPEC, "paper", 0.2, 1)
    assert found["sizes"] == {"nodes": 300, "edges": 1200, "features": 24, "classes": 3}
    rows = found["stages"]
    assert rows["features/tree"]["flops"] > 0
    assert rows["scoring/neighbours"]["flops"] >= 2 * 300 * 300 * found["kept"]
    assert rows["weights"]["bare"] is rows["weights"]["flops"] is None
    assert json.loads(json.dumps(found)) == found


def test_lid_of_dense_rows():
    found = lid.dense(300, 16, 2)
    assert found["ratio"] == pytest.approx(found["lid"] / found["gemm"])
    assert found["flops"] == 2 * 300 * 300 * 16


def test_lid_of_sparse_rows():
    found = lid.sparse(WORDS | {"n_features": 400}, 1)
    assert found["dense_share"] == 0
    assert (found["rows"], found["features"]) == (300, 400)


def test_a_matrix_made_dense_whole_is_noticed(monkeypatch):
    monkeypatch.setattr(lid, "measure_lid", lambda _, x, *__: x.toarray() if scipy.sparse.issparse(x) else x)
    assert lid.sparse(WORDS, 1)["dense_share"] == 1.0


def test_lid_through_an_index():
    pytest.importorskip("faiss")
    found = lid.approximate(2500, 16)
    assert found["spearman"] > 0.9
    assert found["speedup"] == pytest.approx(found["exact"] / found["approximate"])


def test_lid_without_an_index(monkeypatch):
    monkeypatch.setattr(lid.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        lid.approximate(2500, 16)


def test_fisher():
    found = features.fisher(WORDS, 1)
    assert found["sparse"]
    assert found["float64_bytes"] == 2 * found["float32_bytes"] == 8 * 300 * 24


def test_the_number_of_features():
    found = features.feature_count(SPEC, 0.2, 1)
    assert found["rows"] == int(load(SPEC).train.sum())
    assert 1 <= found["count"] <= 24
    assert 1 <= found["tree_count"] <= 24
    assert found["ratio"] == found["search"] / found["tree"]
    assert found["given"] > 0


@pytest.mark.parametrize("spec", [SPEC, WORDS], ids=["dense", "sparse"])
def test_memory_of_a_whole_run(spec):
    found = whole.whole(spec, "default", 0.2, 2)
    assert found["input"] == load(spec).input_bytes
    assert found["excess"] == found["taken"] - found["input"] - found["kept"]
    assert len(found["all_seconds"]) == 2
    assert {"reading", "exemplars"} <= set(found["timings"])
    if spec is SPEC:
        assert found["kept"] == 4 * 300 * found["features"]


def test_the_stages_of_reddit_with_their_work():
    found = whole.reddit(SPEC, 0.2)
    assert found["sizes"] == {"nodes": 300, "edges": 1200, "features": 24, "classes": 3}
    assert set(found["work"]) == set(found["timings"])
    assert found["work"]["exemplars"]["flops"] > 0
    assert found["peak"] > found["taken"]


def test_kept_features_of_a_sparse_matrix():
    given = load(WORDS)

    class Small:
        feature_ids = np.arange(24)

    assert whole.kept_bytes(given, Small()) == 8 * given.features.nnz + given.features.indptr.nbytes


def test_presets_in_turn(monkeypatch):
    asked, condense = [], whole.condense

    def noted(*given, **options):
        asked.append(options["config"].selection)
        return condense(*given, **options)

    monkeypatch.setattr(whole, "condense", noted)
    found = whole.presets(SPEC, 0.2, 2)
    assert asked == ["exemplars", "neighbourhoods"] * 3
    assert found["ratio"] == found["default"] / found["paper"] > 0
    assert [len(seconds) for seconds in found["all_seconds"].values()] == [3, 3]


def test_options_of_a_preset_reach_it():
    assert whole.whole(SPEC, "default", 0.2, 1, {"feature_count": 7})["features"] == 7


@pytest.mark.parametrize("method", ["default", "paper", "bonsai", "plain"])
def test_peers(method):
    found = peers.peer(SPEC, method, 0.2, 1)
    assert 0 < found["storage_ratio"] <= 0.2
    assert found["nodes"] > 0


def test_tables_of_a_generated_graph(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(first, "_run", asked.append)
    found = first.first_result(SPEC, 2)
    assert len(asked) == 3
    assert asked[0][1:4] == ["-m", "herald_gpu", "condense"]
    assert found["kernels_cached"] >= 0
    words = first._words(SPEC, tmp_path)
    assert all((tmp_path / name).is_file() for name in ("edges.csv", "nodes.csv"))
    assert words[::2] == ["--edges", "--features"]


def test_a_first_result_may_keep_compiled_modules(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    first._run([sys.executable, "-c", "import sys; sys.exit(sys.dont_write_bytecode)"])
    with pytest.raises(HeraldError, match="herald condense failed: no such thing"):
        first._run([sys.executable, "-c", "import sys; sys.exit('no such thing')"])


def test_training_a_network():
    pytest.importorskip("torch")
    from herald_gpu.bench.tasks.training import gcn

    found = gcn(SPEC, hidden=8, epochs=1, extrapolated=200)
    assert found["seconds"] == 200 * found["epoch"]


def test_memory_is_seen_and_forgotten():
    with memory.watched() as span:
        held = np.ones(20_000_000)
    del held
    if not memory.forget():
        pytest.skip("this system does not forget peaks")
    assert span.grown >= 150_000_000
    with memory.watched() as after:
        pass
    assert after.grown < 50_000_000


def test_a_system_without_proc(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "STATUS", tmp_path / "none")
    monkeypatch.setattr(memory, "FORGET", tmp_path / "none" / "either")
    assert memory.peak() == memory.resident() > 0
    assert not memory.forget()


def test_facts_name_no_machine_and_no_folder():
    found = facts.facts()
    assert found["cores"] >= 1
    assert "numba" in found["versions"]
    assert "/" not in str(found["commit"])


def test_no_commit_without_git(monkeypatch):
    monkeypatch.setattr(facts.shutil, "which", lambda _: None)
    assert facts.commit() is None


def test_rows_with_few_directions():
    values = np.linalg.svd(latent_rows(200, 40), compute_uv=False)
    assert values[15] > 5 * values[16]


def test_medians_and_exponents():
    assert clocks.median([1.0, 9.0, 2.0]) == 2.0
    assert clocks.slope([10, 100, 1000], [5.0, 5.0, 5.0]) == pytest.approx(0)
