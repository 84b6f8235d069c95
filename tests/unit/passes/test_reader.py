"""Readers of predictions in memory: chunks, passes, and the posterior that passes make."""

import array_api_strict
import numpy as np
import pytest
import torch
from scipy import special

import consilience as cs
from consilience.maths.em import Scores
from consilience.passes import reader as module
from consilience.passes.reader import Reader, open_reader, read_anywhere
from consilience.system.arrays import to_numpy

from simulate import softmax_members

LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}
every_library = pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
FIELDS = ("n_items", "class_counts", "answer_counts", "sums", "log_evidence")


def draw(n_items=30, n_classes=4, missing=0.2, seed=0):
    return softmax_members(np.random.default_rng(seed), [3, 2, 1], n_items, n_classes, missing=missing)[0]


def scores_of(n_classes=4, seed=1, n_members=3, size=1.0):
    rng = np.random.default_rng(seed)
    weights = size * rng.normal(size=(n_members, n_classes, n_classes))
    return Scores(rng.normal(size=n_classes), weights, rng.normal(size=(n_members, n_classes)))


def joint_of(array, scores):
    """Log p(x_i, k) (items, classes), by loops."""
    joint = np.tile(scores.log_prior, (array.shape[1], 1))
    for m, rows in enumerate(array):
        for i, row in enumerate(rows):
            if not np.isnan(row).any():
                joint[i] += scores.weights[m] @ row + scores.bias[m]
    return joint


def assert_same(one, other, rtol=1e-12):
    for name in FIELDS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol, atol=1e-12)


# ---- chunks and sums --------------------------------------------------------------------------------------


def test_two_halves_have_the_statistics_of_the_whole():
    array = draw()
    people = cs.Predictions.from_labels(np.nan_to_num(array[:1]).argmax(axis=2), 4)
    predictions = cs.Predictions.concatenate([array, people])
    posterior = Reader(predictions).pool()
    whole = Reader(predictions, log_floor=1e-10).statistics(posterior)
    halves = [
        Reader(predictions.take(part), log_floor=1e-10).statistics(posterior[part])
        for part in (slice(0, 13), slice(13, None))
    ]
    assert_same(halves[0] + halves[1], whole)


@pytest.mark.parametrize("chunk_size", [1, 7, 30, 100])
def test_chunks_change_nothing(chunk_size):
    array, scores = draw(), scores_of()
    whole, parts = Reader(cs.Predictions(array)), Reader(cs.Predictions(array), chunk_size=chunk_size)
    assert sum(chunk.n_items for chunk in parts.chunks) == 30
    assert_same(parts.expectation(remembers=False)(scores), whole.expectation(remembers=False)(scores))
    assert_same(parts.average_statistics(parts), whole.average_statistics(whole))
    np.testing.assert_allclose(parts.agreement().products, whole.agreement().products, rtol=1e-12)
    np.testing.assert_allclose(parts.posterior(scores), whole.posterior(scores), rtol=1e-12)
    np.testing.assert_allclose(parts.pool(), whole.pool(), rtol=1e-12)


def test_each_chunk_of_a_pass_is_reported():
    told = []
    reader = Reader(cs.Predictions(draw()), chunk_size=7, on_chunk=lambda: told.append(1))
    reader.expectation(remembers=False)(scores_of())
    assert len(told) == len(reader.chunks) == 5


def test_small_features_are_read_once_and_large_ones_each_time(monkeypatch):
    original, n_read = module.read_features, []
    monkeypatch.setattr(module, "read_features", lambda *a, **k: n_read.append(1) or original(*a, **k))
    for most, expected in ((module.CACHED_NUMBERS, 2), (0, 6)):
        monkeypatch.setattr(module, "CACHED_NUMBERS", most)
        expectation = Reader(cs.Predictions(draw()), chunk_size=15).expectation(remembers=False)
        n_read.clear()
        results = [expectation(scores_of()) for _ in range(3)]
        assert len(n_read) == expected
        assert_same(results[0], results[2], rtol=0)


def test_an_average_is_weighted_by_member():
    array, weights = draw(missing=0), np.array([1.0, 0.0, 2.0])
    reader = Reader(cs.Predictions(array), log_floor=1e-10)
    average = (array[0] + 2 * array[2]) / 3
    plain = Reader(cs.Predictions(array))
    assert_same(reader.average_statistics(plain, weights), reader.statistics(average))
    np.testing.assert_allclose(plain.pool(weights), average, rtol=1e-12)


# ---- passes -----------------------------------------------------------------------------------------------


@every_library
def test_a_pass_is_the_loops(make):
    array, scores = draw(), scores_of()
    joint = joint_of(array, scores)
    posterior = special.softmax(joint, axis=1)
    reader = Reader(cs.Predictions(make(array)))
    found = reader.expectation(remembers=False)(scores)
    assert found.log_evidence == pytest.approx(special.logsumexp(joint, axis=1).sum(), rel=1e-12)
    np.testing.assert_allclose(found.class_counts, posterior.sum(axis=0), rtol=1e-12)
    theirs = reader.posterior(scores)
    assert type(theirs) is type(make(array))
    np.testing.assert_allclose(to_numpy(theirs), posterior, atol=1e-12)


@pytest.mark.parametrize("n_classes", [4, 70], ids=["few classes", "many classes"])
def test_known_classes_are_certain(n_classes):
    array, scores = draw(n_classes=n_classes, missing=0), scores_of(n_classes, size=20)
    known = np.where(np.arange(30) % 3 == 0, np.arange(30) % n_classes, -1)
    reader = Reader(cs.Predictions(array), known=known, chunk_size=8)
    joint = joint_of(array, scores)
    joint[(known[:, None] >= 0) & (np.arange(n_classes) != known[:, None])] = -np.inf
    np.testing.assert_allclose(reader.posterior(scores), special.softmax(joint, axis=1), atol=1e-12)
    found = reader.expectation(remembers=False)(scores)
    assert found.log_evidence == pytest.approx(special.logsumexp(joint, axis=1).sum(), rel=1e-12)
    is_known = known >= 0
    np.testing.assert_array_equal(reader.pool()[is_known], np.eye(n_classes)[known[is_known]])


@every_library
@pytest.mark.parametrize("most", [module.DENSE_NUMBERS, 0], ids=["small", "large"])
def test_the_posterior_is_the_moving_average_of_all_passes(make, most, monkeypatch):
    """T ← (1 - α) T + α P, from the members' average."""
    monkeypatch.setattr(module, "DENSE_NUMBERS", most)
    array = draw()
    reader = Reader(cs.Predictions(make(array)), chunk_size=11)
    expectation = reader.expectation(remembers=True)
    expected = np.nanmean(array, axis=0)
    for seed, averaging in enumerate((0.3, 0.0, 0.5)):
        scores = scores_of(seed=seed)
        expectation(scores, averaging=averaging)
        expected = (1 - averaging) * expected + averaging * special.softmax(joint_of(array, scores), axis=1)
    assert expectation.kept == pytest.approx(0.7 * 0.5)
    found = expectation.posterior(reader).to_array()
    assert type(found) is type(make(array))
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-12)


def test_many_classes_have_the_same_moving_average(monkeypatch):
    """Sparse responsibilities, some of them of screened passes; with and without room for a dense rest."""
    array = draw(n_items=40, n_classes=70, missing=0)
    expected = array.mean(axis=0)
    layers = [scores_of(70, size=60)._replace(log_prior=np.full(70, shift)) for shift in (0.0, 1.0, 2.0)]
    for scores in layers:
        expected = 0.6 * expected + 0.4 * special.softmax(joint_of(array, scores), axis=1)
    for most in (module.DENSE_NUMBERS, 0):
        monkeypatch.setattr(module, "DENSE_NUMBERS", most)
        reader = Reader(cs.Predictions(array), chunk_size=15)
        assert reader.can_screen
        expectation = reader.expectation(remembers=True)
        for scores in layers:
            expectation(scores, averaging=0.4)
        np.testing.assert_allclose(expectation.posterior(reader).to_array(), expected, atol=1e-12)


def test_a_copy_goes_on_without_the_original():
    reader = Reader(cs.Predictions(draw()))
    expectation = reader.expectation(remembers=True)
    expectation(scores_of(), averaging=0.3)
    before = expectation.posterior(reader).to_array().copy()
    copied = expectation.copy()
    copied(scores_of(seed=5), averaging=0.9)
    assert np.abs(copied.posterior(reader).to_array() - before).max() > 0.05
    np.testing.assert_array_equal(expectation.posterior(reader).to_array(), before)
    assert expectation.kept == 0.7


def test_without_memory_nothing_of_the_items_is_kept():
    expectation = Reader(cs.Predictions(draw())).expectation(remembers=False)
    expectation(scores_of(), averaging=0.5)
    assert expectation.rests == [None] * len(expectation.reader.chunks)


@pytest.mark.parametrize(
    ("predictions", "expected"),
    [
        (lambda: cs.Predictions(draw(n_classes=70, missing=0)), True),
        (lambda: cs.Predictions(draw(n_classes=63, missing=0)), False),
        (lambda: cs.Predictions(draw(n_classes=70, missing=0.3)), False),
        (lambda: cs.Predictions(torch.tensor(draw(n_classes=70, missing=0))), False),
        (lambda: cs.Predictions(draw(n_classes=70, missing=0)).harden(), False),
    ],
    ids=["complete", "few classes", "missing rows", "torch", "labels"],
)
def test_who_can_be_screened(predictions, expected):
    assert Reader(predictions()).can_screen == expected


def test_a_posterior_in_the_library_of_an_example():
    array, scores = draw(), scores_of()
    reader = Reader(cs.Predictions(array), chunk_size=9)
    lazy = reader.scored_posterior(scores, torch.empty(0, dtype=torch.float32))
    assert lazy.to_array().dtype == torch.float32
    np.testing.assert_allclose(lazy.to_array().numpy(), reader.posterior(scores), rtol=1e-6)


# ---- which reader -----------------------------------------------------------------------------------------


def test_predictions_are_read_where_they_lie():
    predictions = cs.Predictions(draw())
    assert read_anywhere(predictions) is predictions
    assert isinstance(read_anywhere(draw()), cs.Predictions)
    found = open_reader(predictions, log_floor=1e-3, chunk_size=7)
    assert isinstance(found, Reader) and (found.log_floor, len(found.chunks)) == (1e-3, 5)
