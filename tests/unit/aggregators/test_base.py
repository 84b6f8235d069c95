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


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination()], ids=repr)
def test_a_stream_of_labels_begins_with_an_item_per_class(method):
    """By hand: after the fit, each member answers an item of each class, right with probability 1/2 + 1/2K."""
    votes = np.array([[0, 0, 1, 1, 0], [0, 1, 1, 1, 0], [0, 0, 1, 0, 0]])
    predictions = cs.Predictions.from_labels(votes, 3)
    fitted, streamed = clone(method).fit(predictions), clone(method).partial_fit(predictions)
    table = np.full((3, 3), 1 / 6) + np.eye(3) / 2
    for own, before, added in (
        (streamed.statistics_.sums, fitted.statistics_.sums, np.broadcast_to(table, (3, 3, 3))),
        (streamed.statistics_.answer_counts, fitted.statistics_.answer_counts, np.ones((3, 3))),
        (streamed.statistics_.class_counts, fitted.statistics_.class_counts, np.ones(3)),
    ):
        np.testing.assert_allclose(own, before + added, rtol=1e-12)
    assert streamed.statistics_.n_items == 5
    assert streamed.statistics_.log_evidence == fitted.statistics_.log_evidence


@pytest.mark.parametrize(
    "method", [cs.DawidSkene(), cs.BayesianClassifierCombination(), cs.SoftDawidSkene(), cs.Consensus()], ids=repr
)
def test_a_batch_of_a_stream_is_one_step(method):
    streamed = clone(method).partial_fit(ARRAY[:, :40]).partial_fit(ARRAY[:, 40:])
    assert (streamed.n_iter_, streamed.converged_, len(streamed.history_)) == (1, False, 1)


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination()], ids=repr)
def test_a_member_alone_is_believed(method):
    votes = np.array([[0, 0, 1, 2, 0, 1]])
    alone = clone(method).fit(cs.Predictions.from_labels(votes, 3))
    assert (alone.n_iter_, alone.converged_) == (1, False)
    silent = clone(method).fit(cs.Predictions.from_labels(np.concatenate([votes, np.full((1, 6), -1)]), 3))
    assert silent.n_iter_ == 1
    for fitted in (alone, silent):
        assert fitted.posterior_.argmax(axis=1).tolist() == votes[0].tolist()


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.BayesianClassifierCombination(), cs.SoftDawidSkene()], ids=repr)
def test_a_uniform_prior_stays_uniform_in_a_stream(method):
    fixed = clone(method).set_params(class_prior="uniform")
    streamed = fixed.partial_fit(ARRAY[:, :40]).partial_fit(ARRAY[:, 40:])
    np.testing.assert_allclose(streamed.class_prior_, 1 / 3)


def test_a_pure_fit_answers_by_the_e_step_alone():
    fitted = cs.SoftDawidSkene(max_iter=5).fit(ARRAY)
    pure = fitted.pure()
    np.testing.assert_array_equal(pure.predict_proba(ARRAY), fitted.predict_proba(ARRAY, pure=True))
    average = cs.Average().fit(ARRAY).posterior_
    mixed = (1 - fitted.weight_) * average + fitted.weight_ * pure.predict_proba(ARRAY)
    np.testing.assert_allclose(fitted.predict_proba(ARRAY), mixed, rtol=1e-12)
    assert fitted.weight_ < 1
    with pytest.raises(AttributeError, match="has no posterior_"):
        _ = pure.posterior_
