"""The stages in order, timed and logged."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from herald_gpu import ops
from herald_gpu.assembly import Picked, assemble
from herald_gpu.budget import make_budget, settle_prices
from herald_gpu.search import Search, ranks_all
from herald_gpu.stages.expansion import expand
from herald_gpu.stages.feature_budget import count_features
from herald_gpu.stages.features import choose_features, score_features
from herald_gpu.stages.heterophily import measure_heterophily
from herald_gpu.stages.pruning import prune
from herald_gpu.stages.rebalance import rebalance
from herald_gpu.stages.scaling import standard_scale
from herald_gpu.stages.scoring import describe_nodes, score_nodes
from herald_gpu.stages.weights import adapt_weights
from herald_gpu.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from tqdm import tqdm

    from herald_gpu.assembly import Condensed
    from herald_gpu.backend import Array, Backend, Matrix
    from herald_gpu.budget import Budget, Pricing
    from herald_gpu.config import HeraldConfig, Selection
    from herald_gpu.graph import Graph
    from herald_gpu.stages.expansion import Expansion
    from herald_gpu.stages.feature_budget import FeatureBudget
    from herald_gpu.stages.features import KeptFeatures
    from herald_gpu.stages.heterophily import Heterophily
    from herald_gpu.stages.pruning import Pruning
    from herald_gpu.stages.rebalance import Balance
    from herald_gpu.stages.scaling import Scaling
    from herald_gpu.stages.scoring import NodeScores

T = TypeVar("T")
logger = logging.getLogger("herald_gpu")

STAGES: dict[Selection, tuple[str, ...]] = {
    "exemplars": ("budget", "heterophily", "features", "exemplars", "scoring", "assembly"),
    "neighbourhoods": (
        *("budget", "heterophily", "weights", "features", "scoring"),
        *("expansion", "pruning", "rebalance", "assembly"),
    ),
}
"""What is timed, by what a condensed graph is made of."""
COMPILATION = "compilation"
"""Entry of the timings for kernels that were compiled during a run; absent if there were none."""


@dataclass
class Clock:
    """Wall time per stage of one run, with an optional progress bar."""

    backend: Backend
    bar: tqdm | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.backend.start_run()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time one stage, queued work included; kernels compiled meanwhile have an entry of their own."""
        if self.bar is not None:
            self.bar.set_description(name)
        compiled, start = self.backend.compile_seconds, time.perf_counter()
        with self.backend.stage(name):
            yield
        taken, compiled = time.perf_counter() - start, self.backend.compile_seconds - compiled
        self.seconds[name] = max(0.0, taken - compiled)
        if compiled:
            self.seconds[COMPILATION] = self.seconds.get(COMPILATION, 0.0) + compiled
        logger.debug("stage %s: %.3f s", name, self.seconds[name])
        if self.bar is not None:
            self.bar.update()


class Shared:
    """What runs on one graph have in common, if they differ in nothing but their ratios; the first one computes it."""

    def __init__(self) -> None:
        self.study = Study()
        self._known: dict[str, Any] = {}

    def once(self, name: str, compute: Callable[[], T]) -> T:
        """Return what `compute` gave when this name was first asked for."""
        if name not in self._known:
            self._known[name] = compute()
        found: T = self._known[name]
        return found


def _once(shared: Shared | None, name: str, compute: Callable[[], T]) -> T:
    """Compute, or return what another run has computed; a run without others keeps nothing."""
    return compute() if shared is None else shared.once(name, compute)


def run(
    backend: Backend,
    graph: Graph,
    ratio: float,
    config: HeraldConfig,
    *,
    seed: int,
    clock: Clock,
    shared: Shared | None = None,
) -> Condensed:
    """Condense a graph.

    Parameters
    ----------
    backend : Backend
    graph : Graph
    ratio : float
        Share of the graph's storage that the result may take.
    config : HeraldConfig
    seed : int
        Of everything that is drawn at random.
    clock : Clock
        Collects the time of each stage.
    shared : Shared, optional
        Of runs on this graph with the same configuration and seed, and other ratios.
    """
    with clock.stage("budget"):
        budget = make_budget(backend, graph, ratio, config)
    with clock.stage("heterophily"):
        hetero = _once(shared, "heterophily", partial(measure_heterophily, backend, graph))
    choose = _exemplars if config.selection == "exemplars" else _neighbourhoods
    picked = choose(backend, graph, budget, hetero, config, seed=seed, clock=clock, shared=shared)
    with clock.stage("assembly"):
        return assemble(backend, graph, picked, hetero=hetero, budget=budget, config=config)


def _exemplars(
    backend: Backend,
    graph: Graph,
    budget: Budget,
    hetero: Heterophily,
    config: HeraldConfig,
    *,
    seed: int,
    clock: Clock,
    shared: Shared | None,
) -> Picked:
    """Nodes that stand for their class, with as many features as teach best."""
    with clock.stage("features"):
        ranking = _once(shared, "ranking", partial(rank_features, backend, graph, hetero.h, config))
    with clock.stage("exemplars"):
        study = None if shared is None else shared.study
        search = Search(backend, graph, ranking, budget, config, homophily=hetero.homophily, seed=seed, study=study)
        found = search.run()
    with clock.stage("scoring"):
        scores = describe_nodes(backend, graph, found.kept, found.ranking)
    return Picked(
        nodes=found.nodes,
        roots=ops.mask_of(backend, found.nodes, graph.n_nodes) & graph.train,
        columns=found.columns,
        kept=found.kept,
        coded=found.coded,
        scores=scores,
        edges=found.edges,
        landmarks=found.landmarks,
        trials=found.trials,
        trial=found.trial,
        majority=found.majority,
        validation_nodes=found.validation_nodes,
    )


def in_turn(
    backend: Backend, graph: Graph, ratios: Sequence[float], config: HeraldConfig, *, seed: int, shared: Shared
) -> list[float]:
    """Order ratios so that what one run leaves in `shared` serves the next: those that compare the most nodes first."""
    if config.selection != "exemplars":
        return list(ratios)
    hetero = shared.once("heterophily", partial(measure_heterophily, backend, graph))
    ranking = shared.once("ranking", partial(rank_features, backend, graph, hetero.h, config))

    def compared(ratio: float) -> int:
        budget = make_budget(backend, graph, ratio, config)
        search = Search(backend, graph, ranking, budget, config, homophily=hetero.homophily, seed=seed)
        return sum(search.pool.sizes)

    return sorted(ratios, key=compared, reverse=True)


def rank_features(backend: Backend, graph: Graph, h: float, config: HeraldConfig) -> Array | None:
    """Give columns, the best first; None where the search for exemplars ranks all of them by itself."""
    if ranks_all(graph.n_features, graph.n_classes):
        return None
    return ops.descending(backend, score_features(backend, graph, h, config))


def _neighbourhoods(
    backend: Backend,
    graph: Graph,
    budget: Budget,
    hetero: Heterophily,
    config: HeraldConfig,
    *,
    seed: int,
    clock: Clock,
    shared: Shared | None,
) -> Picked:
    """Neighbourhoods of the best-scored nodes, pruned and balanced: the paper's two algorithms."""
    with clock.stage("weights"):
        weights = adapt_weights(hetero.h, config)
    with clock.stage("features"):
        scaling, anchor, chosen, kept = _once(shared, "features", partial(_kept, backend, graph, hetero.h, config))
        pricing = settle_prices(backend, graph, kept, budget, config)
    with clock.stage("scoring"):
        scores = _once(shared, "scores", partial(score_nodes, backend, graph, kept, weights, config, seed=seed))
    expansion, pruning, balance = gather(backend, graph, scores, pricing, config, clock.stage)
    return Picked(
        nodes=balance.nodes,
        roots=balance.roots,
        columns=chosen.indices,
        kept=kept,
        coded=pricing.budget.coded,
        scores=scores,
        weights=weights,
        tree=anchor.tree_name,
        scaling=scaling,
        expansion=expansion,
        pruning=pruning,
        added=balance.added,
    )


def _kept(
    backend: Backend, graph: Graph, h: float, config: HeraldConfig
) -> tuple[Scaling | None, FeatureBudget, KeptFeatures, Matrix]:
    """Choose features, and take them."""
    scaling = standard_scale(backend, graph) if config.accounting == "scaled" else None
    seen = graph if scaling is None else replace(graph, features=scaling.widened(backend, graph.features))
    anchor = count_features(backend, seen, config)
    chosen = choose_features(backend, seen, h, anchor, config)
    return scaling, anchor, chosen, ops.take_columns(backend, seen.features, chosen.indices)


def gather(
    backend: Backend,
    graph: Graph,
    scores: NodeScores,
    pricing: Pricing,
    config: HeraldConfig,
    stage: Callable[[str], AbstractContextManager[None]],
) -> tuple[Expansion, Pruning, Balance]:
    """Expand, prune and balance (stages 5 to 7).

    Parameters
    ----------
    backend, graph, config
        As everywhere.
    scores : NodeScores
        Of which the ranking is followed.
    pricing : Pricing
    stage : function
        Makes the context that times a stage, from its name.
    """
    prices, room = pricing.prices, pricing.budget
    with stage("expansion"):
        expansion = expand(backend, graph.adjacency, scores.ranking, prices, room, config)
    with stage("pruning"):
        pruning = prune(backend, graph.adjacency, expansion, scores.ranking, prices, room, config)
    with stage("rebalance"):
        balance = rebalance(
            backend, graph, pruning.nodes, expansion.considered, scores, prices, room, config, feasible=pricing.feasible
        )
    return expansion, pruning, balance
