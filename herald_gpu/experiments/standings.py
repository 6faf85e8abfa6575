"""The page of the leaderboard: who teaches best at equal bytes, by how much, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from herald_gpu.experiments import names
from herald_gpu.experiments.grids import CONFIRMING, GRIDS, HOMOPHILIC, MODELS
from herald_gpu.experiments.leaderboard import CHOOSER, measured
from herald_gpu.experiments.markdown import NOTHING, complete, number, of, smallest, spread, table

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS = "herald-default"
ALIKE = (*HOMOPHILIC, "amazon-photo", "coauthor-cs")
"""Homophilic graphs; the others are heterophilic."""
SHARE_RATIO, SHARE_WANTED = 0.01, 0.93
WORST_SINGLE = -5.0
INTRODUCTION = """\
Test accuracy in percent of models trained on condensed graphs of equal storage: the mean of {models}, and its sample
standard deviation over splits and initialisations ({counted}). Every method but the default preset was tried with
several choices of features and edges, all with the storage types of the default preset's nodes (signs, which hold its
landmarks, can hold no node); the one with the best
validation accuracy of {chooser} (one initialisation, the paper's split) is measured, and named. Nothing was tuned on
{confirming}.
"""


@dataclass(frozen=True)
class Duel:
    """The default preset against the best other method, on one graph at one ratio.

    Attributes
    ----------
    dataset : str
    ratio : float
    ours, theirs : float
        Mean accuracies over the pairs (split, initialisation) that both have.
    rival : str
    difference, error : float
        Mean of the paired differences and its standard error.
    probability : float
        Of a difference this large by chance, two-sided paired t-test; NaN with fewer than two pairs.
    pairs : int
    worst, worst_model : float, str
        The model in which the best other method is farthest ahead (or least behind), whichever method that is.
    """

    dataset: str
    ratio: float
    ours: float
    theirs: float
    rival: str
    difference: float
    error: float
    probability: float
    pairs: int
    worst: float
    worst_model: str

    @property
    def holds(self) -> bool:
        """Whether the default preset is not behind by more than the standard error."""
        return self.difference >= -(0.0 if math.isnan(self.error) else self.error)


def chosen_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Give the rows of the variants that were chosen, and were run."""
    best = pd.DataFrame(measured(rows, GRIDS["leaderboard"]), columns=["dataset", "method", "ratio", "change"])
    return of(rows, status="ok").merge(best, on=list(best.columns))


def over_models(rows: pd.DataFrame) -> pd.DataFrame:
    """Average each initialisation over the models, where all of them are there."""
    by = ["dataset", "method", "ratio", "change", "split", "seed"]
    found = rows.groupby(by, sort=False).agg(
        accuracy=("accuracy", "mean"), models=("model", "nunique"), storage_ratio=("storage_ratio", "mean")
    )
    return found[found["models"] == len(MODELS)].reset_index()


def duels(rows: pd.DataFrame) -> Iterator[Duel]:
    """Compare the default preset with the best other method, everywhere both were run."""
    whole = over_models(rows)
    for dataset, ratio in dict.fromkeys(zip(whole["dataset"], whole["ratio"], strict=True)):
        part = of(whole, dataset=dataset, ratio=ratio)
        own = of(part, method=OURS).set_index(["split", "seed"])["accuracy"]
        others = {
            method: of(part, method=method).set_index(["split", "seed"])["accuracy"]
            for method in dict.fromkeys(part["method"])
            if method not in (OURS, "full")
        }
        if own.empty or not others:
            continue
        shared = {method: own.index.intersection(found.index) for method, found in others.items()}
        rival = max(others, key=lambda method: others[method].mean())
        both = shared[rival]
        if both.empty:
            continue
        gap = (own[both] - others[rival][both]).to_numpy()
        error = float(gap.std(ddof=1) / math.sqrt(len(gap))) if len(gap) > 1 else math.nan
        worst, model = _worst_model(of(rows, dataset=dataset, ratio=ratio))
        yield Duel(
            dataset,
            ratio,
            float(own[both].mean()),
            float(others[rival][both].mean()),
            rival,
            float(gap.mean()),
            error,
            _chance(gap),
            len(gap),
            worst,
            model,
        )


def _chance(gap: np.ndarray) -> float:
    if len(gap) < 2 or np.ptp(gap) == 0:  # noqa: PLR2004 - a test needs two
        return math.nan
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(gap, 0.0).pvalue)


def _worst_model(rows: pd.DataFrame) -> tuple[float, str]:
    """Find the model in which some other method is farthest ahead: (our mean less theirs, model)."""
    means = rows.groupby(["model", "method"])["accuracy"].mean()
    gaps = {}
    for model in MODELS:
        if (model, OURS) not in means.index:
            continue
        theirs = means[model].drop([OURS, "full"], errors="ignore")
        if len(theirs):
            gaps[model] = float(means[model, OURS] - theirs.max())
    return min((gap, model) for model, gap in gaps.items()) if gaps else (math.nan, "")


def leaderboard_page(rows: pd.DataFrame) -> str:
    """Write the whole page.

    Parameters
    ----------
    rows : pandas.DataFrame
        Rows of the experiment `leaderboard`.
    """
    if rows.empty:
        return f"# Leaderboard\n\n{NOTHING}"
    rows = complete(rows)
    chosen = chosen_rows(rows)
    whole = over_models(chosen)
    fought = list(duels(chosen))
    parts = [
        "# Leaderboard\n",
        INTRODUCTION.format(
            models=", ".join(MODELS),
            counted=_counted(of(whole, method=OURS) if (whole["method"] == OURS).any() else whole),
            chooser=CHOOSER,
            confirming=names.listed(CONFIRMING),
        ),
        "## Averages over graphs\n",
        _averages(whole),
    ]
    if fought:
        parts += ["## The default preset against the best other method\n", _duel_table(fought), _verdict(fought)]
        parts += [_shares(whole)]
    for dataset in dict.fromkeys(rows["dataset"]):
        parts += [f"## {names.title(dataset)}\n", _graph_table(rows, chosen, dataset)]
    return "\n".join(parts)


def _counted(whole: pd.DataFrame) -> str:
    pairs = whole.groupby(["dataset", "ratio"]).size()
    if pairs.empty:
        return "none yet"
    low, high = int(pairs.min()), int(pairs.max())
    return f"{high} pairs of both" if low == high else f"{low} to {high} pairs of both, see each table"


def _averages(whole: pd.DataFrame) -> str:
    """Mean over graphs; a method that does not fit on some graph says on how many it does."""
    ratios = [ratio for ratio in sorted(set(whole["ratio"])) if ratio < 1]
    kinds = {"homophilic": True, "heterophilic": False}
    header = ["method", *(f"{kind}, r = {100 * ratio:g} %" for kind in kinds for ratio in ratios)]
    lines = []
    for method, title in names.METHODS.items():
        own = of(whole, method=method)
        if own.empty or method == "full":
            continue
        cells = []
        for alike in kinds.values():
            for ratio in ratios:
                there = of(whole, ratio=ratio)
                graphs = [name for name in dict.fromkeys(there["dataset"]) if (name in ALIKE) == alike]
                means = of(own, ratio=ratio).groupby("dataset")["accuracy"].mean()
                found = means[means.index.isin(graphs)]
                text = number(float(found.mean()), 1) if len(found) else ""
                cells.append(text if len(found) == len(graphs) or not text else f"{text} ({len(found)} graphs)")
        lines.append([title, *cells])
    return table(header, lines)


def _duel_table(fought: list[Duel]) -> str:
    header = ["graph", "r %", "default preset", "best other", "which", "difference ± s.e.", "p", "pairs", "worst model"]
    lines = []
    for duel in fought:
        chance = "" if math.isnan(duel.probability) else f"{duel.probability:.2g}"
        lines.append(
            [
                names.title(duel.dataset),
                f"{100 * duel.ratio:g}",
                number(duel.ours, 1),
                number(duel.theirs, 1),
                names.METHODS[duel.rival],
                spread(duel.difference, duel.error),
                chance,
                str(duel.pairs),
                f"{duel.worst_model} {duel.worst:+.1f}",
            ]
        )
    return table(header, lines)


def _verdict(fought: list[Duel]) -> str:
    behind = [duel for duel in fought if not duel.holds]
    single = [duel for duel in fought if duel.worst < WORST_SINGLE]
    lines = [f"- Not behind by more than the standard error in {len(fought) - len(behind)} of {len(fought)} places."]
    lines += [
        f"  Behind: {names.title(d.dataset)} at {100 * d.ratio:g} % by {-d.difference:.1f} ({names.METHODS[d.rival]})."
        for d in behind
    ]
    for kind, alike in (("homophilic", True), ("heterophilic", False)):
        gaps = [duel.difference for duel in fought if (duel.dataset in ALIKE) == alike]
        if gaps:
            lines.append(f"- Mean difference to the best other method on {kind} graphs: {np.mean(gaps):+.1f} points.")
    lines.append(f"- Places where one of the four models is more than 5 points behind the best other: {len(single)}.")
    lines += [f"  {names.title(d.dataset)} at {100 * d.ratio:g} %: {d.worst_model} {d.worst:+.1f}." for d in single]
    return "\n".join([*lines, ""])


def _shares(whole: pd.DataFrame) -> str:
    """Accuracy at 1 % as a share of the whole graph's."""
    own = of(whole, method=OURS, ratio=SHARE_RATIO).groupby("dataset")["accuracy"].mean()
    full = of(whole, method="full").groupby("dataset")["accuracy"].mean()
    both = [name for name in own.index if name in full.index]
    if not both:
        return ""
    lines = [
        [names.title(name), number(own[name], 1), number(full[name], 1), f"{100 * own[name] / full[name]:.1f} %"]
        for name in both
    ]
    header = ["graph", "default preset, r = 1 %", "whole graph, one initialisation", "share"]
    return "\n".join(["### Share of the whole graph's accuracy\n", table(header, lines)])


def _graph_table(rows: pd.DataFrame, chosen: pd.DataFrame, dataset: str) -> str:
    header = ["method", "r %", "features, edges", *MODELS, "mean of four", "runs", "nodes", "edges", "true storage %"]
    own, lines = of(chosen, dataset=dataset), []
    whole = over_models(own)
    for method, title in names.METHODS.items():
        ratios = sorted(set(of(rows, dataset=dataset, method=method)["ratio"]))
        for ratio in ratios:
            part, mean = of(own, method=method, ratio=ratio), of(whole, method=method, ratio=ratio)["accuracy"]
            if part.empty:
                tried = of(rows, dataset=dataset, method=method, ratio=ratio)
                why = f"does not fit ({smallest(tried)})" if (tried["status"] == "infeasible").all() else "not run"
                lines.append([title, f"{100 * ratio:g}", why, *([""] * (len(header) - 3))])
                continue
            singles = [of(part, model=model)["accuracy"] for model in MODELS]
            lines.append(
                [
                    title,
                    f"{100 * ratio:g}",
                    part.iloc[0]["change"] or "",
                    *(number(float(found.mean()), 1) for found in singles),
                    spread(float(mean.mean()), float(mean.std())) if len(mean) else "",
                    str(len(mean)),
                    number(float(part["n_nodes"].mean()), 0),
                    number(float(part["n_edges"].mean()), 0),
                    number(100 * float(part["storage_ratio"].mean()), 3),
                ]
            )
    return table(header, lines, left=3)
