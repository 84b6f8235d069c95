"""Sums over votes, against slow loops."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.consensus import plain_rule
from consilience.aggregators.consensus.learned.experts import Reading
from consilience.insight.accuracy.estimates import SUMS, tally
from consilience.passes.reader import Reader

from simulate import softmax_members


@pytest.fixture
def case(rng):
    """Probabilities with gaps and ties beside labels, and one whole answer."""
    array, truth = softmax_members(rng, [3, 2, 1], n_items=40, n_classes=4, missing=0.2)
    array[0, 3] = [0.4, 0.4, 0.1, 0.1]  # undecided: no vote
    labels = np.where(np.arange(40) % 3 == 0, -1, truth)[None]
    parts = [cs.Predictions(array, partial=True), cs.Predictions.from_labels(labels, 4, partial=True)]
    predictions = cs.Predictions.concatenate(parts)
    model = cs.Consensus().fit(predictions)
    return predictions, model, rng.integers(4, size=40)


def votes_of(predictions):
    hard = predictions.votes().hard
    return list(zip(hard.members.tolist(), hard.items.tolist(), hard.labels.tolist(), strict=True))


POWERS = np.array([0.5, 1, 2, 3])
"""Of the last, who gives votes, nothing is multiplied."""


def multiplied(predictions):
    """The product of what the first three say of each item, softened as votes are."""
    rows = np.ones((predictions.n_items, 4))
    for power, said in zip(POWERS[:3], predictions.to_array()[:3], strict=True):
        for item, row in enumerate(said):
            rows[item] *= 1 if np.isnan(row).any() else (0.98 * row + 0.02 / 4) ** power
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("chunk_size", [None, 1, 7])
def test_is_the_loops(case, chunk_size):
    predictions, model, answer = case
    rule = plain_rule(model)
    posterior = rule.posterior(predictions)
    found = tally(predictions, rule, posterior, [answer], powers=POWERS, chunk_size=chunk_size)
    (chunk,) = (reader := Reader(predictions)).chunks
    opinions = Reading(rule.experts, reader).opinions(chunk)
    product = multiplied(predictions)
    votes = votes_of(predictions)
    expected, said = np.zeros((5, len(SUMS))), np.zeros((5, 4))
    for voter, item, label in [*votes, *((4, item, label) for item, label in enumerate(answer.tolist()))]:
        others = [j for m, i, j in votes if i == item and m != voter]
        row = {
            "votes": 1,
            "believed": posterior[item, label],
            "averaged": opinions.average[item, label],
            "translated": np.exp(opinions.translation[item, label]),
            "combined": np.exp(opinions.combination[item, label]),
            "multiplied": product[item, label],
            "chosen": posterior[item].argmax() == label,
            "top": posterior[item].max(),
            "shared": others.count(label) / len(others) if others else 0,
            "met": bool(others),
        }
        expected[voter] += [row[name] for name in SUMS]
        said[voter, label] += 1
    np.testing.assert_allclose(found.sums, expected, atol=1e-9)
    np.testing.assert_array_equal(found.said, said)


def test_means_are_by_vote_and_unknown_without_one(case):
    predictions, model, answer = case
    silent = cs.Predictions.concatenate(
        [predictions, cs.Predictions.from_labels(np.full((1, 40), -1), 4, members=["silent"], partial=True)]
    )
    model = cs.Consensus().fit(silent)
    found = tally(silent, plain_rule(model), model.posterior_, [answer], powers=np.ones(5), chunk_size=None)
    assert np.isnan(found.mean("believed")[4]) and np.isfinite(found.mean("believed")[[0, 1, 2, 3, 5]]).all()
    np.testing.assert_allclose(found.mean("votes")[:4], 1)
