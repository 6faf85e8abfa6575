"""The report: what was asked, what came out, what it cost."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator  # noqa: TC003 - typing.get_type_hints looks names up here
from dataclasses import dataclass
from html import escape
from typing import Any

from herald_gpu.config import HeraldConfig
from herald_gpu.ratios import percent
from herald_gpu.stages.survey import Survey
from herald_gpu.stages.weights import ScoreWeights

LABEL = 15
"""Width of what a line of the summary begins with."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Figures of one condensation.

    Attributes
    ----------
    heterophily : float
        Share of cross-class edges among training nodes (eq:hetero).
    homophily : float
        ``1 - h / (1 - sum_c p_c^2)``: 1 if edges stay inside classes, 0 if they join nodes as chance would.
    weights : ScoreWeights or None
        alpha (prototype), beta (boundary), gamma (LID); None where exemplars were chosen.
    feature_count : int
        Kept features.
    feature_tree : str or None
        The decision tree that counted them; None if the number was given or tried.
    lid_search : str or None
        How the neighbours of LID were found: "exact", "sampled (512 nodes)", or "approximate" with the index.
    lid_recall, lid_correlation : float or None
        Of an approximate search, measured on up to 512 drawn nodes: the share of true neighbours among those found,
        and the rank correlation of LID with exact LID.
    exemplar_rule : str or None
        How exemplars were chosen: "landmarks", "cover" or "herd".
    trials : list of dict
        What was tried: number of features, rule, share of linked exemplars, and the share of held-out training nodes
        that simple models learnt to classify from it.
    validation_nodes : int or None
        Training nodes that were held out: every score is a share of them. None without trials.
    majority_share : float or None
        Share of the largest class among those held-out nodes: what always answering it would score.
    scale : str
        How features were to be scaled: "auto", "none", "standard" or "robust".
    n_scaled : int
        Columns of the full graph that were scaled.
    component_count : int or None
        Principal components, if the kept features were reduced to some.
    requested_ratio, storage_ratio, node_ratio, edge_ratio : float
        Asked for; and what came out over the full graph.
    storage_bytes, budget_bytes, full_bytes : int
        Nominal bytes (eq:budget) of the result, of what was allowed, and of the full graph.
    storage_kind : str
        How the full graph's features are priced: "dense", "binary" or "sparse".
    encoding : str
        How the result's features are stored, such as "sparse int8" or "dense bits".
    published_storage_ratio : float or None
        The paper's storage ratio, where the published accounting was asked for.
    n_nodes, n_edges : int
        Edges are directed: every undirected edge counts twice.
    n_landmarks, n_synthetic_edges : int
        Nodes and edges among them that the full graph does not have.
    class_counts : dict
        Training nodes in the result, by the caller's class value; landmarks are not counted.
    missing_classes : list
        Classes without a training node in the result.
    class_entropy, feature_variance, mean_degree, density : float
        Of the result (eq:class_ent, eq:feat_var).
    expansion_depth : int or None
        Hops that the expansion used.
    target_size : int or None
        n*: nodes gathered by the expansion at exactly the budget.
    before : Survey
        Counts over the full graph.
    timings : dict
        Seconds per stage, and of `compilation` if kernels were compiled during the run.
    peak_memory_bytes : int or None
        On a CPU the peak memory of the process so far; on a GPU the most device memory that RMM handed out during the
        run, or else what CuPy's pool has taken so far.
    backend : str
    workers : int or None
        Dask workers that did the work; None without any.
    exchanged_bytes : dict
        Bytes that went from one partition of the graph to another, or to the worker that put things together, by stage.
    versions : dict
    random_state : int
    config : HeraldConfig
    warnings : list of str

    Examples
    --------
    >>> from herald_gpu import condense
    >>> from herald_gpu.datasets import make_graph
    >>> g = make_graph(200, n_classes=2, n_features=8)
    >>> report = condense(g.edge_index, g.features, g.labels, g.train, ratio=0.2).report
    >>> report.requested_ratio, report.storage_bytes <= report.budget_bytes
    (0.2, True)
    >>> report.exemplar_rule, len(report.trials) > 0
    ('cover', True)
    """

    heterophily: float
    homophily: float
    weights: ScoreWeights | None
    feature_count: int
    feature_tree: str | None
    lid_search: str | None
    lid_recall: float | None
    lid_correlation: float | None
    exemplar_rule: str | None
    trials: list[dict[str, Any]]
    validation_nodes: int | None
    majority_share: float | None
    scale: str
    n_scaled: int
    component_count: int | None
    requested_ratio: float
    storage_ratio: float
    node_ratio: float
    edge_ratio: float
    storage_bytes: int
    budget_bytes: int
    full_bytes: int
    storage_kind: str
    encoding: str
    published_storage_ratio: float | None
    n_nodes: int
    n_edges: int
    n_landmarks: int
    n_synthetic_edges: int
    class_counts: dict[Any, int]
    missing_classes: list[Any]
    class_entropy: float
    feature_variance: float
    mean_degree: float
    density: float
    expansion_depth: int | None
    target_size: int | None
    before: Survey
    timings: dict[str, float]
    peak_memory_bytes: int | None
    backend: str
    workers: int | None
    exchanged_bytes: dict[str, int]
    versions: dict[str, str]
    random_state: int
    config: HeraldConfig
    warnings: list[str]

    @property
    def trial_score(self) -> float | None:
        """Score of the candidate that was chosen: a share of `validation_nodes`. None without trials."""
        chosen = (self.exemplar_rule, self.feature_count)
        return next((one["score"] for one in self.trials if (one["rule"], one["feature_count"]) == chosen), None)

    def to_dict(self) -> dict[str, Any]:
        """Give all figures as plain values that JSON can hold; class values become strings."""
        plain = dataclasses.asdict(self)
        plain["class_counts"] = {str(value): count for value, count in self.class_counts.items()}
        plain["missing_classes"] = [str(value) for value in self.missing_classes]
        return plain

    @classmethod
    def from_dict(cls, plain: dict[str, Any], class_values: Iterable[Any]) -> Report:
        """Rebuild a report from :meth:`to_dict`; `class_values` give classes their type back."""
        typed = {str(value): value for value in class_values}
        config: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in plain["config"].items()
        }
        changed = {
            "weights": None if plain["weights"] is None else ScoreWeights(**plain["weights"]),
            "config": HeraldConfig(**config),
            "before": Survey.from_dict(plain["before"]),
            "class_counts": {typed[name]: count for name, count in plain["class_counts"].items()},
            "missing_classes": [typed[name] for name in plain["missing_classes"]],
        }
        return cls(**{**plain, **changed})

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        """Give the summary as a table, for notebooks: a row for each of its lines, without styles or scripts."""
        title, *lines = self._lines()
        parts = ((line[:LABEL].strip(), line[LABEL:]) for line in lines)
        rows = (f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in parts)
        return f"<table><caption>{escape(title)}</caption><tbody>{''.join(rows)}</tbody></table>"

    def _meaning(self) -> str:
        """Say what heterophily led to."""
        if self.weights is not None:
            w = self.weights
            return f"prototype {w.alpha:.3f}, boundary {w.beta:.3f}, LID {w.gamma:.3f}"
        rules = {
            "landmarks": "landmarks point the way of each class",
            "cover": "exemplars cover their class",
            "herd": "exemplars follow the mean of their class",
        }
        tried = f", best of {len(self.trials)} trials" if len(self.trials) > 1 else ""
        return f"homophily {self.homophily:.3f} of 1, {rules[self.exemplar_rule or 'cover']}{tried}"

    def _lines(self) -> Iterator[str]:
        seconds = sum(self.timings.values())
        reduced = f", reduced to {self.component_count} components" if self.component_count is not None else ""
        # A budget below a byte holds what takes none: nodes without any of the kept features.
        used = 100 * self.storage_bytes / self.budget_bytes if self.budget_bytes else 100.0
        yield (
            f"Condensed graph: {self.n_nodes:,} nodes, {self.n_edges:,} directed edges, "
            f"{self.feature_count:,} features{reduced}"
        )
        yield (
            f"  storage      {self.storage_bytes:,} of {self.full_bytes:,} bytes: {percent(self.storage_ratio)} "
            f"({percent(self.requested_ratio)} asked for, {used:.1f} % of the budget used; "
            f"{self.encoding} features)"
        )
        if self.published_storage_ratio is not None:
            yield f"  as published {percent(self.published_storage_ratio)} (the paper's accounting, not a true size)"
        yield f"  share        {percent(self.node_ratio)} of nodes, {percent(self.edge_ratio)} of edges"
        yield f"  heterophily  {self.heterophily:.3f}: {self._meaning()}"
        if self.n_scaled:
            yield f"  scale        {self.n_scaled:,} of {self.before.n_features:,} columns scaled ({self.scale})"
        if self.n_landmarks or self.n_synthetic_edges:
            yield f"  synthetic    {self.n_landmarks} landmarks, {self.n_synthetic_edges} directed edges"
        if self.lid_correlation is not None:
            yield (
                f"  LID          {self.lid_search}: recall {self.lid_recall:.3f}, rank correlation with exact LID "
                f"{self.lid_correlation:.3f}"
            )
        elif self.lid_search not in (None, "exact"):
            yield f"  LID          {self.lid_search}"
        counts = ", ".join(f"{value}: {count}" for value, count in self.class_counts.items())
        yield f"  classes      {counts} (entropy {self.class_entropy:.3f})"
        if self.missing_classes:
            yield f"  missing      {', '.join(map(str, self.missing_classes))}"
        yield (
            f"  structure    mean degree {self.mean_degree:.2f}, density {self.density:.3g}, "
            f"feature variance {self.feature_variance:.2f} of the training set's"
        )
        slowest = sorted(self.timings.items(), key=lambda item: -item[1])[:3]
        named = ", ".join(f"{name} {value:.2f}" for name, value in slowest)
        where = self.backend if self.workers is None else f"{self.workers} workers, {self.backend}"
        yield f"  time         {seconds:.2f} s on {where} ({named})"
        if self.exchanged_bytes:
            most = sorted(self.exchanged_bytes.items(), key=lambda item: -item[1])[:3]
            named = ", ".join(f"{name} {value / 1e6:,.1f}" for name, value in most)
            yield f"  exchanged    {sum(self.exchanged_bytes.values()) / 1e6:,.1f} MB between partitions ({named})"
        for warning in self.warnings:
            yield f"  note         {warning}"
