"""What labels are for: each use says what came out, and what must come out of the panel without names."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

import consilience as cs
from consilience.metrics.scores import score
from consilience.system.arrays import to_numpy

from doors.verdict import TOLERANCE, Answer, assert_same_answer, assert_same_scores, text

METHODS = {
    "average": cs.Average(),
    "vote": cs.MajorityVote(),
    "dawid-skene": cs.DawidSkene(max_iter=4, tol=None),
    "bcc": cs.BayesianClassifierCombination(max_iter=4, tol=None),
    "sds": cs.SoftDawidSkene(max_iter=4),
    "consensus": cs.Consensus(),
}


def fitted(method, predictions, labels=None):
    return clone(METHODS[method]).fit(predictions, labels)


def posterior(method, panel, labels=None):
    """What the panel must be answered, by the plainest way in: without names."""
    return np.asarray(to_numpy(fitted(method, panel.predictions(), labels).posterior_))


def scores(method, panel):
    """How a panel's answers must score; a tie goes to the first class, so accuracy then depends on their order."""
    rows = posterior(method, panel)[panel.is_known]
    found = score(rows, panel.truth[panel.is_known])
    has_ties = bool((np.diff(np.sort(rows, axis=1)[:, -2:], axis=1) <= TOLERANCE).any())
    return {name: found[name] for name in (("nll", "brier") if has_ties else ("accuracy", "nll", "brier"))}


def named_answer(rows, predictions, named):
    """An answer to predictions that came by a door which lets these names in."""
    items = predictions.items if "items" in named else None
    return Answer(rows, items, predictions.classes if "classes" in named else None)


class Uses:
    """All that takes labels; each method ends in an assertion, or raises what refuses the labels."""

    def __init__(self, panel, shown, predictions, named):
        self.panel, self.shown, self.predictions, self.named = panel, shown, predictions, named

    def fit(self, labels, method="dawid-skene"):
        rows = fitted(method, self.predictions, labels).posterior_
        expected = posterior(method, self.panel, self.panel.known)
        assert_same_answer(named_answer(rows, self.predictions, self.named), self.shown, self.panel, expected)

    def compare(self, labels):
        table = cs.compare(self.predictions, labels, aggregators={"average": cs.Average()})
        assert_same_scores({name: table[name][0] for name in table.columns}, scores("average", self.panel))

    def evaluate_frame(self, labels, library="pandas"):
        frame = fitted("average", self.predictions).posterior_frame(library)
        found = cs.evaluate(frame, labels, n_bootstrap=0)
        assert_same_scores({name: estimate.value for name, estimate in found.items()}, scores("average", self.panel))

    def evaluate_array(self, labels):
        rows = to_numpy(fitted("average", self.predictions).posterior_)
        classes = self.predictions.classes if "classes" in self.named else None
        found = cs.evaluate(rows, labels, classes=classes, n_bootstrap=0)
        assert_same_scores({name: estimate.value for name, estimate in found.items()}, scores("average", self.panel))

    def value_of_labels(self, labels):
        found = cs.value_of_labels(self.predictions, labels, n_folds=2)
        assert found.n_labels == self.panel.is_known.sum()
        assert_same_scores(found.before, scores("consensus", self.panel))

    def suggest(self, labels):
        """Asked for more items than there are, it suggests all whose label is unknown."""
        found = cs.suggest(self.predictions, labels, n=1000, aggregator=cs.Average())
        rows = [(row.item, row.answer, row.probability) for row in found]
        self.assert_suggested(rows)

    def assert_suggested(self, rows):
        """Exactly the unknown items, with the answers so far: (item, class, probability)."""
        expected = posterior("average", self.panel)
        # Behind a door without names "2" and "2.0" are two items or classes; behind the others they are refused.
        plain, plain_class = (text if axis in self.named else str for axis in ("items", "classes"))
        item_names = dict(zip(map(plain, self.panel.items), range(len(self.panel.items)), strict=True))
        found = {}
        for item, answer, probability in rows:
            name = item if "items" in self.named else self.shown.items[int(item)]
            label = answer if "classes" in self.named else self.shown.classes[int(answer)]
            found[item_names[plain(name)]] = (plain_class(label), probability)
        assert sorted(found) == np.flatnonzero(~self.panel.is_known).tolist()
        classes = [plain_class(name) for name in self.panel.classes]
        for place, (label, probability) in found.items():
            assert abs(probability - expected[place].max()) <= TOLERANCE
            assert abs(probability - expected[place][classes.index(label)]) <= TOLERANCE
