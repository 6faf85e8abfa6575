"""Plans for Dask workers: what grows, what falls, and where it ends."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from herald_gpu import HeraldConfig
from herald_gpu.cli import main
from herald_gpu.errors import ConfigError
from herald_gpu.planning import find_device, plan, plan_workers
from herald_gpu.planning.exemplar_work import pair_work

PAPERS = {"n_nodes": 111_059_956, "n_edges": 3_231_371_744, "n_features": 128, "n_classes": 172, "train_share": 0.011}


def planned(workers, **options):
    return plan_workers(**(PAPERS | {"workers": workers} | options))


def test_more_workers_need_less_memory_and_exchange_more():
    few, many = planned(8), planned(32)
    assert many.part_bytes < few.part_bytes
    assert many.exchanged_bytes > few.exchanged_bytes
    assert many.stages[0].work_seconds == pytest.approx(few.stages[0].work_seconds / 4)


def test_the_fewest_workers_have_enough_memory_and_one_less_has_not():
    fewest = planned(8).fewest
    assert planned(fewest).fits
    assert not planned(fewest - 1).fits


def test_what_one_worker_does_takes_as_long_with_more_of_them():
    """Nodes are compared, landmarks learnt and exemplars tried where rows were brought together."""
    few, many = (
        next(stage for stage in planned(count).stages if stage.name == "exemplars").work_seconds for count in (8, 64)
    )
    whole, device = plan(**PAPERS), find_device("A100-80GB")
    pairs = pair_work(whole.sizes.exemplars)
    alone = device.seconds(flops32=pairs.flops32, flops64=0.0, bytes_moved=pairs.bytes)
    alone += sum(whole.stage(f"exemplars/{part}").seconds for part in ("landmarks", "places", "trials"))
    assert alone < many < few
    assert many - alone == pytest.approx((few - alone) / 8)


def test_landmarks_alone_need_no_similarities():
    both, alone = (planned(8, config=HeraldConfig(exemplar_rule=rule)) for rule in ("auto", "landmarks"))
    assert alone.lead_bytes < both.lead_bytes - 10 * both.sizes.exemplars.pairs
    assert alone.seconds < both.seconds


def test_the_one_that_puts_things_together_keeps_the_landmarks_of_every_fold():
    made, none = (planned(8, config=HeraldConfig(exemplar_rule="cover", landmarks=with_them)) for with_them in (1, 0))
    folds = made.sizes.exemplars.folds
    assert made.lead_bytes - none.lead_bytes == 4 * 2 * 172 * (folds + 1) * (128 + 64 + 32 + 16 + 8)


def test_scaling_ends_where_twice_as_many_are_not_worth_it():
    steps = planned(8).scaling
    gains = [one[1] / two[1] for one, two in pairwise(steps)]
    assert all(gain >= 1.1 for gain in gains[:-1])
    assert gains[-1] < 1.1


def test_a_billion_nodes():
    found = plan_workers(
        10**9, 2 * 10**10, 128, n_classes=100, workers=64, train_share=0.01, ratio=0.001, device="H100"
    )
    assert found.fewest is not None
    assert found.fewest > 8
    assert "fewest workers" in str(found)


def test_a_share_too_large_for_one_worker_is_told():
    found = plan_workers(10**9, 2 * 10**10, 128, n_classes=1000, workers=64, train_share=0.9, ratio=0.5)
    assert found.fewest is None
    assert not found.fits
    assert "smaller share" in str(found)


def test_the_paper_preset_spends_its_time_on_neighbours():
    found = planned(8, config=HeraldConfig.paper(), feature_count=64)
    assert max(found.stages, key=lambda stage: stage.work_seconds).name == "scoring"
    assert next(stage for stage in found.stages if stage.name == "expansion").exchanged_bytes > 0


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"link": 0.0}, {"local": 1.0}])
def test_senseless_numbers_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        planned(**({"workers": 4} | wrong))


def test_the_command(capsys):
    graph = ["--nodes", "1000000", "--edges", "20000000", "--features", "100", "--classes", "10"]
    assert main(["plan", *graph, "--workers", "4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["workers"] == 4
    assert main(["plan", *graph, "--workers", "4", "--local", "0.5", "--link", "12"]) == 0
    assert "GB exchanged" in capsys.readouterr().out
