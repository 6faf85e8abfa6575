"""One run: its workers, its graph, what it exchanged, and what it has finished."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from herald_gpu.distributed.crew import reduce_tree

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.checkpoints import Checkpoints
    from herald_gpu.distributed.crew import Crew
    from herald_gpu.distributed.parts import Layout
    from herald_gpu.distributed.reading import PartedGraph


@dataclass
class Job:
    """A condensation on workers.

    Attributes
    ----------
    crew : Crew
    graph : PartedGraph
    config : HeraldConfig
    seed : int
    store : Checkpoints, optional
        Where partial results are kept.
    exchanged : dict
        Bytes that went from one partition to another, or to the one worker that puts things together, by stage.
    """

    crew: Crew
    graph: PartedGraph
    config: HeraldConfig
    seed: int
    store: Checkpoints | None = None
    exchanged: dict[str, int] = field(default_factory=dict)

    @property
    def parts(self) -> list[Any]:
        """Partitions of the graph, on workers."""
        return self.graph.parts

    @property
    def layout(self) -> Layout:
        """What everybody knows of the graph."""
        return self.graph.layout

    def count(self, n_bytes: int) -> None:
        """Note bytes exchanged in the stage at hand."""
        self.exchanged[self.crew.stage] = self.exchanged.get(self.crew.stage, 0) + int(n_bytes)

    def each(
        self,
        work: Callable[..., Any],
        *given: Any,  # noqa: ANN401 - futures and values
        lists: tuple[list[Any], ...] = (),
    ) -> list[Any]:
        """Call a function on every partition: ``work(backend, part, *its own of the lists, *given)``."""
        return [
            self.crew.submit(work, part, *(one[place] for one in lists), *given, near=part)
            for place, part in enumerate(self.parts)
        ]

    def partials(self, name: str, make: Callable[[], list[Any]]) -> list[Any]:
        """Have partial results of all partitions made, or read those that an earlier run has finished.

        Parameters
        ----------
        name : str
            Of the results, unique in a run.
        make : function
            Submits what it takes; gives a future of a list of arrays for every partition.
        """
        if self.store is None:
            return make()
        found = [self.store.load(name, part) for part in range(len(self.parts))]
        if all(one is not None for one in found):
            return found
        futures = make()
        for part, one in enumerate(found):
            if one is None:
                self.store.save(name, part, self.crew.gather([futures[part]])[0])
                found[part] = futures[part]  # what is on a worker already is not sent there again
        return found

    def combined(self, name: str, make: Callable[[], list[Any]], merge: Callable[..., Any]) -> list[np.ndarray]:
        """Make partial results and combine them in a tree; the last of their arrays counts bytes exchanged."""
        *found, exchanged = self.crew.gather([reduce_tree(self.crew, merge, self.partials(name, make))])[0]
        self.count(int(exchanged))
        return found
