"""The members' standing: weights and credibility, from agreement alone."""

import numpy as np

import consilience as cs
from consilience.aggregators.consensus.panel import Standing, copies, credibility, pool_weights
from consilience.passes.pair_products import Agreement
from consilience.passes.reader import Reader

from simulate import softmax_members


def test_weights_and_credibility_follow_from_agreement(rng):
    predictions = cs.Predictions(softmax_members(rng, [3, 2, 1], 200, 3)[0])
    agreement, votes = Reader(predictions).agreement(), Reader(predictions.votes()).agreement()
    standing = Standing.of(agreement, votes)
    weights = pool_weights(agreement, votes)
    np.testing.assert_array_equal(standing.weights, weights)
    expected = credibility(agreement, votes, weights, copies(agreement))
    np.testing.assert_array_equal(standing.credibility, expected)
    assert standing.agreement is agreement and standing.votes is votes


def test_of_members_who_are_not_compared_all_stand_the_same():
    nothing = Agreement.zero(600, 3)
    assert not nothing.has_pairs
    standing = Standing.of(nothing, nothing)
    np.testing.assert_array_equal(standing.weights, 1 / 600)
    np.testing.assert_array_equal(standing.credibility, 1)
