"""Whether the items that `review` names are wrong more often, and in which order to look at items.

    python -m benchmarks.quality.review --shared-dir ../shared/data [--side held-out] [-o results/review.txt]

Every real panel that is read from files, fused by weights that have not seen its family. Panels of a family, and then
families, count the same.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.progress import track

from benchmarks.quality.estimates import fused
from benchmarks.quality.families import side_of
from benchmarks.quality.panel import Panel
from benchmarks.quality.sources.shared import shared_panels
from consilience.insight.analysis import Analysis
from consilience.insight.answers import answers_under
from consilience.system.arrays import to_numpy

SHARES = (0.05, 0.1, 0.2, 0.3)

OFF = 1.5
"""How many times too many or too few are a number that one should not say."""

LEAST = 10
"""Of fewer items there is no rate to speak of."""


class Judged(NamedTuple):
    """The labelled items of a panel."""

    family: str
    reason: np.ndarray
    confidence: np.ndarray
    agreement: np.ndarray
    wrong: np.ndarray


def judged(panel: Panel) -> Judged:
    """The fused answers, what is said of them, and whether they are wrong."""
    model, known = fused(panel), panel.truth >= 0
    table = answers_under(Analysis(panel.predictions, model), to_numpy(model.posterior_))
    columns = [np.array(table[name])[known] for name in ("review", "confidence", "agreement")]
    return Judged(panel.family, *columns, np.asarray(model.posterior_).argmax(axis=1)[known] != panel.truth[known])


GROUPS: dict[str, Callable[[Judged], np.ndarray]] = {
    "all": lambda own: np.ones(len(own.wrong), dtype=bool),
    "to review": lambda own: own.reason != "",
    "- unsure": lambda own: own.reason == "unsure",
    "- contested, < .8": lambda own: (own.reason == "contested") & (own.confidence < 0.8),
    "- contested, sure": lambda own: (own.reason == "contested") & (own.confidence >= 0.8),
    "- outvoted, < .8": lambda own: (own.reason == "outvoted expert") & (own.confidence < 0.8),
    "- outvoted, sure": lambda own: (own.reason == "outvoted expert") & (own.confidence >= 0.8),
    "not to review": lambda own: own.reason == "",
}

ORDERS: dict[str, Callable[[Judged], np.ndarray]] = {
    "least sure": lambda own: own.confidence,
    "least agreement": lambda own: own.agreement + 1e-6 * own.confidence,
    "contested or outvoted, then least sure": lambda own: (
        own.confidence - np.isin(own.reason, ["contested", "outvoted expert"])
    ),
}


def mean(found: list[tuple[str, float]]) -> float:
    """The mean over families of the means over their panels; NaN of none."""
    by_family = defaultdict(list)
    for family, value in found:
        by_family[family].append(value)
    return float(np.mean([np.mean(values) for values in by_family.values()])) if found else np.nan


def group_line(name: str, panels: list[Judged]) -> str:
    """How many items a group has, and how many of them are wrong, in truth and by their confidence."""
    groups = [(own, GROUPS[name](own)) for own in panels]
    share = mean([(own.family, group.mean()) for own, group in groups])
    enough = [(own, group) for own, group in groups if group.sum() >= LEAST]
    wrong = mean([(own.family, own.wrong[group].mean()) for own, group in enough])
    believed = mean([(own.family, 1 - own.confidence[group].mean()) for own, group in enough])
    return f"{name:<24}{share:>8.3f}{wrong:>8.3f}{believed:>12.3f}{len(enough):>9}"


def sum_line(name: str, panels: list[Judged]) -> str:
    """How many times as many items of a group are wrong by their confidence as are in truth, from panel to panel."""
    groups = [(own, group) for own in panels if (group := GROUPS[name](own)).sum() >= LEAST]
    times = [(1 - own.confidence[group]).sum() / max(own.wrong[group].sum(), 1) for own, group in groups]
    off = mean([(own.family, not 1 / OFF <= one <= OFF) for (own, _), one in zip(groups, times, strict=True)])
    ends = "".join(f"{end:>8.2f}" for end in np.quantile(times, [0.05, 0.5, 0.95]))
    return f"{name:<24}{ends}{off:>12.3f}{len(groups):>9}"


def order_line(name: str, panels: list[Judged]) -> str:
    """Of the first items in an order: how many are wrong, and how many of all wrong answers these are."""
    cells = ""
    for share in SHARES:
        wrong, found = [], []
        for own in panels:
            first = np.argsort(ORDERS[name](own), kind="stable")[: max(1, round(share * len(own.wrong)))]
            wrong.append((own.family, own.wrong[first].mean()))
            found += [(own.family, own.wrong[first].sum() / own.wrong.sum())] if own.wrong.any() else []
        cells += f"{mean(wrong):>9.3f}{mean(found):>7.3f}"
    return f"{name:<40}{cells}"


def main() -> None:
    """Print both tables, and write them where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared-dir", type=Path, default=Path("../shared/data"))
    parser.add_argument("--side", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    chosen = [panel for panel in shared_panels(options.shared_dir) if side_of(panel.family) == options.side]
    panels = [judged(panel) for panel in track(chosen, "panels")]
    n_families = len({own.family for own in panels})
    lines = [
        f"python -m benchmarks.quality.review --side {options.side}: {len(panels)} panels of {n_families} families",
        "",
        f"{'':<24}{'share':>8}{'wrong':>8}{'believed':>12}{'panels':>9}",
        *(group_line(name, panels) for name in GROUPS),
        "",
        "wrong items by the confidence over those in truth: how many times as many, in panels from low to high",
        f"{'':<24}{'5%':>8}{'median':>8}{'95%':>8}{f'off {OFF:g}x':>12}{'panels':>9}",
        *(sum_line(name, panels) for name in ("all", "to review")),
        "",
        "the first items in an order: how many are wrong, and the part of all wrong answers that these are",
        f"{'':<40}" + "".join(f"{f'{share:.0%}':>9}{'found':>7}" for share in SHARES),
        *(order_line(name, panels) for name in ORDERS),
    ]
    print(*lines, sep="\n")
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
