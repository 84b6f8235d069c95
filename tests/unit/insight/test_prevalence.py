"""Shares of classes, corrected for errors: recovery with known truth, and where nothing is gained."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight.prevalence import solved

from simulate import diagonal_confusion, labels_from_confusion

SHARES = np.array([0.85, 0.1, 0.05])
CONFUSION = diagonal_confusion([0.8, 0.7, 0.75, 0.6], 3)


def draw(rng, shares=SHARES, n_items=3000, confusion=CONFUSION):
    labels, truth = labels_from_confusion(rng, confusion, shares, n_items)
    return cs.Predictions.from_labels(labels, 3, classes=["a", "b", "c"]), truth


def labels_of_each(truth, n):
    """So many labels of each class, by name."""
    labels = [None] * len(truth)
    for k in np.unique(truth):
        for item in np.flatnonzero(truth == k)[:n]:
            labels[item] = "abc"[k]
    return labels


def error(shares):
    return np.abs(shares - SHARES).max()


@pytest.mark.parametrize("said", [0.05, 0.2, 0.25, 0.6, 0.95])
def test_one_member_and_two_classes_are_rogan_and_gladen(said):
    """(said + specificity - 1) / (sensitivity + specificity - 1), within 0 and 1."""
    n_sick = round(1000 * said)
    test = cs.Predictions.from_labels([[1] * n_sick + [0] * (1000 - n_sick)], 2)
    found = cs.prevalence(test, confusion=[[[0.8, 0.2], [0.1, 0.9]]], n_bootstrap=200)
    expected = np.clip((said + 0.8 - 1) / (0.9 + 0.8 - 1), 0, 1)
    assert found.shares[1] == pytest.approx(expected, abs=1e-6) and found.shares.sum() == pytest.approx(1)
    assert found.votes[1] == said
    if 0 < expected < 1:
        error = np.sqrt(said * (1 - said) / 1000) / 0.7
        assert found.high[1] - found.low[1] == pytest.approx(2 * 1.96 * error, rel=0.3) or found.low[1] < 0.01


def test_solved_explains_exactly_what_can_be_explained():
    counts = 1000 * np.einsum("k,mkj->mj", SHARES, CONFUSION)
    np.testing.assert_allclose(solved(counts, CONFUSION), SHARES, atol=1e-6)
    silent = np.concatenate([counts, np.zeros((1, 3))])
    np.testing.assert_allclose(solved(silent, np.concatenate([CONFUSION, CONFUSION[:1]])), SHARES, atol=1e-6)


def test_a_fit_to_a_balanced_sample_corrects_another(rng):
    """The naive count and the mean posterior, which expects the shares of the fit, are both far off."""
    balanced, _ = draw(rng, np.ones(3) / 3, 20_000)
    found = cs.prevalence(draw(rng)[0], aggregator=cs.DawidSkene().fit(balanced), n_bootstrap=50)
    assert error(found.shares) < 0.035
    assert error(found.votes) > 0.15 and error(found.posterior) > 0.1
    assert found.source == "errors of the members as DawidSkene estimates them on the items of its fit"


def test_labels_correct_members_who_err_together(rng):
    """Consensus believes four members who repeat each other's errors, and its posterior is as wrong as they are."""
    one, truth = labels_from_confusion(rng, diagonal_confusion([0.8], 3), SHARES, 8000)
    labels = np.where(rng.random((4, 8000)) < 0.95, one[0], rng.integers(3, size=(4, 8000)))
    together = cs.Predictions.from_labels(labels, 3, classes=["a", "b", "c"])
    without = cs.prevalence(together, n_bootstrap=0)
    found = cs.prevalence(together, labels=labels_of_each(truth, 350), n_bootstrap=50)
    assert error(without.shares) > 0.13 and error(found.posterior) > 0.13  # the control: labels alone can tell
    assert error(found.shares) < 4 * np.sqrt(0.8 * 0.2 / 350) / 0.75  # four standard errors of the measured rates
    assert found.source == "errors of Consensus as measured on 1050 labelled items"


def test_on_the_items_of_the_fit_it_repeats_the_mean_posterior(rng):
    found = cs.prevalence(draw(rng)[0], aggregator=cs.DawidSkene(), n_bootstrap=0)
    np.testing.assert_allclose(found.shares, found.posterior, atol=0.005)
    assert "tells no more than its mean posterior" in repr(found)
    assert np.isnan(found.low).all()


def test_intervals_cover(rng):
    model = cs.DawidSkene().fit(draw(rng, np.ones(3) / 3, 20_000)[0])
    n_panels = 40
    hits = np.zeros((3, 3))
    for _ in range(n_panels):
        p, truth = draw(rng, n_items=1500)
        counts = np.stack([[rng.multinomial(100, row) for row in table] for table in CONFUSION])
        for place, known in enumerate([{}, {"labels": labels_of_each(truth, 60)}, {"confusion": counts}]):
            found = cs.prevalence(p, aggregator=model, n_bootstrap=60, **known)
            hits[place] += (found.low <= SHARES) & (found.high >= SHARES)
    assert (hits / n_panels).mean(axis=1).min() > 0.8


def test_measured_counts_widen_the_interval(rng):
    p, _ = draw(rng)
    known, measured = (cs.prevalence(p, confusion=table, n_bootstrap=50) for table in (CONFUSION, 50 * CONFUSION))
    np.testing.assert_allclose(known.shares, measured.shares, atol=1e-9)
    assert ((measured.high - measured.low) > 1.3 * (known.high - known.low)).all()


def test_names_and_orders(rng):
    p, _ = draw(rng, n_items=500)
    model = cs.DawidSkene().fit(p)
    labels = np.full((4, 500), -1)
    labels[p.hard.members, p.hard.items] = p.hard.labels
    turned = cs.Predictions.from_labels(2 - labels, 3, classes=["c", "b", "a"])
    found, again = (cs.prevalence(part, aggregator=model, n_bootstrap=5) for part in (p, turned))
    assert found.classes == again.classes == ["a", "b", "c"]
    np.testing.assert_allclose(found.shares, again.shares)
    table = found.to_table()
    assert table.columns == ["class", "votes", "mean posterior", "corrected", "low", "high"]
    assert table["class"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["a"] * 5 + ["b"] * 495}, "labels must name every class at least once.*there is none of .'c'"),
        (
            {"labels": ["a"] * 500, "confusion": CONFUSION},
            "either labels or confusion may tell how members err; got both",
        ),
        ({"confusion": CONFUSION[:3]}, r"confusion must be numbers .* = \(4, 3, 3\); got float64 \(3, 3, 3\)"),
        ({"confusion": -CONFUSION}, "confusion must be rates or counts of at least 0"),
        ({"confusion": np.full((4, 3, 3), 1 / 3)}, "cannot be told from answers that do not depend on the class"),
        ({"aggregator": cs.Average()}, "the aggregator must be Consensus, DawidSkene .* got Average"),
        ({"aggregator": "average"}, "aggregator must be one of consilience's"),
        ({"level": 1}, "level must be between 0 and 1; got 1"),
        ({"n_bootstrap": -1}, "n_bootstrap must be an integer of at least 0; got -1"),
    ],
)
def test_what_cannot_be_used_is_refused(rng, options, message):
    with pytest.raises(ValueError, match=message):
        cs.prevalence(draw(rng, n_items=500)[0], **options)
