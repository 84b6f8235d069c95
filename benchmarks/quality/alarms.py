"""How often each warning of `diagnose` is right, and how much of what there is to warn of it finds.

    python -m benchmarks.quality.alarms [--work-dir WORK] [--panels 240] [-o results/alarms.txt]

Generated panels, of seeds that training does not use, are altered so that some give cause for a warning: a copy,
a useless or constant member, one with other names for the classes, leanings, a few items. With
`--work-dir`, the tuning panels of `python -m benchmarks.quality` follow as they are, fused and judged by weights that
have not seen their family. Whether a warning is right is read off the true classes; copies are known from how a panel
was made. Each panel counts the same, however many members of it are warned of.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import track
from scipy.optimize import linear_sum_assignment

import consilience as cs
from benchmarks.quality.estimates import chosen, fused, intervals_of
from benchmarks.quality.generated import alterations, generate
from benchmarks.quality.generated.alterations import apply
from benchmarks.quality.panel import AS_IT_IS, Panel, read
from consilience.aggregators.consensus.consensus import plain_rule
from consilience.insight.accuracy.estimates import Estimates, estimates_of, voters_of
from consilience.insight.warnings import MOST_OFF, NINE_OF_TEN, WARNINGS, PanelEvidence

FIRST_SEED, MOST_WORK = 4_500_000, 2e6

WRONG, EXCESS, BLIND, GAIN = 0.25, 0.1, 0.1, 0.2
"""What makes a warning right: such a share of wrong answers, claims above accuracies, kappa with the truth, and gain by
other names."""

CERTAIN = ("labels contradict", "not settled", "loss by fusing")
"""Warnings that follow from labels or from the fit itself, so that nothing has to be measured."""

About = set[tuple[int, ...]]
Rng = np.random.Generator


class Case(NamedTuple):
    """A panel, and the pairs of members that are copies; None where nobody knows."""

    panel: Panel
    copies: About | None


class Score(NamedTuple):
    """Of one panel: the share of its warnings that are right, and the share of what there is that it warns of."""

    right: float
    found: float


# ---- panels -----------------------------------------------------------------------------------------------


def copied(panel: Panel, rng: Rng) -> Case:
    """One more member, who says what another one says, up to a little noise."""
    which, n_members = int(rng.integers(panel.n_members)), panel.n_members
    if panel.labels is not None:
        said = panel.labels[which].copy()
        is_changed = (rng.random(len(said)) < rng.choice([0, 0.01])) & (said >= 0)
        said[is_changed] = rng.integers(panel.n_classes, size=is_changed.sum())
        more = replace(panel, labels=np.concatenate([panel.labels, said[None]]))
    else:
        assert panel.probabilities is not None  # noqa: S101 - one of the two is given
        rows = panel.probabilities[which] * np.exp(rng.choice([0, 0.03]) * rng.normal(size=panel.truth.shape)[:, None])
        rows = rows + rng.choice([0, 0.003]) * rng.random(rows.shape)
        rows = rows / rows.sum(axis=1, keepdims=True)
        more = replace(panel, probabilities=np.concatenate([panel.probabilities, rows[None].astype(np.float32)]))
    return Case(more, {(which, n_members)})


ALTERED: dict[str, Callable[[Panel, Rng], Panel]] = {
    "as generated": lambda panel, _: panel,
    "useless": alterations.useless_member,
    "constant": alterations.constant_member,
    "adversarial": alterations.adversarial_member,
    "temperatures": alterations.temperatures,
    "leanings": alterations.leanings,
    "few items": alterations.few_items,
}


def generated(n_panels: int) -> Iterator[Case]:
    """So many panels, a third of them of votes alone; every eighth has a copy, the others one of the alterations."""
    for seed in range(FIRST_SEED, FIRST_SEED + n_panels):
        rng = np.random.default_rng(seed)
        panel = apply(alterations.fewer_items, apply(alterations.fewer_classes, generate(seed), rng), rng)
        panel = apply(alterations.votes, panel, rng) if rng.random() < 1 / 3 else panel
        place = seed % (len(ALTERED) + 1)
        yield (
            copied(panel, rng) if place == len(ALTERED) else Case(apply([*ALTERED.values()][place], panel, rng), set())
        )


def real(folder: Path) -> Iterator[Case]:
    """The tuning panels as they are. Some were made with copies, and are called so."""
    for path in chosen(folder, "tuning"):
        panel = read(path)
        if panel.kind == AS_IT_IS:
            yield Case(panel, None if "copies" in panel.name else set())


# ---- what is warned of, and what is true ------------------------------------------------------------------


def evidence_of(panel: Panel) -> PanelEvidence | None:
    """What warnings look at, by weights that have not seen the panel's family; None where nothing is fused."""
    model = fused(panel)
    if plain_rule(model).trust == 0:
        return None
    average = np.asarray(cs.Average().fit_predict_proba(panel.predictions))
    posterior = np.asarray(model.posterior_)
    answers = {"fused answer": posterior.argmax(axis=1), "average": average.argmax(axis=1)}
    found = voters_of(panel.predictions, model, answers)
    estimates = estimates_of(found, intervals_of(panel.family))
    by_name = dict(zip(answers, estimates[panel.n_members :], strict=True))
    return PanelEvidence(
        panel.predictions,
        answers["fused answer"],
        Estimates(estimates[: panel.n_members], by_name),
    )


def true_of(case: Case, evidence: PanelEvidence) -> dict[str, About | None]:
    """What there is to warn of, by warning; None where nobody knows."""
    panel, is_known = case.panel, case.panel.truth >= 0
    members = range(panel.n_members)
    tables = [_table(panel, member) for member in members]
    right = np.array([np.trace(table) / table.sum() if table.any() else np.nan for table in tables])
    usual = float(np.nanmedian(right)) if np.isfinite(right).any() else 0.5
    wrong = (evidence.chosen != panel.truth)[is_known].mean()
    return {
        "too few items": {()} if NINE_OF_TEN * np.sqrt(usual * (1 - usual) / panel.n_items) > MOST_OFF else set(),
        "everybody wrong together": {()} if wrong > WRONG else set(),
        "useless member": {(m,) for m in members if tables[m].any() and abs(_kappa(tables[m])) < BLIND},
        "classes in another order": {(m,) for m in members if tables[m].any() and _gain(tables[m]) > GAIN},
        "overconfident member": {(m,) for m in members if evidence.claimed[m] - right[m] > EXCESS},
        "copies": case.copies,
    }


def _table(panel: Panel, member: int) -> np.ndarray:
    """(true, said): counts of items with a known truth."""
    said = panel.votes[member]
    is_known = (panel.truth >= 0) & (said >= 0)
    cells = panel.truth[is_known] * panel.n_classes + said[is_known]
    return np.bincount(cells, minlength=panel.n_classes**2).reshape(panel.n_classes, -1)


def _kappa(table: np.ndarray) -> float:
    shares = table / table.sum()
    by_chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return float((np.trace(shares) - by_chance) / max(1 - by_chance, 1e-9))


def _gain(table: np.ndarray) -> float:
    rows, names = linear_sum_assignment(-table)
    return float((table[rows, names].sum() - np.trace(table)) / table.sum())


def scored(case: Case) -> dict[str, Score]:
    """The scores of each warning whose truth is known; NaN where nothing is warned of, or there is nothing to find."""
    evidence = evidence_of(case.panel)
    if evidence is None:
        return {}
    scores = {}
    for name, truth in true_of(case, evidence).items():
        if truth is not None:
            warned = {one.about for one in WARNINGS[name](evidence)}
            scores[name] = Score(_share(warned & truth, warned), _share(warned & truth, truth))
    return scores


def _share(some: About, of: About) -> float:
    return len(some) / len(of) if of else float("nan")


def table(scores: dict[str, list[Score]]) -> str:
    """A row for each warning."""
    columns = ("panels", "warned of", "right", "to warn of", "found")
    lines = [f"{'':28}" + "".join(f"{column:>12}" for column in columns)]
    for name, found in scores.items():
        right, share = (np.array(values) for values in zip(*found, strict=True))
        counts = (len(found), np.isfinite(right).sum(), _mean(right), np.isfinite(share).sum(), _mean(share))
        lines.append(f"{name:28}" + "".join(f"{v:>12.2f}" if isinstance(v, float) else f"{v:>12}" for v in counts))
    return "\n".join(lines)


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")


def main() -> None:
    """Score, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path)
    parser.add_argument("--panels", type=int, default=240)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    sides = {"generated": generated(options.panels)}
    if options.work_dir is not None:
        sides["real, of tuning families"] = real(options.work_dir / "panels")
    shown = "Of panels, each counting the same: how many are warned of, and how much of that is right; in how many\n"
    shown += "there is something to warn of, and how much of that is found."
    for side, cases in sides.items():
        scores: dict[str, list[Score]] = defaultdict(list)
        for case in track(cases, side):
            if case.panel.n_members * case.panel.n_items * case.panel.n_classes <= MOST_WORK:
                for name, score in scored(case).items():
                    scores[name].append(score)
        shown += f"\n\n{side}\n{table(scores)}"
    print(shown)
    if options.output is not None:
        options.output.write_text(shown + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
