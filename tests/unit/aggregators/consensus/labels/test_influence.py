"""How far labels may change other answers, against loops; and who is believed."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.labels.corrected_rule import Correction
from consilience.aggregators.consensus.labels.teaching import (
    LabelledItems,
    bounded,
    most_turned,
    trust_in,
    turning_points,
)

from simulate import softmax_members


@pytest.fixture
def case(rng):
    said = rng.dirichlet(np.ones(3), size=(80, 4))
    weights = 3 * rng.normal(size=(4, 3, 3))
    weights -= weights.mean(axis=2, keepdims=True)
    return Correction(0.8, rng.normal(size=3), weights), said, said.mean(axis=1)


def answers_by_loops(correction, said, answers):
    found = []
    for rows, answer in zip(said, answers, strict=True):
        scores = correction.sharpness * np.log(answer) + correction.bias
        for member, row in zip(correction.weights, rows, strict=True):
            scores = scores + member @ np.log(np.maximum(row, 1e-4))
        found.append(scores.argmax())
    return np.array(found)


def scaled(correction, factor):
    return Correction(correction.sharpness, factor * correction.bias, factor * correction.weights)


def test_an_answer_turns_where_it_is_said_to(case):
    correction, said, answers = case
    limits = turning_points(correction, said, answers)
    assert 0.2 < (limits < 1).mean() < 1
    for item in np.flatnonzero(limits < 5):
        rows = said[[item]], answers[[item]]
        before, after = (answers_by_loops(scaled(correction, limits[item] * f), *rows)[0] for f in (0.999, 1.001))
        assert before == answers[item].argmax() != after


@pytest.mark.parametrize("n_labels", [1, 5, 10, 15, 40, 100])
def test_no_more_answers_turn_than_labels_may(case, n_labels):
    correction, said, answers = case
    found = bounded(correction, 1.0, n_labels, said, answers)
    n_turned = (answers_by_loops(found, said, answers) != answers.argmax(axis=1)).sum()
    assert n_turned <= most_turned(n_labels) * len(said)
    if n_labels >= 40:
        np.testing.assert_allclose(found.weights, correction.weights)
    elif n_labels >= 10:
        assert n_turned > 0.5 * most_turned(n_labels) * len(said)


def test_labels_that_are_not_trusted_teach_nothing(case):
    correction, said, answers = case
    found = bounded(correction, 1e-9, 500, said, answers)
    assert found.sharpness == pytest.approx(1) and np.abs(found.weights).max() < 1e-6


def labelled(targets, noise=0.0):
    n = len(targets)
    return LabelledItems(
        np.full((n, 1, targets.shape[1]), 1 / targets.shape[1]),
        targets,
        np.full(n, noise),
        np.ones(n),
        np.zeros(n, np.int64),
    )


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize(("n_right", "is_trusted"), [(20, True), (16, True), (12, True), (1, False), (0, False)])
def test_who_is_trusted(n_classes, n_right, is_trusted):
    """Of 20 labels where answers are 95 % sure: fewer than chance would be right means that something is wrong."""
    answers = np.full((20, n_classes), 0.05 / (n_classes - 1))
    answers[:, 0] = 0.95
    targets = np.eye(n_classes)[np.where(np.arange(20) < n_right, 0, 1)]
    trust = trust_in(labelled(targets), answers, answers)
    assert trust > 0.8 if is_trusted else trust < 0.2


def test_answers_that_are_not_sure_may_be_contradicted():
    answers = np.array([[0.55, 0.45]] * 8)
    assert trust_in(labelled(np.eye(2)[[1, 1, 1, 1, 1, 0, 0, 0]]), answers, answers) > 0.5


def test_wrong_labels_turn_few_answers_and_are_told(rng):
    """Three members, two classes, three wrong labels of 300: it once fell from .99 to .12."""
    array, truth = softmax_members(rng, [3, 3, 3], n_items=300, n_classes=2)
    plain = (cs.Consensus().fit(array).posterior_.argmax(axis=1) == truth)[10:].mean()
    truth[:3], array[:, :3] = [0, 1, 0], [[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]]
    named = cs.Predictions(array, classes=["cat", "dog"])
    for n_wrong in (3, 10):
        labels = [named.classes[1 - k] if i < n_wrong else None for i, k in enumerate(truth)]
        with pytest.warns(UserWarning, match=r"labels contradict.*(cat|dog).*swapped, or were only mistakes labelled"):
            fitted = cs.Consensus().fit(named, labels)
        assert (fitted.posterior_.argmax(axis=1) == truth)[10:].mean() > plain - 0.05


def test_reversed_members_are_put_right_by_many_labels(rng):
    """The negative control: members who are not sure may be reversed, if enough labels say so."""
    truth = rng.integers(2, size=400)
    votes = np.stack([truth, 1 - truth, 1 - truth])
    votes = np.where(rng.random((3, 400)) < 0.1, 1 - votes, votes)
    rows = 0.45 + 0.1 * np.eye(2)[votes]
    before = cs.Consensus().fit(rows).posterior_[60:]
    after = cs.Consensus().fit(rows, np.where(np.arange(400) < 60, truth, -1)).posterior_[60:]
    assert cs.metrics.accuracy(before, truth[60:]) < 0.5
    assert cs.metrics.accuracy(after, truth[60:]) > 0.8


def test_who_vouches_for_labels_is_believed(rng):
    """Members who are all reversed, and sure: told that labels are right, they are put right; else they stay."""
    array, truth = softmax_members(rng, [3, 3, 3], n_items=300, n_classes=2)
    known = np.where(np.arange(300) < 100, 1 - truth, -1)
    with pytest.warns(UserWarning, match=r"contradict the answers.*unless label_noise=0"):
        doubted = cs.Consensus().fit(array, known).posterior_[100:]
    with pytest.warns(UserWarning, match=r"contradict the answers.*label_noise=0 vouches for them"):
        vouched = cs.Consensus(label_noise=0).fit(array, known).posterior_[100:]
    assert cs.metrics.accuracy(doubted, truth[100:]) > 0.9
    assert cs.metrics.accuracy(vouched, 1 - truth[100:]) > 0.9


def test_noticed_mistakes_are_not_trusted(rng):
    """They are where answers are unsure; how sure answers are elsewhere tells that it is no accident."""
    unsure, sure = np.array([[0.52, 0.48]] * 20), np.array([[0.95, 0.05]] * 50)
    wrong = labelled(np.eye(2)[np.ones(20, dtype=int)])
    assert trust_in(wrong, unsure, sure) < 0.3 < trust_in(wrong, unsure, unsure)
