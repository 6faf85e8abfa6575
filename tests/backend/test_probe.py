"""Why RAPIDS can or cannot run: every reason, with a CuPy made up for it."""

from __future__ import annotations

import ctypes
import logging
import sys
from types import ModuleType, SimpleNamespace

import pytest

from herald_gpu.backend import get_backend, probe
from herald_gpu.errors import BackendUnavailable
from herald_gpu.install import pip_line


def fake_cupy(*, driver=13000, runtime=13000, devices=1, available=True, capability=(9, 0)):
    """Stand for CuPy on some machine; only what the probe asks is there."""
    properties = {"name": b"NVIDIA Test", "major": capability[0], "minor": capability[1], "totalGlobalMem": 80 * 2**30}
    calls = SimpleNamespace(
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: runtime,
        getDeviceCount=lambda: devices,
        getDeviceProperties=lambda _: properties,
    )
    module = ModuleType("cupy")
    module.__version__ = "14.2.0"
    module.cuda = SimpleNamespace(runtime=calls, is_available=lambda: available)
    return module


@pytest.fixture
def machine(monkeypatch):
    """Give a function that makes this a machine with all libraries and such a CuPy."""

    def become(**facts):
        for name in probe.MODULES:
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setitem(sys.modules, "cupy", fake_cupy(**facts))
        return probe.probe()

    return become


@pytest.fixture
def bare(monkeypatch):
    """Give a function that makes this a machine without some libraries, with such a driver."""

    def become(missing=probe.MODULES, *, driver=0, installed=()):
        for name in probe.MODULES:
            monkeypatch.setitem(sys.modules, name, None if name in missing else ModuleType(name))
        monkeypatch.setattr(probe, "driver_version", lambda: driver)
        monkeypatch.setattr(probe, "installed_versions", lambda: dict.fromkeys(installed, "14.2.0"))
        return probe.probe()

    return become


def test_a_machine_with_everything(machine):
    found = machine(devices=2)
    assert found.available
    assert found.reason == "NVIDIA Test, CUDA 13.0"
    assert (found.facts["driver_cuda"], found.facts["runtime_cuda"]) == (13000, 13000)
    device = {"name": "NVIDIA Test", "compute_capability": "9.0", "memory_bytes": 80 * 2**30}
    assert found.facts["devices"] == [device, device]


def test_no_driver(machine):
    found = machine(driver=0, available=False)
    assert not found.available
    assert found.reason.startswith("no NVIDIA driver found")


def test_a_driver_too_old_for_these_wheels(machine):
    found = machine(driver=12040, runtime=13000, available=False)
    assert not found.available
    assert "speaks CUDA 12.4, too old for wheels of CUDA 13, which need 13.0" in found.reason
    assert f"or use wheels of CUDA 12: {pip_line('cu12')}" in found.reason


def test_a_driver_too_old_for_all_wheels(machine):
    for runtime, needed in ((12090, "12.2"), (13000, "13.0")):
        found = machine(driver=11080, runtime=runtime, available=False)
        assert f"speaks CUDA 11.8, too old for wheels of CUDA {runtime // 1000}, which need {needed}" in found.reason
        assert "pip install" not in found.reason


def test_wheels_of_an_older_toolkit_run_on_a_newer_driver(machine):
    assert machine(driver=13010, runtime=12090).available


def test_no_device(machine):
    found = machine(available=False)
    assert not found.available
    assert "no usable CUDA device" in found.reason
    assert "CUDA_VISIBLE_DEVICES" in found.reason
    assert "devices" not in found.facts


@pytest.mark.parametrize(("runtime", "capability", "fine"), [(12090, (7, 0), True), (13000, (7, 0), False)])
def test_a_device_too_old_for_these_wheels(machine, runtime, capability, fine):
    found = machine(driver=13000, runtime=runtime, capability=capability)
    assert found.available is fine
    if not fine:
        assert "compute capability 7.0, but wheels of CUDA 13 need 7.5" in found.reason


def test_missing_wheels_without_a_driver(bare):
    found = bare()
    assert not found.available
    assert found.reason.startswith("cupy, cuml, pylibcugraph, cuvs not installed: there is no NVIDIA driver")
    assert found.facts == {"missing": list(probe.MODULES), "driver_cuda": 0}


@pytest.mark.parametrize(
    ("driver", "line"),
    [
        (13000, f"speaks CUDA 13.0, so {pip_line('cu13')}"),
        (12020, f"speaks CUDA 12.2, so {pip_line('cu12')}"),
        (11080, "speaks CUDA 11.8, too old for any: update it"),
    ],
)
def test_missing_wheels_and_the_line_that_fits_the_driver(bare, driver, line):
    found = bare(("cuml", "cuvs"), driver=driver)
    assert found.reason.startswith("cuml, cuvs not installed: the driver ")
    assert line in found.reason


def test_missing_wheels_go_with_those_that_are_there(bare):
    found = bare(("cuml",), driver=13000, installed=["cupy-cuda12x"])
    assert pip_line("cu12") in found.reason


def test_a_cupy_that_does_not_import(machine, monkeypatch, tmp_path):
    machine()
    (tmp_path / "cupy.py").write_text("raise ImportError('libnvrtc.so.13 not found')")
    monkeypatch.delitem(sys.modules, "cupy")
    monkeypatch.syspath_prepend(tmp_path)
    found = probe.probe()
    assert not found.available
    assert "cannot be imported (libnvrtc.so.13 not found)" in found.reason


def test_the_driver_is_asked_without_cupy(monkeypatch):
    class Library:
        def cuDriverGetVersion(self, place):  # noqa: N802 - the driver's own name
            place._obj.value = 12080

    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    assert probe.driver_version() == 12080

    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert probe.driver_version() == 0


@pytest.mark.parametrize("facts", [{"driver": 0, "available": False}, {"available": False}])
def test_choosing_a_backend_passes_the_reason_on(machine, caplog, facts):
    reason = machine(**facts).reason
    with pytest.raises(BackendUnavailable, match="backend='rapids' cannot run here") as refused:
        get_backend("rapids")
    assert reason in str(refused.value)
    with caplog.at_level(logging.INFO, logger="herald_gpu"):
        assert get_backend("auto").name == "cpu"
    assert f"backend: cpu ({reason})" in caplog.text
