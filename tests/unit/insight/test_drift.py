from itertools import combinations

import numpy as np
import pytest

import consilience as cs
from consilience.insight import drift as module
from consilience.insight.drift import (
    AGREEMENT,
    ALL_MEMBERS,
    CONFIDENCE,
    KINDS,
    SHARES,
    ItemNumbers,
    drift,
    numbers_of,
)

from simulate import softmax_members


def test_numbers_are_those_of_a_loop(rng):
    array, _ = softmax_members(rng, [2, 2, 1, 1], n_items=40, n_classes=3, missing=0.3)
    found = numbers_of(cs.Predictions(array, members=list("abcd")))
    votes = np.where(np.isnan(array[:, :, 0]), -1, np.nan_to_num(array).argmax(axis=2))
    for item in range(40):
        said = votes[:, item]
        given = said[said >= 0]
        for m in range(4):
            others = np.delete(said, m)
            others = others[others >= 0]
            agreement, sure = (
                found.values[item, np.flatnonzero(found.kinds == kind)[m]] for kind in (AGREEMENT, CONFIDENCE)
            )
            if said[m] < 0 or not len(others):
                assert np.isnan(agreement)
            else:
                assert agreement == pytest.approx(np.mean(others == said[m]))
            assert np.isnan(sure) if said[m] < 0 else sure == pytest.approx(array[m, item].max())
        shares = [np.mean(given == k) for k in range(3)]
        np.testing.assert_allclose(found.values[item, found.kinds == SHARES], shares)


def test_many_members_are_looked_at_together(rng):
    array, _ = softmax_members(rng, np.full(40, 1.0), n_items=30, n_classes=3)
    found = numbers_of(cs.Predictions(array))
    assert found.names == [ALL_MEMBERS, 0, 1, 2, ALL_MEMBERS]
    np.testing.assert_allclose(found.values[:, -1], array.max(axis=2).mean(axis=0))


def test_labels_have_no_confidence_that_could_drift(rng):
    labels = rng.integers(3, size=(3, 60))
    old, new = (numbers_of(cs.Predictions.from_labels(part, 3)) for part in (labels[:, :40], labels[:, 40:]))
    assert np.isnan(new.mean(CONFIDENCE)).all()
    assert drift(old, new, 0.05).by_kind[CONFIDENCE] == 1


def test_the_p_value_is_that_of_all_deals():
    """Five items against five: there are 252 ways to deal them out."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(10, 4))
    kinds = np.array([AGREEMENT, SHARES, SHARES, CONFIDENCE])
    old, new = ItemNumbers(values[:5], kinds, list("abcd")), ItemNumbers(values[5:], kinds, list("abcd"))
    statistics = []
    for chosen in [(5, 6, 7, 8, 9), *combinations(range(10), 5)]:
        is_now = np.isin(np.arange(10), chosen)
        difference = values[is_now].mean(axis=0) - values[~is_now].mean(axis=0)
        squares = difference**2 / (values.var(axis=0) * (1 / 5 + 1 / 5))
        statistics.append([squares[kinds == kind].sum() for kind in KINDS])
    statistics = np.array(statistics)
    ranks = (statistics[None, 1:] >= statistics[:, None] - 1e-9).mean(axis=1)
    expected = np.mean(ranks[1:].min(axis=1) <= ranks[0].min() + 1e-9)
    assert drift(old, new, 0.001).p_value == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_false_alarms_are_as_frequent_as_asked_for(rate):
    rng = np.random.default_rng(0)

    def draw(n_items, skill=1.0):
        return numbers_of(cs.Predictions(softmax_members(rng, skill * np.array([3, 2, 1]), n_items, 3, missing=0.2)[0]))

    p_values = np.array([drift(draw(90), draw(30), rate).p_value for _ in range(150)])
    error = np.sqrt(rate * (1 - rate) / 150)
    assert abs(np.mean(p_values <= rate) - rate) < 4 * error
    assert np.mean([drift(draw(90), draw(30, skill=0.3), rate).is_alarm for _ in range(10)]) > 0.7


def test_rare_classes_are_put_together(rng):
    labels = rng.integers(300, size=(3, 200))
    old, new = (numbers_of(cs.Predictions.from_labels(part, 300)) for part in (labels[:, :150], labels[:, 150:]))
    values, kinds = module._columns(np.concatenate([new.values, old.values]), old.kinds)
    assert values.shape == (200, 3 + module.MOST_TESTED + 1 + 3) and kinds.sum(axis=0).tolist() == [3, 101, 3]
    np.testing.assert_allclose(values[:, kinds[:, 1] == 1].sum(axis=1), 1)
    assert 0 < drift(old, new, 0.1).p_value <= 1


def test_a_large_reference_is_drawn_from(rng):
    array, _ = softmax_members(rng, [3, 2], n_items=5000, n_classes=3)
    numbers = numbers_of(cs.Predictions(array))
    assert drift(numbers, numbers.take(np.arange(20)), 0.1).p_value > 0
