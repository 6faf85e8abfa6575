"""Manifests for Kubernetes: valid by the schemas of Kubernetes and of the Dask operator, and of one piece."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from support.command_lines import read_command

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

FOLDER = Path(__file__).parents[2] / "docker" / "kubernetes"
KINDS = ("cpu", "gpu")
VERSIONS = ("1.31", "1.37")
"""Of Kubernetes, from the first in which podFailurePolicy of a Job is stable."""
META = {"type": "object", "properties": {"labels": {}, "annotations": {}}, "additionalProperties": False}
CLUSTER = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "kubernetes.dask.org/v1"},
        "kind": {"const": "DaskCluster"},
        "metadata": {
            "type": "object",
            "required": ["name"],
            # What is left of 63 characters once the operator has added "-scheduler".
            "properties": {"name": {"pattern": "^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$"}},
        },
        "spec": {
            "type": "object",
            "required": ["scheduler", "worker"],
            "properties": {
                "idleTimeout": {"type": "integer"},
                "scheduler": {
                    "type": "object",
                    "required": ["spec", "service"],
                    "properties": {"metadata": META, "spec": {"type": "object"}, "service": {"type": "object"}},
                    "additionalProperties": False,
                },
                "worker": {
                    "type": "object",
                    "required": ["spec"],
                    "properties": {"metadata": META, "replicas": {"type": "integer"}, "spec": {"type": "object"}},
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}
"""What the operator's definition (dask-kubernetes 2026.3) asks of a DaskCluster, beside specs of Kubernetes' own."""


def documents(name):
    return list(yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text("utf-8")))


def cluster_and_job(kind):
    cluster, job = documents(kind)
    return cluster, job


def containers(kind):
    cluster, job = cluster_and_job(kind)
    specs = (cluster["spec"]["scheduler"]["spec"], cluster["spec"]["worker"]["spec"], job["spec"]["template"]["spec"])
    return [(spec, spec["containers"][0]) for spec in specs]


def number_of_bytes(text):
    units = {"GB": 10**9, "Gi": 2**30, "Mi": 2**20}
    count, unit = re.fullmatch(r"(\d+)([A-Za-z]+)", text).groups()
    return int(count) * units[unit]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["storage", *KINDS])
def test_the_schemas_of_kubernetes_have_nothing_to_say(name, version):
    validator = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")

    def check(kind, spec):
        whole = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}
        assert validator.validate(whole, version, strict=True) == version

    for one in documents(name):
        if one["kind"] != "DaskCluster":
            assert validator.validate(one, version, strict=True) == version
            continue
        check("Service", one["spec"]["scheduler"]["service"])
        check("Pod", one["spec"]["scheduler"]["spec"])
        check("Pod", one["spec"]["worker"]["spec"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_cluster_is_what_the_operator_asks_for(kind):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.validate(documents(kind)[0], CLUSTER)


def closed(schema):
    """Refuse fields that a definition does not name, as the API server would drop them."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(one) for key, one in schema.items()}
    if made.pop("x-kubernetes-int-or-string", False):
        made.pop("type", None)
    if made.get("type") == "object" and "properties" in made:
        made.setdefault("additionalProperties", False)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_the_operators_own_definition_has_nothing_to_say(kind):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    found = importlib.util.find_spec("dask_kubernetes")
    if found is None:
        pytest.skip("dask-kubernetes is not installed (pip install --no-deps dask-kubernetes)")
    (file,) = (Path(found.origin).parent / "operator").rglob("crds/daskcluster.yaml")
    (version,) = yaml.safe_load(file.read_text("utf-8"))["spec"]["versions"]
    schema = closed(version["schema"]["openAPIV3Schema"])
    schema["properties"] |= {"apiVersion": {}, "kind": {}, "metadata": {}}
    jsonschema.Draft7Validator(schema).validate(documents(kind)[0])
    assert version["name"] == "v1"


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_called_as_they_want_to_be(kind):
    cluster, _ = cluster_and_job(kind)
    scheduler, worker, client = (read_command(one["args"]) for _, one in containers(kind))
    name, replicas = cluster["metadata"]["name"], cluster["spec"]["worker"]["replicas"]
    assert str(scheduler["port"]) == "8786"
    assert worker["name"] == "$(DASK_WORKER_NAME)"
    assert int(worker["nthreads"]) == 1
    assert client["scheduler"] == f"tcp://{name}-scheduler:8786"
    assert client["min_workers"] == replicas
    assert client["backend"] == ("rapids" if kind == "gpu" else "auto")
    assert client["resume"]


@pytest.mark.parametrize("kind", KINDS)
def test_ports_and_labels_are_those_of_the_operator(kind):
    cluster, _ = cluster_and_job(kind)
    service = cluster["spec"]["scheduler"]["service"]
    labels = {"dask.org/cluster-name": cluster["metadata"]["name"], "dask.org/component": "scheduler"}
    assert service["selector"] == labels
    (_, scheduler), (_, worker), _ = containers(kind)
    ports = {port["name"]: port["containerPort"] for port in scheduler["ports"]}
    assert ports == {"tcp-comm": 8786, "http-dashboard": 8787}
    assert {port["targetPort"]: port["port"] for port in service["ports"]} == ports
    for one, number in ((scheduler, 8787), (worker, 8788)):
        assert read_command(one["args"])["dashboard_address"] == f":{number}"
        assert one["readinessProbe"]["httpGet"] == {"path": "/health", "port": "http-dashboard"}
        assert {"http-dashboard": number}.items() <= {
            port["name"]: port["containerPort"] for port in one["ports"]
        }.items()


@pytest.mark.parametrize("kind", KINDS)
def test_containers_have_limits_and_few_rights(kind):
    for spec, one in containers(kind):
        limits, requests = one["resources"]["limits"], one["resources"]["requests"]
        assert limits["memory"] == requests["memory"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["automountServiceAccountToken"] is False
        assert one["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    _, (_, worker), _ = containers(kind)
    told = read_command(worker["args"])["memory_limit"]
    assert 0.8 < number_of_bytes(told) / number_of_bytes(worker["resources"]["limits"]["memory"]) < 0.96


def test_a_worker_with_a_gpu_asks_for_one_and_nobody_else_does():
    asked = [one["resources"]["limits"].get("nvidia.com/gpu") for kind in KINDS for _, one in containers(kind)]
    assert asked == [None, None, None, None, "1", None]


@pytest.mark.parametrize("kind", KINDS)
def test_all_see_the_same_files_and_run_the_same_image(kind):
    (claim,) = documents("storage")
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    (_, scheduler), *rest = containers(kind)
    for spec, one in rest:
        held = {volume["name"]: volume.get("persistentVolumeClaim", {}).get("claimName") for volume in spec["volumes"]}
        assert held["data"] == claim["metadata"]["name"]
        assert {"name": "data", "mountPath": "/data"} in one["volumeMounts"]
        assert one["image"] == scheduler["image"]
        assert {mount["name"] for mount in one["volumeMounts"]} <= set(held)
    client = read_command(rest[1][1]["args"])
    assert all(str(client[name]).startswith("/data/") for name in ("edges", "features", "resume", "output"))
    readme = (FOLDER.parent / "README.md").read_text("utf-8")
    assert f"--tag {scheduler['image']} ." in readme
