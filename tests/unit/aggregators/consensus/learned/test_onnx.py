"""A learned rule as an ONNX graph answers as the rule itself, in single precision."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.labels.corrected_rule import CorrectedRule
from consilience.aggregators.consensus.learned.experts import MOST_CANDIDATES
from exports import SINGLE, exported, logits_of, run_onnx

from simulate import softmax_members

FEW, MANY = 4, MOST_CANDIDATES + 6
N_ITEMS = 120
any_classes = pytest.mark.parametrize("n_classes", [2, FEW, MANY])


def panel(rng, n_classes, kind, missing=0.2):
    """What four members say: probabilities, one-hot rows, or some of each."""
    array, truth = softmax_members(rng, [4, 3, 2, 1], N_ITEMS, n_classes, missing=missing)
    hard = np.where(np.isnan(array), np.nan, np.eye(n_classes)[np.nan_to_num(array).argmax(axis=2)])
    n_hard = {"soft": 0, "mixed": 2, "hard": 4}[kind]
    array[:n_hard] = hard[:n_hard]
    return array, truth


def check_answers(aggregator, array, path, atol=SINGLE):
    posterior, label = run_onnx(exported(aggregator, path / "model.onnx"), array)
    np.testing.assert_allclose(posterior, aggregator.predict_proba(array), atol=atol)
    np.testing.assert_array_equal(label, posterior.argmax(axis=1))


@any_classes
@pytest.mark.parametrize("kind", ["soft", "mixed", "hard"])
@pytest.mark.parametrize("missing", [0, 0.3])
def test_answers_as_the_rule(rng, tmp_path, n_classes, kind, missing):
    array, _ = panel(rng, n_classes, kind, missing)
    aggregator = cs.Consensus().fit(array)
    assert aggregator.rule().trust > 0  # otherwise the network would not be asked
    # Of many classes some tie with the last that the network looks at, and single precision does not see each tie.
    check_answers(aggregator, array, tmp_path, atol=1e-3 if kind == "hard" and n_classes > 24 else SINGLE)


@any_classes
def test_new_items_with_ties_and_certainty(rng, tmp_path, n_classes):
    """Undecided rows do not vote, and where nobody votes the shares are even."""
    array, _ = panel(rng, n_classes, "mixed")
    aggregator = cs.Consensus().fit(array)
    array[:, 0] = 1 / n_classes
    array[2:, 1] = np.eye(n_classes)[0]
    array[1:, 2] = np.nan
    array[0, 2] = 1 / n_classes
    array[3, 3] = np.eye(n_classes)[0] / 2 + np.eye(n_classes)[1] / 2
    check_answers(aggregator, array, tmp_path)


@any_classes
def test_logits(rng, tmp_path, n_classes):
    array, _ = panel(rng, n_classes, "soft")
    aggregator, logits = cs.Consensus().fit(array), logits_of(array)
    path = exported(aggregator, tmp_path / "model.onnx", logits=True)
    expected = aggregator.predict_proba(cs.Predictions.from_logits(logits))
    np.testing.assert_allclose(run_onnx(path, logits)[0], expected, atol=SINGLE)


@any_classes
def test_one_member(rng, tmp_path, n_classes):
    array, _ = panel(rng, n_classes, "soft", missing=0)
    check_answers(cs.Consensus().fit(array[:1]), array[:1], tmp_path)


@any_classes
def test_a_rule_that_labels_correct(rng, tmp_path, n_classes):
    array, truth = panel(rng, n_classes, "mixed")
    aggregator = cs.Consensus().fit(array, np.where(np.arange(N_ITEMS) < 60, truth, -1))
    assert isinstance(aggregator.rule(), CorrectedRule)
    check_answers(aggregator, array, tmp_path)


def test_many_members_do_in_single_precision(rng, tmp_path):
    """Without what all classes have in common, sums over a hundred members stay precise."""
    array, _ = softmax_members(rng, [1] * 100, N_ITEMS, FEW, missing=0.3)
    hard = np.where(np.isnan(array), np.nan, np.eye(FEW)[np.nan_to_num(array).argmax(axis=2)])
    for said in (array, hard):
        check_answers(cs.Consensus().fit(said), said, tmp_path)


@any_classes
def test_batches_of_any_size(rng, tmp_path, n_classes):
    array, _ = panel(rng, n_classes, "mixed")
    path = exported(cs.Consensus().fit(array), tmp_path / "model.onnx")
    whole, _ = run_onnx(path, array)
    np.testing.assert_allclose(run_onnx(path, array[:, 5:6])[0], whole[5:6], atol=SINGLE)
    posterior, label = run_onnx(path, array[:, :0])
    assert posterior.shape == (0, n_classes) and label.shape == (0,)


@any_classes
def test_an_item_that_nobody_answers(rng, tmp_path, n_classes):
    array, _ = panel(rng, n_classes, "mixed")
    aggregator = cs.Consensus().fit(array)
    expected = aggregator.predict_proba(array)
    array[:, 3] = np.nan
    posterior, label = run_onnx(exported(aggregator, tmp_path / "model.onnx"), array)
    assert np.isnan(posterior[3]).all() and label[3] == -1
    np.testing.assert_allclose(np.delete(posterior, 3, axis=0), np.delete(expected, 3, axis=0), atol=SINGLE)
