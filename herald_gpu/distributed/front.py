"""condense() of Dask collections: partitions to the workers, the condensed graph back to the caller."""

from __future__ import annotations

import dataclasses
import importlib.metadata
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from herald_gpu.api import log_warnings, make_contents, make_report, progress_bar
from herald_gpu.backend import get_backend
from herald_gpu.distributed.checkpoints import Checkpoints
from herald_gpu.distributed.collections import take_apart
from herald_gpu.distributed.crew import DaskCrew, active_client
from herald_gpu.distributed.job import Job
from herald_gpu.distributed.pipeline import run
from herald_gpu.distributed.reading import read_graph
from herald_gpu.distributed.scaling import check_scale_of_parts, scale_parts
from herald_gpu.errors import ConfigError
from herald_gpu.io import networks, present
from herald_gpu.io.read import Source
from herald_gpu.pipeline import Clock
from herald_gpu.result import CondensedGraph

if TYPE_CHECKING:
    import os

    from herald_gpu.backend import Backend, BackendName
    from herald_gpu.config import HeraldConfig, Scale
    from herald_gpu.distributed.collections import Given
    from herald_gpu.distributed.crew import Crew
    from herald_gpu.distributed.reading import PartedGraph
    from herald_gpu.io.present import OutputType
    from herald_gpu.io.read import Columns


def condense_collections(
    graph: tuple[Any, Any, Any, Any],
    ratio: float,
    *,
    columns: Columns,
    unlabelled: Any,  # noqa: ANN401 - any value
    config: HeraldConfig,
    backend: BackendName | Backend,
    output_type: OutputType,
    seed: int,
    scale: Scale = "auto",
    verbose: bool = False,
    resume: str | os.PathLike[str] | None = None,
    crew: Crew | None = None,
    bounds: tuple[int, ...] | None = None,
) -> CondensedGraph:
    """Condense Dask collections with the workers of the active Client.

    Parameters
    ----------
    graph : tuple
        Edges, features, labels, training nodes.
    ratio, columns, unlabelled, config, output_type, seed, scale, verbose, resume
        As of :func:`herald_gpu.condense`.
    backend : {"auto", "cpu", "rapids"}
        What workers run on.
    crew : Crew, optional
        Who does the work, if not the workers of the active Client.
    bounds : tuple of int, optional
        Where partitions begin and end; by default as those of the collections.
    """
    if not isinstance(backend, str):
        msg = f"backend={backend!r} cannot be sent to workers: pass 'auto', 'cpu' or 'rapids'"
        raise ConfigError(msg)
    check_scale_of_parts(scale)
    crew = DaskCrew(active_client(), backend) if crew is None else crew
    here = get_backend("cpu")
    with ExitStack() as stack:
        clock = Clock(here, stack.enter_context(progress_bar(config)) if verbose else None)
        with clock.stage("reading"):
            given = take_apart(crew, *graph, columns=columns, unlabelled=unlabelled)
            parted = read_graph(crew, given, bounds)
            # Workers keep what somebody holds: partitions as they came are let go, or they would stay beside ours.
            given = dataclasses.replace(given, edges=[], nodes=[], labels=[], train=[])
            parted, scaled = scale_parts(crew, parted, scale)
            key = {"graph": parted.check, "config": config.to_dict(), "ratio": ratio, "seed": seed, "scale": scale}
            job = Job(crew, parted, config, seed, None if resume is None else Checkpoints(resume, key))
            job.count(parted.received)
        made = dataclasses.replace(run(job, ratio, clock), scaling=parted.scaling)
    source = _source(given, parted)
    report = make_report(
        here, source, made, clock, parted.notes, config, ratio=ratio, seed=seed, scale=scale, scaled=scaled
    )
    report = dataclasses.replace(
        report,
        backend=crew.backend if isinstance(crew, DaskCrew) else here.name,
        workers=crew.n_workers,
        exchanged_bytes=dict(job.exchanged),
        peak_memory_bytes=max(crew.peaks(), default=None),
        versions=report.versions | {name: importlib.metadata.version(name) for name in ("dask", "distributed")},
    )
    log_warnings(report)
    style = present.choose_style(given.style, output_type)
    return CondensedGraph(make_contents(here, source, parted.layout, made, columns, style, unlabelled), report)


def _source(given: Given, parted: PartedGraph) -> Source:
    """What the client has of the graph: ids and names, no rows."""
    none = np.zeros(0, dtype=np.int32)
    counted = given.names == list(range(len(given.names)))
    return Source(
        source=none,
        target=none,
        features=np.zeros((0, len(given.names)), dtype=np.float32),
        node_ids=np.asarray(parted.ids),
        feature_ids=np.arange(len(given.names)) if counted else networks.as_ids(given.names),
        codes=none,
        class_values=parted.class_values,
        train=none.astype(bool),
        style=given.style,
        warnings=list(given.warnings),
        categories=given.categories,
    )
