"""What all aggregators have in common, each by its own reference."""

import copy

import numpy as np
import pytest
from sklearn.base import clone

import consilience as cs

from simulate import softmax_members

ARRAY, TRUTH = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=80, n_classes=3)
LABELS = np.where(np.arange(80) < 20, (TRUTH + 1) % 3, -1)  # wrong on purpose: whoever takes them answers otherwise
METHODS = [
    cs.Average(),
    cs.Average(kind="geometric"),
    cs.MajorityVote(),
    cs.DawidSkene(max_iter=5, tol=None),
    cs.BayesianClassifierCombination(max_iter=5, tol=None),
    cs.SoftDawidSkene(max_iter=5, tol=None),
    cs.Consensus(),
]


@pytest.fixture(params=METHODS, ids=repr)
def method(request):
    return clone(request.param)


@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_labels_reach_the_shortcuts(method):
    expected = clone(method).fit(ARRAY, LABELS)
    np.testing.assert_array_equal(clone(method).fit_predict_proba(ARRAY, LABELS), expected.posterior_)
    np.testing.assert_array_equal(clone(method).fit_predict(ARRAY, LABELS), expected.posterior_.argmax(axis=1))
    assert (expected.posterior_.argmax(axis=1)[:20] == LABELS[:20]).all() and (LABELS[:20] != TRUTH[:20]).all()
    assert not np.array_equal(clone(method).fit_predict_proba(ARRAY), expected.posterior_)


@pytest.mark.parametrize(
    "classes",
    [
        ["ant", "bee", "cat"],
        [1, "bee", ("c", 3)],
        [True, "bee", 2.5],
        [1, 2.5, True + 1],
        [2**63, 1, -1],
        [("a", "b"), ("a", "c"), ("d", "e")],
        [("a",), ("a", "c"), ("d", "e", "f")],
    ],
    ids=str,
)
def test_answers_are_the_names_themselves(method, classes):
    predictions = cs.Predictions(ARRAY, classes=classes)
    answers = method.fit_predict(predictions)
    expected = [classes[place] for place in method.posterior_.argmax(axis=1)]
    assert answers.shape == (80,) and answers.tolist() == expected
    assert [type(name) for name in answers.tolist()] == [type(name) for name in expected]
    assert method.predict(predictions).tolist() == [
        classes[place] for place in method.predict_proba(predictions).argmax(axis=1)
    ]


def test_a_copy_holds_the_posterior(method):
    method.fit(ARRAY)
    copied = copy.deepcopy(method)
    np.testing.assert_array_equal(copied.posterior_, method.posterior_)
    np.testing.assert_array_equal(copied.predict_proba(ARRAY[:, :9]), method.predict_proba(ARRAY[:, :9]))
    ((first, last, rows),) = copied.posterior_chunks()
    assert (first, last) == (0, 80)
    np.testing.assert_array_equal(rows, method.posterior_)


def test_a_stream_takes_labels(method):
    """What is known of a batch is in its answers, and in what is learned from it."""
    method.partial_fit(ARRAY[:, :40])
    with_labels = copy.deepcopy(method).partial_fit(ARRAY[:, 40:], TRUTH[40:])
    without = copy.deepcopy(method).partial_fit(ARRAY[:, 40:])
    np.testing.assert_allclose(with_labels.posterior_, np.eye(3)[TRUTH[40:]], atol=1e-12)
    assert not np.allclose(without.posterior_, with_labels.posterior_)
    if method.__class__ not in (cs.Average, cs.MajorityVote):
        assert not np.allclose(with_labels.predict_proba(ARRAY), without.predict_proba(ARRAY))
    assert with_labels.items_ == list(range(40))


def test_a_rule_knows_who_counts_by_labels_alone(method):
    rule = method.fit(cs.Predictions(ARRAY, members=list("abc"), classes=list("xyz"))).rule()
    assert rule.is_label.dtype == bool
    reads_labels = isinstance(method, cs.MajorityVote | cs.DawidSkene | cs.BayesianClassifierCombination)
    assert rule.is_label.tolist() == [reads_labels] * 3


@pytest.mark.parametrize(
    "method", [cs.DawidSkene(), cs.BayesianClassifierCombination(), cs.SoftDawidSkene(), cs.Consensus()], ids=repr
)
def test_a_batch_of_a_stream_is_one_step(method):
    streamed = clone(method).partial_fit(ARRAY[:, :40]).partial_fit(ARRAY[:, 40:])
    assert (streamed.n_iter_, streamed.converged_, len(streamed.history_)) == (1, False, 1)


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination(), cs.SoftDawidSkene()], ids=repr)
def test_a_uniform_prior_stays_uniform_in_a_stream(method):
    fixed = clone(method).set_params(class_prior="uniform")
    streamed = fixed.partial_fit(ARRAY[:, :40]).partial_fit(ARRAY[:, 40:])
    np.testing.assert_allclose(streamed.class_prior_, 1 / 3)


# ---- score ------------------------------------------------------------------------------------------------


def test_score_is_the_share_of_right_answers(method):
    fitted = method.fit(ARRAY[:, :40])
    expected = (fitted.predict(ARRAY[:, 40:]) == TRUTH[40:]).mean()
    assert fitted.score(ARRAY[:, 40:], TRUTH[40:]) == expected and 0.5 < expected < 1


def test_score_leaves_out_what_is_unknown(method):
    fitted = method.fit(ARRAY)
    some = np.where(np.arange(80) % 3 == 0, TRUTH, -1)
    assert fitted.score(ARRAY, some) == (fitted.predict(ARRAY) == TRUTH)[::3].mean()
    assert fitted.score(ARRAY, {0: int(fitted.predict(ARRAY)[0])}) == 1


@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_score_does_not_answer_by_the_labels_of_the_fit(method):
    """Wrong labels, which `posterior_` echoes: the answers to the same items as new ones contradict most of them."""
    fitted = method.fit(ARRAY, LABELS)
    echoed = (np.asarray(fitted.posterior_).argmax(axis=1)[:20] == LABELS[:20]).mean()
    assert echoed == 1
    assert fitted.score(ARRAY, LABELS) == (fitted.predict(ARRAY)[:20] == LABELS[:20]).mean()


def test_score_matches_members_classes_and_items_by_name():
    named = cs.Predictions(ARRAY, members=list("abc"), classes=["ant", "bee", "cat"])
    fitted = cs.Average().fit(named)
    other = cs.Predictions(ARRAY[::-1, :, [2, 0, 1]], members=list("cba"), classes=["cat", "ant", "bee"])
    labels = np.array(["ant", "bee", "cat"])[TRUTH]
    assert fitted.score(other, labels) == fitted.score(named, labels) > 0.5


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(80, -1), "labels must be known for at least one item to score on; got none"),
        (None, "labels must be known for at least one item to score on; got none"),
        (np.eye(3)[TRUTH], "labels must be"),
        (TRUTH[:5], "labels must have one entry for each of the 80 items; got 5"),
        (TRUTH + 7, "labels must be among the classes"),
    ],
    ids=["unknown", "none", "soft", "few", "others"],
)
def test_score_needs_labels(labels, message, method):
    with pytest.raises(cs.InvalidPredictions, match=message):
        method.fit(ARRAY).score(ARRAY, labels)


@pytest.mark.parametrize("method", [cs.DawidSkene, cs.BayesianClassifierCombination, cs.SoftDawidSkene, cs.Consensus])
def test_a_rule_is_kept_until_more_is_learned(method):
    rng = np.random.default_rng(0)
    array = rng.dirichlet(np.ones(3), size=(4, 50))
    fitted = method().fit(array)
    first = fitted.rule()
    assert fitted.rule() is first
    assert fitted.partial_fit(rng.dirichlet(np.ones(3), size=(4, 20))).rule() is not first
    again = copy.deepcopy(fitted)  # as pickle does, by __getstate__
    assert again._kept is None
    np.testing.assert_array_equal(again.predict_proba(array), fitted.predict_proba(array))
