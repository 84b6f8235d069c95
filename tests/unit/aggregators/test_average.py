"""Averages by hand, weights and silence included."""

import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members

ARRAY = np.array(
    [
        [[0.9, 0.1], [0.6, 0.4], [1.0, 0.0]],
        [[0.5, 0.5], [0.2, 0.8], [0.3, 0.7]],
        [[0.7, 0.3], [np.nan, np.nan], [0.4, 0.6]],
    ]
)
WEIGHTS = np.array([1.0, 2.0, 5.0])


def by_hand(kind, weights):
    rows = []
    for item in range(ARRAY.shape[1]):
        answers = [(w, member[item]) for w, member in zip(weights, ARRAY, strict=True) if not np.isnan(member[item, 0])]
        total = sum(weight for weight, _ in answers)
        if kind == "arithmetic":
            rows.append(sum(weight * row for weight, row in answers) / total)
        else:
            row = np.exp(sum(weight * np.log(np.maximum(row, 1e-10)) for weight, row in answers) / total)
            rows.append(row / row.sum())
    return np.array(rows)


@pytest.mark.parametrize("kind", ["arithmetic", "geometric"])
@pytest.mark.parametrize("weights", [None, WEIGHTS, [1, 2, 5], (10, 20, 50), WEIGHTS * 1e307], ids=str)
def test_by_hand(kind, weights):
    expected = by_hand(kind, np.ones(3) if weights is None else np.asarray(weights) / np.max(weights))
    fitted = cs.Average(kind=kind, weights=weights).fit(ARRAY)
    np.testing.assert_allclose(fitted.posterior_, expected, rtol=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(ARRAY[:, 1:]), expected[1:], rtol=1e-12)


@pytest.mark.parametrize("kind", ["arithmetic", "geometric"])
def test_the_rule_of_each_item_is_its_average(kind):
    """What `explain` takes apart: shares of who answered sum to 1, whatever the weights do."""
    fitted = cs.Average(kind=kind, weights=[10, 20, 50]).fit(ARRAY)
    expected = by_hand(kind, WEIGHTS)
    for place in range(3):
        item = cs.Predictions(ARRAY).take([place])
        np.testing.assert_allclose(fitted.rule().posterior(item), expected[[place]], rtol=1e-12)


@pytest.mark.parametrize("kind", ["arithmetic", "geometric"])
def test_rule(kind):
    rule = cs.Average(kind=kind, weights=[10, 20, 50]).fit(ARRAY).rule()
    np.testing.assert_allclose(rule.member_weights, WEIGHTS / 8)
    assert (rule.weight, rule.scores, rule.averages_logs) == (0, None, kind == "geometric")
    assert rule.log_floor == (1e-10 if kind == "geometric" else None)


def test_a_geometric_mean_of_labels_is_refused():
    people = cs.Predictions.from_labels([[0, 1], [1, 1]], 2)
    with pytest.raises(
        cs.InvalidPredictions, match=r"^the geometric mean needs probabilities; some members give labels$"
    ):
        cs.Average(kind="geometric").fit(people)


@pytest.mark.parametrize(
    "weights", [[1, 2], [1, 2, 0], [1, 2, -3], [1, 2, np.inf], [1, 2, np.nan], "abc", ["a"] * 3, 2.0]
)
def test_weights_that_are_none(weights):
    with pytest.raises(ValueError, match=r"^weights must be a positive number for each of the 3 members; got "):
        cs.Average(weights=weights).fit(ARRAY)


def test_weights_that_are_none_for_one_member():
    with pytest.raises(ValueError, match=r"^weights must be a positive number for each of the 1 members; got 'x'$"):
        cs.Average(weights="x").fit(ARRAY[:1])


@pytest.fixture(scope="module")
def array():
    return softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=40, n_classes=3)[0]


def test_weights_and_missing_members(array):
    weighted = cs.Average(weights=[3, 1, 1]).fit(array)
    np.testing.assert_allclose(weighted.posterior_, np.einsum("m,mik->ik", [0.6, 0.2, 0.2], array))
    absent = array.copy()
    absent[0] = np.nan
    np.testing.assert_allclose(weighted.predict_proba(absent), array[1:].mean(axis=0))
