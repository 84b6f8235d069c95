"""What the regression is given, seen from outside: labels that may be wrong, and folds."""

import numpy as np
import pytest

from consilience.aggregators.consensus.labels import regression
from consilience.aggregators.consensus.labels.regression import SURPRISE, learn_correction
from consilience.aggregators.consensus.labels.teaching import LabelledItems

N_CLASSES = 4


@pytest.fixture
def labelled(rng):
    said = rng.dirichlet(np.ones(N_CLASSES), size=(30, 3))
    noise = rng.choice([0.0, 0.1, 0.3], size=30)
    targets = np.eye(N_CLASSES)[rng.integers(N_CLASSES, size=30)]
    return LabelledItems(said, targets, noise, rng.uniform(0.5, 1, size=30), np.arange(30, dtype=np.int64))


@pytest.fixture
def lesson_of(monkeypatch):
    """What the regression is given of labelled items and answers."""
    seen = []
    real = regression._cross_validated
    monkeypatch.setattr(regression, "_cross_validated", lambda lesson: seen.append(lesson) or real(lesson))

    def learn(labelled, answers):
        learn_correction(labelled, answers)
        return seen[-1]

    return learn


@pytest.fixture
def lesson(labelled, lesson_of):
    return lesson_of(labelled, labelled.said.mean(axis=1))


def test_labels_are_wrong_as_often_as_is_said(labelled, lesson):
    """Whoever is surely of a class gets its label but for the noise, any other by an equal share of the noise."""
    noise = labelled.noise[:, None]
    right, other = lesson.believed + lesson.chance, lesson.chance
    np.testing.assert_allclose(right, (1 - SURPRISE) * (1 - noise) + SURPRISE / N_CLASSES)
    np.testing.assert_allclose(other, (1 - SURPRISE) * noise / (N_CLASSES - 1) + SURPRISE / N_CLASSES)
    np.testing.assert_allclose(right + (N_CLASSES - 1) * other, 1)


def test_items_count_as_much_as_they_weigh(labelled, lesson):
    np.testing.assert_allclose(lesson.targets.sum(axis=1), labelled.weights)
    np.testing.assert_array_equal(lesson.targets.argmax(axis=1), labelled.targets.argmax(axis=1))
    np.testing.assert_allclose(lesson.log_answers, np.log(labelled.said.mean(axis=1)))


def test_logarithms_are_centred_and_silence_is_none(labelled, lesson_of):
    labelled.said[3, 1] = np.nan
    logs = lesson_of(labelled, np.nanmean(labelled.said, axis=1)).logs
    np.testing.assert_allclose(logs.sum(axis=2), 0, atol=1e-12)
    assert (logs[3, 1] == 0).all() and (logs[3, 0] != 0).all()
    np.testing.assert_allclose(logs[5, 2], (np.log(labelled.said[5, 2]) - np.log(labelled.said[5, 2]).mean()) / 3**0.5)


def test_each_label_is_foretold_once_by_the_others(lesson, monkeypatch):
    """By the answers as they are, sharpened, and of each strength; never from a lesson that it was part of."""
    foretold, taught = [], []
    real_surprise = regression._surprise
    monkeypatch.setattr(regression, "_sharpness", lambda seen: taught.append(seen) or 1.0)
    monkeypatch.setattr(
        regression,
        "_surprise",
        lambda unseen, p: foretold.append((len(taught), unseen, p)) or real_surprise(unseen, p),
    )
    losses = regression._cross_validated(lesson)
    n_places = 2 + len(regression.STRENGTHS)
    assert len(losses) == n_places and len(foretold) == n_places * len(taught)
    firsts = foretold[::n_places]
    rows = np.concatenate([unseen.log_answers for _, unseen, _ in firsts])
    assert sorted(map(tuple, rows)) == sorted(map(tuple, lesson.log_answers))
    for turn, unseen, _ in firsts:
        own = set(map(tuple, unseen.log_answers))
        assert own.isdisjoint(map(tuple, taught[turn - 1].log_answers))
        assert len(own) + len(taught[turn - 1].log_answers) == len(lesson.log_answers)
    by_hand = sum(real_surprise(unseen, np.exp(unseen.log_answers)) for _, unseen, _ in firsts)
    assert losses[0] == pytest.approx(by_hand)


def test_a_single_label_teaches_nothing(labelled):
    one = labelled.take(np.arange(30) == 0)
    found = learn_correction(one, one.said.mean(axis=1))
    assert found.sharpness == 1
    assert not found.bias.any() and not found.weights.any()


@pytest.mark.parametrize("kind", ["probabilities", "votes", "more members than items"])
def test_folds_do_not_depend_on_the_order_of_items_members_or_classes(rng, kind):
    n_members = 60 if kind == "more members than items" else 3
    said = rng.dirichlet(np.ones(N_CLASSES), size=(40, n_members))
    if kind == "votes":
        said = np.eye(N_CLASSES)[said.argmax(axis=2)]
    targets = np.eye(N_CLASSES)[rng.integers(N_CLASSES, size=40)]
    answers = rng.dirichlet(np.ones(n_members)) @ said  # nobody is like another, or items of votes would be alike

    def learned(items, members, classes):
        some = LabelledItems(
            said[np.ix_(items, members, classes)],
            targets[np.ix_(items, classes)],
            np.full(40, np.nan),
            np.ones(40),
            np.zeros(40, np.int64),
        )
        return learn_correction(some, answers[np.ix_(items, classes)])

    plain = learned(*map(np.arange, (40, n_members, N_CLASSES)))
    items, members, classes = map(rng.permutation, (40, n_members, N_CLASSES))
    other = learned(items, members, classes)
    np.testing.assert_allclose(other.sharpness, plain.sharpness, rtol=1e-6)  # where the search stops is rounding
    np.testing.assert_allclose(other.bias, plain.bias[classes], atol=1e-7)
    np.testing.assert_allclose(other.weights, plain.weights[np.ix_(members, classes, classes)], atol=1e-7)
