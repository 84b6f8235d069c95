"""Items that are left out of a pass have the responsibilities that scoring them would have given."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

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


def test_settled_items_have_the_lead_that_is_claimed():
    rng = np.random.default_rng(1)
    n_items, width = 200, 140
    x = rng.normal(size=(n_items, width))
    before, bias = rng.normal(size=(N_CLASSES, width)) * 3, rng.normal(size=N_CLASSES)
    scores = before @ x.T + bias[:, None]
    order = np.sort(scores, axis=0)
    margins = screening.Margins(
        scores.argmax(axis=0), order[-1] - order[-2], np.linalg.norm(x - x.mean(axis=0), axis=1)
    )
    claimed = 0
    for size in (0.001, 0.003, 0.01, 0.03):
        change, shift = size * rng.normal(size=before.shape), size * rng.normal(size=N_CLASSES)
        centred = change - change.mean(axis=0)
        drift = screening.Drift(centred @ x.mean(axis=0) + shift, np.linalg.norm(centred, axis=1))
        is_settled = screening._is_settled(margins, drift)
        new = (before + change) @ x.T + (bias + shift)[:, None]
        best = new[margins.best, np.arange(n_items)].copy()
        new[margins.best, np.arange(n_items)] = -np.inf
        assert (best - new.max(axis=0))[is_settled].min(initial=np.inf) >= screening._least_lead(drift)
        claimed += is_settled.sum()
    assert 0 < claimed < 4 * n_items


@pytest.mark.parametrize(
    ("shift", "spread", "lost"),
    [([-2, 0, 0], [0, 0, 0], 2), ([0, 3, 0], [0, 0, 0], 3), ([0, 0, 0], [1, 0, 0], 4), ([0, 0, 0], [0, 1, 0], 2)],
    ids=["the best falls", "another rises", "the best is unsure", "another is unsure"],
)
def test_a_lead_is_lost_by_what_may_have_moved(shift, spread, lost):
    drift = screening.Drift(np.array(shift, dtype=float), np.array(spread, dtype=float))
    lead = screening._least_lead(drift) + lost + np.array([-0.01, 0.01])
    margins = screening.Margins(np.zeros(2, dtype=np.int32), lead, np.full(2, 2.0))
    assert screening._is_settled(margins, drift).tolist() == [False, True]


def test_items_that_classes_share_have_no_lead():
    shares = sparse.csr_array(np.array([[1.0, 0.5], [0.0, 0.5], [0.0, 0.0]]))
    margins = screening._margins(shares, np.array([[9.0, 4.0], [2.0, 3.0], [1.0, 0.0]]), np.ones(2))
    assert margins.lead.tolist() == [7.0, 0.0] and margins.best[0] == 0


def test_drift_is_that_of_the_scores():
    rng = np.random.default_rng(0)
    old, new = (
        SimpleNamespace(
            dense_weights=rng.normal(size=(300, 8)),
            dense_total=rng.normal(size=(300, 1)),
            log_prior=rng.normal(size=(300, 1)),
        )
        for _ in range(2)
    )
    reference = screening.Reference.__new__(screening.Reference)
    reference.layer, reference.centre = old, rng.normal(size=8)
    drift = reference._drift(new)
    for x in (reference.centre, reference.centre + rng.normal(size=8)):
        before, after = (layer.dense_weights @ x + (layer.dense_total + layer.log_prior)[:, 0] for layer in (old, new))
        common = (new.dense_weights - old.dense_weights).mean(axis=0) @ x
        room = drift.spread * np.linalg.norm(x - reference.centre) + 1e-9
        assert (np.abs(after - before - common - drift.shift) <= room).all()
