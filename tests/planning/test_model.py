"""Plans: what they hold, and how they change with sizes."""

from __future__ import annotations

import dataclasses
import json

import pytest

import herald_gpu
from herald_gpu import HeraldConfig
from herald_gpu.errors import ConfigError
from herald_gpu.planning import DEVICES, Plan, plan
from herald_gpu.planning.plans import CAVEAT

ARXIV = {"n_nodes": 169_343, "n_edges": 2_315_598, "n_features": 128, "n_classes": 40}
PAPER = {**ARXIV, "config": HeraldConfig.paper()}
PRESETS = pytest.mark.parametrize("sizes", [ARXIV, PAPER], ids=["default", "paper"])


def test_the_package_offers_it():
    assert herald_gpu.plan is plan
    assert "plan" in herald_gpu.__all__


@PRESETS
def test_totals_and_parts_agree(sizes):
    found = plan(**sizes)
    assert isinstance(found, Plan)
    for name in ("flops", "bytes_moved", "seconds"):
        assert getattr(found, name) == sum(getattr(stage, name) for stage in found.stages)
    assert found.peak_bytes == max(stage.peak_bytes for stage in found.stages)
    taken = 0
    for stage in found.stages:
        taken = max(taken, stage.pool_bytes)
        assert stage.peak_bytes == taken + stage.workspace_bytes
        assert stage.estimate == (stage.workspace_bytes > 0)


@pytest.mark.parametrize(
    ("sizes", "estimated"),
    [
        (ARXIV, {"exemplars/landmarks", "exemplars/trials"}),
        (PAPER, {"features/tree", "scoring/neighbours", "expansion", "pruning"}),
    ],
    ids=["default", "paper"],
)
def test_workspaces_of_the_libraries_are_called_estimates(sizes, estimated):
    found = plan(**sizes)
    assert {stage.name for stage in found.stages if stage.estimate} == estimated
    lines = {line.split()[0]: line for line in str(found).splitlines() if line}
    assert all(("~" in lines[stage.name]) == stage.estimate for stage in found.stages)
    assert "estimates" in CAVEAT
    assert " ".join(str(found).split()).endswith(CAVEAT)


def test_reading_from_the_device_takes_more():
    """The features are copied there; what cuDF needs meanwhile is an estimate, and called so."""
    host, there = plan(**ARXIV), plan(**ARXIV, on_device=True)
    assert there.stage("reading").pool_bytes >= host.stage("reading").pool_bytes + 4 * ARXIV["n_nodes"] * 128
    assert there.stage("reading").bytes_moved > host.stage("reading").bytes_moved
    assert (host.stage("reading").estimate, there.stage("reading").estimate) == (False, True)
    assert [stage.pool_bytes for stage in there.stages[1:]] == [stage.pool_bytes for stage in host.stages[1:]]


@PRESETS
def test_the_roofline_is_that_of_the_device(sizes):
    slow, fast = (plan(**sizes, device=name) for name in ("T4", "H200"))
    for one, other in zip(slow.stages, fast.stages, strict=True):
        assert (one.flops, one.counts) == (other.flops, other.counts)
        assert one.seconds > other.seconds
        assert one.seconds >= one.bytes_moved / DEVICES["T4"].bandwidth


@pytest.mark.parametrize(
    ("name", "stage", "count", "factor"),
    [
        ("n_edges", "features/fisher", "multiply_adds", 2),
        ("n_features", "features/fisher", "multiply_adds", 2),
        ("n_edges", "exemplars/views", "multiply_adds", 2),
        ("n_features", "exemplars/views", "pair_multiply_adds", 2),
        ("n_features", "exemplars/landmarks", "gram_multiply_adds", 4),
        ("n_nodes", "scoring/neighbours", "pairs", 4),
        ("n_classes", "heterophily", "multiply_adds", 2),
    ],
)
def test_work_grows_with_the_graph(name, stage, count, factor):
    sizes = PAPER if stage in ("scoring/neighbours", "features/fisher") else ARXIV
    once, twice = plan(**sizes), plan(**{**sizes, name: 2 * sizes[name]})
    assert twice.stage(stage).counts[count] == factor * once.stage(stage).counts[count]
    assert twice.stage(stage).seconds > once.stage(stage).seconds
    assert twice.stage(stage).pool_bytes >= once.stage(stage).pool_bytes


def test_hops_and_depth_count():
    shallow = plan(**ARXIV, config=HeraldConfig.paper(hops=0, depth=0))
    assert shallow.stage("features/fisher").counts["multiply_adds"] == 0
    assert shallow.stage("expansion").counts["edges_followed"] == 0
    deep = plan(**ARXIV, config=HeraldConfig.paper(depth=3))
    assert deep.stage("expansion").counts["edges_followed"] > plan(**PAPER).stage("expansion").counts["edges_followed"]
    wide = {**ARXIV, "n_features": 4096}
    assert plan(**wide, config=HeraldConfig(hops=0)).stage("features/fisher").counts["multiply_adds"] == 0


def test_features_are_not_ranked_where_the_search_ranks_them_all():
    few, many = (plan(**{**ARXIV, "n_features": count}) for count in (2048, 2049))
    assert "features/fisher" not in [stage.name for stage in few.stages]
    assert "features/fisher" in [stage.name for stage in many.stages]


def test_hubs_make_neighbourhoods_larger():
    even, skewed = plan(**ARXIV), plan(**ARXIV, degree_skew=20)
    assert skewed.sizes.reach(2)[1] > 15 * even.sizes.reach(2)[1]
    assert skewed.sizes.reach(2)[1] <= ARXIV["n_edges"]


def test_a_given_number_of_features_needs_no_tree():
    free, given = plan(**PAPER), plan(**PAPER, feature_count=50)
    assert "features/tree" in [stage.name for stage in free.stages]
    assert "features/tree" not in [stage.name for stage in given.stages]
    assert given.sizes.kept == plan(**ARXIV, config=HeraldConfig.paper(feature_count=50)).sizes.kept == 50
    assert any("feature_count=" in line for line in free.advice)
    assert not any("feature_count=" in line for line in given.advice)


def test_a_given_number_of_features_is_the_only_one_tried():
    free, given = plan(**ARXIV), plan(**ARXIV, feature_count=50)
    assert [option.count for option in free.sizes.exemplars.grid] == [8, 16, 32, 64, 128]
    assert free.sizes.exemplars.widths == (64, 32, 16, 8)
    # Next to 64 features, and with 8 all training nodes fit.
    assert [option.count for option in free.sizes.exemplars.options] == [8, 32, 64, 128]
    assert [option.count for option in given.sizes.exemplars.options] == [50]
    assert given.sizes.exemplars.widths == (50,)
    assert free.sizes.kept == 128
    assert given.sizes.kept == plan(**ARXIV, config=HeraldConfig(feature_count=50)).sizes.kept == 50
    assert any("feature_count=" in line for line in free.advice)
    assert not any("feature_count=" in line for line in given.advice)
    assert not any("tree" in line for line in free.advice)


def test_fewer_compared_nodes_take_less():
    wide, narrow = plan(**ARXIV), plan(**ARXIV, config=HeraldConfig(largest_pool=1024))
    assert (wide.sizes.exemplars.pool, narrow.sizes.exemplars.pool) == (2048, 1024)
    for stage in ("exemplars/views", "exemplars/places"):
        assert narrow.stage(stage).pool_bytes < wide.stage(stage).pool_bytes
        assert narrow.stage(stage).seconds < wide.stage(stage).seconds


def test_sparse_features_take_less():
    dense, sparse = plan(**PAPER), plan(**PAPER, density=0.01)
    assert not dense.sizes.sparse
    assert sparse.sizes.sparse
    assert sparse.sizes.values == -(-ARXIV["n_nodes"] * 128 // 100)
    assert sparse.stage("budget").pool_bytes < dense.stage("budget").pool_bytes
    binary = plan(**PAPER, density=0.01, binary=True)
    assert binary.sizes.node_price == pytest.approx(sparse.sizes.node_price / 3)


def test_as_json():
    found = plan(**ARXIV, device="L4")
    told = json.loads(json.dumps(found.to_dict()))
    assert told["fits"] is True
    assert told["peak_bytes"] == found.peak_bytes
    assert [stage["name"] for stage in told["stages"]] == [stage.name for stage in found.stages]
    assert told["stages"][0].keys() == {field.name for field in dataclasses.fields(found.stages[0])}
    assert told["caveat"] == CAVEAT


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_nodes": 0}, "n_nodes=0 is not valid: pass an integer >= 1"),
        ({"n_edges": 1.5}, "n_edges=1.5 is not valid"),
        ({"n_features": True}, "n_features=True is not valid"),
        ({"n_classes": 10**9}, "n_classes=1000000000 is not valid: pass an integer from 1 to n_nodes=169343"),
        ({"ratio": 0}, r"ratio=0 is not valid: pass a number in \(0, 1\]"),
        ({"train_share": 1.5}, "train_share=1.5 is not valid"),
        ({"density": "half"}, "density='half' is not valid"),
        ({"degree_skew": 0.5}, "degree_skew=0.5 is not valid: pass None or a number >= 1"),
        ({"class_skew": 0}, "class_skew=0 is not valid: pass None or a number >= 1"),
        ({"feature_count": 0}, "feature_count=0 is not valid"),
        ({"config": "paper"}, "config='paper' is not valid: pass a HeraldConfig"),
        ({"config": HeraldConfig.published("scaled")}, "config.accounting='scaled' is not planned"),
        ({"device": "Z80"}, "device='Z80' is not known"),
    ],
)
def test_arguments_that_make_no_sense(change, said):
    with pytest.raises(ConfigError, match=said):
        plan(**{**ARXIV, **change})


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 2, 1, 2), (3, 6, 2, 1), (10**9, 10**9, 10**5, 10)])
@pytest.mark.parametrize("ratio", [1e-9, 1.0])
@pytest.mark.parametrize("preset", [HeraldConfig, HeraldConfig.paper])
def test_extreme_sizes_have_a_plan(sizes, ratio, preset):
    nodes, edges, features, classes = sizes
    found = plan(nodes, edges, features, n_classes=classes, ratio=ratio, config=preset())
    assert found.seconds > 0
    assert str(found)
    assert all(stage.batches >= 1 for stage in found.stages)
