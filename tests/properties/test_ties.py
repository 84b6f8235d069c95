"""Where classes are tied, no order decides: classes, members or items in another order have the same answers.

The panels have exact ties on most items: percentages that are rounded, rows of 50/50, flat rows, as many votes for one
class as for another.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import consilience as cs
from consilience.system.arrays import to_numpy

from generated_panels import generated

# Few iterations: a panel in balance may tip over by rounding alone, if there are enough to carry it on.
AGGREGATORS = {
    "average": cs.Average(),
    "geometric": cs.Average(kind="geometric"),
    "vote": cs.MajorityVote(),
    "dawid-skene": cs.DawidSkene(max_iter=4, tol=None),
    "dawid-skene, informative": cs.DawidSkene(max_iter=4, tol=None, missing="informative"),
    "dawid-skene, no smoothing": cs.DawidSkene(max_iter=2, tol=None, smoothing=0),
    "bcc": cs.BayesianClassifierCombination(max_iter=4, tol=None),
    "consensus": cs.Consensus(),
    "consensus, even": cs.Consensus(class_shares="even"),
    "sds": cs.SoftDawidSkene(max_iter=6),
    "sds, started by Dawid-Skene": cs.SoftDawidSkene(max_iter=6, init_iterations=1, averaging=0.1),
}
every_aggregator = pytest.mark.parametrize("name", AGGREGATORS)
TOLERANCE = 1e-7


@dataclass(frozen=True)
class Tied:
    """Members (members, items, classes) who often cannot decide."""

    n_members: int
    n_items: int
    n_classes: int
    kind: str
    missing: float
    seed: int

    @property
    def rng(self):
        return np.random.default_rng([self.seed, 1])

    def array(self):
        rng = np.random.default_rng(self.seed)
        shape = (self.n_members, self.n_items, self.n_classes)
        truth = rng.integers(self.n_classes, size=self.n_items)
        values = rng.dirichlet(np.ones(self.n_classes), size=shape[:2]) + np.eye(self.n_classes)[truth]
        if self.kind == "rounded":
            values = np.round(values, 1) + 1e-3
        if self.kind == "halves":  # two classes share the probability, often the same two for all members
            values = np.zeros(shape)
            for item in range(self.n_items):
                pair = rng.permutation(self.n_classes)[:2]
                values[:, item, pair] = 0.5
            own = rng.random(shape[:2]) < 0.5
            values[own] = np.eye(self.n_classes)[np.where(rng.random(own.sum()) < 0.7, np.nonzero(own)[1] % 2, 0)]
        if self.kind == "flat":
            values[rng.random(shape[:2]) < 0.6] = 1.0
        if self.kind == "balanced votes":  # half of the members say one class, half another
            values = np.eye(self.n_classes)[(truth[None, :] + np.arange(self.n_members)[:, None]) % 2]
        values = values / values.sum(axis=2, keepdims=True)
        values[:, 0] = 1 / self.n_classes  # one item of which nobody says anything
        if self.n_members > 1:
            values[0, rng.random(self.n_items) < self.missing] = np.nan
        return values


KINDS = ("rounded", "halves", "flat", "balanced votes")


def tied_panels(least_classes=2):
    return st.builds(
        Tied,
        st.integers(1, 6),
        st.integers(2, 30),
        st.integers(least_classes, 5),
        st.sampled_from(KINDS),
        st.sampled_from([0.0, 0.3]),
        st.integers(0, 2**32),
    )


def answers(name, array, new):
    """The answers to the items of a fit, and to other items."""
    model = clone(AGGREGATORS[name]).fit(array)
    return [np.asarray(to_numpy(rows), dtype=np.float64) for rows in (model.posterior_, model.predict_proba(new))]


def assert_same(these, those):
    for one, other in zip(these, those, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("kind", KINDS)
@every_aggregator
@generated
@given(panel=tied_panels())
def test_classes_in_another_order_have_the_same_answers(name, kind, panel):
    panel = Tied(panel.n_members, panel.n_items, panel.n_classes, kind, panel.missing, panel.seed)
    array, order = panel.array(), panel.rng.permutation(panel.n_classes)
    new = array[:, ::-1]
    expected = [rows[:, order] for rows in answers(name, array, new)]
    assert_same(answers(name, array[:, :, order], new[:, :, order]), expected)


@every_aggregator
@generated
@given(panel=tied_panels())
def test_members_in_another_order_have_the_same_answers(name, panel):
    array, order = panel.array(), panel.rng.permutation(panel.n_members)
    new = array[:, ::-1]
    assert_same(answers(name, array[order], new[order]), answers(name, array, new))


@every_aggregator
@generated
@given(panel=tied_panels())
def test_items_in_another_order_have_the_same_answers(name, panel):
    array, order = panel.array(), panel.rng.permutation(panel.n_items)
    expected = [rows[order] for rows in answers(name, array, array)]
    assert_same(answers(name, array[:, order], array[:, order]), expected)


@every_aggregator
@generated
@given(panel=tied_panels())
def test_a_stream_of_undecided_answers_has_no_first_class(name, panel):
    array, order = panel.array(), panel.rng.permutation(panel.n_classes)

    def streamed(batches):
        model = clone(AGGREGATORS[name])
        for batch in batches:
            model.partial_fit(batch)
        return [np.asarray(model.posterior_), np.asarray(model.predict_proba(batches[0]))]

    batches = [array, array[:, : panel.n_items // 2 + 1]]
    expected = [rows[:, order] for rows in streamed(batches)]
    assert_same(streamed([batch[:, :, order] for batch in batches]), expected)


@every_aggregator
def test_answers_do_not_depend_on_which_class_is_called_first(name):
    """The tests above notice a class that wins because it is listed first: here it does in a panel in balance."""
    array = np.full((4, 10, 2), 0.5)
    array[:, :2], array[:, 2:4] = [0.9, 0.1], [0.1, 0.9]
    posterior = np.asarray(clone(AGGREGATORS[name]).fit(array).posterior_)
    np.testing.assert_allclose(posterior[4:], 0.5, atol=TOLERANCE)


def test_the_papers_start_gives_ties_to_the_class_that_is_listed_first():
    array = np.full((4, 10, 2), 0.5)
    array[:, :2], array[:, 2:4] = [0.9, 0.1], [0.1, 0.9]
    paper = cs.SoftDawidSkene.paper("mnist")
    assert paper.init_ties == "first"
    assert np.abs(paper.fit_predict_proba(array)[4:] - 0.5).max() > 1000 * TOLERANCE
