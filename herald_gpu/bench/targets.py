"""The targets, and what a run says of each: met, missed, or not to be said."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from herald_gpu.bench.figures_of import (
    Cases,
    cheaper_than_training,
    dense_share,
    field,
    float64_copy,
    growth_share,
    growth_slope,
    published_over_default,
    reddit_peak,
    stages_over_bare,
)
from herald_gpu.bench.reasons import REASONS
from herald_gpu.bench.sections import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from herald_gpu.bench.results import Results

Status = Literal["met", "missed", "not judged"]
COMPARED: dict[str, Callable[[float, float], bool]] = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}
GIGA = 1e9


@dataclass(frozen=True)
class Target:
    """What is to be reached.

    Attributes
    ----------
    name, section : str
    what : str
        What is compared, in words.
    sense : {"<=", "<", ">="}
    limit : float
    figures : callable
        Cases of the section in, figures by case out.
    unit : str
        Behind the figures.
    scale : float
        Figures and limit are told divided by this.
    """

    name: str
    section: str
    what: str
    sense: str
    limit: float
    figures: Callable[[Cases], dict[str, float]]
    unit: str = "x"
    scale: float = 1.0

    def met(self, value: float) -> bool:
        """Whether a figure is good enough."""
        return COMPARED[self.sense](value, self.limit)

    @property
    def wanted(self) -> str:
        """Limit in words."""
        return f"{self.sense} {self._told(self.limit)}"

    def _told(self, value: float) -> str:
        return f"{value / self.scale:.3g} {self.unit}".strip()

    def told(self, value: float) -> str:
        """Write a figure of this target."""
        return self._told(value)


@dataclass(frozen=True)
class Verdict:
    """What a run says of a target.

    Attributes
    ----------
    target : Target
    case : str
        Empty where nothing was measured.
    value : float, optional
    status : {"met", "missed", "not judged"}
    why : str
        Why it is missed, where that is known; why it is not judged.
    """

    target: Target
    case: str
    value: float | None
    status: Status
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        told = {"target": self.target.name, "section": self.target.section, "what": self.target.what}
        limits = {"sense": self.target.sense, "limit": self.target.limit}
        return {**told, **limits, "case": self.case, "value": self.value, "status": self.status, "why": self.why}


TARGETS = (
    Target("dense LID", "lid-dense", "exact LID over the full N x N product", "<=", 0.8, field("ratio")),
    Target("sparse LID", "lid-sparse", "exact LID of sparse rows over densifying them", "<", 1.0, field("ratio")),
    Target("sparse LID stays sparse", "lid-sparse", "largest part that is ever dense", "<", 1.0, dense_share, "of X"),
    Target("Fisher", "fisher", "multi-hop Fisher over its sparse products", "<=", 1.3, field("ratio")),
    Target("Fisher copies nothing", "fisher", "memory over a dense copy of X", "<", 1.0, float64_copy),
    Target("feature count", "feature-count", "the default's search over the depth-50 tree", "<=", 0.1, field("ratio")),
    Target(
        *("growth, pruning, balance", "pipeline", "together, of all stages of the paper's preset", "<=", 0.1),
        *(growth_share, "%", 0.01),
    ),
    Target("whole pipeline", "pipeline", "all stages over their bare kernels", "<=", 1.3, stages_over_bare),
    Target("first result", "first-result", "`herald condense`, caches warm", "<", 3.0, field("seconds"), "s"),
    Target("default preset", "presets", "its time over the paper preset's", "<=", 2.0, field("ratio")),
    Target("memory", "memory", "besides input and kept features", "<=", 2 * GIGA, field("excess"), "GB", GIGA),
    Target("approximate LID", "approximate", "exact over approximate time", ">=", 10.0, field("speedup")),
    Target("approximate LID agrees", "approximate", "rank correlation", ">=", 0.95, field("spearman"), ""),
    Target("Reddit's memory", "reddit", "most held at once", "<=", 12 * GIGA, reddit_peak, "GB", GIGA),
    Target("Reddit's time", "reddit", "training a GCN over condensing", ">=", 20.0, cheaper_than_training),
    Target("growth of time", "growth", "exponent in N", "<=", 1.15, growth_slope("seconds"), ""),
    Target("growth of memory", "growth", "exponent in N", "<=", 1.05, growth_slope("taken"), ""),
    Target("published BONSAI", "peers", "its time over the default preset's", ">=", 50.0, published_over_default),
)


def judge(results: Results, sections: list[str] | None = None) -> list[Verdict]:
    """Hold a run against the targets.

    Parameters
    ----------
    results : Results
    sections : list of str, optional
        Judge these only; by default all.
    """
    wanted = list(SECTIONS) if sections is None else sections
    return [verdict for target in TARGETS if target.section in wanted for verdict in _verdicts(target, results)]


def _verdicts(target: Target, results: Results) -> Iterator[Verdict]:
    cases = results.cases(target.section)
    for name, case in cases.items():
        for state in ("skipped", "failed"):
            if state in case:
                yield Verdict(target, name, None, "not judged", f"{state}: {case[state]}")
    measured = {name: case for name, case in cases.items() if not {"skipped", "failed"} & set(case)}
    figures = target.figures(measured)
    if not figures and len(measured) == len(cases):
        yield Verdict(target, "", None, "not judged", "not measured")
    for name, value in figures.items():
        if results.quick:
            yield Verdict(target, name, value, "not judged", "a quick run: sizes are not those of the target")
        elif target.met(value):
            yield Verdict(target, name, value, "met")
        else:
            yield Verdict(target, name, value, "missed", REASONS.get(target.name, ""))
