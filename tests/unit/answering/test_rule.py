"""What every rule does: answers in chunks, known labels, and labels where labels alone count."""

import numpy as np
import pytest

import consilience as cs
from consilience.answering.linear import LinearRule
from consilience.answering.rule import AbstractRule

ROWS = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 10))


class Copied(AbstractRule):
    """The first member's answer; remembers how many items it was given at a time."""

    def __init__(self, *, chunk_size=None, is_label=False):
        self.is_label, self.chunk_size = np.full(2, is_label), chunk_size
        self.sizes, self.soft = [], []

    def answer(self, reader):
        self.soft.append(len(reader.predictions.soft))
        array = reader.predictions.to_array()[0]

        def rows(chunk):
            self.sizes.append(len(array[chunk.items]))
            return array[chunk.items]

        return rows

    explained = form = None


def test_items_come_in_chunks_and_order():
    rule = Copied(chunk_size=4)
    np.testing.assert_array_equal(rule.posterior(cs.Predictions(ROWS)), ROWS[0])
    assert rule.sizes == [4, 4, 2]
    assert rule.n_numbers == 0


def test_where_labels_alone_count_the_reader_gives_labels():
    rule = Copied(is_label=True)
    np.testing.assert_array_equal(rule.posterior(cs.Predictions(ROWS)), np.eye(3)[ROWS[0].argmax(axis=1)])
    assert rule.soft == [0]


@pytest.mark.parametrize("chunk_size", [None, 3])
def test_known_labels_are_the_answers_to_their_items(chunk_size):
    known = np.array([2, -1, 0, -1, -1, -1, -1, 1, -1, 2])
    rule = Copied(chunk_size=chunk_size)
    found = rule.lazy_posterior(cs.Predictions(ROWS), known).to_array()
    expected = np.where((known >= 0)[:, None], np.eye(3)[known], ROWS[0])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_label_that_may_be_wrong_is_weighed_against_the_answer():
    """Bayes' rule by hand: a label that is wrong one time in five, evenly over the two other classes."""
    known = np.full(10, -1)
    known[0] = 1
    found = LinearRule(np.ones(2), np.zeros(2, bool)).lazy_posterior(cs.Predictions(ROWS), known, noise=0.2).to_array()
    joint = ROWS[:, 0].mean(axis=0) * [0.1, 0.8, 0.1]
    np.testing.assert_allclose(found[0], joint / joint.sum(), rtol=1e-9)
    np.testing.assert_allclose(found[1:], ROWS.mean(axis=0)[1:], rtol=1e-12)
