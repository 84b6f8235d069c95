"""Four causes of loss that Consensus must not fall for: each on small generated panels, in the mean over seeds."""

import numpy as np
import pytest

import consilience as cs

N_SEEDS = 8


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def one_class_at_60(rng, n_items=500, n_classes=4):
    """Six members who are calibrated for even classes, and share a third of their noise; one class has 60 %."""
    shares = np.r_[0.6, np.full(n_classes - 1, 0.4 / (n_classes - 1))]
    truth = rng.choice(n_classes, n_items, p=shares)
    signal = 1.2
    shared, own = rng.normal(size=(n_items, n_classes)), rng.normal(size=(6, n_items, n_classes))
    evidence = signal * np.eye(n_classes)[truth] + np.sqrt(1 / 3) * shared + np.sqrt(2 / 3) * own
    return softmax(signal * evidence), truth


def bookmakers(rng, n_items=600):
    """Matches: three outcomes that nobody can know, of which the second is never the most probable."""
    strength = 0.7 * rng.normal(size=n_items) + 0.3
    chances = softmax(np.stack([strength, np.full(n_items, -0.35), -strength], axis=1))
    truth = (chances.cumsum(axis=1) < rng.random((n_items, 1))).sum(axis=1)
    return softmax(np.log(chances) + 0.06 * rng.normal(size=(8, n_items, 3))), truth


def independent_judges(rng, n_items=600):
    """Six judges who err independently of each other, and one who always passes; 85 % pass."""
    truth = (rng.random(n_items) < 0.85).astype(int)
    is_right = rng.random((6, n_items)) < np.where(truth, 0.95, np.linspace(0.6, 0.9, 6)[:, None])
    said = np.vstack([np.where(is_right, truth, 1 - truth), np.ones((1, n_items), dtype=int)])
    return np.eye(2)[said], truth


def mostly_none(rng, n_items=500, n_classes=8):
    """A class "none" that 75 % of the items have, and members who differ in how readily they leave it."""
    truth = rng.choice(n_classes, n_items, p=np.r_[0.75, np.full(n_classes - 1, 0.25 / (n_classes - 1))])
    noise = 0.6 * rng.normal(size=(n_items, n_classes)) + 0.8 * rng.normal(size=(7, n_items, n_classes))
    evidence = 2.2 * np.eye(n_classes)[truth] + noise
    evidence[:, :, 0] += np.linspace(-0.5, 1.5, 7)[:, None]
    return softmax(2 * evidence), truth


def scores(posterior, truth):
    posterior = np.asarray(posterior, dtype=float)
    nll = -np.log(np.maximum(posterior[np.arange(len(truth)), truth], 1e-12)).mean()
    return 100 * (posterior.argmax(axis=1) == truth).mean(), nll


def against(panel, method):
    """Points of accuracy against averaging, and NLL over averaging's, in the mean over seeds."""
    found = []
    for seed in range(N_SEEDS):
        array, truth = panel(np.random.default_rng(seed))
        before = scores(0.98 * array.mean(axis=0) + 0.02 / array.shape[2], truth)
        after = scores(method().fit(array).posterior_, truth)
        found.append((after[0] - before[0], np.log(after[1] / before[1])))
    points, nll = np.mean(found, axis=0)
    return points, np.exp(nll)


def test_class_shares_are_not_evened_out():
    points, nll = against(one_class_at_60, cs.Consensus)
    assert points > -0.5
    assert nll < 1


def test_what_nobody_can_know_is_left_alone():
    points, nll = against(bookmakers, cs.Consensus)
    assert points > -0.5
    assert nll < 1.02


def test_independent_errors_do_not_mislead():
    """The classics gain 1.6 points here; without labels, nothing tells these judges from some who err together."""
    points, nll = against(independent_judges, cs.Consensus)
    assert points > -0.3
    assert nll < 0.7


def test_a_class_that_most_items_have_is_not_left():
    points, nll = against(mostly_none, cs.Consensus)
    assert points > -0.5
    assert nll < 0.95


@pytest.mark.parametrize("panel", [one_class_at_60, mostly_none])
def test_stated_shares_make_it_better(panel):
    array, truth = panel(np.random.default_rng(0))
    counts = np.bincount(truth, minlength=array.shape[2])
    unknown, known = (cs.Consensus(class_shares=given).fit(array).posterior_ for given in (None, counts))
    assert scores(known, truth)[0] >= scores(unknown, truth)[0]
    assert scores(known, truth)[1] < scores(unknown, truth)[1]
