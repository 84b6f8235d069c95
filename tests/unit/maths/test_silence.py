"""What silence tells: rates of answering, the scores with them, and where they count by default."""

import numpy as np
import pytest

import consilience as cs
from consilience.maths.em import PSEUDO_ITEMS, Scores, Silence, Statistics, heard, keeps_silent


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
            by_hand = ((said[is_true] >= 0).sum() + PSEUDO_ITEMS * usual + 0.5) / (is_true.sum() + PSEUDO_ITEMS + 1)
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
    barely[:] = -1
    barely[0, :30], barely[1, 30:60] = 0, 1
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


def test_one_gap_among_thousands_of_answers_decides_nothing(rng):
    truth = rng.integers(3, size=5000)
    said = np.where(rng.random((4, 5000)) < 0.8, truth, rng.integers(3, size=(4, 5000)))
    said[0, 7] = -1
    fitted = cs.DawidSkene(missing="informative").fit(cs.Predictions.from_labels(said, 3))
    absent = cs.Predictions.from_labels([[-1], [2], [2], [2]], 3)
    assert fitted.predict_proba(absent)[0, 2] > 0.95


def test_workers_who_answer_little_of_many_classes_are_no_labelling_functions(rng):
    """Thirty answers cannot name a third of a hundred classes."""
    truth = rng.integers(100, size=1000)
    worker = np.repeat(np.arange(100), 30)
    item = np.concatenate([rng.choice(1000, 30, replace=False) for _ in range(100)])
    label = np.where(rng.random(3000) < 0.7, truth[item], rng.integers(100, size=3000))
    _, item = np.unique(item, return_inverse=True)
    assert cs.DawidSkene().fit(cs.Predictions.from_answers(item, worker, label, n_classes=100)).silence_ is None


def test_a_stream_decides_again_with_each_batch(rng):
    votes, truth = functions(rng, n_items=2000)
    streamed = cs.DawidSkene(max_iter=20, tol=None)
    for start in range(0, votes.shape[1], 60):
        streamed.partial_fit(cs.Predictions.from_labels(votes[:, start : start + 60], 4, partial=True))
    assert streamed.silence_ is not None
    assert (streamed.predict(cs.Predictions.from_labels(votes, 4)) == truth).mean() > 0.8


@pytest.mark.parametrize("method", [cs.DawidSkene, cs.SoftDawidSkene])
def test_who_answers_an_item_twice_is_not_heard_by_silence(rng, method):
    votes, _ = functions(rng)
    member, item = np.nonzero(votes >= 0)
    twice = cs.Predictions.from_answers(
        np.tile(item, 2), np.tile(member, 2), np.tile(votes[member, item], 2), n_classes=4
    )
    assert method().fit(twice).silence_ is None
    with pytest.raises(cs.InvalidPredictions, match="one answer of each member to an item"):
        method(missing="informative").fit(twice)


def test_forged_rates_do_no_harm():
    plain = Scores(np.zeros(2), np.zeros((1, 2, 2)), np.zeros((1, 2)))
    found = heard(plain, Silence(np.array([[0.0, 1.5]]), np.array([0.5])))
    assert all(np.isfinite(part).all() for part in found)


def test_workers_who_rarely_meet_a_rare_class_are_no_labelling_functions(rng):
    truth = (rng.random(800) < 0.08).astype(int)
    said = np.where(rng.random((10, 800)) < 0.9, truth, 1 - truth)
    said[rng.random((10, 800)) < 0.7] = -1
    said[0] = np.where((said < 0).all(axis=0), truth, said[0])
    assert cs.DawidSkene().fit(cs.Predictions.from_labels(said, 2)).silence_ is None


@pytest.mark.parametrize("rounded", [0.3, np.nextafter(0.3, 0) - 1e-16, 0.3 + 1e-16])
def test_who_answers_just_four_fifths_has_no_gaps_however_sums_are_rounded(rounded):
    """The share is a sum over classes, rounded in another way if they come in another order."""
    answers = np.array([[0.5, rounded]])
    found = Silence.of(Statistics(1.0, np.array([0.5, 0.5]), answers, np.zeros((1, 2, 2)), 0.0))
    np.testing.assert_allclose(found.answering, 0.8, rtol=1e-12)
