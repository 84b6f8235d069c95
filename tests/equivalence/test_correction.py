"""What labels correct, against loops and scikit-learn; and everything that answers by it answers the same."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import consilience as cs
from consilience.aggregators.consensus.labels import regression
from consilience.aggregators.consensus.labels.regression import Lesson, learn_correction
from consilience.aggregators.consensus.labels.teaching import LabelledItems

from simulate import softmax_members

N_LABELLED, N_CLASSES = 30, 4


def lesson_of(answers, logs, features, targets):
    """Labels that are all right."""
    return Lesson(answers, logs, features, targets, np.ones((len(answers), 1)), np.zeros((len(answers), 1)))


@pytest.fixture
def case(rng):
    array, truth = softmax_members(rng, [3, 2, 1], n_items=120, n_classes=N_CLASSES, missing=0.2)
    swapped = array.copy()
    swapped[1] = array[1][:, [1, 0, 2, 3]]  # who takes 0 for 1, so that there is something to correct
    return swapped, np.where(np.arange(120) < N_LABELLED, truth, -1)


def corrected_by_loops(fitted, plain, array):
    """Softmax of the sharpened answers, the biases and the weighted logarithms of whoever answered."""
    correction = fitted.correction_
    rows = []
    for i, answer in enumerate(plain):
        scores = []
        for k in range(N_CLASSES):
            score = correction.sharpness * math.log(max(answer[k], 1e-6)) + correction.bias[k]
            for m, said in enumerate(array[:, i]):
                if not np.isnan(said).any():
                    score += sum(correction.weights[m, k, j] * math.log(max(said[j], 1e-4)) for j in range(N_CLASSES))
            scores.append(score)
        exponentials = [math.exp(score - max(scores)) for score in scores]
        rows.append([part / sum(exponentials) for part in exponentials])
    return np.array(rows)


@pytest.mark.parametrize("chunk_size", [None, 17])
def test_corrected_posterior_is_the_loops(case, chunk_size):
    array, labels = case
    fitted = cs.Consensus(chunk_size=chunk_size).fit(array, labels)
    plain = cs.Consensus().fit(array)
    np.testing.assert_allclose(
        fitted.confusion_, plain.confusion_, rtol=1e-12
    )  # labels change nothing but the correction
    expected = corrected_by_loops(fitted, plain.posterior_, array)
    assert np.abs(expected - plain.posterior_).max() > 0.05
    np.testing.assert_allclose(fitted.predict_proba(array), expected, atol=1e-10)
    np.testing.assert_allclose(fitted.posterior_[N_LABELLED:], expected[N_LABELLED:], atol=1e-10)
    np.testing.assert_array_equal(fitted.posterior_[:N_LABELLED], np.eye(N_CLASSES)[labels[:N_LABELLED]])


def test_the_slopes_are_those_of_the_loss(rng):
    """A label that may be wrong: the minimum is where moving any number makes the loss larger."""
    targets = np.eye(3)[rng.integers(3, size=25)]
    logs = rng.normal(size=(25, 2, 3))
    lesson = Lesson(
        np.log(rng.dirichlet(np.ones(3), size=25)),
        logs,
        logs.reshape(25, -1),
        targets,
        np.full((25, 1), 0.7),
        np.full((25, 1), 0.1),
    )

    def loss(solution, strength):
        members, weights, bias = regression.parts_of(solution, lesson)
        scores = 1.1 * lesson.log_answers + members @ lesson.logs + lesson.features @ weights + bias
        posterior = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        ridge = strength / 10 * (members**2).sum() + strength * (weights**2).sum()
        ridge += max(strength / 30, 1) * (bias**2).sum()
        return ridge / 2 - (targets * np.log(0.7 * posterior + 0.1)).sum()

    for strength, found in zip(regression.STRENGTHS, regression._regularized(lesson, 1.1), strict=True):
        least = loss(found, strength)
        for _ in range(20):
            assert loss(found + 0.01 * rng.normal(size=found.shape), strength) > least - 1e-5


def test_weights_ignore_what_members_call_equally_likely(case):
    fitted = cs.Consensus().fit(*case)
    np.testing.assert_allclose(fitted.correction_.weights.sum(axis=2), 0, atol=1e-12)


def test_each_ridge_is_scikit_learns(rng):
    """Without answers to start from it is logistic regression, the bias one more feature with a ridge of its own."""
    features, targets = rng.normal(size=(40, 6)), np.eye(3)[rng.integers(3, size=40)]
    lesson = lesson_of(np.zeros((40, 3)), np.zeros((40, 2, 3)), features, targets)
    for strength, solution in zip(regression.STRENGTHS, regression._regularized(lesson, 1.0), strict=True):
        _, weights, bias = regression.parts_of(solution, lesson)
        found = np.vstack([weights, bias])
        scale = math.sqrt(strength / max(strength / 30, 1))
        with_bias = np.hstack([features, np.full((40, 1), scale)])
        theirs = LogisticRegression(C=1 / strength, fit_intercept=False, tol=1e-8, max_iter=1000)
        theirs.fit(with_bias, targets.argmax(axis=1))
        expected = theirs.coef_.T * np.append(np.ones(6), scale)[:, None]
        np.testing.assert_allclose(found - found.mean(axis=1, keepdims=True), expected, atol=2e-3)


def test_members_are_weighed_as_by_scikit_learn(rng):
    """Of two classes, one number for each member is logistic regression on the difference of its logarithms."""
    logs, labels = rng.normal(size=(50, 3, 2)), rng.integers(2, size=50)
    logs -= logs.mean(axis=2, keepdims=True)
    lesson = lesson_of(np.zeros((50, 2)), logs, np.zeros((50, 1)), np.eye(2)[labels])
    for strength, solution in zip(regression.STRENGTHS, regression._regularized(lesson, 1.0), strict=True):
        members, _, bias = regression.parts_of(solution, lesson)
        # Two biases of ridge r, opposite to each other, are one difference of ridge r / 2.
        ridge, bias_ridge = strength / 10, max(strength / 30, 1) / 2
        scale = math.sqrt(ridge / bias_ridge)
        differences = np.hstack([logs[:, :, 1] - logs[:, :, 0], np.full((50, 1), scale)])
        theirs = LogisticRegression(C=1 / ridge, fit_intercept=False, tol=1e-8, max_iter=1000).fit(differences, labels)
        np.testing.assert_allclose(members, theirs.coef_[0, :3], atol=2e-3)
        np.testing.assert_allclose(np.diff(bias), theirs.coef_[0, 3] * scale, atol=4e-3)


def test_more_features_than_labels_change_nothing(rng):
    """Directions that the items do not span are left out; what is learned is the same."""
    features = rng.normal(size=(12, 30))
    targets, answers = np.eye(3)[rng.integers(3, size=12)], rng.dirichlet(np.ones(3), size=12)
    reduced, directions = regression._reduced(features, 3)
    assert reduced.shape == (12, 12)
    logs = features.reshape(12, 10, 3)
    full, few = (
        [regression.parts_of(solution, lesson) for solution in regression._regularized(lesson, 1.2)]
        for lesson in (lesson_of(np.log(answers), logs, values, targets) for values in (features, reduced))
    )
    for (members, weights, _), (same_members, few_weights, _) in zip(full, few, strict=True):
        np.testing.assert_allclose(directions.T @ few_weights, weights, atol=2e-3)
        np.testing.assert_allclose(same_members, members, atol=2e-3)


def test_a_weight_of_two_is_an_item_twice(case):
    array, labels = case
    said, targets = array[:, :N_LABELLED].transpose(1, 0, 2), np.eye(N_CLASSES)[labels[:N_LABELLED]]
    logs = np.nan_to_num(said)
    lesson = lesson_of(np.zeros((N_LABELLED, N_CLASSES)), logs, logs.reshape(N_LABELLED, -1), targets)
    twice = Lesson(*(np.concatenate([part, part]) for part in lesson))
    heavy = lesson._replace(targets=2 * targets)
    for one, other in zip(*(regression._regularized(part, 0.7) for part in (twice, heavy)), strict=True):
        np.testing.assert_allclose(one, other, atol=5e-3)


def test_forgotten_items_are_dropped(case):
    array, _ = case
    said = np.nan_to_num(array.transpose(1, 0, 2), nan=0.25)
    items, others = (
        LabelledItems(said[part], np.eye(N_CLASSES)[[0, 1, 2, 3, 0]], np.zeros(5), np.ones(5), np.zeros(5, np.int64))
        for part in (slice(0, 5), slice(5, 10))
    )
    later = 1e-2 * items + others
    assert later.weights.tolist() == [0.01] * 5 + [1.0] * 5
    assert (0.05 * later).weights.tolist() == pytest.approx([0.05] * 5)


# ---- whatever answers by it -------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["array", "torch", "float32", "labels beside"])
def test_other_storages_answer_alike(case, storage):
    array, labels = case
    fitted = cs.Consensus().fit(array, labels)
    if storage == "labels beside":
        votes = np.where(np.isnan(array[2, :, 0]), -1, np.nan_to_num(array[2]).argmax(axis=1))
        one_hot = np.where((votes < 0)[:, None], np.nan, np.eye(N_CLASSES)[votes])
        dense = np.concatenate([array[:2], one_hot[None]])
        labels = labels[~np.isnan(dense).any(axis=(0, 2))]  # where everybody answers
        dense = dense[:, ~np.isnan(dense).any(axis=(0, 2))]
        array, votes = dense, dense[2].argmax(axis=1)
        mixed = cs.Predictions.concatenate([array[:2], cs.Predictions.from_labels(votes[None], N_CLASSES)])
        first, second = cs.Consensus().fit(dense, labels), cs.Consensus().fit(mixed, labels)
        np.testing.assert_allclose(first.posterior_, second.posterior_, atol=1e-9)
        np.testing.assert_allclose(first.predict_proba(mixed), second.predict_proba(dense), atol=1e-9)
        return
    given = array.astype(np.float32) if storage == "float32" else array
    given = pytest.importorskip("torch").tensor(array) if storage == "torch" else given
    again = cs.Consensus().fit(given, labels)
    tolerance = 1e-4 if storage == "float32" else 1e-9
    np.testing.assert_allclose(np.asarray(again.posterior_), fitted.posterior_, atol=tolerance)
    assert type(again.posterior_) is type(given)


def test_exports_answer_alike(case, tmp_path):
    array, labels = case
    torch, runtime = pytest.importorskip("torch"), pytest.importorskip("onnxruntime")
    fitted = cs.Consensus().fit(array, labels)
    expected = fitted.predict_proba(array)
    for logits, given in ((False, array), (True, np.log(array) + 3)):
        module = fitted.to_torch(logits=logits, dtype=torch.float64)
        np.testing.assert_allclose(module(torch.tensor(given)).numpy(), expected, atol=1e-10)
        fitted.to_onnx(tmp_path / "model.onnx", logits=logits)
        session = runtime.InferenceSession(tmp_path / "model.onnx")
        posterior = session.run(["posterior"], {"predictions": given.astype(np.float32)})[0]
        np.testing.assert_allclose(posterior, expected, atol=1e-5)


def test_a_file_keeps_what_labels_taught(case, tmp_path):
    array, labels = case
    fitted = cs.Consensus().fit(array, labels)
    fitted.save(tmp_path / "model.npz")
    loaded = cs.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict_proba(array), fitted.predict_proba(array))
    for model in (loaded, fitted):  # and goes on learning
        model.add_labels(array[:, 30:40], np.zeros(10, dtype=int))
    np.testing.assert_array_equal(loaded.predict_proba(array), fitted.predict_proba(array))


@pytest.mark.parametrize("item", range(8))
def test_explanations_add_up(case, item):
    array, labels = case
    array[0, item] = [0, 0, 1, 0]  # so that some answers are next to zero
    fitted = cs.Consensus().fit(array, labels)
    e = cs.explain(array, item, aggregator=fitted)
    posterior = fitted.predict_proba(array[:, [item]])[0]
    np.testing.assert_allclose(e.posterior, posterior, atol=1e-12)
    order = np.argsort(-posterior)
    assert e.log_odds == pytest.approx(np.log(posterior[order[0]] / posterior[order[1]]), abs=1e-9)
    assert e.log_odds == pytest.approx(e.prior + e.by_member.sum(), abs=1e-9)
    np.testing.assert_array_equal(e.by_member[np.isnan(array[:, item, 0])], 0)


def test_learning_does_not_depend_on_the_order_of_members(case):
    array, labels = case
    answers = cs.Consensus().fit(array).posterior_[:N_LABELLED]
    said, targets = array[:, :N_LABELLED].transpose(1, 0, 2), np.eye(N_CLASSES)[labels[:N_LABELLED]]
    one, other = (
        learn_correction(
            LabelledItems(
                said[:, order], targets, np.zeros(N_LABELLED), np.ones(N_LABELLED), np.zeros(N_LABELLED, np.int64)
            ),
            answers,
        )
        for order in ([0, 1, 2], [2, 0, 1])
    )
    np.testing.assert_allclose(one.weights[[2, 0, 1]], other.weights, atol=1e-6)
