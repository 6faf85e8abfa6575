"""Planned pool bytes of exemplars against the emulated pool of CuPy: an upper bound, and not a loose one."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from planning.cases import EXEMPLARS
from support.backends import FACTORIES

from herald_gpu import search

pytestmark = pytest.mark.emulated
FACTOR = 1.5
"""A part of a stage is planned for at most this many times what it takes."""
AFTER_TRIALS = ("scoring", "assembly")


class Gauge:
    """Remembers the most bytes alive in CuPy's pool, by what is being done."""

    def __init__(self):
        import cupy

        pool, gauge = cupy.get_default_memory_pool(), self

        class Hook(cupy.cuda.MemoryHook):
            name = "high water"

            def malloc_postprocess(self, **_):
                gauge.peaks[gauge.doing] = max(gauge.peaks.get(gauge.doing, 0), pool.used_bytes() - before)

        before = pool.used_bytes()
        self.doing, self.peaks, self.hook = "reading", {}, Hook()

    @contextmanager
    def does(self, name):
        before, self.doing = self.doing, name
        yield
        self.doing = before

    def watch(self, call, name):
        def watched(*args, **options):
            with self.does(name):
                return call(*args, **options)

        return watched

    def watch_views(self, call):
        """Watch a generator; once the first view is there, what follows are trials."""

        def watched(*args):
            views = call(*args)
            while True:
                with self.does("exemplars/views"):
                    view = next(views, None)
                if view is None:
                    return
                self.doing = "exemplars/trials"
                yield view

        return watched


def measured(case, monkeypatch):
    """Run a case: (most bytes alive in the pool during each part of a stage, the result)."""
    FACTORIES["emulated"]()
    from herald_gpu.backend.rapids import RapidsBackend

    gauge = Gauge()

    class Backend(RapidsBackend):
        @contextmanager
        def stage(self, name):
            gauge.doing = {"features": "features/fisher", "exemplars": "exemplars/views"}.get(name, name)
            yield

        def exemplar_places(self, *args, **options):
            with gauge.does("exemplars/places"):
                return super().exemplar_places(*args, **options)

    monkeypatch.setattr(search, "settle_prices", gauge.watch(search.settle_prices, "exemplars/places"))
    monkeypatch.setattr(search, "open_views", gauge.watch_views(search.open_views))
    backend = Backend()
    with gauge.hook:
        made = case.run(backend, case.build(backend))
    return gauge.peaks, made


@pytest.mark.parametrize("name", EXEMPLARS)
def test_pool_bytes_bound_what_the_emulated_pool_holds(monkeypatch, name):
    case = EXEMPLARS[name]
    if case.block:
        monkeypatch.setattr("herald_gpu.ops.BLOCK_ELEMENTS", case.block)
    peaks, made = measured(case, monkeypatch)
    planned = {stage.name: stage.pool_bytes for stage in case.plan().stages}
    assert set(planned) == set(peaks)
    assert {part: planned[part] / peak for part, peak in peaks.items() if planned[part] < peak} == {}
    # After the trials only the features that were chosen are there, which the plan cannot know: it takes the most.
    fewer = len(made.feature_indices) < case.plan().sizes.kept
    close = {part: planned[part] / peak for part, peak in peaks.items() if not (fewer and part in AFTER_TRIALS)}
    assert {part: factor for part, factor in close.items() if factor > FACTOR} == {}
