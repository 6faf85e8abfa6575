"""The stages in order, on partitions: as `herald_gpu.pipeline`, which says what each is for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu import ops
from herald_gpu.backend import get_backend
from herald_gpu.budget import SCALING_BYTES, budget_of
from herald_gpu.distributed.around import most_around
from herald_gpu.distributed.closing import chosen_columns, chosen_exemplars, close
from herald_gpu.distributed.counting import count_features
from herald_gpu.distributed.crew import reduce_tree
from herald_gpu.distributed.exemplars import (
    Question,
    ask_search,
    learn_search,
    learnt_ranking,
    merge_sizes,
    option_sizes,
    run_search,
)
from herald_gpu.distributed.lead import Asked
from herald_gpu.distributed.neighbourhoods import gather_neighbourhoods
from herald_gpu.distributed.passing import measure_lid
from herald_gpu.distributed.scoring import describe
from herald_gpu.distributed.seeing import join_people, people_of, see
from herald_gpu.distributed.training import Training
from herald_gpu.distributed.views import walk_to
from herald_gpu.errors import ConfigError
from herald_gpu.graph import check_storage
from herald_gpu.search import ranks_all
from herald_gpu.stages.feature_grid import tried_counts
from herald_gpu.stages.scoring import NodeScores, combine_scores
from herald_gpu.stages.weights import adapt_weights

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from herald_gpu.assembly import Condensed
    from herald_gpu.budget import Budget
    from herald_gpu.config import HeraldConfig
    from herald_gpu.distributed.job import Job
    from herald_gpu.pipeline import Clock
    from herald_gpu.stages.feature_budget import FeatureBudget
    from herald_gpu.stages.heterophily import Heterophily

EMPTY = np.zeros(0, dtype=np.int64)


def run(job: Job, ratio: float, clock: Clock) -> Condensed:
    """Condense a graph in partitions.

    Parameters
    ----------
    job : Job
    ratio : float
        Share of the graph's storage that the result may take.
    clock : Clock
        Collects the time of each stage.
    """
    check_config(job)

    def stage(name: str) -> AbstractContextManager[None]:
        job.crew.stage = name
        return clock.stage(name)

    with stage("budget"):
        budget = make_budget(job, ratio)
    with stage("heterophily"):
        training = Training(job)
        hetero = training.heterophily()
    if job.config.selection == "exemplars":
        return _exemplars(job, training, budget, hetero, stage)
    return _neighbourhoods(job, training, budget, hetero, stage, clock)


def check_config(job: Job) -> None:
    """Refuse what does not work on partitions."""
    if not job.config.exact:
        msg = (
            f"config.accounting={job.config.accounting!r} is not there for Dask collections: pass graphs of one machine"
        )
        raise ConfigError(msg)


def make_budget(job: Job, ratio: float) -> Budget:
    """Price the whole graph and set the limit (stage 0)."""
    layout = job.layout
    kind = check_storage(layout.kind, job.config.storage)
    values = layout.n_nodes * layout.n_features if kind == "dense" else job.graph.n_stored
    budget = budget_of(kind, values, layout.n_edges, ratio)
    return budget if job.graph.scaling is None else replace(budget, column_bytes=SCALING_BYTES)


def _exemplars(job: Job, training: Training, budget: Budget, hetero: Heterophily, stage: Any) -> Condensed:  # noqa: ANN401
    """Nodes that stand for their class: walked to over partitions, searched among on one worker."""
    crew, config = job.crew, job.config
    with stage("features"):
        if ranks_all(job.layout.n_features, job.layout.n_classes):
            ranking = np.arange(job.layout.n_features)
        else:
            ranking = _ranked(training, hetero.h, config)
        training.route.forget_the_way()
    with stage("exemplars"):
        counts = tried_counts(job.layout.n_features, config)
        people = reduce_tree(
            crew, join_people, job.partials("people", lambda: job.each(people_of, lists=(training.rows,)))
        )
        sizes = _sizes(job, training, "exemplars/sizes", ranking, counts)
        job.count(sum(int(one[-1]) for one in crew.gather([crew.submit(_last, one) for one in (people, sizes)])))
        asked = Question(ranking, counts, budget, config, hetero.homophily, job.seed)
        wanted, _ = _answered(job, training, people, EMPTY, lambda graph: crew.submit(ask_search, graph, sizes, asked))
        (told,) = crew.gather([wanted])
        walked = walk_to(job, told.compared, told.held, ranking[: told.widest])
        learnt, _ = _answered(
            job,
            training,
            people,
            told.first,
            lambda graph: crew.submit(learn_search, graph, sizes, walked, asked, near=graph),
        )
        (ranking,) = crew.gather([crew.submit(learnt_ranking, learnt, near=learnt)])
        ranked = _sizes(job, training, "exemplars/ranked", ranking, counts)
        job.count(int(crew.gather([crew.submit(_last, ranked)])[0][0]))
        found, graph = _answered(
            job,
            training,
            people,
            told.first,
            lambda graph: crew.submit(
                run_search, graph, ranked, walked, learnt, replace(asked, ranking=ranking), near=graph
            ),
        )
        chosen = crew.submit(chosen_exemplars, graph, found, near=graph)
        (columns,) = crew.gather([crew.submit(chosen_columns, chosen, near=chosen)])
    with stage("scoring"):
        prototype, boundary = describe(job, training, columns)
    with stage("assembly"):
        made = close(job, training, chosen, columns, hetero, budget)
    scores = NodeScores(prototype, boundary, made.picked.scores.ranking)
    return replace(made, scores=scores)


def _neighbourhoods(
    job: Job,
    training: Training,
    budget: Budget,
    hetero: Heterophily,
    stage: Any,  # noqa: ANN401 - makes the context of a stage
    clock: Clock,
) -> Condensed:
    """Neighbourhoods of the best-scored nodes: scored over partitions, gathered on one worker."""
    crew, config, here = job.crew, job.config, get_backend("cpu")
    with stage("weights"):
        weights = adapt_weights(hetero.h, config)
    with stage("features"):
        people = reduce_tree(
            crew, join_people, job.partials("people", lambda: job.each(people_of, lists=(training.rows,)))
        )
        anchor = count_features(job, training, people)
        columns = _kept(training, hetero.h, anchor, config)
        training.route.forget_the_way()
        sizes = _sizes(job, training, "features/sizes", columns, [len(columns)])
        (known,) = crew.gather([people])
        job.count(int(known[-1]) + int(crew.gather([crew.submit(_last, sizes)])[0][0]))
    with stage("scoring"):
        prototype, boundary = describe(job, training, columns)
        lid = measure_lid(job, columns, here)
        train = np.zeros(job.layout.n_nodes, dtype=bool)
        train[known[0]] = True
        scores = combine_scores(here, train, prototype, boundary, lid, weights, config, seed=job.seed)
    with stage("expansion"):
        chosen, seconds = gather_neighbourhoods(job, people, sizes, columns, scores.ranking, budget)
    whole = clock.seconds["expansion"]  # with the way of the neighbourhoods there
    clock.seconds |= seconds | {"expansion": whole - seconds["pruning"] - seconds["rebalance"]}
    with stage("assembly"):
        made = close(job, training, chosen, columns, hetero, budget, lid.search)
    picked = replace(made.picked, weights=weights, tree=anchor.tree_name)
    return replace(made, scores=scores, picked=picked)


def _sizes(job: Job, training: Training, name: str, ranking: np.ndarray, counts: list[int]) -> Any:  # noqa: ANN401
    """Sizes of training rows in numbers of the best columns: a future of :func:`option_sizes` of all partitions."""
    made = job.partials(name, lambda: job.each(option_sizes, ranking, counts, lists=(training.rows,)))
    return reduce_tree(job.crew, merge_sizes, made)


def _ranked(training: Training, h: float, config: HeraldConfig) -> np.ndarray:
    """Features, the best first."""
    score = training.fisher(h)
    return ops.descending(get_backend("cpu"), score * training.density() if config.feature_density else score)


def _kept(training: Training, h: float, anchor: FeatureBudget, config: HeraldConfig) -> np.ndarray:
    """Features that are kept, ascending."""
    if config.feature_ranking == "tree" and anchor.tree is not None:
        return np.asarray(anchor.tree)
    return np.sort(_ranked(training, h, config)[: anchor.count])


def _answered(job: Job, training: Training, people: Any, first: np.ndarray, look: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Look at some nodes, and at those found to be needed besides: futures of the answer and of what was seen."""
    seen, around, n_around = first, EMPTY, 0
    while True:
        graph = see(job, people, np.union1d(seen, around), around=n_around)
        answer = look(graph)
        (asked,) = job.crew.gather([job.crew.submit(_if_asked, answer, near=answer)])
        if asked is None:
            return answer, graph
        seen = np.union1d(seen, asked.nodes)
        if asked.around:
            around, everybody = most_around(job, training, asked.around)
            n_around = -1 if everybody else len(around)


def _if_asked(backend: Any, answer: Any) -> Asked | None:  # noqa: ANN401, ARG001 - every task has a backend
    return answer if isinstance(answer, Asked) else None


def _last(backend: Any, arrays: list[np.ndarray]) -> list[np.ndarray]:  # noqa: ANN401, ARG001 - as above
    return arrays[-1:]
