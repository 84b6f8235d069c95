"""Items that are labelled again are known by their names, and the order of labels does not matter."""

import numpy as np
import pytest

import consilience as cs

N_ITEMS, N_LABELS = 120, 20


@pytest.fixture
def votes(rng):
    truth = rng.integers(3, size=N_ITEMS)
    said = np.where(rng.random((5, N_ITEMS)) < 0.7, truth, rng.integers(3, size=(5, N_ITEMS)))
    return cs.Predictions.from_labels(said, 3, items=[f"q{i}" for i in range(N_ITEMS)]), truth


def first(truth, n):
    return np.where(np.arange(len(truth)) < n, truth, -1)


def test_named_votes_are_labelled_once(votes):
    """Items that members voted on alike are told apart by their names."""
    predictions, truth = votes
    model = cs.Consensus().fit(predictions, first(truth, N_LABELS))
    once = model.predict_proba(predictions)
    late = predictions.take(slice(5, N_LABELS + 5))
    model.add_labels(late, truth[5 : N_LABELS + 5])
    assert len(model.labelled_.weights) == N_LABELS + 5
    model = cs.Consensus().fit(predictions, first(truth, N_LABELS))
    model.add_labels(predictions.take(slice(N_LABELS)), truth[:N_LABELS])
    np.testing.assert_allclose(model.predict_proba(predictions), once, atol=1e-9)


def test_the_later_label_counts(votes):
    predictions, truth = votes
    corrected = cs.Consensus().fit(predictions, first(truth, N_LABELS))
    wrong = first(truth, N_LABELS)
    wrong[0] = (truth[0] + 1) % 3
    mistaken = cs.Consensus().fit(predictions, wrong)
    mistaken.add_labels(predictions.take(slice(1)), truth[:1])
    np.testing.assert_allclose(mistaken.predict_proba(predictions), corrected.predict_proba(predictions), atol=1e-6)


def test_items_without_names_are_known_by_place_and_answers(rng):
    truth = rng.integers(3, size=N_ITEMS)
    array = rng.dirichlet(np.ones(3), size=(4, N_ITEMS)) + np.eye(3)[truth]
    array /= array.sum(axis=2, keepdims=True)
    model = cs.Consensus().fit(array, first(truth, N_LABELS))
    once = model.predict_proba(array)
    model.add_labels(array, first(truth, N_LABELS))
    np.testing.assert_allclose(model.predict_proba(array), once, atol=1e-9)
    assert len(model.labelled_.weights) == N_LABELS
    model.add_labels(array[:, 50:60], truth[50:60])  # other items at the same places
    model.add_labels(cs.Predictions(array).take(slice(60, 70)), truth[60:70])
    assert len(model.labelled_.weights) == N_LABELS + 20


def test_a_stream_brings_new_items(votes):
    predictions, truth = votes
    array = predictions.to_array()
    model = cs.Consensus().partial_fit(array, first(truth, N_LABELS)).partial_fit(array, first(truth, N_LABELS))
    assert len(model.labelled_.weights) == 2 * N_LABELS


def test_a_file_knows_whose_labels_it_has(votes, tmp_path):
    predictions, truth = votes
    cs.Consensus().fit(predictions, first(truth, N_LABELS)).save(tmp_path / "model.npz")
    model = cs.load(tmp_path / "model.npz")
    model.add_labels(predictions.take(slice(N_LABELS)), truth[:N_LABELS])
    assert len(model.labelled_.weights) == N_LABELS
    assert len(model.sample_.said) == N_ITEMS


@pytest.mark.parametrize("n_labels", [3, 10, 40])
def test_the_order_of_labels_does_not_matter(votes, rng, n_labels):
    predictions, truth = votes
    order = rng.permutation(n_labels)
    one, other = cs.Consensus().fit(predictions), cs.Consensus().fit(predictions)
    one.add_labels(predictions.take(np.arange(n_labels)), truth[:n_labels])
    for place in np.array_split(order, 3):
        other.add_labels(predictions.take(place), truth[place])
    np.testing.assert_allclose(other.predict_proba(predictions), one.predict_proba(predictions), atol=1e-8)


def test_a_stream_samples_its_latest_items(rng):
    batches = [rng.dirichlet(np.ones(3), size=(2, 100)) for _ in range(4)]
    model = cs.Consensus()
    for batch in batches:
        model.partial_fit(batch)
    latest = np.concatenate(batches, axis=1)[:, -250:].transpose(1, 0, 2)
    np.testing.assert_allclose(model.sample_.said, latest, atol=1e-6)
