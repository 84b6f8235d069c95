"""Items that are left out of a pass have the responsibilities that scoring them would have given."""

import numpy as np
import pytest

import consilience as cs
from consilience.passes import reader, screening

N_CLASSES = 70


@pytest.fixture
def n_scored(monkeypatch):
    """How many items each pass scored."""
    counts = []
    original = screening.Screen.next_pass

    def counted(self, layer, first):
        made = original(self, layer, first)
        is_full = isinstance(made, screening.Reference)
        counts.append(sum(self._sizes) if is_full else made.n_scored(self._sizes))
        return made

    monkeypatch.setattr(screening.Screen, "next_pass", counted)
    return counts


def data(dtype=np.float64, n_items=1500):
    rng = np.random.default_rng(0)
    truth = rng.integers(N_CLASSES, size=n_items)
    logits = rng.standard_normal((3, n_items, N_CLASSES))
    logits[:, np.arange(n_items), truth] += 8
    array = np.exp(logits)
    return (array / array.sum(axis=-1, keepdims=True)).astype(dtype), truth


def fitted(array, labels=None, **options):
    """A fit whose leads grow, then shrink: the reference is renewed every few passes."""
    method = cs.SoftDawidSkene(max_iter=60, init_smoothing=0.3, learning_rate=1e-3, averaging=0.01, **options)
    return method.fit(array, labels)


def without_screening(monkeypatch):
    monkeypatch.setattr(reader.Reader, "can_screen", property(lambda _: False))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
@pytest.mark.parametrize("chunk_size", [None, 97])
def test_a_screened_fit_is_the_full_one(monkeypatch, n_scored, dtype, tolerance, chunk_size):
    array, _ = data(dtype)
    screened = fitted(array, chunk_size=chunk_size)
    without_screening(monkeypatch)
    full = fitted(array, chunk_size=chunk_size)
    assert sum(n_scored) < 0.8 * 60 * array.shape[1]  # else nothing is shown
    np.testing.assert_allclose(screened.posterior_, full.posterior_, atol=tolerance)
    np.testing.assert_allclose(screened.concentration_, full.concentration_, rtol=100 * tolerance)
    np.testing.assert_allclose(screened.history_, full.history_, rtol=100 * tolerance)
    np.testing.assert_allclose(screened.statistics_.log_evidence, full.statistics_.log_evidence, rtol=100 * tolerance)


def test_known_labels_are_kept(monkeypatch, n_scored):
    array, truth = data()
    labels = np.where(np.arange(len(truth)) % 3 == 0, (truth + 1) % N_CLASSES, -1)
    screened = fitted(array, labels)
    without_screening(monkeypatch)
    np.testing.assert_allclose(screened.posterior_, fitted(array, labels).posterior_, atol=1e-12)
    assert min(n_scored) < array.shape[1]


def test_ignoring_the_drift_would_be_noticed(monkeypatch):
    array, _ = data()
    original = screening.Reference._drift

    def no_drift(self, layer):
        return screening.Drift(*(0 * part for part in original(self, layer)))

    monkeypatch.setattr(screening.Reference, "_drift", no_drift)
    wrong = fitted(array)
    monkeypatch.undo()
    assert np.abs(wrong.posterior_ - fitted(array).posterior_).max() > 1e-4
