"""Every check of `consilience.insight.checks` × every aggregator, and that the checks can fail."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.majority_vote import MajorityVote
from consilience.answering.rule import Rule
from consilience.insight.checks import CHECKS

AGGREGATORS = {
    "average": cs.Average(),
    "geometric": cs.Average(kind="geometric"),
    "vote": cs.MajorityVote(),
    "dawid-skene": cs.DawidSkene(),
    "dawid-skene, no smoothing": cs.DawidSkene(smoothing=0, max_iter=20, tol=None),
    "dawid-skene, uniform prior": cs.DawidSkene(class_prior="uniform"),
    "bcc": cs.BayesianClassifierCombination(),
    "consensus": cs.Consensus(),
    "sds": cs.SoftDawidSkene(),
    "sds, no smoothing": cs.SoftDawidSkene(init_smoothing=0),
    "sds, exact": cs.SoftDawidSkene(solver="exact", averaging={0: 0, 1: 1}, max_iter=2),
    "sds, imagenet": cs.SoftDawidSkene.paper("imagenet"),
    "sds, fixed prior": cs.SoftDawidSkene(class_prior="uniform", max_iter=10),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", AGGREGATORS)
def test_check(name, check, seed):
    check(AGGREGATORS[name], np.random.default_rng(seed))


class FirstMemberOnly(cs.Average.__mro__[1]):
    """A method that breaks a promise: the order of members matters."""

    def rule(self, predictions):
        weights = np.full(predictions.n_members, 1e-9)
        weights[0] = 1
        return Rule(0.0, None, weights)


class Overconfident(cs.Average.__mro__[1]):
    """A method that breaks another: its rows do not sum to 1."""

    def rule(self, predictions):
        return Rule(0.0, None, np.ones(predictions.n_members))

    def _posterior(self, predictions):
        return 2 * super()._posterior(predictions)


def test_the_checks_can_fail():
    assert len(cs.check_aggregator(MajorityVote())) == len(CHECKS)
    with pytest.raises(AssertionError) as failure:
        cs.check_aggregator(FirstMemberOnly())
    assert failure.value.__notes__ == ["FirstMemberOnly must have this property: The order of members does not matter."]
    with pytest.raises(AssertionError):
        cs.check_aggregator(Overconfident())
