"""What known class shares gain: Consensus with `class_shares`, against itself without.

    python -m benchmarks.quality.shares --work-dir WORK [--side tuning | held-out] [-o results/shares.txt]

After `python -m benchmarks.quality`, whose panels it takes. Panels of a tuning family are fused by weights that have
not seen the family. The shares given are the true ones of the panel's items, or, where a few items were drawn, those of
the panel that they were drawn from. As a control they are given slightly wrong as well: drawn from a Dirichlet
distribution around them, as from a count of 100 items. `--ridge` and `--tolerance` try other constants of
`class_shares.py`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from rich.progress import track

import consilience as cs
from benchmarks.quality.draws import KINDS
from benchmarks.quality.estimates import MOST_WORK, accuracies, chosen, fused, intervals_of, whole_answers
from benchmarks.quality.panel import AS_IT_IS, Panel, read
from benchmarks.quality.scores import MARGINS, change, readable, scores
from consilience.aggregators.consensus import class_shares
from consilience.insight.accuracy.estimates import estimates_of, voters_of

COUNTED = 100
"""Slightly wrong shares are off as if so many items had been counted."""

METRICS = ("accuracy", "nll", "brier")
FEW_ITEMS = tuple(name for name in KINDS if name.endswith("items"))


class Scored(NamedTuple):
    """What became of a panel."""

    family: str
    kind: str
    changes: dict[str, list[float]]  # of accuracy, NLL and Brier score, by how well the shares are known
    estimates: list[float]  # the error of members' estimated accuracy without shares, with them, and how often it holds


def scored(panel: Panel, shares: np.ndarray) -> Scored | None:
    """The changes in a panel's scores; None where nothing is fused."""
    model = fused(panel)
    if model.plain_rule().trust == 0:
        return None
    rng = np.random.default_rng(crc32(panel.name.encode()))
    given = {"true": shares, "slightly wrong": rng.dirichlet(COUNTED * shares + 1e-3)}
    without = np.asarray(model.posterior_, dtype=np.float64)
    before, errors = scores(without, panel.truth), _errors(panel, model)[:1]
    changes = {}
    for name, known in given.items():
        model.reweighting_ = class_shares.matched(without, known)
        after = scores(np.asarray(model.predict_proba(panel.predictions), dtype=np.float64), panel.truth)
        changes[name] = [change(after[metric], before[metric], metric) for metric in METRICS]
        errors += _errors(panel, model) if name == "true" else []
    return Scored(panel.family, panel.kind, changes, errors)


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


def table(found: Iterable[Scored], by: str) -> str:
    """A row for each kind or family; each family counts the same in it."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for one in found:
        groups[getattr(one, by)].append(one)
        groups["all"].append(one)
    head = ("accuracy", "NLL x", "Brier x", "won", "lost")
    columns = ("panels", *head, *head, "error", "with", "holds")
    lines = [f"{'':16}{'':8}{'true shares':^45}{'slightly wrong':^45}{'members, true shares':^27}"]
    lines += [f"{'':16}{columns[0]:>8}" + "".join(f"{column:>9}" for column in columns[1:])]
    order = {name: place for place, name in enumerate([AS_IT_IS, *KINDS])}
    for name in sorted(groups, key=lambda name: (name == "all", order.get(name, 99), name)):
        some = groups[name]
        cells = [cell for given in ("true", "slightly wrong") for cell in _cells(some, given)]
        cells += [f"{value:.1f}" for value in _by_family(some, [one.estimates for one in some])]
        lines.append(f"{name:16}{len(some):>8}" + "".join(f"{cell:>9}" for cell in cells))
    return "\n".join(lines)


def _cells(some: list[Scored], given: str) -> list[str]:
    changes = [one.changes[given] for one in some]
    accuracy, nll, brier = _by_family(some, changes)
    gains = [one[0] for one in changes]
    won, lost = (sum(sign * gain > MARGINS["accuracy"] for gain in gains) for sign in (1, -1))
    return [f"{accuracy:+.2f}", f"{readable(nll, 'nll'):.3f}", f"{readable(brier, 'brier'):.3f}", f"{won}", f"{lost}"]


def _by_family(some: list[Scored], values: list[list[float]]) -> np.ndarray:
    """The mean over families of their panels' means."""
    families = np.array([one.family for one in some])
    rows = np.array(values)
    return np.nanmean([np.nanmean(rows[families == name], axis=0) for name in sorted(set(families))], axis=0)


def main() -> None:
    """Score, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--side", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument("--ridge", type=float, default=class_shares.RIDGE)
    parser.add_argument("--tolerance", type=float, default=class_shares.TOLERANCE)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    class_shares.RIDGE, class_shares.TOLERANCE = options.ridge, options.tolerance
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
        f"{len(found)} panels of the {options.side} side; ridge {options.ridge:g}, tolerance {options.tolerance:g}. "
        "Consensus with class_shares against itself without: points\nof accuracy, NLL and Brier score as factors, "
        f"panels won and lost by {MARGINS['accuracy']} points. Slightly wrong: shares as counted on {COUNTED} items.\n"
        "Members: the error of their estimated accuracy without and with true shares, and how often intervals hold "
        f"then, in points.\n\n{table(found, 'kind')}\n\n{table(found, 'family')}"
    )
    print(shown)
    if options.output:
        options.output.write_text(shown + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
