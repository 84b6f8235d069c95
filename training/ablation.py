"""What was tried: each row changes one thing, and is examined on the families that its networks have not seen.

    python -m training.ablation --work-dir WORK [--rows NAME ...] [-o results/learned-ablation]

It needs the features that `python -m training` has kept in the work directory. Rows are trained with one network of few
steps, each time with half of the families left out, so that they can be compared with the first row and not with the
shipped weights; a seed moves a row by about .3 points and 2 % of NLL, which the rows "again" show. The rows "uneven
kinds" are the frontier: how much of the generated panels are of the kinds *shifted* and *dominated* decides what
balanced panels gain and uneven ones lose. Rows are printed and written as they come.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.quality.jobs import BESIDE_KINDS
from benchmarks.quality.methods import YARDSTICK
from benchmarks.quality.run import Row
from benchmarks.quality.scores import change
from consilience.aggregators.consensus.learned.experts import FEATURE_NAMES
from training.crossfit import HALF, LEARNED, crossfit, examine, folds_of
from training.fit import Recipe
from training.panels import Lesson, features_folder, read_lessons

BASE = Recipe(steps=1500, networks=1)

N_FOLDS = 2

KINDS = ("as it is", "votes", "uneven", "rare")

LARGE = 200
"""Panels of fewer items may lose by chance."""

OURS = ("mnist", "cifar10", "digits", "tables")
"""The families of our own networks and tables, which need no folder of real panels."""


@dataclass(frozen=True)
class Trial:
    """One thing that is changed."""

    recipe: Recipe = BASE
    keeps: Callable[[int, Lesson], bool] = lambda _, __: True  # which lessons are learned from
    seed: int = 0
    method: str = LEARNED


def without(*words: str) -> Trial:
    """No feature whose name has one of these words."""
    return Trial(replace(BASE, left_out=tuple(name for name in FEATURE_NAMES if any(word in name for word in words))))


def is_generated(lesson: Lesson) -> bool:
    """Whether the panel was made by a generator."""
    return lesson.family.startswith("generated")


TRIALS = {
    "one network, 1,500 steps": Trial(),
    "again, another seed": Trial(seed=10),
    "uneven kinds 0 %": Trial(replace(BASE, uneven=0.0)),
    "uneven kinds 3 %": Trial(replace(BASE, uneven=0.03)),
    "uneven kinds 20 %": Trial(replace(BASE, uneven=0.2)),
    "without members' evidence": Trial(replace(BASE, has_members=False)),
    "without combination": without("combination"),
    "without re-estimated shares": without("re-estimated"),
    "without the members' range of shares": without("share of a member", "outside of members"),
    "without excess agreement": without("excess agreement", "likeness of members"),
    "without translation": without("translation"),
    "without the weighted average": without("weighted"),
    "without traits of the panel": without("panel: "),
    "without traits of classes": without("class: s", "class: a", "class: m", "class: l"),
    "32 hidden": Trial(replace(BASE, hidden=32)),
    "risk 1": Trial(replace(BASE, risk=1.0)),
    "half with the average": Trial(method=HALF),
    "two networks": Trial(replace(BASE, networks=2)),
    "4,000 steps": Trial(replace(BASE, steps=4000)),
    "shares never stated": Trial(replace(BASE, stated=0.0)),
    "no generated panels": Trial(keeps=lambda _, one: not is_generated(one)),
    "no real panels": Trial(keeps=lambda _, one: is_generated(one)),
    "real panels of our own members alone": Trial(keeps=lambda _, one: is_generated(one) or one.family in OURS),
}


def line(name: str, rows: Iterable[Row], method: str) -> str:
    """Points, NLL and Brier score by kind, every family counting the same, and the worst panel of 200 items or more."""
    pairs: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        pairs[row["panel"]][row["method"]] = row
    groups: dict[str, list[dict[str, Row]]] = defaultdict(list)
    for pair in pairs.values():
        about = pair[YARDSTICK]
        is_generated_one = about["family"].startswith("generated")
        groups[about["family"].removeprefix("generated ") if is_generated_one else about["kind"]].append(pair)
    real = [pair for kind in KINDS for pair in groups[kind]]
    large = [pair for pair in real if pair[YARDSTICK]["items"] >= LARGE]
    worst = min(_changes(pair, method)[0] for pair in large) if large else np.nan
    cells = [_mean(groups[kind], method) for kind in (*KINDS, *BESIDE_KINDS)]
    return f"{name:38}{worst:+6.1f}  " + "".join(f"{cell:22}" for cell in [_mean(real, method), *cells])


def _changes(pair: dict[str, Row], method: str) -> list[float]:
    return [change(pair[method][metric], pair[YARDSTICK][metric], metric) for metric in ("accuracy", "nll", "brier")]


def _mean(pairs: list[dict[str, Row]], method: str) -> str:
    by_family: dict[str, list[list[float]]] = defaultdict(list)
    for pair in pairs:
        by_family[pair[YARDSTICK]["family"]].append(_changes(pair, method))
    if not by_family:
        return ""
    points, nll, brier = np.mean([np.mean(changes, axis=0) for changes in by_family.values()], axis=0)
    return f"{points:+.2f}  {np.exp(nll):.3f}  {np.exp(brier):.3f}"


def main() -> None:
    """Train and examine each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work-dir", type=Path, required=True, help="of python -m training")
    parser.add_argument("--rows", nargs="+", choices=list(TRIALS), default=list(TRIALS), help="some of the rows")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt follows; rows are added to it")
    options = parser.parse_args()
    folder = features_folder(options.work_dir)
    lessons = read_lessons([*sorted(folder.glob("generated/*.npz")), *sorted(folder.glob("drawn/*.npz"))])
    if not lessons:
        parser.error(f"there are no features in {folder}: run python -m training first")
    exams = [path for path in sorted(folder.glob("exams/[!o]*.npz")) if _kind_of(path) in KINDS]  # not the user's own
    exams += sorted(folder.glob("generated exams/*.npz"))
    folds = folds_of((lesson.family for lesson in lessons if not is_generated(lesson)), N_FOLDS)
    columns = ("these four", *KINDS, *BESIDE_KINDS)
    title = f"{'points, NLL ×, Brier × averaging':38} worst  " + "".join(f"{column:22}" for column in columns)
    _show(title, options.output)
    for name in options.rows:
        trial = TRIALS[name]
        kept = [lesson for number, lesson in enumerate(lessons) if trial.keeps(number, lesson)]
        trained = crossfit(kept, folds, trial.recipe, seed=trial.seed, n_processes=options.jobs)
        _show(line(name, examine(exams, trained), trial.method), options.output)


def _kind_of(path: Path) -> str:
    parts = path.stem.split("~")
    return "as it is" if len(parts) == 1 else parts[1].replace("-", " ")


def _show(text: str, output: Path | None) -> None:
    print(text, flush=True)
    if output:
        with output.with_suffix(".txt").open("a", encoding="utf-8") as file:
            file.write(text.rstrip() + "\n")


if __name__ == "__main__":
    main()
