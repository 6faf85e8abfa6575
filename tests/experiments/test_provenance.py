"""Where rows come from."""

from __future__ import annotations

import importlib.metadata
import platform

from herald_gpu._version import __version__
from herald_gpu.experiments import provenance


def test_the_model_of_the_cpu_is_read(tmp_path, monkeypatch):
    path = tmp_path / "cpuinfo"
    path.write_text("processor\t: 0\nmodel name\t: Some  CPU @ 2 GHz\n\nmodel name\t: Another\n", encoding="utf-8")
    monkeypatch.setattr(provenance, "CPUINFO", path)
    monkeypatch.setattr(provenance, "n_cores", lambda: 2)
    assert provenance.machine() == f"2 cores of Some CPU @ 2 GHz, {platform.machine()} {platform.system()}"


def test_a_machine_without_that_file(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "CPUINFO", tmp_path / "none")
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert provenance.processor() == "an unnamed CPU"


def test_the_host_is_not_named():
    assert not platform.node() or platform.node() not in " ".join(provenance.origin().values())


def test_versions():
    assert provenance.origin()["version"] == __version__
    assert f"numpy {importlib.metadata.version('numpy')}" in provenance.libraries().split(", ")


def test_absent_libraries_are_left_out(monkeypatch):
    monkeypatch.setattr(provenance, "LIBRARIES", ("numpy", "no-such-library"))
    assert "no-such-library" not in provenance.libraries()
