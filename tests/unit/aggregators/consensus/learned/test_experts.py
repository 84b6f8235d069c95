"""What the experts say, at the edges; `tests/equivalence` compares them with loops."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.label_free_fit import fit_panel
from consilience.aggregators.consensus.learned.experts import VOTE, Reading
from consilience.passes.reader import Reader

from simulate import softmax_members


def opinions_of(predictions, chunk_size=None):
    reader = Reader(predictions, chunk_size=chunk_size)
    reading = Reading(fit_panel(predictions, chunk_size).experts, reader)
    parts = [reading.opinions(chunk) for chunk in reader.chunks]
    return type(parts[0])(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def test_votes_are_softened_and_probabilities_are_not(rng):
    array, _ = softmax_members(rng, [2, 1], 20, 4)
    labels = array.argmax(axis=2)
    np.testing.assert_allclose(opinions_of(cs.Predictions(array)).average, array.mean(axis=0))
    shares = np.eye(4)[labels].mean(axis=0)
    np.testing.assert_allclose(
        opinions_of(cs.Predictions.from_labels(labels, 4)).average, VOTE * shares + (1 - VOTE) / 4, atol=1e-12
    )


def test_where_nobody_votes_all_classes_have_the_same_share():
    found = opinions_of(cs.Predictions(np.full((2, 5, 4), 0.25)))
    np.testing.assert_array_equal(found.n_votes, 0)
    np.testing.assert_array_equal(found.votes, 0.25)
    np.testing.assert_allclose(np.exp(found.translation), 0.25)
    np.testing.assert_array_equal(found.n_answers, 2)


@pytest.mark.parametrize("chunk_size", [1, 3, 100])
def test_chunks(rng, chunk_size):
    array, _ = softmax_members(rng, [2, 1, 1], 20, 3, missing=0.3)
    array[0, 4:8] = [0.4, 0.4, 0.2]
    predictions = cs.Predictions(array)
    for one, other in zip(opinions_of(predictions), opinions_of(predictions, chunk_size), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_all_opinions_are_distributions(rng):
    found = opinions_of(cs.Predictions(softmax_members(rng, [8, 4, 1], 30, 5)[0]))
    for rows in (found.average, found.weighted, np.exp(found.translation), found.votes):
        np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-9)
