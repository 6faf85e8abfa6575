"""On processes of a LocalCluster: the same graph, whatever happens to a worker; and plain words when all is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import dask.array as da
import dask.dataframe as dd
import pandas as pd
import pytest
from support.sameness import assert_same_graph

from herald_gpu import HeraldConfig, condense
from herald_gpu.datasets import make_graph
from herald_gpu.distributed.crew import DaskCrew
from herald_gpu.distributed.front import condense_collections
from herald_gpu.errors import BudgetError, ClusterError
from herald_gpu.io.read import Columns

GRAPH = make_graph(300, n_classes=3, n_features=12, seed=4)
RATIO = 0.1
PRESETS = {"default": HeraldConfig(), "paper": HeraldConfig.paper()}
STAGES = {
    "default": ("reading", "heterophily", "exemplars", "scoring", "assembly"),
    "paper": ("features", "scoring", "expansion"),
}
OPTIONS = {"columns": Columns(), "unlabelled": -1, "output_type": "input", "seed": 0, "backend": "cpu"}
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning:distributed")]


def arrays(chunk=90):
    edges = da.from_array(GRAPH.edge_index, chunks=(2, 400))
    return edges, da.from_array(GRAPH.features, chunks=(chunk, -1)), GRAPH.labels, GRAPH.train


def whole(preset):
    graph = (GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train)
    return condense(*graph, ratio=RATIO, config=PRESETS[preset], backend="cpu")


class Unlucky(DaskCrew):
    """Loses a worker in the midst of a stage."""

    def __init__(self, client, stage, after=3):
        self.fatal, self.after, self.lost = stage, after, None
        super().__init__(client, "cpu")

    def submit(self, work, *given, near=None):
        future = super().submit(work, *given, near=near)
        if self.stage == self.fatal and self.lost is None:
            self.after -= 1
            if self.after <= 0:
                self.lost = self.die()
        return future

    def die(self):
        pids = self.client.run(os.getpid)
        victim = min(pids)
        os.kill(pids[victim], signal.SIGKILL)
        return victim


@pytest.mark.parametrize("preset", PRESETS)
def test_the_same_graph(client, preset):  # noqa: ARG001 - it is the active one
    parted = condense(*arrays(), ratio=RATIO, config=PRESETS[preset], backend="auto")
    assert_same_graph(parted, whole(preset))
    assert parted.report.workers == 2
    assert parted.report.exchanged_bytes["features" if preset == "paper" else "exemplars"] > 0
    assert "2 workers, cpu" in str(parted)


def test_reports_of_memory(client):
    client.wait_for_workers(2, timeout=60)
    assert min(DaskCrew(client, "cpu").peaks()) > 10**7
    assert DaskCrew(client, "cpu").n_workers == 2


def test_tables_give_tables(client):  # noqa: ARG001 - it is the active one
    edges, nodes = GRAPH.to_frames()
    parted = condense(dd.from_pandas(edges, npartitions=3), dd.from_pandas(nodes, npartitions=4), ratio=RATIO)
    one = condense(edges, nodes, ratio=RATIO, backend="cpu")
    for name in ("edges", "features"):
        pd.testing.assert_frame_equal(getattr(parted, name), getattr(one, name))


def test_errors_of_workers_are_those_of_a_single_machine(client):  # noqa: ARG001 - as above
    with pytest.raises(BudgetError) as told:
        condense(*arrays(), ratio=1e-9, config=HeraldConfig.paper())
    with pytest.raises(BudgetError) as expected:
        condense(GRAPH.edge_index, GRAPH.features, GRAPH.labels, GRAPH.train, ratio=1e-9, config=HeraldConfig.paper())
    assert str(told.value) == str(expected.value)
    assert told.value.smallest_ratio == expected.value.smallest_ratio


@pytest.mark.parametrize(("preset", "stage"), [(preset, stage) for preset in STAGES for stage in STAGES[preset]])
def test_a_worker_lost_in_a_stage_changes_nothing(client, preset, stage):
    client.wait_for_workers(2, timeout=60)
    crew = Unlucky(client, stage)
    parted = condense_collections(arrays(), RATIO, config=PRESETS[preset], crew=crew, **OPTIONS)
    assert crew.lost is not None
    assert_same_graph(parted, whole(preset))


def test_a_stage_goes_on_from_its_partial_results(client, tmp_path):
    class Stopped(DaskCrew):
        def gather(self, futures):
            if self.stage == "scoring":
                msg = "stop here"
                raise KeyboardInterrupt(msg)
            return super().gather(futures)

    client.wait_for_workers(2, timeout=60)
    options = OPTIONS | {"config": HeraldConfig(), "resume": tmp_path / "run"}
    with pytest.raises(KeyboardInterrupt):
        condense_collections(arrays(), RATIO, crew=Stopped(client, "cpu"), **options)
    there = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"run.json", "exemplars-views-0-0.npz", "exemplars-views-0-3.npz"} <= there

    class Counting(DaskCrew):
        def submit(self, work, *given, near=None):
            made.append(work.__name__)
            return super().submit(work, *given, near=near)

    made = []
    parted = condense_collections(arrays(), RATIO, crew=Counting(client, "cpu"), **options)
    assert_same_graph(parted, whole("default"))
    assert "last_leg" not in made
    assert "cosines" in made


def test_a_lost_scheduler_is_told(tmp_path):
    from distributed import Client

    address = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--scheduler-file", str(address)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    worker = None
    try:
        for _ in range(300):
            if address.exists():
                break
            time.sleep(0.1)
        command = [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--no-nanny",
        ]
        worker = subprocess.Popen(  # noqa: S603 - as above
            [*command, "--scheduler-file", str(address)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with Client(scheduler_file=str(address), timeout=20, set_as_default=False) as alone:
            alone.wait_for_workers(1, timeout=60)

            class Orphaned(DaskCrew):
                def submit(self, work, *given, near=None):
                    if self.stage == "exemplars":
                        scheduler.kill()
                    return super().submit(work, *given, near=near)

            target = tmp_path / "condensed.herald"
            options = OPTIONS | {"resume": tmp_path / "run"}
            with pytest.raises(ClusterError, match=r"stage 'exemplars'.*scheduler.*resume=") as told:
                condense_collections(arrays(), RATIO, config=HeraldConfig(), crew=Orphaned(alone, "cpu"), **options)
            assert told.value.stage == "exemplars"
            assert not target.exists()
            assert not [path for path in (tmp_path / "run").iterdir() if path.suffix not in (".json", ".npz")]
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()


def test_a_worker_that_dies_again_and_again_is_given_up(client):
    client.wait_for_workers(2, timeout=60)
    crew = DaskCrew(client, "cpu")
    crew.stage = "features"
    with pytest.raises(ClusterError, match=r"stage 'features'.*memory") as told:
        crew.gather([crew.submit(_die)])
    assert told.value.stage == "features"


def _die(backend):  # noqa: ARG001 - every task has one
    os.kill(os.getpid(), signal.SIGKILL)
