"""The table of devices, and devices by their numbers."""

from __future__ import annotations

import math

import pytest

from herald_gpu.errors import ConfigError
from herald_gpu.planning import DEVICES, DeviceSpec, find_device


def test_well_known_devices_are_there():
    wanted = {"A100-40GB", "A100-80GB", "H100", "H200", "L4", "L40S", "RTX-4090", "RTX-5090", "T4", "B200"}
    assert wanted | {"V100-16GB", "V100-32GB"} == set(DEVICES)


@pytest.mark.parametrize("name", DEVICES)
def test_figures_are_plausible(name):
    spec = DEVICES[name]
    assert spec.name == name
    assert 16e9 <= spec.memory_bytes <= 200e9
    assert 3e11 <= spec.bandwidth <= 8e12
    assert 8e12 <= spec.fp32 <= 1.1e14
    # Data-centre cards for science have half rate, all others a small fraction.
    ratio = spec.fp32 / spec.fp64
    assert ratio == pytest.approx(2, rel=0.03) or ratio == pytest.approx(64, rel=0.02) or name == "T4"
    for digits in ("16", "32", "40", "80"):
        if name.endswith(f"-{digits}GB"):
            assert spec.memory_bytes == int(digits) * 10**9


@pytest.mark.parametrize("written", ["A100-80GB", "a100 80gb", "A100_80GB", "a10080gb"])
def test_names_are_found_however_written(written):
    assert find_device(written) is DEVICES["A100-80GB"]


@pytest.mark.parametrize("device", ["A100", "GTX 9999", "", None, 3])
def test_unknown_devices_are_refused(device):
    with pytest.raises(ConfigError, match=r"is not known: pass one of T4, .*, or a DeviceSpec"):
        find_device(device)


def test_a_device_by_its_numbers():
    spec = DeviceSpec(memory_bytes=10_000_000_000, bandwidth=1e11)
    assert find_device(spec) is spec
    assert spec.usable_bytes == 9_000_000_000
    assert spec.fp32 == spec.fp64 == math.inf
    assert DeviceSpec(memory_bytes=5, bandwidth=1.0).usable_bytes == 0


@pytest.mark.parametrize("field", ["memory_bytes", "bandwidth", "fp32", "fp64"])
@pytest.mark.parametrize("value", [0, -1, "8", True, math.nan])
def test_numbers_that_make_no_device(field, value):
    with pytest.raises(ConfigError, match=f"{field}=.* is not valid: pass a number > 0"):
        DeviceSpec(**{"memory_bytes": 1, "bandwidth": 1.0, field: value})


def test_the_roofline_takes_the_longer_of_arithmetic_and_traffic():
    spec = DeviceSpec(memory_bytes=1, bandwidth=10.0, fp32=4.0, fp64=2.0)
    assert spec.seconds(flops32=8, flops64=6, bytes_moved=0) == 5
    assert spec.seconds(flops32=8, flops64=6, bytes_moved=49) == 5
    assert spec.seconds(flops32=8, flops64=6, bytes_moved=70) == 7
