"""What the doctor tells, and how it leaves."""

from __future__ import annotations

import json

import pytest

from herald_gpu.backend import probe
from herald_gpu.backend.probe import Probe
from herald_gpu.cli import main
from herald_gpu.commands import doctor

DEVICE = {"name": "NVIDIA Test", "compute_capability": "9.0", "memory_bytes": 80_000_000_000}
FINE = Probe(
    available=True,
    reason="NVIDIA Test, CUDA 13.0",
    facts={"missing": [], "driver_cuda": 13010, "runtime_cuda": 13000, "devices": [DEVICE, DEVICE]},
)
BARE = Probe(available=False, reason="cuml not installed: do this", facts={"missing": ["cuml"], "driver_cuda": 0})


@pytest.fixture
def found(monkeypatch):
    """Give a function that decides what the probe finds."""
    return lambda outcome: monkeypatch.setattr(probe, "probe", lambda: outcome)


def test_a_machine_without_a_gpu(found, capsys):
    found(BARE)
    assert main(["doctor"]) == 0
    out, err = capsys.readouterr()
    lines = dict(line.split(maxsplit=1) for line in out.splitlines() if line)
    assert err == ""
    assert "backend 'auto'    cpu" in out
    assert "backend 'rapids'  unavailable" in out
    assert lines["because"] == "cuml not installed: do this"
    assert lines["devices"] == "none"
    assert "CUDA driver       none found" in out
    assert "not on a GPU." in out.splitlines()[-1]


def test_a_machine_with_gpus(found, capsys):
    found(FINE)
    assert main(["doctor", "--require", "rapids"]) == 0
    out = capsys.readouterr().out
    assert "backend 'auto'    rapids" in out
    assert "device 1          NVIDIA Test, compute capability 9.0, 80.0 GB" in out
    assert "CUDA driver       13.1" in out
    assert "CUDA runtime      13.0" in out


def test_requiring_what_is_not_there(found, capsys):
    found(BARE)
    assert main(["doctor", "--require", "rapids"]) == 1
    out, err = capsys.readouterr()
    assert "unavailable" in out
    assert err == "herald: error: backend='rapids' cannot run here: cuml not installed: do this\n"


def test_json_holds_everything(found, capsys):
    found(FINE)
    assert main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == doctor.examine()
    assert told["auto"] == {"backend": "rapids", "reason": "NVIDIA Test, CUDA 13.0"}
    assert told["cuda"] == {"driver": "13.1", "runtime": "13.0"}
    assert told["devices"] == [DEVICE, DEVICE]
    libraries = ["numpy", "scipy", "scikit-learn", "numba", "pandas", "cupy", "cudf", "cuml", "cugraph"]
    libraries += ["pylibcugraph", "cuvs", "rmm", "torch", "torch-geometric"]
    assert list(told["versions"]) == ["python", *libraries]
    assert told["versions"]["numpy"]
    assert told["host"]["threads"] >= 1
    assert told["verified"] == doctor.VERIFIED


def test_a_machine_that_cannot_condense(found, monkeypatch, capsys):
    found(BARE)
    real = doctor.published
    monkeypatch.setattr(doctor, "published", lambda name: None if name == "numba" else real(name))
    assert main(["doctor"]) == 1
    out, err = capsys.readouterr()
    assert "numba             absent" in out
    assert "numba not installed: no backend can run, pip install 'numba<" in err


@pytest.mark.parametrize(
    ("installed", "told"),
    [
        ({}, []),
        ({"cupy-cuda13x": "14.2.0", "cuml-cu13": "26.10.0", "rmm-cu13": "26.10.1"}, []),
        ({"cupy-cuda13x": "14.0.1"}, ["cupy 14.0.1 is installed"]),
        ({"cudf-cu12": "26.08.00"}, ["cudf 26.08.00 is installed"]),
        ({"cupy-cuda13x": "14.2.0", "cupy-cuda12x": "14.2.0"}, ["CUDA 12 and of CUDA 13"]),
    ],
)
def test_what_does_not_go_together(monkeypatch, installed, told):
    monkeypatch.setattr(doctor, "published", installed.get)
    versions = {name: doctor.library_version(name) for name in doctor.OPTIONAL}
    warnings = doctor.find_warnings(versions)
    assert len(warnings) == len(told)
    assert all(part in text for part, text in zip(told, warnings, strict=True))


def test_warnings_are_rows(found, monkeypatch, capsys):
    found(BARE)
    monkeypatch.setattr(doctor, "find_warnings", lambda _: ["cudf is too old"])
    assert main(["doctor"]) == 0
    assert "warning           cudf is too old" in capsys.readouterr().out


def test_unknown_requirements_do_not_parse(capsys):
    with pytest.raises(SystemExit):
        main(["doctor", "--require", "tpu"])
    assert "--require tpu is not known: did you mean cpu?" in capsys.readouterr().err


def test_this_machine_for_real(capsys):
    assert main(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert "python" in out
    assert err == ""
