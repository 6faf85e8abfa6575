"""The Compose file of a cluster: valid, complete, and its programs are called as they want to be."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from support.command_lines import CUDA_WORKER, filled, read_command

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

FOLDER = Path(__file__).parents[2] / "docker"
FILE = FOLDER / "compose.cluster.yaml"
COMPOSE = yaml.safe_load(FILE.read_text("utf-8"))
SERVICES = COMPOSE["services"]
KINDS = {"cpu": ("scheduler", "worker", "client"), "gpu": ("gpu-scheduler", "gpu-worker", "gpu-client")}
FILES = {"cpu": "docker/Dockerfile.cpu", "gpu": "docker/Dockerfile"}
EVERY = [(kind, name) for kind, names in KINDS.items() for name in names]


def limit(service):
    return filled(str(service["deploy"]["resources"]["limits"]["memory"]))


def test_there_are_two_kinds():
    assert {name: tuple(service["profiles"]) for name, service in SERVICES.items()} == {
        name: (kind,) for kind, name in EVERY
    }


@pytest.mark.parametrize(("kind", "name"), EVERY)
def test_a_service_runs_our_image_with_few_rights_and_a_limit(kind, name):
    service, single = SERVICES[name], yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))["services"]
    assert service["build"]["dockerfile"] == FILES[kind]
    assert (FOLDER / service["build"]["context"] / FILES[kind]).is_file()
    assert service["image"] == single["cpu" if kind == "cpu" else "herald"]["image"]
    assert service["cap_drop"] == ["ALL"]
    assert re.fullmatch(r"\d+g", limit(service))
    for volume in service["volumes"]:
        assert filled(volume).partition(":")[0] in COMPOSE["volumes"]
    assert "ports" not in service  # whoever reaches a scheduler can run code


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_called_as_they_want_to_be(kind):
    scheduler, worker, client = (read_command(SERVICES[name]["command"]) for name in KINDS[kind])
    names, address = KINDS[kind], f"tcp://{KINDS[kind][0]}:8786"
    assert str(scheduler["port"]) == "8786"
    assert SERVICES[names[0]]["expose"] == ["8786"]
    assert worker["scheduler"] == client["scheduler"] == address
    assert int(worker["nthreads"]) == 1
    assert client["min_workers"] == (2 if kind == "cpu" else 1)
    assert client["resume"]
    assert client["backend"] == ("auto" if kind == "cpu" else "rapids")


def test_a_worker_knows_its_limit_and_there_are_as_many_as_the_client_waits_for():
    worker, client = SERVICES["worker"], SERVICES["client"]
    assert f"--memory-limit={worker['deploy']['resources']['limits']['memory']}" in worker["command"]
    assert f"--min-workers={worker['deploy']['replicas']}" in client["command"]
    (device,) = SERVICES["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]
    assert device["driver"] == "nvidia"
    assert f"--min-workers={device['count']}" in SERVICES["gpu-client"]["command"]
    assert [name for name in SERVICES if "reservations" in SERVICES[name]["deploy"]["resources"]] == ["gpu-worker"]


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_starts_before_those_it_needs_answer(kind):
    scheduler, worker, client = KINDS[kind]
    healthy = {"condition": "service_healthy"}
    assert SERVICES[worker]["depends_on"] == {scheduler: healthy}
    assert SERVICES[client]["depends_on"] == {scheduler: healthy, worker: healthy}
    for name in (scheduler, worker):
        told = read_command(SERVICES[name]["command"])["dashboard_address"]
        program, *_, code = SERVICES[name]["healthcheck"]["test"][1:]
        assert program == "python"
        compile(code, name, "exec")
        assert f"http://127.0.0.1{told}/health" in code


def test_dask_answers_there():
    pytest.importorskip("distributed", reason="distributed is not installed")
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, processes=False, dashboard_address=":0", worker_dashboard_address=":0") as cluster:
        one = next(iter(cluster.workers.values()))
        for port in (cluster.scheduler.http_server.port, one.http_server.port):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
                assert answer.read() == b"ok"


def test_options_of_gpu_workers_are_those_of_dask_cuda():
    if importlib.util.find_spec("dask_cuda") is None:
        pytest.skip("dask_cuda is not installed (pip install '.[multi-cu13]')")
    from dask_cuda.cli import cuda

    known = {option for one in cuda.commands["worker"].params for option in one.opts}
    assert known >= CUDA_WORKER


@pytest.mark.parametrize("name", ["compose.yaml", "compose.cluster.yaml"])
def test_the_schema_of_compose_files_has_nothing_to_say(name):
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed (pip install check-jsonschema)")
    words = ["--builtin-schema", "vendor.compose-spec", str(FOLDER / name)]
    subprocess.run([sys.executable, "-m", "check_jsonschema", *words], check=True)  # noqa: S603 - our own file


@pytest.mark.parametrize("kind", KINDS)
def test_docker_compose_reads_it(kind):
    docker = shutil.which("docker")
    asked = [docker or "docker", "compose", "--file", str(FILE), "--profile", kind, "config", "--quiet"]
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:  # noqa: S603 - our own words
        pytest.skip("docker compose is not installed")
    subprocess.run(asked, check=True)  # noqa: S603 - our own file
