"""Plans: what they hold, how they change with sizes, and what they advise."""

from __future__ import annotations

import dataclasses
import json

import pytest

import herald_gpu
from herald_gpu import HeraldConfig
from herald_gpu.errors import ConfigError
from herald_gpu.planning import DEVICES, DeviceSpec, Plan, plan
from herald_gpu.planning.plans import CAVEAT

ARXIV = {"n_nodes": 169_343, "n_edges": 2_315_598, "n_features": 128, "n_classes": 40}


def small_device(memory):
    return DeviceSpec(memory_bytes=int(memory), bandwidth=1e12, fp32=1e13, fp64=1e12, context_bytes=0)


def test_the_package_offers_it():
    assert herald_gpu.plan is plan
    assert "plan" in herald_gpu.__all__


def test_totals_and_parts_agree():
    found = plan(**ARXIV)
    assert isinstance(found, Plan)
    for name in ("flops", "bytes_moved", "seconds"):
        assert getattr(found, name) == sum(getattr(stage, name) for stage in found.stages)
    assert found.peak_bytes == max(stage.peak_bytes for stage in found.stages)
    taken = 0
    for stage in found.stages:
        taken = max(taken, stage.pool_bytes)
        assert stage.peak_bytes == taken + stage.workspace_bytes
        assert stage.estimate == (stage.workspace_bytes > 0)


def test_workspaces_of_the_libraries_are_called_estimates():
    found = plan(**ARXIV)
    estimated = {stage.name for stage in found.stages if stage.estimate}
    assert estimated == {"features/tree", "scoring/neighbours", "expansion", "pruning"}
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


def test_the_roofline_is_that_of_the_device():
    slow, fast = (plan(**ARXIV, device=name) for name in ("T4", "H200"))
    for one, other in zip(slow.stages, fast.stages, strict=True):
        assert (one.flops, one.counts) == (other.flops, other.counts)
        assert one.seconds > other.seconds
        assert one.seconds >= one.bytes_moved / DEVICES["T4"].bandwidth


@pytest.mark.parametrize(
    ("name", "stage", "count", "factor"),
    [
        ("n_edges", "features/fisher", "multiply_adds", 2),
        ("n_features", "features/fisher", "multiply_adds", 2),
        ("n_nodes", "scoring/neighbours", "pairs", 4),
        ("n_classes", "heterophily", "multiply_adds", 2),
    ],
)
def test_work_grows_with_the_graph(name, stage, count, factor):
    once, twice = plan(**ARXIV), plan(**{**ARXIV, name: 2 * ARXIV[name]})
    assert twice.stage(stage).counts[count] == factor * once.stage(stage).counts[count]
    assert twice.stage(stage).seconds > once.stage(stage).seconds
    assert twice.stage(stage).pool_bytes >= once.stage(stage).pool_bytes


def test_hops_and_depth_count():
    shallow = plan(**ARXIV, config=HeraldConfig(hops=0, depth=0))
    assert shallow.stage("features/fisher").counts["multiply_adds"] == 0
    assert shallow.stage("expansion").counts["edges_followed"] == 0
    deep = plan(**ARXIV, config=HeraldConfig(depth=3))
    assert deep.stage("expansion").counts["edges_followed"] > plan(**ARXIV).stage("expansion").counts["edges_followed"]


def test_hubs_make_neighbourhoods_larger():
    even, skewed = plan(**ARXIV), plan(**ARXIV, degree_skew=20)
    assert skewed.sizes.reach(2)[1] > 15 * even.sizes.reach(2)[1]
    assert skewed.sizes.reach(2)[1] <= ARXIV["n_edges"]


def test_a_given_number_of_features_needs_no_tree():
    free, given = plan(**ARXIV), plan(**ARXIV, feature_count=50)
    assert "features/tree" in [stage.name for stage in free.stages]
    assert "features/tree" not in [stage.name for stage in given.stages]
    assert given.sizes.kept == plan(**ARXIV, config=HeraldConfig(feature_count=50)).sizes.kept == 50
    assert any("feature_count=" in line for line in free.advice)
    assert not any("feature_count=" in line for line in given.advice)


def test_sparse_features_take_less():
    dense, sparse = plan(**ARXIV), plan(**ARXIV, density=0.01)
    assert not dense.sizes.sparse
    assert sparse.sizes.sparse
    assert sparse.sizes.values == -(-ARXIV["n_nodes"] * 128 // 100)
    assert sparse.stage("budget").pool_bytes < dense.stage("budget").pool_bytes
    binary = plan(**ARXIV, density=0.01, binary=True)
    assert binary.sizes.node_price == pytest.approx(sparse.sizes.node_price / 3)


def test_batches_shrink_until_it_fits():
    many = {**ARXIV, "n_nodes": 1_000_000, "n_features": 64}
    fits = [plan(**many, feature_count=64, device=small_device(memory)) for memory in (8e10, 4e9, 3e9)]
    assert all(found.fits for found in fits)
    sizes = [found.stage("scoring/neighbours").batch for found in fits]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    assert all(f"{found.stage('scoring/neighbours').batch:,} queries" in found.advice[0] for found in fits)


def test_what_does_not_fit_is_told_with_what_would_help():
    wide = {**ARXIV, "n_features": 2000, "feature_count": 2000}
    found = plan(**wide, device=small_device(4.5e9))
    assert not found.fits
    told = "\n".join(found.advice)
    assert "is the first to need more" in told
    assert "memory='managed'" in told
    assert "fits as it is on T4" in told
    kept = int(told.partition("feature_count=")[2].partition(")")[0])
    assert 1 <= kept < 2000
    assert plan(**{**wide, "feature_count": kept}, device=small_device(4.5e9)).fits
    assert not plan(**{**wide, "feature_count": kept + 1}, device=small_device(4.5e9)).fits


def test_nothing_helps_where_the_graph_alone_is_too_much():
    found = plan(**ARXIV, device=small_device(1e8))
    assert "no number of kept features makes it fit" in found.advice


def test_more_edges_than_indices_can_address():
    found = plan(10**8, 2**31, 8, n_classes=2, feature_count=4, device=small_device(1e13))
    assert not found.fits
    assert "32-bit" in found.advice[0]


def test_unknown_arithmetic_is_told():
    found = plan(**ARXIV, device=DeviceSpec(memory_bytes=10**11, bandwidth=1e12))
    assert found.advice[-1].startswith("peak arithmetic of the device not given")
    assert found.seconds == pytest.approx(found.bytes_moved / 1e12)
    assert found.to_dict()["device"]["fp32"] is None


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
def test_extreme_sizes_have_a_plan(sizes, ratio):
    nodes, edges, features, classes = sizes
    found = plan(nodes, edges, features, n_classes=classes, ratio=ratio)
    assert found.seconds > 0
    assert str(found)
    assert all(stage.batches >= 1 for stage in found.stages)
