"""Which items a pass may leave out; `tests/equivalence/test_screening.py` has whole fits."""

from copy import copy
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from consilience.passes import screening
from consilience.passes.kernels import RowFeatures, Tables
from consilience.passes.screening import Reference, Screen, ScreenedPass

N_CLASSES = 70


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
            dense=Tables(rng.normal(size=(300, 8)), None, rng.normal(size=(300, 1))),
            log_prior=rng.normal(size=(300, 1)),
        )
        for _ in range(2)
    )
    reference = screening.Reference.__new__(screening.Reference)
    reference.layer, reference.centre = old, rng.normal(size=8)
    drift = reference._drift(new)
    for x in (reference.centre, reference.centre + rng.normal(size=8)):
        before, after = (layer.dense.weights @ x + (layer.dense.total + layer.log_prior)[:, 0] for layer in (old, new))
        common = (new.dense.weights - old.dense.weights).mean(axis=0) @ x
        room = drift.spread * np.linalg.norm(x - reference.centre) + 1e-9
        assert (np.abs(after - before - common - drift.shift) <= room).all()


# ---- passes -----------------------------------------------------------------------------------------------

N_ITEMS = 40


def layer_of(weights):
    """Scores of one member, without bias."""
    zeros = np.zeros((N_CLASSES, 1))
    return SimpleNamespace(dense=Tables(weights, None, zeros), log_prior=zeros.copy())


@pytest.fixture
def features():
    """Items that each point to one class; the last four to two of them."""
    rng = np.random.default_rng(0)
    values = np.eye(N_CLASSES)[rng.integers(N_CLASSES - 1, size=N_ITEMS)]
    values[-4:] = (values[-4:] + np.roll(values[-4:], 1, axis=1)) / 2
    return (RowFeatures(np.array([0]), values, None),)


def full_pass(features, layer, known=None):
    return Reference(layer, features, 1).expect(0, features, known).values.toarray()


@pytest.mark.parametrize("known", [None, np.where(np.arange(N_ITEMS) % 5 == 0, 3, -1)], ids=["unknown", "known"])
def test_a_screened_pass_gives_what_a_full_one_gives(features, known):
    old, new = layer_of(100 * np.eye(N_CLASSES)), layer_of(98 * np.eye(N_CLASSES))
    reference = Reference(old, features, 1)
    reference.expect(0, features, known)
    screened = ScreenedPass(reference, new)
    assert 4 <= screened.n_scored([N_ITEMS]) < N_ITEMS / 2
    found = screened.expect(0, features, known)
    assert found.log_evidence is None
    np.testing.assert_allclose(found.values.toarray(), full_pass(features, new, known), atol=1e-15)


def test_every_item_is_scored_where_the_scores_have_moved_far(features):
    reference = Reference(layer_of(100 * np.eye(N_CLASSES)), features, 1)
    reference.expect(0, features, None)
    new = layer_of(np.roll(100 * np.eye(N_CLASSES), 1, axis=0))
    screened = ScreenedPass(reference, new)
    assert screened.n_scored([N_ITEMS]) == N_ITEMS
    np.testing.assert_array_equal(screened.expect(0, features, None).values.toarray(), full_pass(features, new))


def test_a_chunk_without_margins_is_scored_in_full(features):
    """Responsibilities that are not peaked have no margins: nothing can be left out."""
    flat = layer_of(np.zeros((N_CLASSES, N_CLASSES)))
    reference = Reference(flat, features, 1)
    reference.expect(0, features, None)
    screened = ScreenedPass(reference, flat)
    assert reference.margins == [None] and screened.n_scored([N_ITEMS]) == N_ITEMS
    expected = screened.expect(0, features, None)
    np.testing.assert_allclose(expected.values, 1 / N_CLASSES)
    assert expected.log_evidence == pytest.approx(N_ITEMS * np.log(N_CLASSES))


def test_the_distance_from_the_centre():
    rng = np.random.default_rng(0)
    values, centre = rng.normal(size=(5, 6)), rng.normal(size=6)
    found = screening._radius(RowFeatures(np.array([0, 1, 2]), values, None), centre)
    np.testing.assert_allclose(found, np.linalg.norm(values - centre, axis=1))


# ---- the choice -------------------------------------------------------------------------------------------


def passes(screen, layers, features):
    """The kind of each pass, which is also made."""
    for layer in layers:
        made = screen.next_pass(layer, lambda: features)
        made.expect(0, features, None)
        yield type(made).__name__


def test_a_reference_lasts_until_all_items_were_scored_since(features):
    """Four items are scored anew in each pass: nine passes are 36, the tenth would make it 40."""
    same = layer_of(100 * np.eye(N_CLASSES))
    found = list(passes(Screen([N_ITEMS]), [same] * 12, features))
    assert found == ["Reference", *["ScreenedPass"] * 9, "Reference", "ScreenedPass"]


def test_a_copy_goes_on_alone(features):
    same, far = layer_of(100 * np.eye(N_CLASSES)), layer_of(-100 * np.eye(N_CLASSES))
    screen = Screen([N_ITEMS])
    list(passes(screen, [same] * 3, features))
    copied = copy(screen)
    assert list(passes(copied, [far], features)) == ["Reference"]
    assert list(passes(screen, [same] * 8, features)) == [*["ScreenedPass"] * 7, "Reference"]
