"""The checks can fail, say what does not hold, and are not counted where they have nothing to check."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators import registry
from consilience.aggregators.pooling import AbstractPool
from consilience.answering.linear import LinearRule
from consilience.insight.checks import CHECKS, check_aggregator


class Plain(AbstractPool):
    """An average, for others to spoil."""

    def _rule(self, n_members):
        return LinearRule(np.ones(n_members), np.zeros(n_members, dtype=bool))


class FirstMemberOnly(Plain):
    def _rule(self, n_members):
        return LinearRule(np.array([1.0] + [1e-9] * (n_members - 1)), np.zeros(n_members, dtype=bool))


class TwiceAsSure(Plain):
    def predict_proba(self, predictions):
        return 2 * super().predict_proba(predictions)


class Writes(Plain):
    def _fit(self, predictions, known):
        predictions.soft[0].rows[0] = 1 / 3
        return super()._fit(predictions, known)


class CountsItemsOnce(Plain):
    def _partial_fit(self, predictions, known):
        return super()._partial_fit(predictions, known)._replace(statistics=self.statistics_)


class ForgetsLabels(Plain):
    def _known(self, *_):
        return None


class LooksAround(Plain):
    """Answers new items by where they stand among the others."""

    def predict_proba(self, predictions):
        rows = super().predict_proba(predictions)
        return rows if len(rows) == 1 else rows[::-1]


BROKEN = {
    FirstMemberOnly: "The order of members does not matter.",
    TwiceAsSure: "Posteriors of fitted and of new items are probabilities",
    Writes: "Neither fit nor predict writes to the arrays it is given",
    CountsItemsOnce: "`partial_fit` starts like `fit`, takes any number of batches, and counts their items.",
    ForgetsLabels: "Known labels are kept",
    LooksAround: "A new item's posterior does not depend on the items that come with it.",
}


@pytest.fixture(scope="module", autouse=True)
def _gone_afterwards():
    yield
    for kind in (Plain, *BROKEN):
        registry._DEFINED.pop(kind.__name__, None)


def test_a_plain_method_passes():
    assert len(check_aggregator(Plain())) == len(CHECKS) - 2


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_promise_is_named(kind):
    with pytest.raises(AssertionError) as failure:
        check_aggregator(kind())
    assert failure.value.__notes__[0].startswith(f"{kind.__name__} must have this property: {BROKEN[kind]}")


@pytest.mark.parametrize(
    ("method", "skipped"),
    [
        (cs.MajorityVote(), {"chunks", "objective_never_falls"}),
        (cs.SoftDawidSkene(max_iter=5), {"objective_never_falls"}),
        (cs.DawidSkene(smoothing=0, max_iter=20, tol=None), set()),
        (cs.DawidSkene(), {"statistics_add_up"}),  # a prior weighs less beside more items
        (cs.BayesianClassifierCombination(), {"statistics_add_up"}),
    ],
    ids=repr,
)
def test_checks_that_do_not_apply_are_not_said_to_have_run(method, skipped):
    names = {check.__name__.removeprefix("check_") for check in CHECKS}
    ran = check_aggregator(method)
    assert names - set(ran) == skipped and len(ran) == len(set(ran))


def test_every_property_is_said():
    assert all(check.__doc__ and check.__doc__.strip().endswith(".") for check in CHECKS)


def test_an_aggregator_is_expected():
    for wrong, got in (("x", "got str"), (cs.Average, "got the class Average")):
        with pytest.raises(ValueError, match=f"aggregator must be one of consilience's, such as Consensus.*; {got}"):
            check_aggregator(wrong)
