"""Consensus is the loops of `reference`: agreement, confusion matrices, weights and posterior."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.consensus import TranslationModel
from consilience.aggregators.consensus.opinion_weights import copies
from consilience.passes.reader import Reader

import reference
from simulate import softmax_members

N_ITEMS, N_CLASSES = 40, 3


@pytest.fixture(params=["dense", "missing", "labels", "both", "torch and labels", "list of answers"])
def case(request, rng):
    """Predictions, and the same as a list of answers (member, item, row)."""
    is_partial = request.param in {"missing", "list of answers", "both"}
    array, truth = softmax_members(rng, [3, 2, 1], N_ITEMS, N_CLASSES, missing=0.3 if is_partial else 0)
    labels = np.where(rng.random((2, N_ITEMS)) < 0.7, truth, rng.integers(N_CLASSES, size=(2, N_ITEMS)))
    labels[1, ::3] = -1
    hard = cs.Predictions.from_labels(labels, N_CLASSES)
    if request.param in {"dense", "missing"}:
        return cs.Predictions(array), reference.answers_of(array)
    if request.param == "labels":
        labels[0, ::2] = labels[1, ::2]
        labels[0, labels[0] < 0] = 0  # somebody answers each item
        hard = cs.Predictions.from_labels(labels, N_CLASSES)
        return hard, reference.answers_of(np.empty((0, N_ITEMS, N_CLASSES)), labels)
    if request.param == "both":
        return cs.Predictions.concatenate([array, hard]), reference.answers_of(array, labels)
    if request.param == "torch and labels":
        theirs = pytest.importorskip("torch").tensor(array)
        return cs.Predictions.concatenate([theirs, hard]), reference.answers_of(array, labels)
    answers = reference.answers_of(array)
    answers += [(m, i, row[::-1]) for m, i, row in answers if m == 1 and i % 4 == 0]  # who changes its mind
    member, item, rows = zip(*answers, strict=True)
    return cs.Predictions.from_answers(item, member, probabilities=np.array(rows)), answers


@pytest.mark.parametrize("chunk_size", [None, 7])
def test_agreement_is_the_loops(case, chunk_size):
    predictions, answers = case
    agreement = Reader(predictions, chunk_size=chunk_size).agreement()
    products, counts = reference.agreement(answers, predictions.n_members)
    np.testing.assert_allclose(agreement.products, products, atol=1e-10)
    np.testing.assert_array_equal(agreement.counts, counts)
    sure = [[max(row) for n, _, row in answers if n == m] for m in range(predictions.n_members)]
    np.testing.assert_array_equal(agreement.answers, [len(given) for given in sure])
    np.testing.assert_allclose(agreement.mean_confidence, [np.mean(given) for given in sure], atol=1e-10)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 3.0])
def test_confusion_matrices_are_the_loops(case, smoothing, rng):
    predictions, answers = case
    posterior = rng.dirichlet(np.ones(N_CLASSES), size=N_ITEMS)
    statistics = Reader(predictions).statistics(posterior)
    counts = reference.confusion_counts(answers, posterior, predictions.n_members)
    np.testing.assert_allclose(statistics.sums, counts, atol=1e-10)
    model = TranslationModel(np.ones(predictions.n_members), smoothing)
    np.testing.assert_allclose(model.maximize(statistics), reference.shrunk_rates(counts, smoothing), atol=1e-10)


def known_of(fitted):
    return fitted.member_weights_, copies(fitted.agreement_)


@pytest.mark.parametrize("n_iter", [1, 6])
@pytest.mark.parametrize("options", [{}, {"weight": 1.0, "evidence": 0.7, "smoothing": 1.0}], ids=repr)
def test_posterior_is_the_loops(case, n_iter, options):
    predictions, answers = case
    fitted = cs.Consensus(max_iter=n_iter, tol=None, **options).fit(predictions)
    sizes = (N_ITEMS, N_CLASSES, n_iter)
    posterior, confusion = reference.consensus(answers, *known_of(fitted), *sizes, **options)
    np.testing.assert_allclose(fitted.posterior_, posterior, atol=1e-8)
    np.testing.assert_allclose(fitted.confusion_, confusion, atol=1e-8)
    np.testing.assert_allclose(fitted.predict_proba(predictions), posterior, atol=1e-8)


def test_posterior_of_many_classes_is_the_loops(rng):
    """From 64 classes on, what vanishes is left out and items that cannot have changed are passed over."""
    array, _ = softmax_members(rng, [9, 7], n_items=15, n_classes=70)
    fitted = cs.Consensus(max_iter=2, tol=None).fit(array)
    posterior, _ = reference.consensus(reference.answers_of(array), *known_of(fitted), 15, 70, 2)
    np.testing.assert_allclose(fitted.posterior_, posterior, atol=1e-8)
