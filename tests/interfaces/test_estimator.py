"""scikit-learn's conventions, constructor arguments, and what the user is told."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import consilience as cs

from simulate import softmax_members

METHODS = [
    cs.Average(kind="geometric", weights=[1, 2, 3]),
    cs.MajorityVote(),
    cs.DawidSkene(smoothing=0.5),
    cs.BayesianClassifierCombination(diagonal_prior=3),
    cs.Consensus(forgetting=0.5),
    cs.SoftDawidSkene(averaging={0: 0.1, 5: 0.01}, max_iter=9),
]


@pytest.fixture(scope="module")
def array():
    return softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=40, n_classes=3)[0]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_clone_copies_parameters_and_nothing_learned(method, array):
    copy = clone(clone(method).fit(array))
    assert copy.get_params() == method.get_params()
    assert not hasattr(copy, "posterior_")
    assert copy.set_params(**method.get_params()).get_params() == method.get_params()


def test_repr_shows_what_was_changed():
    assert repr(cs.DawidSkene(smoothing=0.5)) == "DawidSkene(smoothing=0.5)"


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_not_fitted(method, array, tmp_path):
    for use in (lambda m: m.predict_proba(array), lambda m: m.predict(array), lambda m: m.save(tmp_path / "x")):
        with pytest.raises(NotFittedError, match=f"this {type(method).__name__} is not fitted yet; call fit first"):
            use(clone(method))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_learned_names(method, array):
    fitted = clone(method).fit(cs.Predictions(array, members=["a", "b", "c"], classes=["x", "y", "z"]))
    assert fitted.posterior_.shape == (40, 3)
    assert fitted.class_prior_.shape == (3,)
    assert fitted.confusion_.shape == (3, 3, 3)
    assert fitted.n_iter_ == len(fitted.history_)
    assert isinstance(fitted.converged_, bool)
    assert (fitted.members_, fitted.classes_) == (["a", "b", "c"], ["x", "y", "z"])
    assert set(clone(method).fit_predict(fitted.aligned(array))) <= {"x", "y", "z"}


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (cs.Average(kind="harmonic"), "kind must be 'arithmetic' or 'geometric'; got 'harmonic'"),
        (cs.Average(weights=[1, 2]), r"weights must be a positive number for each of the 3 members; got \[1, 2\]"),
        (cs.Average(weights=[1, 0, 1]), "weights must be a positive number"),
        (cs.DawidSkene(smoothing=-1), "smoothing must be a number of at least 0; got -1"),
        (cs.DawidSkene(smoothing=np.inf), "smoothing must be a number of at least 0; got inf"),
        (cs.Average(weights={"a": 1}), "weights must be a positive number for each"),
        (cs.DawidSkene(max_iter=0), "max_iter must be an integer of at least 1; got 0"),
        (cs.DawidSkene(max_iter=2.5), "max_iter must be an integer of at least 1; got 2.5"),
        (cs.DawidSkene(tol="small"), "tol must be a number of at least 0; got 'small'"),
        (cs.DawidSkene(forgetting=1.5), "forgetting must be a number from 0 to 1; got 1.5"),
        (cs.DawidSkene(chunk_size=0), "chunk_size must be an integer of at least 1; got 0"),
        (cs.DawidSkene(class_prior="flat"), "class_prior must be None, 'uniform', or probabilities of the 3 classes"),
        (cs.DawidSkene(class_prior=[0.5, 0.5]), r"probabilities of the 3 classes that .*; got \[0.5, 0.5\]"),
        (cs.DawidSkene(class_prior=[0.5, 0.5, 0.5]), "positive and sum to 1; got .*, which sums to 1.5"),
        (cs.BayesianClassifierCombination(diagonal_prior=0), "diagonal_prior must be a number of at least 1e-12"),
        (cs.Consensus(forgetting=2), "forgetting must be a number from 0 to 1; got 2"),
        (cs.SoftDawidSkene(solver="newton"), "solver must be 'adamw' or 'exact'; got 'newton'"),
        (cs.SoftDawidSkene(averaging=2), "averaging must be a number from 0 to 1; got 2"),
        (cs.SoftDawidSkene(averaging={5: 0.1}), "averaging must say what holds from iteration 0 on"),
        (cs.SoftDawidSkene(init_smoothing="none"), "init_smoothing must be a number of at least 0; got 'none'"),
        (cs.SoftDawidSkene(optimizer_steps=0), "optimizer_steps must be an integer of at least 1; got 0"),
        (cs.SoftDawidSkene(floor=0), "floor must be a number from 1e-30 to 0.1; got 0"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else "",
)
def test_wrong_arguments(method, message, array):
    with pytest.raises(ValueError, match=message):
        method.fit(array)


def test_convergence_is_reported(array):
    with pytest.warns(ConvergenceWarning, match="still changes by 1e-12 or more per item after 2 iterations"):
        unconverged = cs.DawidSkene(max_iter=2, tol=1e-12).fit(array)
    assert not unconverged.converged_
    converged = cs.DawidSkene(max_iter=500, tol=1e-6).fit(array)
    assert converged.converged_ and converged.n_iter_ < 500
    assert cs.DawidSkene(max_iter=2, tol=None).fit(array).n_iter_ == 2
    assert cs.SoftDawidSkene(tol=1.0).fit(array).converged_


def test_a_fixed_class_prior_is_kept(array):
    prior = [0.6, 0.3, 0.1]
    for method in (cs.DawidSkene, cs.BayesianClassifierCombination, cs.SoftDawidSkene):
        np.testing.assert_array_equal(method(class_prior=prior).fit(array).class_prior_, prior)


def test_new_predictions_must_fit_the_fit(array):
    named = cs.DawidSkene().fit(cs.Predictions(array, members=["a", "b", "c"], classes=["x", "y", "z"]))
    plain = cs.SoftDawidSkene(max_iter=2).fit(array)
    for method, new, message in [
        (named, cs.Predictions(array[:1], members=["d"]), r"member must be one of .*; got 'd'"),
        (plain, array[:2], "must have the 3 members of the fit .*; got 2"),
        (plain, array[:, :, :2] / array[:, :, :2].sum(axis=2, keepdims=True), "the 3 classes of the fit; got 2"),
        (named, cs.Predictions(array, classes=["x", "y", "w"]), "class must be one of .*; got 'w'"),
        (plain, cs.Predictions.from_labels([[0], [1], [2]], 3), "member 0 must answer as it did in the fit, by prob"),
    ]:
        with pytest.raises(cs.InvalidPredictions, match=message):
            method.predict_proba(new)


def test_predictions_without_an_answer_are_refused_where_they_are_used():
    partial = cs.Predictions.from_labels([[0, -1]], 2, partial=True)
    with pytest.raises(cs.InvalidPredictions, match="item 1 has none. Use partial=True"):
        cs.MajorityVote().fit(partial)


def test_geometric_mean_needs_logarithms():
    with pytest.raises(cs.InvalidPredictions, match="geometric mean needs probabilities"):
        cs.Average(kind="geometric").fit(cs.Predictions.from_labels([[0, 1]]))


def test_batches_check_their_arguments_and_renew_the_history(array):
    ds = cs.DawidSkene().partial_fit(array)
    ds.partial_fit(array)
    assert (len(ds.history_), ds.n_iter_, ds.converged_) == (1, 1, False)
    with pytest.raises(ValueError, match="forgetting must be a number from 0 to 1; got 5"):
        ds.set_params(forgetting=5).partial_fit(array)


def test_in_a_pipeline_and_in_a_search(array):
    truth = array.mean(axis=0).argmax(axis=1)
    members = array.transpose(1, 0, 2).reshape(len(truth), -1)  # (items, members × classes), as scikit-learn has it
    apart = FunctionTransformer(lambda rows: rows.reshape(len(rows), 3, 3).transpose(1, 0, 2))
    pipeline = make_pipeline(apart, cs.DawidSkene()).set_params(dawidskene__smoothing=0.5)
    np.testing.assert_array_equal(
        pipeline.fit(members).predict(members), cs.DawidSkene(smoothing=0.5).fit_predict(array)
    )
    assert clone(pipeline).get_params()["dawidskene__smoothing"] == 0.5
    search = GridSearchCV(pipeline, {"dawidskene__smoothing": [0.1, 1.0]}, cv=2).fit(members, truth)
    assert search.best_score_ > 0.9


def test_wrong_parameters_are_named():
    with pytest.raises(
        ValueError, match=r"DawidSkene has no parameter 'smothing'; it has \['chunk_size', .*'smoothing'"
    ):
        cs.DawidSkene().set_params(smothing=1)


def test_a_long_repr_is_cut():
    text = repr(cs.Average(weights=[1 / 7] * 500))
    assert len(text) < 720 and text.startswith("Average(weights=[0.142") and text.endswith("])") and "..." in text
