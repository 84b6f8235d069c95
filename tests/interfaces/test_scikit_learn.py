"""Every check that scikit-learn has for a classifier, none of them expected to fail."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import consilience as cs

SOFT = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(random_state=0))]
MIXED = [("lr", LogisticRegression()), ("tree", DecisionTreeClassifier(random_state=0)), ("svm", LinearSVC())]


@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings, and assert those that matter
@parametrize_with_checks(
    [
        cs.EnsembleClassifier(SOFT),
        cs.EnsembleClassifier(MIXED, cs.SoftDawidSkene(max_iter=10), cv=2),
        cs.EnsembleClassifier(SOFT, cs.DawidSkene(), cv=0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    with np.errstate(all="ignore"):  # the arithmetic of scikit-learn's own members is not judged here
        check(estimator)
