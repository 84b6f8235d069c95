"""Sums over items of what the experts say."""

import numpy as np
import pytest

from consilience.aggregators.consensus.label_free_fit import Survey, first_choices, survey_of
from consilience.aggregators.consensus.learned.experts import Opinions

AVERAGE = np.array([[0.7, 0.2, 0.1], [0.4, 0.4, 0.2]])
OPINIONS = Opinions(
    average=AVERAGE,
    weighted=AVERAGE,
    translation=np.log([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]),
    combination=np.log([[0.9, 0.1, 1e-9], [0.3, 0.2, 0.5]]),
    votes=np.array([[2 / 3, 1 / 3, 0], [1 / 3, 1 / 3, 1 / 3]]),
    evidence=np.empty((2, 0)),
    n_answers=np.array([[3.0], [2.0]]),
    n_votes=np.array([[3.0], [0.0]]),  # of the second item, nobody is decided
)
FREQUENCY = np.array([0.2, 0.7, 0.1])


def test_by_hand():
    found = survey_of(OPINIONS, FREQUENCY)
    np.testing.assert_allclose(found.of_class("average"), [1.1, 0.6, 0.3])
    np.testing.assert_allclose(found.of_class("first choices"), [1.5, 0.5, 0])
    np.testing.assert_allclose(found.of_class("certainty"), [0.7 + 0.2, 0.2, 0])
    np.testing.assert_allclose(found.of_class("agreeing"), [2, 0, 0], atol=1e-12)  # two votes for the first class
    np.testing.assert_allclose(found.of_class("meeting"), [4, 2, 0], atol=1e-12)
    assert found.totals[0] == 2 and found.mean("answers") == 2.5
    assert found.mean("top") == pytest.approx(0.55)
    assert found.mean("top of translation") == pytest.approx(0.8)
    assert found.mean("translation with average") == pytest.approx((1 + 0.5) / 2)
    assert found.mean("votes with average") == pytest.approx((1 + 1 / 3) / 2)
    np.testing.assert_allclose(found.of_class("combination"), [1.2, 0.3, 0.5], atol=1e-6)
    assert found.mean("top of combination") == pytest.approx(0.7)
    assert found.mean("combination with average") == pytest.approx(0.5)
    assert found.mean("combination with translation") == pytest.approx(0.5)
    again = np.array([[0.14, 0.14, 0.01], [0.08, 0.28, 0.02]]) / [[0.29], [0.38]]
    np.testing.assert_allclose(found.of_class("re-estimated"), again.sum(axis=0))
    assert found.mean("top of re-estimated") == pytest.approx((0.14 / 0.29 + 0.28 / 0.38) / 2)
    assert found.mean("re-estimated with average") == pytest.approx((0.5 + 0.5) / 2)


def test_surveys_add_up():
    parts = [survey_of(Opinions(*(part[item : item + 1] for part in OPINIONS)), FREQUENCY) for item in (0, 1)]
    whole, added = survey_of(OPINIONS, FREQUENCY), parts[0] + parts[1]
    np.testing.assert_allclose(added.by_class, whole.by_class)
    np.testing.assert_allclose(added.totals, whole.totals)
    half = 0.5 * whole
    assert isinstance(half, Survey) and half.totals[0] == 1
    assert half.mean("top") == pytest.approx(whole.mean("top"))


def test_equally_large_ones_share_a_first_choice():
    np.testing.assert_allclose(first_choices(np.array([[0.5, 0.5, 0], [0.2, 0.3, 0.5]])), [[0.5, 0.5, 0], [0, 0, 1]])
    np.testing.assert_allclose(first_choices(np.full((1, 4), 0.25)), 0.25)
    np.testing.assert_allclose(first_choices(np.array([[0.5, 0.5 - 1e-9]])), 0.5)
