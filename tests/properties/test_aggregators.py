"""Every check of `consilience.aggregators.checks` × every aggregator."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.checks import CHECKS, DoesNotApplyError

AGGREGATORS = {
    "average": cs.Average(),
    "geometric": cs.Average(kind="geometric"),
    "vote": cs.MajorityVote(),
    "dawid-skene": cs.DawidSkene(),
    "dawid-skene, no smoothing": cs.DawidSkene(smoothing=0, max_iter=20, tol=None),
    "dawid-skene, uniform prior": cs.DawidSkene(class_prior="uniform"),
    "bcc": cs.BayesianClassifierCombination(),
    "consensus": cs.Consensus(),
    "consensus, class shares": cs.Consensus(class_shares=[1 / 3, 1 / 3, 1 / 3]),
    "consensus, counts": cs.Consensus(class_shares=[20, 20, 20]),
    "consensus, even": cs.Consensus(class_shares="even"),
    "sds": cs.SoftDawidSkene(),
    "sds, no smoothing": cs.SoftDawidSkene(init_smoothing=0),
    "sds, exact": cs.SoftDawidSkene(solver="exact", averaging={0: 0, 1: 1}, max_iter=2),
    "sds, imagenet": cs.SoftDawidSkene.paper("imagenet"),
    "sds, fixed prior": cs.SoftDawidSkene(class_prior="uniform", max_iter=10),
}

POOL = {"check_objective_never_falls", "check_chunks"}
PRIOR = {"check_statistics_add_up"}  # which weighs less beside more items
SKIPPED = {
    "average": POOL,
    "geometric": POOL,
    "vote": POOL,
    "dawid-skene": PRIOR,
    "dawid-skene, no smoothing": set(),
    "dawid-skene, uniform prior": PRIOR,
    "bcc": PRIOR,
    "consensus": PRIOR | {"check_objective_never_falls"},
    "consensus, class shares": PRIOR | {"check_objective_never_falls"},
    "consensus, counts": PRIOR | {"check_objective_never_falls"},
    "consensus, even": PRIOR | {"check_objective_never_falls"},
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", AGGREGATORS)
def test_check(name, check, seed):
    try:
        check(AGGREGATORS[name], np.random.default_rng(seed))
    except DoesNotApplyError:
        assert check.__name__ in SKIPPED.get(name, {"check_objective_never_falls"})
