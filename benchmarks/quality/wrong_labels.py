"""What labels that are wrong, or chosen badly, do to the answers to other items.

    python -m benchmarks.quality.wrong_labels -o results/wrong-labels

On each of 500 generated panels, of 2 to 10 classes and 2 to 20 members, `Consensus` learns from labels as people bring
them: some or all wrong, classes swapped, only mistakes that were noticed, one class only. Scored are the items
without labels, against the answer without labels: the mean change in points of accuracy, the worst, and how many panels
lose more than 5 points. Labels drawn at random and right are the control.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

import consilience as cs
from consilience.aggregators.consensus.consensus import rule_taught

Rng = np.random.Generator

MOST_LOST = 5.0
"""Points below the answer without labels that no panel may lose."""


class Case(NamedTuple):
    """A panel with its truth, and what Consensus finds in it without labels."""

    rows: np.ndarray  # (members, items, classes)
    truth: np.ndarray
    model: cs.Consensus
    answers: np.ndarray  # (items,): without labels

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.rows.shape[2]


def generated(seed: int) -> Case:
    """A panel of 2 to 20 members: of skill from chance to nearly perfect, who err alone or on the same hard items."""
    rng = np.random.default_rng([20, seed])
    n_classes, n_members = int(rng.integers(2, 11)), int(rng.integers(2, 21))
    n_items = int(np.exp(rng.uniform(np.log(150), np.log(1000))))
    shares = rng.dirichlet(np.full(n_classes, rng.choice([1.0, 5.0, 100.0])))
    truth = rng.choice(n_classes, size=n_items, p=shares)
    skill = rng.uniform(0.0, 1.0, size=(n_members, 1, 1)) * rng.uniform(1, 6)
    hard = rng.uniform(0, 1) * rng.normal(size=(1, n_items, n_classes))
    logits = skill * np.eye(n_classes)[truth] + hard + rng.normal(size=(n_members, n_items, n_classes))
    rows = softmax(rng.uniform(0.5, 4, size=(n_members, 1, 1)) * logits, axis=2)
    if rng.random() < 0.4:
        rows = np.eye(n_classes)[rows.argmax(axis=2)]
    model = cs.Consensus().fit(rows)
    return Case(rows, truth, model, np.asarray(model.posterior_).argmax(axis=1))


def wrong(truth: np.ndarray, n_classes: int, rng: Rng) -> np.ndarray:
    """Another class for each label."""
    return (truth + rng.integers(1, n_classes, size=len(truth))) % n_classes


def labels_of(case: Case, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The name of each way to label, the items, and their labels."""
    rng = np.random.default_rng([21, seed])
    order, n_classes = rng.permutation(len(case.truth)), case.n_classes
    ten = order[:10]
    for n_wrong in range(11):
        labels = case.truth[ten].copy()
        labels[:n_wrong] = wrong(labels[:n_wrong], n_classes, rng)
        yield f"{n_wrong} of 10 wrong" if n_wrong else "10 right", ten, labels
    yield "3 of 3 wrong", ten[:3], wrong(case.truth[ten[:3]], n_classes, rng)
    for count in (10, 30, 100):
        yield f"all {count} swapped", order[:count], (case.truth[order[:count]] + 1) % n_classes
    mistakes = np.flatnonzero(case.answers != case.truth)
    for count in (3, 10):
        yield f"the first {count} noticed mistakes", mistakes[:count], case.truth[mistakes[:count]]
    chosen = case.truth[ten[0]]
    alike = np.flatnonzero(case.truth == chosen)[:10]
    yield "ten of one class", alike, case.truth[alike]
    odd = np.append(alike[:9], np.flatnonzero(case.truth != chosen)[0])
    yield "nine of one class, one other", odd, case.truth[odd]
    yield "ten called one class", ten, np.full(10, chosen)
    for count in (20, 50, 100):
        yield f"{count} right", order[:count], case.truth[order[:count]]
    for count in (50, 100):
        labels = np.where(
            rng.random(count) < 0.2, wrong(case.truth[order[:count]], n_classes, rng), case.truth[order[:count]]
        )
        yield f"{count}, a fifth wrong", order[:count], labels


def changes(case: Case, seed: int) -> Iterator[tuple[str, float]]:
    """What each way to label changes in points of accuracy on the other items."""
    for name, items, labels in labels_of(case, seed):
        if len(items) == 0:
            continue
        rest = np.setdiff1d(np.arange(len(case.truth)), items)
        rule = rule_taught(case.model, case.rows[:, items], labels)
        answers = np.asarray(rule.posterior(case.model.aligned(case.rows))).argmax(axis=1)
        is_right, was_right = (given[rest] == case.truth[rest] for given in (answers, case.answers))
        yield name, 100 * float(is_right.mean() - was_right.mean())


def changes_of(seed: int) -> list[tuple[str, float]]:
    """All changes of one panel, without the warnings that most of these labels earn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(changes(generated(seed), seed))


def table(found: dict[str, list[float]]) -> str:
    """A row for each way to label."""
    lines = ["points of accuracy on the other items, against the answer without labels", HEADER]
    for name, values in found.items():
        n_lost = sum(value < -MOST_LOST for value in values)
        lines.append(f"{name:32} {len(values):6} {np.mean(values):+7.2f} {min(values):+7.1f} {n_lost:10}")
    return "\n".join(lines)


HEADER = f"{'labels':32} panels    mean   worst  5 or more"


def main() -> None:
    """Score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("-o", "--output", type=Path, help="without ending: .txt follows")
    options = parser.parse_args()
    found: dict[str, list[float]] = defaultdict(list)
    seeds = range(options.first, options.first + options.panels)
    with ProcessPoolExecutor(options.jobs) as pool:
        for seed, changed in zip(seeds, pool.map(changes_of, seeds), strict=True):
            print(f"\r{seed}", end="", file=sys.stderr, flush=True)
            for name, value in changed:
                found[name].append(value)
    print(file=sys.stderr)
    text = table(found)
    print(text)
    if options.output is not None:
        options.output.with_suffix(".txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
