"""One report that the tests of its parts look at."""

import numpy as np
import pytest

import consilience as cs
from consilience.report.page import report_payload

from simulate import named, softmax_members


@pytest.fixture(scope="module")
def digits():
    """Five members, some answers missing, and the truth of two thirds of the items."""
    array, truth = softmax_members(np.random.default_rng(3), [3, 2, 1.5, 1, 0.2], 400, 4, missing=0.1)
    labels = np.where(np.arange(400) % 3 == 0, -1, truth)
    return cs.Predictions(array, members=list("abcde"), classes=["cat", "dog", "fox", "owl"]), labels


@pytest.fixture(scope="module")
def fitted(digits):
    return cs.DawidSkene().fit(digits[0])


@pytest.fixture(scope="module")
def payload(digits, fitted):
    return report_payload(digits[0], named(digits[1], digits[0]), aggregator=fitted)
