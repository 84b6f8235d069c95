"""Good sense that the trained weights of Consensus must show, on panels drawn from simple models.

Other weights need not: those that were drawn at random may fail here.
"""

import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members

SEEDS = range(20)


def fused(array):
    return np.asarray(cs.Consensus().fit(array).posterior_)


def accuracy(posterior, truth):
    return (posterior.argmax(axis=1) == truth).mean()


def distance(one, other):
    """The mean total variation between the answers to the same items."""
    return np.abs(one - other).sum(axis=1).mean() / 2


def guessing(rng, like, sureness=2.0):
    """A member who is as sure as others, of classes that have nothing to do with the truth."""
    n_items, n_classes = like.shape[1:]
    return softmax_members(rng, [sureness], n_items, n_classes)[0]


def unequal(seed, n_items=400, n_classes=4):
    """A panel of three to eight members, of whom some know nearly everything and others next to nothing."""
    rng = np.random.default_rng(seed)
    strengths = rng.uniform(0.2, 3.5, size=rng.integers(3, 9))
    return softmax_members(rng, strengths, n_items, n_classes)


def test_whoever_is_right_more_often_has_more_influence():
    """How far the answers move if a member's answers are replaced by guesses, in the mean over panels."""
    moved = np.zeros(4)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        array, _ = softmax_members(rng, [3.5, 2.5, 1.5, 0.5], 400, 4)
        answers = fused(array)
        for member in range(4):
            replaced = array.copy()
            replaced[member] = guessing(rng, array)[0]
            moved[member] += distance(fused(replaced), answers)
    assert (np.diff(moved) < 0).all(), moved


def test_a_better_member_gains_influence():
    """One member of five gets better while the others stay: guesses in its place move the answers the more."""
    moved = []
    for strength in (0.3, 1.5, 3.0):
        total = 0.0
        for seed in range(6):
            rng = np.random.default_rng(seed)
            array, _ = softmax_members(rng, [strength, 2, 1.5, 1.5, 1], 400, 4)
            total += distance(fused(array), fused(np.concatenate([guessing(rng, array), array[1:]])))
        moved.append(total)
    assert moved == sorted(moved), moved


@pytest.mark.parametrize("draw", range(5))
def test_a_copy_changes_little(draw):
    array, _ = unequal(draw)
    for member in (0, len(array) - 1):
        assert distance(fused(np.concatenate([array, array[member : member + 1]])), fused(array)) < 0.1


@pytest.mark.parametrize("draw", range(5))
def test_a_member_who_guesses_changes_little(draw):
    array, _ = unequal(draw)
    with_guesses = np.concatenate([array, guessing(np.random.default_rng([draw, 1]), array)])
    assert distance(fused(with_guesses), fused(array)) < 0.1


@pytest.mark.parametrize("n_classes", [2, 4, 10, 40])
def test_unanimous_and_sure_answers_stay(rng, n_classes):
    """Beside other items, on which members differ."""
    array, _ = softmax_members(rng, [3, 2, 2, 1], 300, n_classes)
    agreed = rng.integers(n_classes, size=60)
    sure = np.full((60, n_classes), 0.008 / (n_classes - 1))
    sure[np.arange(60), agreed] = 0.992
    answers = fused(np.concatenate([array, np.tile(sure, (4, 1, 1))], axis=1))[-60:]
    assert (answers.argmax(axis=1) == agreed).all()
    assert answers.max(axis=1).min() >= 0.9


@pytest.mark.parametrize("n_adversaries", [1, 2])
def test_permuted_classes_do_no_harm(n_adversaries):
    """An adversary says the class after the true one; there are five honest members."""
    gains = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        array, truth = softmax_members(rng, [2] * (5 + n_adversaries), 500, 4)
        array[:n_adversaries] = array[:n_adversaries][:, :, [3, 0, 1, 2]]
        gains.append(accuracy(fused(array), truth) - accuracy(array.mean(axis=0), truth))
    assert min(gains) >= -0.005 and np.mean(gains) > 0, gains


def gains_of(panels):
    return [accuracy(fused(array), truth) - accuracy(array.mean(axis=0), truth) for array, truth in panels]


def test_unequal_members_are_answered_better_than_by_averaging():
    gains = gains_of(unequal(seed) for seed in SEEDS)
    assert min(gains) >= -0.01 and np.mean(gains) > 0, gains


def test_unequal_voters_are_answered_better_than_by_a_majority():
    gains = gains_of((np.eye(4)[array.argmax(axis=2)], truth) for array, truth in map(unequal, SEEDS))
    assert min(gains) >= -0.02 and np.mean(gains) > 0, gains


@pytest.mark.parametrize("n_members", [3, 5, 9])
def test_where_all_guess_nothing_is_sure(rng, n_members):
    """The negative control: nobody knows anything, whatever they claim."""
    array = np.concatenate([guessing(rng, np.empty((1, 500, 4))) for _ in range(n_members)])
    truth = rng.integers(4, size=500)
    answers = fused(array)
    assert abs(accuracy(answers, truth) - 0.25) < 0.1
    assert answers.max(axis=1).mean() < 0.75
    assert (answers.max(axis=1) > 0.95).mean() < 0.05


def test_right_labels_of_sure_members_do_no_harm(rng):
    """Calibrated and right on 98 %: nothing is to be corrected, however many labels say so."""
    base = 60 * rng.normal(size=(2000, 10))
    posterior = np.exp(base - base.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    truth = (posterior.cumsum(axis=1) > rng.random((2000, 1))).argmax(axis=1)
    predictions = cs.Predictions.from_logits(base + 0.3 * rng.normal(size=(4, 2000, 10)))
    losses = [
        cs.metrics.nll(cs.Consensus().fit(predictions, known).posterior_[500:], truth[500:])
        for known in (None, *(np.where(np.arange(2000) < n, truth, -1) for n in (100, 500)))
    ]
    assert losses[1] < 1.05 * losses[0] and losses[2] < 1.05 * losses[0]
