"""Shares of votes, by loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import consilience as cs

import reference


@given(arrays(int, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(-1, 3)))
def test_is_the_share_of_votes(labels):
    labels[0, (labels < 0).all(axis=0)] = 0
    fitted = cs.MajorityVote().fit(cs.Predictions.from_labels(labels, 4))
    expected = reference.votes(labels, 4)
    np.testing.assert_allclose(fitted.posterior_, expected, atol=1e-12)
    np.testing.assert_allclose(fitted.class_prior_, expected.mean(axis=0), atol=1e-12)
    assert fitted.predict(cs.Predictions.from_labels(labels, 4)).tolist() == expected.argmax(axis=1).tolist()


def test_an_undecided_member_splits_its_vote():
    rows = [[[0.1, 0.45, 0.45]], [[0.2, 0.3, 0.5]]]
    fitted = cs.MajorityVote().fit(rows)
    np.testing.assert_allclose(fitted.posterior_, [[0, 0.25, 0.75]])
    np.testing.assert_allclose(fitted.predict_proba(rows), [[0, 0.25, 0.75]])


def test_a_flat_row_is_no_vote():
    rows = [[[1 / 3] * 3], [[0.2, 0.3, 0.5]]]
    np.testing.assert_allclose(cs.MajorityVote().fit_predict_proba(rows), [[0, 0, 1]])


def test_where_nobody_votes_classes_share_the_item():
    rows = [[[1 / 3] * 3, [0.2, 0.3, 0.5]], [[1 / 3] * 3, [0.2, 0.3, 0.5]]]
    fitted = cs.MajorityVote().fit(rows)
    np.testing.assert_allclose(fitted.posterior_, [[1 / 3] * 3, [0, 0, 1]])
    np.testing.assert_allclose(fitted.class_prior_, [1 / 6, 1 / 6, 2 / 3])
    assert fitted.predict(rows).tolist() == [0, 2]  # some class has to be named
