"""What was tried: each row changes one thing, and is examined on the families that its networks have not seen.

    python -m training.ablation --work-dir WORK [--rows NAME ...] [-o results/learned-ablation]

It needs the features that `python -m training` has kept in the work directory. Rows are trained with one network of few
steps, so that they can be compared with the first row and not with the shipped weights; a seed moves a row by about
.2 points and 2 % of NLL, which the rows "again" show. Rows are printed and written as they come.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.quality.methods import YARDSTICK
from benchmarks.quality.run import Row
from benchmarks.quality.scores import change
from consilience.answering.learned.features import NAMES
from training.crossfit import HALF, LEARNED, crossfit, examine, folds_of
from training.fit import Recipe
from training.panels import Lesson, features_folder, read_lessons

BASE = Recipe(steps=1500, networks=1)

KINDS = ("as it is", "votes", "uneven", "rare")

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
    return Trial(replace(BASE, left_out=tuple(name for name in NAMES if any(word in name for word in words))))


def is_generated(lesson: Lesson) -> bool:
    """Whether the panel was made by a generator."""
    return lesson.family.startswith("generated")


TRIALS = {
    "one network of 32, 1,500 steps": Trial(),
    "again, another seed": Trial(seed=10),
    "again, a third seed": Trial(seed=20),
    "two networks": Trial(replace(BASE, networks=2)),
    "half with the average": Trial(method=HALF),
    "16 hidden": Trial(replace(BASE, hidden=16)),
    "96 hidden": Trial(replace(BASE, hidden=96)),
    "4,000 steps": Trial(replace(BASE, steps=4000)),
    "risk 0": Trial(replace(BASE, risk=0.0)),
    "risk 4": Trial(replace(BASE, risk=4.0)),
    "without the weighted average": without("weighted"),
    "without translation": without("translation"),
    "without agreement beyond skill": without("beyond skill"),
    "without shares of votes": without("share of votes", "shares of votes", "votes against", "top of votes"),
    "without traits of classes": without("class: s", "class: a", "class: m"),
    "without traits of the panel": without("panel: "),
    "without features of the item": without("item: "),
    "an eighth of the generated panels": Trial(keeps=lambda n, one: not is_generated(one) or n % 8 == 0),
    "half of the generated panels": Trial(keeps=lambda n, one: not is_generated(one) or n % 2 == 0),
    "no generated panels": Trial(keeps=lambda _, one: not is_generated(one)),
    "no real panels": Trial(keeps=lambda _, one: is_generated(one)),
    "real panels of our own members alone": Trial(keeps=lambda _, one: is_generated(one) or one.family in OURS),
    "no generated rare classes": Trial(keeps=lambda _, one: one.family != "generated rare"),
    "no generated labelling functions": Trial(keeps=lambda _, one: one.family != "generated functions"),
    "no generated judges": Trial(keeps=lambda _, one: one.family != "generated judges"),
    "no generated crowds": Trial(keeps=lambda _, one: one.family != "generated crowd"),
    "no trained members": Trial(keeps=lambda _, one: one.family != "generated trained"),
}


def line(name: str, rows: Iterable[Row], method: str) -> str:
    """Points, NLL and Brier score by kind, every family counting the same."""
    pairs: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        pairs[row["panel"]][row["method"]] = row
    cells = [_mean([pair for pair in pairs.values() if pair[method]["kind"] == kind], method) for kind in KINDS]
    return f"{name:40}" + "".join(f"{cell:24}" for cell in [*cells, _mean(list(pairs.values()), method)])


def _mean(pairs: list[dict[str, Row]], method: str) -> str:
    by_family: dict[str, list[list[float]]] = defaultdict(list)
    for pair in pairs:
        changes = [
            change(pair[method][metric], pair[YARDSTICK][metric], metric) for metric in ("accuracy", "nll", "brier")
        ]
        by_family[pair[method]["family"]].append(changes)
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
    folds = folds_of(lesson.family for lesson in lessons if not is_generated(lesson))
    title = f"{'points, NLL ×, Brier × averaging':40}" + "".join(f"{kind:24}" for kind in (*KINDS, "all four"))
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
