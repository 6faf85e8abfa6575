"""A web site on this machine, and no waiting between attempts."""

from __future__ import annotations

import pytest
from support.web import serve

from herald_gpu.datasets import download


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr(download, "FIRST_WAIT", 0.0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serve() as running:
        yield running


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, request):
    """Keep tests away from the caches of whoever runs them."""
    for name in ("HERALD_CACHE", "HERALD_OFFLINE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    if request.node.get_closest_marker("data") is None:
        monkeypatch.delenv("HERALD_DATA", raising=False)
