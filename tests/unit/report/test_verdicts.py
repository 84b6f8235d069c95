"""The verdicts of rows of probabilities, by hand."""

import numpy as np
import pytest

import consilience as cs
from consilience.report.items import answers_of_member, answers_to

ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.4], [0.2, 0.2, 0.6]])
TRUTH = np.array([0, 2, -1])


def test_the_answer_its_probability_and_its_lead():
    verdicts = answers_to(ROWS, TRUTH)
    assert verdicts.chosen.tolist() == [0, 1, 2]
    np.testing.assert_allclose(verdicts.confidence, [0.7, 0.5, 0.6])
    np.testing.assert_allclose(verdicts.margin, [0.5, 0.1, 0.4])
    assert verdicts.is_right.tolist() == [1, 0, 0]


def test_scores_are_of_items_with_a_known_truth():
    scores = answers_to(ROWS, TRUTH).scores()
    assert scores["accuracy"] == 0.5
    assert scores["nll"] == pytest.approx(-(np.log(0.7) + np.log(0.4)) / 2)
    assert answers_to(ROWS, TRUTH).curve().n_items.sum() == 2
    unknown = answers_to(ROWS, np.full(3, -1))
    assert unknown.scores() is None and unknown.curve() is None
    assert sum(unknown.histogram()) == 3


def test_parts_are_read_as_the_whole(monkeypatch):
    whole = answers_to(ROWS, TRUTH)
    monkeypatch.setattr("consilience.data.answers.NUMBERS_AT_ONCE", 3)
    parts = answers_to(ROWS, TRUTH)
    for column, again in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(column, again)


def test_a_member_is_judged_where_it_answered():
    rows = np.array([[0.9, 0.1], [np.nan, np.nan], [0.3, 0.7]])
    predictions = cs.Predictions([np.full((3, 2), 0.5), rows, np.full((3, 2), np.nan)])
    verdicts = answers_of_member(predictions.soft[1], np.array([0, 1, 0]))
    assert verdicts.chosen.tolist() == [0, 1] and verdicts.truth.tolist() == [0, 0]
    assert answers_of_member(predictions.soft[2], np.array([0, 1, 0])) is None
