"""Work on several threads of the host."""

from __future__ import annotations

import os
import threading
import time

import pytest

from herald_gpu import threads
from herald_gpu.backend.cpu import CpuBackend


class Crew(CpuBackend):
    """The CPU backend with so many workers."""

    def __init__(self, workers):
        self.given = workers

    @property
    def workers(self):
        return self.given


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 2, 20])
def test_spread_gives_results_in_order(workers, n_items):
    def slowly(item):
        time.sleep(0.002 * (item % 3))
        return item, threading.current_thread()

    found = list(threads.spread(Crew(workers), slowly, iter(range(n_items))))
    assert [item for item, _ in found] == list(range(n_items))
    alone = workers == 1 or n_items <= 1
    assert all((thread is threading.main_thread()) == alone for _, thread in found)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_spread_makes_few_items_ahead(workers):
    made, done = 0, 0

    def items():
        nonlocal made
        for item in range(30):
            made += 1
            assert made - done <= 2 * workers + 1
            yield item

    for _ in threads.spread(Crew(workers), abs, items()):
        done += 1
    assert (made, done) == (30, 30)


@pytest.mark.parametrize("workers", [1, 2])
def test_spread_passes_errors_on(workers):
    def refuse(item):
        if item == 3:
            raise ValueError(item)
        return item

    found = threads.spread(Crew(workers), refuse, range(10))
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="3"):
        next(found)


@pytest.mark.parametrize("workers", [2, 3])
def test_threads_are_kept(workers):
    def name(_):
        time.sleep(0.002)
        return threading.current_thread().name

    found = {one for _ in range(5) for one in threads.spread(Crew(workers), name, range(10))}
    assert len(found) == workers


def test_what_works_for_another_does_everything_by_itself():
    """It would wait for threads that may all be waiting."""
    crew = Crew(2)

    def outer(item):
        inner = list(threads.spread(crew, lambda _: threading.current_thread(), range(4)))
        with threads.errands(crew) as start:
            inner.append(start(threading.current_thread)())
        return item, set(inner) == {threading.current_thread()}

    assert list(threads.spread(crew, outer, range(8))) == [(item, True) for item in range(8)]


def test_nothing_goes_on_once_nobody_asks_any_more():
    begun, ended = [], []

    def slowly(item):
        begun.append(item)
        time.sleep(0.02)
        ended.append(item)

    found = threads.spread(Crew(2), slowly, range(50))
    next(found)
    found.close()
    assert sorted(begun) == sorted(ended)
    assert len(begun) <= 5


@pytest.mark.parametrize("workers", [1, 2])
def test_errands_give_what_came_of_them(workers):
    with threads.errands(Crew(workers)) as start:
        found = [start(lambda item=item: (item, threading.current_thread())) for item in range(10)]
        assert [one()[0] for one in found] == list(range(10))
        assert all((one()[1] is threading.main_thread()) == (workers == 1) for one in found)


def test_errands_go_on_meanwhile():
    arrived = threading.Event()
    with threads.errands(Crew(2)) as start:
        found = start(lambda: arrived.wait(5))
        arrived.set()
        assert found()


def test_errands_pass_errors_on_and_end_with_the_caller():
    ended = []

    def refuse():
        raise ValueError

    def slowly():
        time.sleep(0.02)
        ended.append(True)

    def stop():
        with threads.errands(Crew(2)) as start:
            bad, _, _ = start(refuse), start(slowly), start(slowly)
            bad()

    with pytest.raises(ValueError):  # noqa: PT011 - it has no message
        stop()
    before = len(ended)
    time.sleep(0.05)
    assert len(ended) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    assert list(threads.spread(Crew(2), abs, range(4))) == [0, 1, 2, 3]
    child = os.fork()
    if child == 0:
        os._exit(0 if list(threads.spread(Crew(2), abs, range(4))) == [0, 1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0
