"""Coverage, overlap and conflict, counted by hand."""

import numpy as np

import consilience as cs
from consilience.insight.agreement import coverage_of


def test_by_hand():
    labels = [[0, 1, 1, -1], [0, 0, -1, -1], [-1, -1, -1, 1]]
    found = coverage_of(cs.Predictions.from_labels(labels, 2).hard, 3, 4)
    np.testing.assert_allclose(found["coverage"], [0.75, 0.5, 0.25])
    np.testing.assert_allclose(found["overlap"], [0.5, 0.5, 0])
    np.testing.assert_allclose(found["conflict"], [0.25, 0.25, 0])


def test_the_last_of_several_answers_counts():
    answers = cs.Predictions.from_answers([0, 0, 0], [0, 0, 1], [1, 0, 0], n_classes=2).hard
    found = coverage_of(answers, 2, 1)
    np.testing.assert_allclose([*found.values()], [[1, 1], [1, 1], [0, 0]])
