"""Results of a benchmark that nobody ran."""

from __future__ import annotations

import pytest
from support.bench import fill

from herald_gpu.bench.results import Results


@pytest.fixture
def full(tmp_path):
    """Hold a full run in which every target is met."""
    results = Results(tmp_path / "full", quick=False)
    fill(results)
    return results
