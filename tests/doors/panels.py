"""Panels whose members, items and classes have names of every sort, in every order."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

import consilience as cs

from generated_panels import generated


class Names(NamedTuple):
    """Names of one sort: some that are easily misread, and as many ordinary ones as are wanted."""

    odd: tuple[str, ...]
    usual: str  # a format of numbers
    may_be_refused: bool = False

    def draw(self, n, rng):
        odd = rng.permutation(self.odd)[: rng.integers(1, n + 1)].tolist() if self.odd else []
        usual = (self.usual.format(number) for number in range(2 * n + len(self.odd)))
        return list(dict.fromkeys([*odd, *usual]))[:n]


NAMES = {
    "words": Names((), "w{}"),
    "numbers from 0": Names((), "{}"),
    "numbers from 10": Names((), "1{}"),
    "open numbers": Names(("3+", "<1", "10-19"), "{}"),
    "versions": Names(("1.1", "1.10", "1.100", "2.0", "1.01"), "1.{}"),
    "padded": Names(("007", "07", "7", "0", "00"), "00{}"),
    "models": Names(("gpt-4.1", "gpt-4.10", "o1 (2024.12)"), "m.{}"),
    "like missing": Names(("NA", "nan", "NaN", "None", "null", "N/A", "-1"), "w{}", may_be_refused=True),
    "formulas": Names(("=x", "+1", "-1", "@y", "'=x", "''=x", "'"), "w{}", may_be_refused=True),
    "spaced": Names((" a", "a", "a ", "A", "a b"), "w{}", may_be_refused=True),
    "empty": Names(("",), "w{}", may_be_refused=True),
    "headers": Names(("item", "label", "member", "task", "index", "Unnamed: 0"), "w{}", may_be_refused=True),
    "like numbers": Names(
        ("1e3", "1000", "1_000", "inf", "True", "2.0", "2", "0x1", "1,5"), "w{}", may_be_refused=True
    ),
}
AXES = ("members", "items", "classes")
cases = settings(generated, max_examples=int(os.environ.get("CONSILIENCE_CASES", "2")))
"""How many panels each pair of doors is shown."""

KINDS = ("soft", "hard", "mixed")


@dataclass(frozen=True, eq=False)
class Panel:
    """What each member says of each item, with the truth, all of it by name."""

    members: list[str]
    items: list[str]
    classes: list[str]
    answers: np.ndarray  # (members, items, classes): labels are one-hot, a row of NaN is missing
    is_hard: np.ndarray  # (members,)
    truth: np.ndarray  # (items,), positions of classes
    is_known: np.ndarray  # (items,): what the labels say
    may_be_refused: bool
    sorts: tuple[str, ...]  # of names, to print
    seed: int

    def __repr__(self):
        kind = "hard" if self.is_hard.all() else "mixed" if self.is_hard.any() else "soft"
        names = ", ".join(f"{axis} {getattr(self, axis)}" for axis in AXES)
        return f"Panel({kind}, {'×'.join(map(str, self.answers.shape))}, seed {self.seed}; {names})"

    @property
    def rng(self):
        return np.random.default_rng([self.seed, 7])

    @property
    def votes(self):
        """Labels (members, items) as positions of classes, -1 where missing."""
        return np.where(np.isnan(self.answers[:, :, 0]), -1, np.nan_to_num(self.answers).argmax(axis=2))

    @property
    def known(self):
        """Known labels as positions of classes, -1 where unknown."""
        return np.where(self.is_known, self.truth, -1)

    def rearranged(self, members, items, classes):
        """The same panel with its members, items and classes in another order."""
        return replace(
            self,
            members=[self.members[place] for place in members],
            items=[self.items[place] for place in items],
            classes=[self.classes[place] for place in classes],
            answers=self.answers[members][:, items][:, :, classes],
            is_hard=self.is_hard[members],
            truth=np.argsort(classes)[self.truth[items]],
            is_known=self.is_known[items],
        )

    def shuffled(self, seed=0):
        """The same panel in an order that depends on the seed."""
        rng = np.random.default_rng([self.seed, 8, seed])
        return self.rearranged(*(rng.permutation(size) for size in self.answers.shape))

    def predictions(self):
        """The panel without names, by the plainest way in."""
        parts = []
        if self.is_hard.any():
            parts.append(cs.Predictions.from_labels(self.votes[self.is_hard], len(self.classes), partial=True))
        if not self.is_hard.all():
            parts.append(cs.Predictions(self.answers[~self.is_hard], partial=True))
        return parts[0] if len(parts) == 1 else cs.Predictions.concatenate(parts)


def panels(kinds=KINDS):
    """Panels in which each class is said, each item is answered, and each member answers."""
    sorts = st.sampled_from(list(NAMES))
    return st.builds(
        _panel,
        st.tuples(st.integers(2, 5), st.integers(5, 16), st.integers(2, 4)),
        st.tuples(sorts, sorts, sorts),
        st.sampled_from(kinds),
        st.sampled_from([0.0, 0.3]),
        st.integers(0, 2**32),
    )


def _panel(shape, sorts, kind, missing, seed):
    rng = np.random.default_rng(seed)
    n_members, n_items, n_classes = shape
    truth = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_items - n_classes)])
    logits = rng.uniform(0, 3, size=(n_members, 1, 1)) * np.eye(n_classes)[truth] + rng.normal(size=shape)
    is_hard = np.arange(n_members) < {"soft": 0, "hard": n_members, "mixed": n_members // 2}[kind]
    logits[0] += 20 * np.eye(n_classes)[truth]  # the first member says every class
    answers = np.exp(np.minimum(logits, 8))
    answers /= answers.sum(axis=2, keepdims=True)
    answers[is_hard] = np.eye(n_classes)[answers[is_hard].argmax(axis=2)]
    is_silent = rng.random(shape[:2]) < missing
    is_silent[0] = is_silent[:, 0] = is_silent[-1] = False
    answers[is_silent] = np.nan
    is_known = rng.random(n_items) < 0.5
    is_known[:2] = True
    names = [NAMES[sort].draw(size, rng) for sort, size in zip(sorts, shape, strict=True)]
    # An array with as many members as items may stand either way.
    may_be_refused = n_members == n_items or any(NAMES[sort].may_be_refused for sort in sorts)
    made = Panel(*names, answers, is_hard, truth, is_known, may_be_refused, sorts, seed)
    if sorts[2] == "versions" and any(len(set(own)) == len(own) for own in (row[row >= 0] for row in made.votes)):
        made = replace(made, may_be_refused=True)  # fractions that somebody never gives twice may be measurements
    return made.shuffled(1)
