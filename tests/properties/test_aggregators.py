"""Every check of `consilience.insight.checks` × every aggregator, and that the checks can fail."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.pooling import AbstractPool
from consilience.answering.linear import LinearRule
from consilience.insight.checks import CHECKS, DoesNotApplyError

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
    try:
        check(AGGREGATORS[name], np.random.default_rng(seed))
    except DoesNotApplyError:
        is_pool = name in ("average", "geometric", "vote")
        assert is_pool or check.__name__ == "check_objective_never_falls"


class FirstMemberOnly(AbstractPool):
    """A method that breaks a promise: the order of members matters."""

    def _rule(self, n_members):
        weights = np.full(n_members, 1e-9)
        weights[0] = 1
        return LinearRule(weights, np.zeros(n_members, dtype=bool))


class Overconfident(AbstractPool):
    """A method that breaks another: its rows do not sum to 1."""

    def _rule(self, n_members):
        return LinearRule(np.full(n_members, 1.0), np.zeros(n_members, dtype=bool))

    def predict_proba(self, predictions):
        return 2 * super().predict_proba(predictions)


def test_the_checks_can_fail():
    assert len(cs.check_aggregator(cs.DawidSkene())) == len(CHECKS)
    with pytest.raises(AssertionError) as failure:
        cs.check_aggregator(FirstMemberOnly())
    assert failure.value.__notes__ == ["FirstMemberOnly must have this property: The order of members does not matter."]
    with pytest.raises(AssertionError):
        cs.check_aggregator(Overconfident())


def test_checks_that_do_not_apply_are_not_said_to_have_run():
    ran = cs.check_aggregator(cs.MajorityVote())
    assert len(ran) == len(CHECKS) - 2
    assert not {"chunks", "objective_never_falls"} & set(ran)
