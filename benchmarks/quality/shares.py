"""What known class shares gain: Consensus with `class_shares`, against itself without.

    python -m benchmarks.quality.shares --work-dir WORK [--side tuning | held-out] [-o results/shares.txt]

After `python -m benchmarks.quality`, whose panels it takes. Panels of a tuning family are fused by weights that have
not seen the family. The shares given are the true ones of the panel's items, or, where a few items were drawn, those of
the panel that they were drawn from; counts of some items that are drawn by these shares; and "even", on panels whose
classes nearly are, and as a control on the others. `--ridge`, `--tolerance`, `--count-tolerance` and `--even-worth` try
other constants of `class_shares.py`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from rich.progress import track

import consilience as cs
from benchmarks.quality.draws import KINDS
from benchmarks.quality.estimates import MOST_WORK, accuracies, chosen, fused, intervals_of, whole_answers
from benchmarks.quality.methods import average
from benchmarks.quality.panel import AS_IT_IS, Panel, read
from benchmarks.quality.scores import MARGINS, change, readable, scores
from consilience.aggregators.consensus import class_shares
from consilience.aggregators.consensus.consensus import plain_rule, rule_given
from consilience.insight.accuracy.estimates import estimates_of, voters_of
from consilience.system.arrays import to_numpy

COUNTED = (500, 100, 50, 20)
"""How many items are counted."""

UNKNOWN, TRUE, EVEN, NOT_EVEN, SOME = "not known", "true shares", "even", "even, wrongly", "counted on 100"

UNEVEN = ("uneven", "rare")
"""Kinds of panels whose class shares are uneven."""

NEARLY_EVEN = 1.25
"""Classes are about equally frequent if none is so many times as frequent, or as rare, as if they were even."""

METRICS = ("accuracy", "nll", "brier")
FEW_ITEMS = tuple(name for name in KINDS if name.endswith("items"))


class Scored(NamedTuple):
    """What became of a panel."""

    family: str
    kind: str
    changes: dict[str, list[float]]  # of accuracy, NLL and Brier score, by what is known of the shares
    gains: dict[str, list[float]]  # the same against averaging
    estimates: list[float]  # the error of members' estimated accuracy without shares, with them, and how often it holds


def scored(panel: Panel, shares: np.ndarray) -> Scored | None:
    """The changes in a panel's scores; None where nothing is fused."""
    model = fused(panel)
    if plain_rule(model).trust == 0:
        return None
    without, averaging = (scores(np.asarray(rows), panel.truth) for rows in (model.posterior_, average(panel)))
    changes, gains = {}, {UNKNOWN: _changes(without, averaging)}
    for name, known in given_for(panel, shares).items():
        rows = to_numpy(rule_given(model, panel.predictions, known).posterior(panel.predictions))
        after = scores(rows.astype(np.float64), panel.truth)
        changes[name], gains[name] = _changes(after, without), _changes(after, averaging)
    told = fused(panel, class_shares=shares)
    errors = [*_errors(panel, model)[:1], *_errors(panel, told)]
    return Scored(panel.family, panel.kind, changes, gains, errors)


def _changes(after: dict[str, float], before: dict[str, float]) -> list[float]:
    return [change(after[metric], before[metric], metric) for metric in METRICS]


def given_for(panel: Panel, shares: np.ndarray) -> dict[str, Any]:
    """What a user may say of a panel's true shares, by name."""
    rng = np.random.default_rng(crc32(panel.name.encode()))
    is_even = (np.abs(np.log(np.maximum(shares, 1e-9) * len(shares))) < np.log(NEARLY_EVEN)).all()
    counts = {f"counted on {n_items}": rng.multinomial(n_items, shares) for n_items in COUNTED}
    return {TRUE: shares, EVEN if is_even else NOT_EVEN: class_shares.EVEN, **counts}


def true_shares(panel: Panel) -> np.ndarray:
    """The shares among the items whose truth is known."""
    counts = np.bincount(panel.truth[panel.truth >= 0], minlength=panel.n_classes)
    return np.asarray(counts / counts.sum())


def _errors(panel: Panel, model: cs.Consensus) -> list[float]:
    """The mean error of the members' estimated accuracies, and how often intervals hold, in points."""
    found = voters_of(panel.predictions, model, whole_answers(panel, model))
    truth = accuracies(panel, found)[: panel.n_members]
    value, low, high = np.array([one[:3] for one in estimates_of(found, intervals_of(panel.family))[: len(truth)]]).T
    is_known = np.isfinite(truth) & np.isfinite(value)
    if not is_known.any():
        return [np.nan, np.nan]
    holds = (low <= truth + 1e-9) & (truth <= high + 1e-9)
    return [100 * np.abs(value - truth)[is_known].mean(), 100 * holds[is_known].mean()]


def table(found: Sequence[Scored], by: str) -> str:
    """A row for each kind or family; each family counts the same in it."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for one in found:
        groups[getattr(one, by)].append(one)
        groups["all"].append(one)
    columns = ("panels", *HEAD, *HEAD, "error", "with", "holds")
    lines = [f"{'':16}{'':8}{TRUE:^54}{SOME:^54}{'members, true shares':^27}"]
    lines += [f"{'':16}{columns[0]:>8}" + "".join(f"{column:>9}" for column in columns[1:])]
    order = {name: place for place, name in enumerate([AS_IT_IS, *KINDS])}
    for name in sorted(groups, key=lambda name: (name == "all", order.get(name, 99), name)):
        some = groups[name]
        cells = [cell for given in (TRUE, SOME) for cell in _cells(some, given)]
        cells += [f"{value:.1f}" for value in _by_family(some, [one.estimates for one in some])]
        lines.append(f"{name:16}{len(some):>8}" + "".join(f"{cell:>9}" for cell in cells))
    return "\n".join(lines)


def by_knowledge(found: Sequence[Scored], against: str) -> str:
    """A row for each way to know the shares, over the panels that have it, against `changes` or `gains`."""
    lines = [f"{'':16}{'panels':>8}" + "".join(f"{column:>9}" for column in HEAD)]
    for given in dict.fromkeys(name for one in found for name in getattr(one, against)):
        some = [one for one in found if given in getattr(one, against)]
        lines.append(f"{given:16}{len(some):>8}" + "".join(f"{cell:>9}" for cell in _cells(some, given, against)))
    return "\n".join(lines)


HEAD = ("accuracy", "NLL x", "Brier x", "won", "lost", "worst")


def _cells(some: list[Scored], given: str, against: str = "changes") -> list[str]:
    changes = [getattr(one, against)[given] for one in some]
    accuracy, nll, brier = _by_family(some, changes)
    gains = [one[0] for one in changes]
    won, lost = (sum(sign * gain > MARGINS["accuracy"] for gain in gains) for sign in (1, -1))
    factors = (f"{readable(nll, 'nll'):.3f}", f"{readable(brier, 'brier'):.3f}")
    return [f"{accuracy:+.2f}", *factors, f"{won}", f"{lost}", f"{min(gains):+.1f}"]


def _by_family(some: list[Scored], values: list[list[float]]) -> np.ndarray:
    """The mean over families of their panels' means."""
    families = np.array([one.family for one in some])
    rows = np.array(values)
    return np.nanmean([np.nanmean(rows[families == name], axis=0) for name in sorted(set(families))], axis=0)


def _of(found: Sequence[Scored], kind: str) -> list[Scored]:
    return [one for one in found if one.kind == kind]


def main() -> None:
    """Score, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--side", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument("--ridge", type=float, default=class_shares.RIDGE)
    parser.add_argument("--tolerance", type=float, default=class_shares.SHARE_TOLERANCE)
    parser.add_argument("--count-tolerance", type=float, default=class_shares.COUNT_TOLERANCE)
    parser.add_argument("--even-worth", type=float, default=class_shares.EVEN_WORTH)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    class_shares.RIDGE, class_shares.SHARE_TOLERANCE = options.ridge, options.tolerance
    class_shares.COUNT_TOLERANCE, class_shares.EVEN_WORTH = options.count_tolerance, options.even_worth
    found = []
    for path in track(chosen(options.work_dir / "panels", options.side), "fusing"):
        panel = read(path)
        if panel.n_members * panel.n_items * panel.n_classes > MOST_WORK:
            continue
        base, _, _ = panel.name.partition("~")
        whole = read(path.with_name(f"{base}.npz")) if panel.kind in FEW_ITEMS else panel
        one = scored(panel, true_shares(whole))
        found += [] if one is None else [one]
    shown = (
        f"{len(found)} panels of the {options.side} side; ridge {options.ridge:g}, tolerance {options.tolerance:g} + "
        f"{options.count_tolerance:g} / counted items, even worth {options.even_worth:g}. Consensus with class_shares "
        "against itself without:\npoints of accuracy, NLL and Brier score as factors, panels won and lost by "
        f"{MARGINS['accuracy']} points, and the worst panel. Even: on panels whose classes are within a factor of "
        f"{NEARLY_EVEN} of even; wrongly: on the others.\nMembers: the error of their estimated accuracy without and "
        "with true shares, and how often intervals hold then, in points.\n\n"
        f"{by_knowledge(found, 'changes')}\n\nAgainst averaging:\n{by_knowledge(found, 'gains')}\n\n"
        + "".join(f"Against averaging, {kind}:\n{by_knowledge(_of(found, kind), 'gains')}\n\n" for kind in UNEVEN)
        + f"{table(found, 'kind')}\n\n{table(found, 'family')}"
    )
    print(shown)
    if options.output:
        options.output.write_text(shown + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
