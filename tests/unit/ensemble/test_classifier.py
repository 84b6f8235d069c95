"""Scikit-learn members: what is learned from what, members of all kinds, and what a VotingClassifier does too."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import consilience as cs


def tree(depth=None):
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


@pytest.fixture(scope="module")
def digits():
    """Half of the digits to fit on, half to ask about."""
    x, y = load_digits(return_X_y=True)
    x, x_new, y, y_new = train_test_split(x / 16, y, test_size=0.5, random_state=0, stratify=y)
    return x, y, x_new, y_new


@pytest.fixture(scope="module")
def blobs():
    """Three classes that overlap, with string labels out of order."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=240)
    return rng.normal(size=(240, 4)) + 1.5 * np.eye(3, 4)[truth], np.array(["pear", "fig", "apple"])[truth]


@pytest.fixture
def members():
    return [("bayes", GaussianNB()), ("tree", tree(3)), ("lr", LogisticRegression())]


# ---- what is learned from what ----------------------------------------------------------------------------


LEARNERS = [cs.DawidSkene(), cs.BayesianClassifierCombination(), cs.SoftDawidSkene(max_iter=10), cs.Consensus()]
every_learner = pytest.mark.parametrize("method", LEARNERS, ids=repr)


def out_of_fold(x, y, members, cv=4):
    """What scikit-learn says that the members say of items that they have not seen."""
    return np.stack([cross_val_predict(member, x, y, cv=cv, method="predict_proba") for _, member in members])


@every_learner
@pytest.mark.parametrize("learns", [True, False], ids=["with y", "without"])
def test_fit_learns_from_predictions_out_of_fold_and_y_and_from_nothing_else(blobs, members, method, learns):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, method, cv=4, learn_from_y=learns).fit(x, y)
    numbers = np.unique(y, return_inverse=True)[1]
    alone = clone(method).fit(out_of_fold(x, y, members), numbers if learns else None)
    np.testing.assert_allclose(ensemble.aggregator_.confusion_, alone.confusion_, atol=1e-12)
    asked = np.stack([clone(member).fit(x, y).predict_proba(x) for _, member in members])
    np.testing.assert_allclose(ensemble.predict_proba(x), alone.predict_proba(asked), atol=1e-9)


def test_without_y_the_labels_reach_the_members_alone(blobs, members):
    """Other names of the classes give the same numbers; with y too, but other labels do not."""
    x, y = blobs
    with_y, without = (cs.EnsembleClassifier(members, learn_from_y=learns).fit(x, y) for learns in (True, False))
    assert with_y.aggregator_.correction_ is not None and without.aggregator_.correction_ is None
    assert not np.allclose(with_y.predict_proba(x), without.predict_proba(x))


def test_labels_are_worth_something(digits):
    """One good member among four that share their errors: no agreement tells, labels do."""
    x, y, x_new, y_new = digits
    alike = [(f"depth {depth}", tree(depth)) for depth in (2, 3, 4, 5)]
    scores = {
        learns: cs.EnsembleClassifier([*STRONG[:1], *alike], cv=3, learn_from_y=learns).fit(x, y).score(x_new, y_new)
        for learns in (True, False)
    }
    assert scores[True] > scores[False] + 0.05


@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_no_label_answers_for_its_own_item_out_of_fold(blobs):
    """Members that know their training data by heart and nothing else: what they say in fold would teach to trust."""
    x, y = blobs
    shuffled = np.random.default_rng(0).permutation(y)
    by_heart = [("tree", tree()), ("neighbour", KNeighborsClassifier(1))]
    ensemble = cs.EnsembleClassifier(by_heart).fit(x, shuffled)
    assert ensemble.predict_proba(x).max(axis=1).mean() < 0.5  # of three classes
    assert (ensemble.member_predictions(x).to_array().max(axis=2) == 1).all()


# ---- and then from data without labels --------------------------------------------------------------------


def test_what_labels_taught_survives_data_without_labels(digits):
    x, y, x_new, y_new = digits
    alike = [(f"depth {depth}", tree(depth)) for depth in (2, 3, 4, 5)]
    ensemble = cs.EnsembleClassifier([*STRONG[:1], *alike], cv=3).fit(x, y)
    before = ensemble.score(x_new, y_new)
    forgotten = clone(ensemble).fit(x, y).fit_aggregator(x_new, forget_y=True).score(x_new, y_new)
    for _ in range(2):  # nothing is forgotten, or counted twice, if it is repeated
        assert ensemble.fit_aggregator(x_new).score(x_new, y_new) > max(before - 0.02, forgotten + 0.05)


@every_learner
def test_data_without_labels_come_on_top_of_labels(blobs, members, method):
    x, y = blobs
    numbers = np.unique(y, return_inverse=True)[1]
    ensemble = cs.EnsembleClassifier(members, method, cv=4).fit(x[:160], y[:160]).fit_aggregator(x[160:])
    labelled, new = out_of_fold(x[:160], y[:160], members), ensemble.member_predictions(x[160:]).to_array()
    if isinstance(method, cs.Consensus):
        alone = cs.Consensus().fit(new).add_labels(labelled, numbers[:160])
    else:
        alone = clone(method).fit(labelled, numbers[:160]).partial_fit(new)
    np.testing.assert_allclose(ensemble.predict_proba(x[160:]), alone.predict_proba(new), atol=1e-9)
    forgotten = ensemble.fit_aggregator(x[160:], forget_y=True).predict_proba(x[160:])
    np.testing.assert_allclose(forgotten, clone(method).fit(new).predict_proba(new), atol=1e-9)


def test_without_y_data_without_labels_teach_anew(blobs, members):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, learn_from_y=False).fit(x[:160], y[:160]).fit_aggregator(x[160:])
    new = ensemble.member_predictions(x[160:]).to_array()
    np.testing.assert_allclose(ensemble.predict_proba(x[160:]), cs.Consensus().fit(new).predict_proba(new), atol=1e-9)


def test_labels_of_both_kinds_of_data(blobs, members):
    """Labels of new items are learned from beside those of the fit, though their rows have the same numbers."""
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members).fit(x[:160], y[:160]).fit_aggregator(x[160:], y[160:])
    assert len(ensemble.aggregator_.labelled_.targets) == len(y)


# ---- out of fold ------------------------------------------------------------------------------------------


def test_out_of_fold_shows_what_members_hide_on_their_training_data(digits):
    """An unpruned tree knows its training data by heart; out of fold its accuracy is estimated as it is."""
    x, y, x_new, y_new = digits
    members = [("knn", KNeighborsClassifier()), ("tree", tree()), ("bayes", BernoulliNB(binarize=0.5))]
    ensemble = cs.EnsembleClassifier(members, cs.DawidSkene(), learn_from_y=False).fit(x, y)

    def estimated():
        return np.einsum("mkk,k->m", ensemble.aggregator_.confusion_, ensemble.aggregator_.class_prior_)[1]

    true = ensemble.named_estimators_.tree.score(x_new, y_new)
    assert estimated() == pytest.approx(true, abs=0.05)
    assert ensemble.fit_aggregator(x).aggregator_ is not None and estimated() > true + 0.1


def accuracy_by_method(members, digits):
    x, y, x_new, y_new = digits
    return {
        type(method).__name__: cs.EnsembleClassifier(members, method, cv=3, learn_from_y=False)
        .fit(x, y)
        .score(x_new, y_new)
        for method in (cs.MajorityVote(), cs.DawidSkene())
    }


STRONG = [("knn", KNeighborsClassifier()), ("svm", SVC())]


def test_unequal_members_beat_their_majority(digits):
    weak = [(f"part {k}", make_pipeline(_Columns(k), tree(3))) for k in range(4)]
    accuracy = accuracy_by_method(STRONG + weak, digits)
    assert accuracy["DawidSkene"] > accuracy["MajorityVote"] + 0.01


def test_control_members_who_share_their_errors_outvote_the_better_ones(digits):
    """Each of these trees is a piece of the next: they agree because they are alike, which no agreement tells."""
    alike = [(f"depth {depth}", tree(depth)) for depth in (2, 3, 4, 5)]
    x, y, x_new, y_new = digits
    best = SVC().fit(x, y).score(x_new, y_new)
    assert all(accuracy < best - 0.1 for accuracy in accuracy_by_method(STRONG + alike, digits).values())


def test_control_members_who_learned_nothing_have_nothing_to_tell(digits):
    x, y, x_new, y_new = digits
    shuffled = np.random.default_rng(0).permutation(y)
    blind = cs.EnsembleClassifier([*STRONG, ("tree", tree(4))], cv=3)
    assert blind.fit(x, shuffled).score(x_new, y_new) < 0.2  # of ten classes


def test_a_batch_teaches_how_members_err_after_a_shift(digits):
    """Where a member breaks down on new data, unlabelled data are enough to stop believing it."""
    x, y, x_new, y_new = digits
    pairs = [(f"part {k}", make_pipeline(_Columns(k), GaussianNB(var_smoothing=0.01))) for k in range(4)]
    ensemble = cs.EnsembleClassifier(pairs, cs.DawidSkene(), cv=3).fit(x, y)
    broken = x_new.copy()
    broken[:, ::4] = 1 - broken[:, ::4]  # all that the first member looks at
    before = ensemble.score(broken, y_new)
    assert ensemble.fit_aggregator(broken, forget_y=True).score(broken, y_new) > before + 0.02
    assert np.einsum("mkk->m", ensemble.aggregator_.confusion_).argmin() == 0


class _Columns(TransformerMixin, BaseEstimator):
    """Every fourth column."""

    def __init__(self, first):
        self.first = first

    def fit(self, x, _=None):
        self.n_features_in_ = x.shape[1]
        return self

    def transform(self, x):
        return x[:, self.first :: 4]


def test_known_truths_may_help_the_combination(blobs, members):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, cs.DawidSkene(), cv=0).fit(x[:100], y[:100])
    ensemble.fit_aggregator(x[100:], labels=y[100:])
    assert (ensemble.aggregator_.posterior_.argmax(axis=1) == ensemble.le_.transform(y[100:])).all()


def test_known_class_shares_by_the_names_of_the_classes(rng):
    """Members trained on as many of each class are asked where one of them is rare."""

    def drawn(n_items, share):
        y = np.where(rng.random(n_items) < share, "rare", "usual")
        return np.where(y == "rare", 1.0, 0.0)[:, None] + rng.normal(size=(n_items, 4)), y

    members = [(str(place), LogisticRegression(C=c)) for place, c in enumerate((0.01, 1, 100))]
    ensemble = cs.EnsembleClassifier(members, cs.Consensus(class_shares={"usual": 0.95, "rare": 0.05}), cv=0)
    x_new, y_new = drawn(1000, 0.05)
    known = clone(ensemble).fit(*drawn(400, 0.5)).fit_aggregator(x_new)
    even = clone(ensemble).set_params(aggregator=cs.Consensus())
    even.fit(*drawn(400, 0.5)).fit_aggregator(x_new)
    assert known.score(x_new, y_new) > even.score(x_new, y_new)
    for given, same in (("even", {"rare": 50, "usual": 50}), ({"usual": 0.95}, [0.05, 0.95])):  # classes are sorted
        one, two = (
            known.set_params(aggregator=cs.Consensus(class_shares=shares)).fit_aggregator(x_new).predict_proba(x_new)
            for shares in (given, same)
        )
        np.testing.assert_allclose(one, two, atol=1e-9)


@pytest.mark.parametrize("method", [None, cs.DawidSkene(), cs.MajorityVote(), cs.Average(weights=[1, 2, 3])], ids=repr)
def test_rows_are_answered_one_by_one(blobs, members, method):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, method, cv=3).fit(x[:150], y[:150])
    whole = ensemble.predict_proba(x[150:])
    np.testing.assert_allclose(whole[:5], [ensemble.predict_proba(row[None])[0] for row in x[150:155]], atol=1e-12)
    assert ensemble.predict(x[150:151]) in y


def test_without_folds_nothing_is_learned_until_told(blobs, members):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, cs.DawidSkene(), cv=0).fit(x[:100], y[:100])
    assert ensemble.aggregator_ is None
    soft = VotingClassifier(members, voting="soft").fit(x[:100], y[:100])
    np.testing.assert_allclose(ensemble.predict_proba(x), soft.predict_proba(x), atol=1e-12)
    learned = ensemble.fit_aggregator(x[100:]).predict_proba(x)
    assert np.abs(learned - soft.predict_proba(x)).max() > 0.01
    ensemble.fit(x[:100], y[:100])
    assert ensemble.aggregator_ is None  # what was learned before belonged to other members


@pytest.mark.parametrize("cv", [0, 3])
def test_soft_hard_and_weighted_voting(blobs, members, cv):
    x, y = blobs
    for method, options in [
        (cs.Average(), {"voting": "soft"}),
        (cs.Average(weights=[3, 1, 2]), {"voting": "soft", "weights": [3, 1, 2]}),
        (cs.MajorityVote(), {"voting": "hard"}),
    ]:
        voting = VotingClassifier(members, **options).fit(x, y)
        ensemble = cs.EnsembleClassifier(members, method, cv=cv).fit(x, y)
        np.testing.assert_array_equal(ensemble.predict(x), voting.predict(x))


# ---- members of all kinds ---------------------------------------------------------------------------------


def test_members_without_probabilities_take_part_with_their_labels(blobs):
    x, y = blobs
    members = [("ridge", RidgeClassifier()), ("bayes", GaussianNB()), ("svm", SVC())]
    ensemble = cs.EnsembleClassifier(members, cv=3).fit(x, y)
    predictions = ensemble.member_predictions(x)
    assert predictions.is_soft.tolist() == [False, True, False]
    assert (predictions.members, predictions.classes) == (["ridge", "bayes", "svm"], ["apple", "fig", "pear"])
    ridge = RidgeClassifier().fit(x, y).predict(x)
    np.testing.assert_array_equal(np.array(predictions.classes)[predictions.to_array()[0].argmax(axis=1)], ridge)
    assert ensemble.score(x, y) > 0.7
    only_labels = cs.EnsembleClassifier(members[::2], cs.DawidSkene(), cv=3).fit(x, y)
    np.testing.assert_allclose(only_labels.predict_proba(x).sum(axis=1), 1)


class _Backwards(BaseEstimator):
    """A fitted classifier whose classes stand in the reverse order; no member of scikit-learn's."""

    def __init__(self, inner):
        self.inner = inner
        self.classes_ = inner.classes_[::-1]

    def predict_proba(self, x):
        return self.inner.predict_proba(x)[:, ::-1]


def test_fitted_members_are_matched_by_class(blobs):
    x, y = blobs
    full = GaussianNB().fit(x, y)
    is_known = y != "fig"
    partial = GaussianNB().fit(x[is_known], y[is_known])
    hard = RidgeClassifier().fit(x[is_known], y[is_known])
    fitted = [partial, _Backwards(full), full, hard]
    ensemble = cs.EnsembleClassifier(fitted, cs.Average(), prefit=True).fit(x)
    assert list(ensemble.classes_) == ["apple", "fig", "pear"]
    assert list(ensemble.named_estimators_) == ["gaussiannb-1", "_backwards", "gaussiannb-2", "ridgeclassifier"]
    array = ensemble.member_predictions(x).to_array()
    np.testing.assert_array_equal(array[1], array[2])
    np.testing.assert_array_equal(array[0][:, [0, 2]], partial.predict_proba(x))
    assert (array[0][:, 1] == 0).all() and (array[3][:, 1] == 0).all()
    assert set(ensemble.predict(x)) == {"apple", "fig", "pear"}
    consensus = cs.EnsembleClassifier(fitted, prefit=True).fit(x)
    assert set(consensus.predict(x)) <= {"apple", "fig", "pear"}
    assert (consensus.predict(x[is_known]) == y[is_known]).mean() > 0.8


def test_fitted_members_stay_as_they_are_and_survive_cloning(blobs):
    x, y = blobs
    fitted = [("bayes", GaussianNB().fit(x[:120], y[:120])), ("lr", LogisticRegression().fit(x[:120], y[:120]))]
    ensemble = cs.EnsembleClassifier(fitted, cs.DawidSkene(), prefit=True).fit(x[120:])
    assert ensemble.estimators_ == [member for _, member in fitted] and not hasattr(ensemble, "le_")
    copy = clone(ensemble)
    assert not hasattr(copy, "aggregator_") and copy.aggregator is not ensemble.aggregator
    np.testing.assert_array_equal(copy.fit(x[120:]).predict_proba(x), ensemble.predict_proba(x))
    assert cross_val_score(ensemble, x[120:], y[120:], cv=3).mean() > 0.6
    two_steps = make_pipeline(StandardScaler(), GaussianNB()).fit(x, y)  # unpacks like a pair, and is none
    assert cs.EnsembleClassifier([two_steps, fitted[1][1]], prefit=True).fit(x).get_params()["prefit"] is True


# ---- frozen members ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [0, 2])
def test_frozen_members_answer_by_the_names_they_know(blobs, cv):
    x, y = blobs
    bayes, svm = GaussianNB().fit(x[:120], y[:120]), LinearSVC().fit(x[:120], y[:120])
    frozen = [("bayes", FrozenEstimator(bayes)), ("svm", FrozenEstimator(svm))]
    ensemble = cs.EnsembleClassifier([*frozen, ("lr", LogisticRegression())], cv=cv).fit(x[120:], y[120:])
    assert ensemble.classes_.tolist() == ["apple", "fig", "pear"]
    assert ensemble.score(x[120:], y[120:]) > 0.7
    answers = ensemble.member_predictions(x).to_array()
    np.testing.assert_array_equal(answers[0], bayes.predict_proba(x))
    np.testing.assert_array_equal(ensemble.classes_[answers[1].argmax(axis=1)], svm.predict(x))
    np.testing.assert_array_equal(bayes.predict_proba(x), GaussianNB().fit(x[:120], y[:120]).predict_proba(x))
    assert cross_val_score(ensemble, x[120:], y[120:], cv=2, error_score="raise").mean() > 0.6


def test_frozen_members_teach_the_same_as_fitted_ones(blobs):
    x, y = blobs
    fitted = [("bayes", GaussianNB().fit(x[:120], y[:120])), ("svm", SVC().fit(x[:120], y[:120]))]
    frozen = [(name, FrozenEstimator(member)) for name, member in fitted]
    one = cs.EnsembleClassifier(frozen, cv=3).fit(x[120:], y[120:])
    other = cs.EnsembleClassifier(fitted, prefit=True).fit(x[120:], y[120:])
    np.testing.assert_allclose(one.predict_proba(x), other.predict_proba(x), rtol=1e-12)


def test_a_frozen_part_of_a_member_knows_names_too(blobs):
    x, y = blobs
    svm = LinearSVC().fit(x[:120], y[:120])
    members = [
        ("calibrated", CalibratedClassifierCV(FrozenEstimator(svm), cv=2)),
        ("pipeline", make_pipeline(StandardScaler(), FrozenEstimator(GaussianNB().fit(x[:120], y[:120])))),
        ("scaled", make_pipeline(FrozenEstimator(StandardScaler().fit(x)), GaussianNB())),  # a frozen step, no classes
        ("fitted", cs.EnsembleClassifier([svm, GaussianNB().fit(x, y)], prefit=True)),
    ]
    ensemble = cs.EnsembleClassifier(members, cv=2).fit(x[120:], y[120:])
    assert ensemble.score(x[120:], y[120:]) > 0.6
    assert ensemble.named_estimators_.scaled.classes_.tolist() == [0, 1, 2]


def test_a_frozen_member_may_know_numbers_that_others_use_for_other_classes(blobs):
    x, y = blobs
    numbers = np.unique(y, return_inverse=True)[1] + 1  # 1, 2, 3: encoded, 1 and 2 would be the last two
    some = numbers[:120] < 3
    frozen = FrozenEstimator(GaussianNB().fit(x[:120][some], numbers[:120][some]))
    ensemble = cs.EnsembleClassifier([("frozen", frozen), ("bayes", GaussianNB())], cv=2).fit(x[120:], numbers[120:])
    rows = ensemble.member_predictions(x).to_array()[0]
    np.testing.assert_array_equal(rows[:, :2], frozen.predict_proba(x))
    assert (rows[:, 2] == 0).all()


def test_a_frozen_member_may_know_more_classes_than_y(blobs):
    x, y = blobs
    rest = np.flatnonzero(y != "fig")
    members = [("frozen", FrozenEstimator(GaussianNB().fit(x, y))), ("bayes", GaussianNB()), ("svm", LinearSVC())]
    ensemble = cs.EnsembleClassifier(members, cv=2).fit(x[rest], y[rest])
    assert ensemble.classes_.tolist() == ["apple", "fig", "pear"]
    assert (ensemble.member_predictions(x).to_array()[1:, :, 1] == 0).all()
    with pytest.raises(ValueError, match=r"the same names; 'y' knows \[0, 1\]; 'frozen' knows \['apple'"):
        cs.EnsembleClassifier(members).fit(x[rest], (y[rest] == "pear").astype(int))


@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_labels_of_fitted_members_are_known_truths(blobs):
    x, y = blobs
    swapped = np.array(["fig", "pear", "apple"])[np.unique(y, return_inverse=True)[1]]
    wrong = [GaussianNB().fit(x[:120], swapped[:120]), LogisticRegression().fit(x[:120], swapped[:120])]
    ensemble = cs.EnsembleClassifier(wrong, cs.Consensus(label_noise=0), prefit=True)
    assert ensemble.fit(x[120:]).score(x[120:], y[120:]) < 0.3
    learned = ensemble.fit(x[120:180], y[120:180]).predict_proba(x[180:])
    assert ensemble.score(x[180:], y[180:]) > 0.6  # the labels say who means what
    anew = ensemble.fit_aggregator(x[120:180], y[120:180], forget_y=True)
    np.testing.assert_array_equal(learned, anew.predict_proba(x[180:]))
    untaught = clone(ensemble).set_params(learn_from_y=False).fit(x[120:180], y[120:180])
    assert untaught.score(x[180:], y[180:]) < 0.3
    others = [y[120:180, None], pd.Series(y[120:180], index=np.arange(60)[::-1])]  # rows belong to rows by place
    for labels in others:
        np.testing.assert_array_equal(learned, ensemble.fit(x[120:180], labels).predict_proba(x[180:]))
    some = np.where(np.arange(60) < 50, y[120:180].astype(object), None)
    assert ensemble.fit(x[120:180], some).score(x[180:], y[180:]) > 0.6
    with pytest.raises(ValueError, match=r"labels must be among the classes .* item 0 has 'kiwi'"):
        ensemble.fit(x[120:180], ["kiwi"] * 60)
    with pytest.raises(TypeError, match="fit takes no sample_weight with prefit=True, because no member is fitted"):
        ensemble.fit(x[120:180], y[120:180], sample_weight=np.ones(60))


def test_decisions_stand_beside_probabilities(blobs):
    x, y = blobs
    members = [("ridge", RidgeClassifier()), ("svm", LinearSVC()), ("bayes", GaussianNB())]
    assert not hasattr(members[0][1], "predict_proba") and hasattr(members[0][1], "decision_function")
    ensemble = cs.EnsembleClassifier(members, cv=3).fit(x, y)
    assert ensemble.member_predictions(x).is_soft.tolist() == [False, False, True]
    assert cross_val_score(ensemble, x, y, cv=3, error_score="raise").mean() > 0.7


def test_folds_must_leave_out_each_item_once(blobs, members):
    with pytest.raises(ValueError, match="cv must leave out each item once"):
        cs.EnsembleClassifier(members, cv=ShuffleSplit(2, random_state=0)).fit(*blobs)


def test_a_class_too_rare_for_every_fold(blobs):
    x, y = blobs
    y = y.copy()
    y[0] = "kiwi"
    members = [("bayes", GaussianNB(var_smoothing=0.1)), ("svm", SVC())]
    with pytest.warns(Warning, match="class") as caught:
        ensemble = cs.EnsembleClassifier(members, cv=3).fit(x, y)
    assert {w.category for w in caught} <= {UserWarning, RuntimeWarning}  # scikit-learn's own, of folds and classes
    assert ensemble.predict_proba(x).shape == (240, 4)


# ---- what a VotingClassifier does -------------------------------------------------------------------------


def test_parameters_by_name(blobs, members):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, cs.DawidSkene(), cv=2)
    ensemble.set_params(lr="drop", tree__max_depth=1, aggregator__smoothing=0.5).fit(x, y)
    assert [type(member).__name__ for member in ensemble.estimators_] == ["GaussianNB", "DecisionTreeClassifier"]
    assert ensemble.named_estimators_.lr == "drop"
    assert ensemble.named_estimators_.tree.get_depth() == 1
    assert ensemble.aggregator_.smoothing == 0.5
    assert ensemble.member_predictions(x).members == ["bayes", "tree"]
    ensemble.set_params(bayes=KNeighborsClassifier())
    assert isinstance(ensemble.get_params()["bayes"], KNeighborsClassifier)


def test_search_pipelines_and_parallel_jobs(blobs, members):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, cs.DawidSkene(), cv=2, n_jobs=2)
    pipeline = make_pipeline(StandardScaler(), ensemble)
    grid = {"ensembleclassifier__aggregator__smoothing": [0.01, 1], "ensembleclassifier__tree__max_depth": [1, 3]}
    with joblib.parallel_config("threading"):
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(x, y)
    assert len(search.cv_results_["params"]) == 4 and search.best_score_ > 0.7
    alone = clone(search.best_estimator_).set_params(ensembleclassifier__n_jobs=None).fit(x, y)
    np.testing.assert_array_equal(alone.predict_proba(x), search.predict_proba(x))


def test_frames_in_and_out(blobs, members):
    x, y = blobs
    frame = pd.DataFrame(x, columns=list("abcd"))
    ensemble = cs.EnsembleClassifier(members, cv=2).set_output(transform="pandas").fit(frame, pd.Series(y))
    assert ensemble.n_features_in_ == 4 and list(ensemble.feature_names_in_) == list("abcd")
    table = ensemble.transform(frame)
    assert list(table.columns[:4]) == [
        "ensembleclassifier_bayes_apple",
        "ensembleclassifier_bayes_fig",
        "ensembleclassifier_bayes_pear",
        "ensembleclassifier_tree_apple",
    ]
    np.testing.assert_array_equal(table.iloc[:, :3], ensemble.named_estimators_.bayes.predict_proba(frame))
    ensemble.fit(x, y)
    assert not hasattr(ensemble, "feature_names_in_")


def test_pickles_and_notebooks(blobs, members):
    x, y = blobs
    ensemble = cs.EnsembleClassifier(members, cv=2)
    page = ensemble._repr_html_()
    for text in ("GaussianNB", "DecisionTreeClassifier", "LogisticRegression", "Consensus"):
        assert text in page
    ensemble.fit(x, y)
    again = pickle.loads(pickle.dumps(ensemble))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict_proba(x), ensemble.predict_proba(x))


def test_sample_weights_reach_all_members_in_and_out_of_fold(blobs, members):
    x, y = blobs
    weights = np.where(y == "fig", 0.01, 1.0)
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    weighted = cs.EnsembleClassifier(members, cs.DawidSkene(), cv=folds).fit(x, y, sample_weight=weights)
    bayes = GaussianNB().fit(x, weighted.le_.transform(y), sample_weight=weights)
    np.testing.assert_array_equal(weighted.named_estimators_.bayes.predict_proba(x), bayes.predict_proba(x))
    plain = cs.EnsembleClassifier(members, cs.DawidSkene(), cv=folds).fit(x, y, sample_weight=None)
    rare = plain.classes_.tolist().index("fig")
    assert weighted.aggregator_.class_prior_[rare] < plain.aggregator_.class_prior_[rare] - 0.1
    with pytest.raises(TypeError, match="KNeighborsClassifier does not support sample weights"):
        cs.EnsembleClassifier([*members, ("knn", KNeighborsClassifier())]).fit(x, y, sample_weight=weights)
    with pytest.raises(TypeError, match="fit takes sample_weight alone unless metadata routing is enabled; got groups"):
        cs.EnsembleClassifier(members).fit(x, y, groups=weights)


def test_labels_do_not_undo_sample_weights(blobs, members):
    """Weights may mean other class shares than y has; labels, which have no weights, would teach those of y."""
    x, y = blobs
    weights = np.where(y == "fig", 0.01, 1.0)
    weighted = cs.EnsembleClassifier(members).fit(x, y, sample_weight=weights)
    assert weighted.aggregator_.correction_ is None
    assert (weighted.predict(x) == "fig").mean() < 0.1
    alike = cs.EnsembleClassifier(members).fit(x, y, sample_weight=np.full(len(y), 2.0))
    assert alike.aggregator_.correction_ is not None


def test_metadata_is_routed_to_who_asks_for_it(blobs):
    x, y = blobs
    weights = np.where(y == "fig", 0.01, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        members = [
            ("asks", GaussianNB().set_fit_request(sample_weight=True)),
            ("declines", GaussianNB().set_fit_request(sample_weight=False)),
        ]
        ensemble = cs.EnsembleClassifier(members, cv=2).fit(x, y, sample_weight=weights)
    assert ensemble.named_estimators_.asks.class_prior_[1] < 0.05 < ensemble.named_estimators_.declines.class_prior_[1]


# ---- what the user is told --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimators", "options", "error", "message"),
    [
        ([], {}, ValueError, r"pairs, and not empty; got \[\]"),
        ([GaussianNB()], {}, ValueError, "pairs unless prefit=True; got some without a name"),
        ([("a", GaussianNB()), ("a", GaussianNB())], {}, ValueError, "not unique"),
        ([("cv", GaussianNB())], {}, ValueError, "conflict with constructor arguments"),
        ([("a", "drop")], {}, ValueError, "must have a member that is not dropped; got none"),
        ([("a", LinearRegression())], {}, ValueError, "member 'a' is a LinearRegression"),
        ([("a", GaussianNB())], {"aggregator": "mean"}, TypeError, "aggregator such as Consensus.*; got 'mean'"),
        ([GaussianNB()], {"prefit": True}, ValueError, r"member 'gaussiannb' \(GaussianNB\) has no classes_"),
    ],
)
def test_wrong_arguments(blobs, estimators, options, error, message):
    with pytest.raises(error, match=message):
        cs.EnsembleClassifier(estimators, **options).fit(*blobs)


def test_wrong_classes(blobs):
    x, y = blobs
    named, numbered = GaussianNB().fit(x, y), GaussianNB().fit(x, np.unique(y, return_inverse=True)[1])
    with pytest.raises(ValueError, match=r"by the same names; .* knows \['apple', .*'\]; .* knows \[0, 1, 2\]"):
        cs.EnsembleClassifier([named, numbered], prefit=True).fit(x)
    several = tree(2).fit(x, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="member 'decisiontreeclassifier' has several outputs"):
        cs.EnsembleClassifier([several], prefit=True).fit(x)
    with pytest.raises(ValueError, match=r"y must have more than one class; got \['pear'\]"):
        cs.EnsembleClassifier([("tree", tree(1))]).fit(x[:20], ["pear"] * 20)
    with pytest.raises(NotFittedError):
        cs.EnsembleClassifier([("tree", tree(1))]).predict(x)
    ensemble = cs.EnsembleClassifier([RidgeClassifier().fit(x, y), named], prefit=True).fit(x)
    ensemble.estimators_[0] = RidgeClassifier().fit(x, np.char.upper(y))
    with pytest.raises(ValueError, match=r"members must answer by the classes \['apple', .*; got 'A|F|PEAR'"):
        ensemble.predict(x)


def test_members_stay_unfitted_where_they_are_copied(blobs, members):
    cs.EnsembleClassifier(members, cv=2).fit(*blobs)
    assert not any(hasattr(member, "classes_") for _, member in members)


def test_sparse_features_are_for_the_members(blobs):
    from scipy.sparse import csr_array

    x, y = blobs
    x = MinMaxScaler().fit_transform(x)
    members = [("lr", LogisticRegression()), ("bernoulli", BernoulliNB(binarize=0.5))]
    ensemble = cs.EnsembleClassifier(members, cv=2)
    np.testing.assert_allclose(
        ensemble.fit(csr_array(x), y).predict_proba(csr_array(x)), ensemble.fit(x, y).predict_proba(x), atol=1e-6
    )


def test_fitted_members_need_no_fit_before_they_learn_to_combine():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    x = rng.normal(size=(150, 3)) + 3 * np.eye(3)[y]
    fitted = [GaussianNB().fit(x[:60], y[:60]), GaussianNB().fit(x[60:120], y[60:120])]
    at_once = cs.EnsembleClassifier(fitted, prefit=True).fit_aggregator(x)
    np.testing.assert_array_equal(
        at_once.predict_proba(x), cs.EnsembleClassifier(fitted, prefit=True).fit(x).predict_proba(x)
    )
