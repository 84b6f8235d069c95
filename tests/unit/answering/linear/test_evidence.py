"""What tips an answer adds up to the log-odds, and is what a hand computes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.answering.linear import LinearRule, _logarithmic_mean, sums_of_item
from consilience.maths.em import Scores
from consilience.passes.reader import Reader

N_CLASSES = 3
RULES = {
    "average": (0.0, None, False),
    "geometric mean": (0.0, 1e-10, True),
    "scores of probabilities": (1.0, None, False),
    "scores of logarithms": (1.0, 1e-6, False),
    "mixture": (0.3, 1e-6, False),
}


@pytest.mark.parametrize("name", RULES)
@given(st.integers(0, 2**32 - 1))
def test_evidence_adds_up_to_the_log_odds_of_every_pair(name, seed):
    rng, (weight, log_floor, averages_logs) = np.random.default_rng(seed), RULES[name]
    scores = Scores(rng.normal(size=N_CLASSES), rng.normal(size=(2, N_CLASSES, N_CLASSES)), rng.normal(size=(2, 3)))
    rule = LinearRule(
        rng.uniform(0.5, 2, size=2), np.zeros(2, bool), weight, scores if weight else None, log_floor, averages_logs
    )
    one = cs.Predictions(rng.dirichlet(np.ones(N_CLASSES), size=(2, 1)))
    explained = rule.explained(one)
    np.testing.assert_allclose(np.exp(explained.log_posterior), rule.posterior(one)[0], rtol=1e-9)
    for first in range(N_CLASSES):
        for second in range(N_CLASSES):
            prior, by_probability, normalizer, *_ = explained.evidence(first, second)
            log_odds = explained.log_posterior[first] - explained.log_posterior[second]
            assert prior + by_probability.sum() + normalizer.sum() == pytest.approx(log_odds, abs=1e-9)
            back = explained.evidence(second, first)
            np.testing.assert_allclose(back.by_probability, -by_probability, atol=1e-9)


def test_an_average_by_hand():
    """(.8 + .4) / 2 = .6 against .4: each member's part is its share of the gap .2, times log(.6 / .4) / .2."""
    rule = LinearRule(np.ones(2), np.zeros(2, bool))
    explained = rule.explained(cs.Predictions([[[0.8, 0.2]], [[0.4, 0.6]]]))
    prior, by_probability, normalizer, *_ = explained.evidence(0, 1)
    stretch = np.log(0.6 / 0.4) / 0.2
    np.testing.assert_allclose(by_probability, stretch * np.array([[0.4, -0.1], [0.2, -0.3]]), rtol=1e-12)
    assert prior == 0 and (normalizer == 0).all()


def test_a_member_who_did_not_answer_is_not_evidence():
    scores = Scores(np.log([0.7, 0.3]), np.ones((2, 2, 2)) * [[1.0, 0.0], [0.0, 1.0]], np.array([[1.0, 0], [5.0, 0]]))
    rule = LinearRule(np.ones(2), np.zeros(2, bool), 1.0, scores)
    one = cs.Predictions([[[0.9, 0.1]], [[np.nan, np.nan]]])
    prior, by_probability, normalizer, *_ = rule.explained(one).evidence(0, 1)
    assert prior == pytest.approx(np.log(7 / 3))
    np.testing.assert_allclose(by_probability, [[0.9, -0.1], [0, 0]])
    np.testing.assert_allclose(normalizer, [1, 0])


def test_several_answers_of_a_member_are_summed():
    one = cs.Predictions.from_answers([0, 0, 0], [0, 0, 1], probabilities=[[0.5, 0.5], [0.25, 0.75], [1, 0]])
    totals, n_answers = sums_of_item(Reader(one))
    np.testing.assert_allclose(totals, [[0.75, 1.25], [1, 0]])
    assert n_answers.tolist() == [2, 1]


@given(st.floats(-30, 0), st.floats(-30, 0))
def test_the_logarithmic_mean_lies_between(log_a, log_b):
    mean = _logarithmic_mean(log_a, log_b)
    low, high = np.exp(min(log_a, log_b)), np.exp(max(log_a, log_b))
    assert low * (1 - 1e-12) <= mean <= high * (1 + 1e-12)
    assert mean * (log_a - log_b) == pytest.approx(np.exp(log_a) - np.exp(log_b), rel=1e-9, abs=1e-15)


def test_a_class_ruled_out_stays_finite():
    rule = LinearRule(np.ones(1), np.zeros(1, bool))
    explained = rule.explained(cs.Predictions([[[1.0, 0.0]]]))
    assert np.isfinite(explained.log_posterior).all() and explained.log_posterior[1] < -600
    assert np.isfinite(explained.evidence(0, 1).by_probability).all()
