"""The plan from the command line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from herald_gpu.cli import main
from herald_gpu.pipeline import STAGES
from herald_gpu.planning import DEVICES, DeviceSpec, plan

SIZES = ["--nodes", "1000", "--edges", "8000", "--features", "50", "--classes", "4"]


def planned(capsys, *options):
    assert main(["plan", *SIZES, *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_table_is_that_of_the_plan(capsys):
    assert main(["plan", *SIZES, "--device", "l4"]) == 0
    out, err = capsys.readouterr()
    assert out == f"{plan(1000, 8000, 50, n_classes=4, device='L4')}\n"
    assert err == ""


def test_options_reach_the_plan(capsys):
    options = ["--ratio", "0.1", "--density", "0.05", "--binary", "--train-share", "0.3", "--degree-skew", "4"]
    told = planned(capsys, *options, "--class-skew", "1.5", "--on-device", "--feature-count", "20")
    changes = {"ratio": 0.1, "density": 0.05, "binary": True, "train_share": 0.3, "degree_skew": 4.0, "on_device": True}
    wanted = plan(1000, 8000, 50, n_classes=4, feature_count=20, class_skew=1.5, **changes)
    assert told == json.loads(json.dumps(wanted.to_dict()))


def test_presets(capsys):
    for options, selection in (([], "exemplars"), (["--preset", "paper"], "neighbourhoods")):
        told = planned(capsys, *options)
        found = list(dict.fromkeys(stage["name"].partition("/")[0] for stage in told["stages"]))
        left_out = {"weights"} | ({"features"} if selection == "exemplars" else set())  # the search ranks them all
        assert found == ["reading", *(name for name in STAGES[selection] if name not in left_out)]


def test_the_default_device(capsys):
    assert planned(capsys)["device"]["name"] == "A100-80GB"


def test_a_device_by_its_numbers(capsys):
    told = planned(capsys, "--memory", "24", "--bandwidth", "1000", "--fp32", "80", "--fp64", "1.25")["device"]
    spec = DeviceSpec(memory_bytes=24 * 10**9, bandwidth=1e12, fp32=8e13, fp64=1.25e12)
    assert told["name"] == "given"
    assert [told[name] for name in ("memory_bytes", "bandwidth", "fp32", "fp64")] == [
        *(spec.memory_bytes, spec.bandwidth, spec.fp32, spec.fp64)
    ]


def test_a_known_device_with_other_numbers(capsys):
    told = planned(capsys, "--device", "H100", "--memory", "94")["device"]
    assert (told["name"], told["memory_bytes"]) == ("H100, changed", 94e9)
    assert told["bandwidth"] == DEVICES["H100"].bandwidth


def test_a_cpu_by_its_numbers(capsys):
    told = planned(capsys, "--device", "cpu", "--memory", "64", "--bandwidth", "80")["device"]
    assert (told["name"], told["context_bytes"]) == ("cpu", 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--memory", "24"], "--bandwidth missing: pass both"),
        (["--device", "cpu"], "--memory and --bandwidth missing: pass both"),
        (["--device", "abacus"], "--device 'abacus' is not known"),
        (["--ratio", "2"], "--ratio 2.0 is not valid"),
        (["--memory", "-1", "--bandwidth", "5"], "memory_bytes=-1000000000 is not valid"),
    ],
)
def test_requests_that_make_no_sense(options, said, capsys):
    assert main(["plan", *SIZES, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"herald: error: {said}")


def test_sizes_are_needed(capsys):
    with pytest.raises(SystemExit):
        main(["plan", "--nodes", "5"])
    assert "--edges, --features, --classes" in capsys.readouterr().err


def test_the_documentation_shows_what_is_printed(capsys):
    page = Path(__file__).parents[2] / "docs" / "gpu.md"
    if not page.exists():
        pytest.skip("no documentation beside the tests")
    shown = page.read_text().partition("$ herald plan ")[2].partition("\n```")[0]
    command, _, output = shown.partition("\n")
    assert main(["plan", *shlex.split(command)]) == 0
    assert capsys.readouterr().out == f"{output}\n"
