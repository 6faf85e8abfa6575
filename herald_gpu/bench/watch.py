"""A run of the pipeline under watch: seconds of each part of a stage, memory, and what its kernels were called with."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from herald_gpu import pipeline, search, study
from herald_gpu.bench import memory
from herald_gpu.bench.clocks import seconds
from herald_gpu.experiments.timing import TimedBackend
from herald_gpu.pipeline import Clock
from herald_gpu.stages import landmarks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from herald_gpu.assembly import Condensed
    from herald_gpu.backend import Array, Growth
    from herald_gpu.bench.bare import Kernel
    from herald_gpu.config import HeraldConfig
    from herald_gpu.graph import Graph

PARTS = {
    "tree": "features/tree",
    "views": "exemplars/views",
    "landmarks": "exemplars/landmarks",
    "places": "exemplars/places",
    "neighbours": "scoring/neighbours",
}
"""What is timed apart, and how plans call it."""
REST = {
    "features": "features/fisher",
    "exemplars": "exemplars/trials",
    "scoring": "scoring/scores",
}
"""How plans call what is left of a stage without those."""


LESSONS: tuple[tuple[str, str, Callable[[Any, Any], Any]], ...] = (
    ("hold_out", "held_out", lambda lessons, _: len(lessons.product)),
    ("factorise", "factorised", lambda lessons, _: len(lessons.product)),
    ("learn_directions", "directions", lambda _, found: found.shape),
)
"""Functions of landmarks, where they are noted, and what of their second argument and of what they give."""


class WatchedBackend(TimedBackend):
    """The CPU backend, which notes what its kernels are called with.

    Attributes
    ----------
    noted : dict
        Arguments (and results) by kernel.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seconds |= {"places": 0.0, "trying": 0.0, "seen": 0.0}
        self.learning = False
        self.lock = threading.Lock()
        lists = ("grow", "places", "counts", "held_out", "factorised", "directions", "trials", "landmark_trials")
        self.noted: dict[str, Any] = {name: [] for name in lists} | {"remembered": 0}

    def nearest_distances(self, *args: Any, **options: Any) -> Array:  # noqa: ANN401 - passed on
        """See :class:`~herald_gpu.backend.Backend`."""
        self.noted.setdefault("neighbours", args[0])
        return super().nearest_distances(*args, **options)

    def grow(self, *args: Any, **options: Any) -> Growth:  # noqa: ANN401 - passed on
        """See :class:`~herald_gpu.backend.Backend`."""
        found = super().grow(*args, **options)
        self.noted["grow"].append((found, options["depth"]))
        return found

    def pagerank(self, *args: Any, **options: Any) -> Array:  # noqa: ANN401 - passed on
        """See :class:`~herald_gpu.backend.Backend`."""
        self.noted["pagerank"] = (*args, options)
        return super().pagerank(*args, **options)

    def exemplar_places(self, *args: Any, **options: Any) -> Array:  # noqa: ANN401 - passed on
        """See :class:`~herald_gpu.backend.Backend`."""
        start = time.perf_counter()
        found = super().exemplar_places(*args, **options)
        with self.lock:
            self.seconds["places"] += time.perf_counter() - start
            self.noted["places"].append(found)
            self.noted["similarity"] = args[0]  # of the last call: the others' had the same shape
        return found


@dataclass
class WatchedClock(Clock):
    """A clock that notes the memory of each stage, and runs the stage's bare kernels right after it.

    Attributes
    ----------
    peaks : dict
        Most bytes resident during each stage.
    bare : mapping of str to callable
        Bare kernels by part of a stage.
    bare_seconds : dict
        What those took.
    """

    peaks: dict[str, int] = field(default_factory=dict)
    bare: Mapping[str, Kernel] = field(default_factory=dict)
    bare_seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage, then its bare kernels."""
        memory.forget()
        with super().stage(name):
            yield
        self.peaks[name] = memory.peak()
        for part, kernel in self.bare.items():
            if part.partition("/")[0] == name:
                self.bare_seconds[part] = seconds(kernel)


@dataclass
class Watched:
    """What a run showed.

    Attributes
    ----------
    made : Condensed
    seconds, bare_seconds : dict
        By part of a stage.
    peaks : dict
        By stage.
    noted : dict
        What kernels were called with. `walk` holds columns in their order and the pool, `remembered` how many of them
        were walked along at once, `counts` the features of every view, none where nothing but landmarks is made;
        `held_out` the columns in which folds were held out, `factorised` those of every system of them, `directions`
        the sizes (classes, columns) of every one that was solved; `landmark_trials` and `trials` those of every
        regression (rows, columns, held-out nodes, classes).
    """

    made: Condensed
    seconds: dict[str, float]
    bare_seconds: dict[str, float]
    peaks: dict[str, int]
    noted: dict[str, Any]


def watch(
    graph: Graph, ratio: float, config: HeraldConfig, *, seed: int = 0, bare: Mapping[str, Kernel] | None = None
) -> Watched:
    """Run the pipeline once.

    Parameters
    ----------
    graph : Graph
    ratio : float
    config : HeraldConfig
    seed : int
    bare : mapping of str to callable, optional
        Bare kernels by part of a stage.
    """
    backend = WatchedBackend()
    backend.seconds |= {"tree": 0.0, "views": 0.0, "landmarks": 0.0}
    with ExitStack() as stack:
        stack.enter_context(_instead(pipeline, "count_features", _timed(backend, "counting")))
        stack.enter_context(_instead(search, "walk_along", _noting_the_walk(backend)))
        stack.enter_context(_instead(study, "Remembered", _timed_memory(backend)))
        stack.enter_context(_instead(search, "views_through", _timed_views(backend)))
        stack.enter_context(_instead(search, "judge", _noting_trials(backend)))
        stack.enter_context(_instead(search.Search, "learn", _timed_learning(backend)))
        for name in ("_candidate", "_final"):
            stack.enter_context(_instead(search.Search, name, _timed(backend, "trying")))
        for name, noted, size in LESSONS:
            stack.enter_context(_instead(landmarks, name, _noting(backend.noted[noted], size)))
        clock = WatchedClock(backend, bare=bare or {})
        made = pipeline.run(backend, graph, ratio, config, seed=seed, clock=clock)
    tree_alone = backend.seconds["tree"]
    backend.seconds["tree"] = backend.seconds.pop("counting", 0.0)
    taken = _by_part(clock.seconds, backend.seconds, config)
    if config.selection == "exemplars" and search.ranks_all(graph.n_features, graph.n_classes):
        del taken[REST["features"]], clock.peaks["features"]  # nothing is done there
    # The tree is the bare kernel of the count, and what the count calls: it need not grow twice.
    bare_seconds = clock.bare_seconds | ({"features/tree": tree_alone} if tree_alone else {})
    return Watched(made, taken, bare_seconds, clock.peaks, backend.noted)


def _by_part(stages: Mapping[str, float], parts: Mapping[str, float], config: HeraldConfig) -> dict[str, float]:
    """Split stages into the parts that plans know."""
    out: dict[str, float] = {}
    if parts.get("trying"):
        parts = {**parts, **_side_by_side(stages["exemplars"], parts)}
    for stage, taken in stages.items():
        own = {name: parts[key] for key, name in PARTS.items() if name.startswith(f"{stage}/") and parts.get(key)}
        rest = REST.get(stage, stage)
        if stage == "scoring" and config.selection == "exemplars":
            rest = stage
        out |= own
        out[rest] = taken - sum(own.values())
    return out


def _side_by_side(taken: float, parts: Mapping[str, float]) -> dict[str, float]:
    """Divide what is left of the stage after learning among views, places and trials, by how long each was busy.

    Candidates are put in order and tried while the next view is put together: seconds of these do not add up to those
    of the stage.

    Examples
    --------
    >>> _side_by_side(10.0, {"landmarks": 2.0, "seen": 1.0, "views": 5.0, "places": 2.0, "trying": 10.0})
    {'views': 3.0, 'places': 1.0}
    """
    rest = taken - parts["landmarks"] - parts["seen"]
    share = rest / (parts["views"] - parts["seen"] + parts["trying"])
    return {"views": parts["seen"] + share * (parts["views"] - parts["seen"]), "places": share * parts["places"]}


@contextmanager
def _instead(
    module: ModuleType | type, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Iterator[None]:
    """Let a module call something else by a name, and undo it."""
    before = getattr(module, name)
    setattr(module, name, wrap(before))
    try:
        yield
    finally:
        setattr(module, name, before)


def _timed(backend: WatchedBackend, key: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on
            start = time.perf_counter()
            found = function(*args, **options)
            with backend.lock:
                backend.seconds[key] = backend.seconds.get(key, 0.0) + time.perf_counter() - start
            return found

        return timed

    return wrap


def _noting_the_walk(backend: WatchedBackend) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def walk_along(on: Any, graph: Graph, ranked: Any, pool: Any) -> Any:  # noqa: ANN401 - passed on
            backend.noted["walk"] = (ranked, pool)
            return timed(on, graph, ranked, pool)

        timed = _timed(backend, "views")(function)
        return walk_along

    return wrap


def _timed_memory(backend: WatchedBackend) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def remembered(on: Any, through: Any, width: int, pool: Any) -> Any:  # noqa: ANN401 - passed on
            backend.noted["remembered"] = width
            return timed(on, through, width, pool)

        timed = _timed(backend, "views")(function)
        return remembered

    return wrap


def _timed_learning(backend: WatchedBackend) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Time what landmarks take without the walk, and tell their trials from those of exemplars."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def learn(looking: search.Search) -> Any:  # noqa: ANN401 - passed on
            if not looking.learnt:
                return function(looking)
            start, seen = time.perf_counter(), backend.seconds["views"]
            backend.learning = True
            found = function(looking)
            backend.learning = False
            taken = time.perf_counter() - start
            backend.seconds["seen"] = backend.seconds["views"] - seen
            backend.seconds["landmarks"] += taken - backend.seconds["seen"]
            return found

        return learn

    return wrap


def _noting(noted: list[Any], size: Callable[[Any, Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def note(backend: Any, given: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on
            found = function(backend, given, *args, **options)
            noted.append(size(given, found))
            return found

        return note

    return wrap


def _timed_views(backend: WatchedBackend) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def views(*args: Any) -> Iterator[Any]:  # noqa: ANN401 - passed on
            backend.noted["counts"] = args[2]
            made = iter(function(*args))
            while True:
                start = time.perf_counter()
                view = next(made, None)
                backend.seconds["views"] += time.perf_counter() - start
                if view is None:
                    return
                yield view

        return views

    return wrap


def _noting_trials(backend: WatchedBackend) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        def judge(on: Any, trial: Any, held: Any, codes: Any, n_classes: int) -> Any:  # noqa: ANN401 - passed on
            rows, columns = trial.features.shape
            kind = "landmark_trials" if backend.learning else "trials"
            backend.noted[kind].append((int(rows), int(columns), int(codes.shape[0]), n_classes))
            return function(on, trial, held, codes, n_classes)

        return judge

    return wrap
