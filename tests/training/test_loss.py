"""The loss, by hand on two panels of two items and one item."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from training.fit import Batch
from training.loss import Ratios, loss, ratios

AVERAGE = torch.tensor([0.5, 0.5, 0.8, 0.2, 0.6, 0.4])  # three items, two classes each
ANSWER = torch.tensor([0.9, 0.1, 0.8, 0.2, 0.3, 0.7])
NONE = torch.zeros(0)  # of what the loss does not see
BATCH = Batch(
    torch.zeros(6, 1), torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([0, 2, 4]), torch.tensor([0, 0, 1]), *[NONE] * 6
)

NLL = [
    np.log((-(np.log(0.9) + np.log(0.8)) / 2 + 0.02) / (-(np.log(0.5) + np.log(0.8)) / 2 + 0.02)),
    np.log((-np.log(0.3) + 0.02) / (-np.log(0.6) + 0.02)),
]
BRIER = [
    np.log(((0.02 + 0.08) / 2 + 0.01) / ((0.5 + 0.08) / 2 + 0.01)),
    np.log((0.98 + 0.01) / (0.32 + 0.01)),
]


def right(p):
    """The share of a class among two after the power that makes answers nearly choices."""
    return p**10 / (p**10 + (1 - p) ** 10)


LOST = [(right(0.5) - right(0.9) + right(0.8) - right(0.8)) / 2, right(0.6) - right(0.3)]


def test_ratios_are_those_computed_by_hand():
    found = ratios(ANSWER.log(), AVERAGE, BATCH)
    np.testing.assert_allclose(found.nll, NLL, rtol=1e-5)
    np.testing.assert_allclose(found.brier, BRIER, rtol=1e-5)
    np.testing.assert_allclose(found.lost, LOST, rtol=1e-5)


def test_the_loss_is_that_computed_by_hand():
    found = loss(ratios(ANSWER.log(), AVERAGE, BATCH), risk=2.0)
    both = [one + 2 * other for one, other in zip(NLL, BRIER, strict=True)]
    lost = (NLL[1] ** 2 + 2 * BRIER[1] ** 2 + 30 * LOST[1] ** 2) / 2
    np.testing.assert_allclose(found, np.mean(both) + 2 * (3 * lost + 0.1 * both[1]), rtol=1e-5)


def test_the_average_has_a_loss_of_zero():
    found = ratios(AVERAGE.log(), AVERAGE, BATCH)
    np.testing.assert_allclose(loss(found), 0, atol=1e-6)


def test_losing_hurts_more_than_winning_pays():
    lost, won = (loss(Ratios(*torch.tensor([[0.2], [0.2], [0.0]]) * sign)) for sign in (1, -1))
    assert lost > -won > 0


def test_lost_accuracy_hurts_and_gained_accuracy_does_not():
    lost, won = (loss(Ratios(*torch.tensor([[0.0], [0.0], [sign * 0.1]]))) for sign in (1, -1))
    assert lost > 0 == won
