"""What silence tells: rates of answering, the scores with them, and where they count by default."""

import numpy as np
import pytest

import consilience as cs
from consilience.maths.model import Scores
from consilience.maths.silence import PSEUDO_ITEMS, Silence, heard, keeps_silent
from consilience.maths.statistics import Statistics


def functions(rng, n_items=600, n_classes=4, coverage=0.7, precision=0.9, silent=0.02):
    """Labelling functions, two a class, that say their class or nothing (-1)."""
    truth = rng.integers(n_classes, size=n_items)
    own = np.repeat(np.arange(n_classes), 2)
    fires = rng.random((len(own), n_items)) < np.where(own[:, None] == truth, coverage * precision, silent)
    votes = np.where(fires, own[:, None], -1)
    has_answer = (votes >= 0).any(axis=0)
    return votes[:, has_answer], truth[has_answer]


def statistics_of(votes, responsibilities):
    """Sums over items by loops."""
    n_members, n_classes = len(votes), responsibilities.shape[1]
    answers, sums = np.zeros((n_members, n_classes)), np.zeros((n_members, n_classes, n_classes))
    for member, said in enumerate(votes):
        for item, label in enumerate(said):
            if label >= 0:
                answers[member] += responsibilities[item]
                sums[member, :, label] += responsibilities[item]
    return Statistics(float(votes.shape[1]), responsibilities.sum(axis=0), answers, sums, 0.0)


def test_rates_are_the_share_answered_of_each_class(rng):
    votes, truth = functions(rng)
    silence = Silence.of(statistics_of(votes, np.eye(4)[truth]))
    for member, said in enumerate(votes):
        usual = (said >= 0).mean()
        for true in range(4):
            is_true = truth == true
            by_hand = ((said[is_true] >= 0).sum() + PSEUDO_ITEMS * usual) / (is_true.sum() + PSEUDO_ITEMS)
            assert silence.answering[member, true] == pytest.approx(by_hand)


def test_scores_of_an_item_are_those_of_answering_and_of_keeping_silent(rng):
    answering = rng.uniform(0.1, 0.9, size=(3, 2))
    plain = Scores(np.log([0.3, 0.7]), rng.normal(size=(3, 2, 2)), rng.normal(size=(3, 2)))
    scores = heard(plain, Silence(answering, np.full(3, 0.5)))
    answers = np.array([1, -1, 0])
    for true in range(2):
        by_hand = plain.log_prior[true]
        for member, label in enumerate(answers):
            if label < 0:
                by_hand += np.log(1 - answering[member, true])
            else:
                by_hand += (
                    np.log(answering[member, true]) + plain.weights[member, true, label] + plain.bias[member, true]
                )
        total = scores.log_prior[true] + sum(
            scores.weights[member, true, label] + scores.bias[member, true]
            for member, label in enumerate(answers)
            if label >= 0
        )
        assert total == pytest.approx(by_hand)
    assert heard(plain, None) is plain


@pytest.mark.parametrize("method", [cs.DawidSkene, cs.BayesianClassifierCombination])
def test_silence_of_labelling_functions_tells_most(rng, method):
    votes, truth = functions(rng)
    p = cs.Predictions.from_labels(votes, 4)
    right = {
        missing: (method(missing=missing).fit_predict(p) == truth).mean()
        for missing in ("auto", "informative", "ignored")
    }
    assert right["auto"] == right["informative"] > 0.85
    assert right["ignored"] < right["informative"] - 0.1


@pytest.mark.parametrize("method", [cs.DawidSkene, cs.BayesianClassifierCombination])
def test_the_objective_never_falls(rng, method):
    votes, _ = functions(rng, n_items=150)
    fitted = method(missing="informative").fit(cs.Predictions.from_labels(votes, 4))
    assert len(fitted.history_) > 2
    assert np.diff(fitted.history_).min() >= -1e-9 * abs(fitted.history_[-1])


def test_answers_left_out_at_random_tell_nothing(rng):
    """The negative control: members who name all classes, and answer whatever they are asked."""
    truth = rng.integers(3, size=500)
    said = np.where(rng.random((8, 500)) < 0.7, truth, rng.integers(3, size=(8, 500)))
    said[rng.random((8, 500)) < 0.5] = -1
    said[0] = np.where((said < 0).all(axis=0), truth, said[0])
    p = cs.Predictions.from_labels(said, 3)
    assert cs.DawidSkene().fit(p).silence_ is None
    ignored, informative = (
        (cs.DawidSkene(missing=missing).fit_predict(p) == truth).mean() for missing in ("ignored", "informative")
    )
    assert informative == pytest.approx(ignored, abs=0.03)


def test_complete_answers_and_few_answers_are_no_silence(rng):
    one_class = np.array([[0] * 100, [1] * 100])
    assert not keeps_silent(statistics_of(one_class, np.full((100, 3), 1 / 3)))
    barely = np.full((2, 100), -1)
    barely[:, :10] = 0
    assert not keeps_silent(statistics_of(barely, np.full((100, 3), 1 / 3)))
    barely[:, :30] = 0
    assert keeps_silent(statistics_of(barely, np.full((100, 3), 1 / 3)))


def test_soft_dawid_skene_hears_it_too(rng):
    votes, truth = functions(rng)
    p = cs.Predictions.from_labels(votes, 4)
    heard_, ignored = (
        cs.SoftDawidSkene(missing=missing).fit(p).pure().predict(p) for missing in ("informative", "ignored")
    )
    assert (heard_ == truth).mean() > (ignored == truth).mean() + 0.05


@pytest.mark.parametrize("method", [cs.DawidSkene, cs.BayesianClassifierCombination, cs.SoftDawidSkene])
def test_it_is_saved_and_streamed(rng, method, tmp_path):
    votes, _ = functions(rng)
    fitted = method().fit(cs.Predictions.from_labels(votes, 4))
    fitted.save(tmp_path / "heard.npz")
    again = cs.load(tmp_path / "heard.npz")
    np.testing.assert_array_equal(again.silence_.answering, fitted.silence_.answering)
    new = cs.Predictions.from_labels(votes[:, :50], 4)
    np.testing.assert_array_equal(again.predict_proba(new), fitted.predict_proba(new))
    streamed = method().partial_fit(cs.Predictions.from_labels(votes[:, :300], 4))
    streamed.partial_fit(cs.Predictions.from_labels(votes[:, 300:], 4))
    assert np.abs(streamed.silence_.answering - fitted.silence_.answering).max() < 0.3


def test_what_missing_can_be():
    with pytest.raises(ValueError, match="missing must be 'auto', 'ignored' or 'informative'; got 'nothing'"):
        cs.DawidSkene(missing="nothing").fit(cs.Predictions.from_labels([[0, 1]], 2))
