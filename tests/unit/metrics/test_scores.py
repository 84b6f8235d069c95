import numpy as np
import pytest
from sklearn.metrics import log_loss

import consilience as cs
from consilience.metrics import accuracy, brier_score, calibration_error, evaluate, nll


def draw(seed, n_items=50, n_classes=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n_classes), size=n_items), rng.integers(n_classes, size=n_items)


def test_hand_computed():
    posterior, labels = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]), np.array([0, 2])
    assert accuracy(posterior, labels) == 0.5
    assert nll(posterior, labels) == pytest.approx(-(np.log(0.7) + np.log(0.3)) / 2)
    assert brier_score(posterior, labels) == pytest.approx((0.09 + 0.04 + 0.01 + 0.01 + 0.36 + 0.49) / 2)
    assert calibration_error(posterior, labels, n_bins=10) == pytest.approx((0.3 + 0.6) / 2)


def test_log_loss_is_scikit_learns():
    posterior, labels = draw(1)
    assert nll(posterior, labels) == pytest.approx(log_loss(labels, posterior, labels=range(4)), rel=1e-12)


def test_brier_is_between_0_and_2_and_nll_has_a_floor():
    sure = np.array([[1.0, 0.0]])
    assert (brier_score(sure, [0]), brier_score(sure, [1])) == (0, 2)
    assert nll(sure, [1]) == pytest.approx(-np.log(1e-12))


def test_evaluate_gives_every_metric_with_an_interval_around_it():
    posterior, labels = draw(3, n_items=400)
    result = evaluate(posterior, labels)
    assert result["accuracy"].value == accuracy(posterior, labels)
    assert result["nll"].value == pytest.approx(nll(posterior, labels))
    assert result["brier"].value == pytest.approx(brier_score(posterior, labels))
    assert result["ece"].value == pytest.approx(calibration_error(posterior, labels))
    for estimate in result.values():
        assert estimate.low < estimate.value < estimate.high
    assert "400 labelled items" in repr(result)
    assert result.to_table().columns == ["metric", "value", "low", "high"]
    assert result.to_table()["metric"] == list(result)


def test_intervals_are_those_of_five_hundred_draws_from_seed_0():
    posterior, labels = draw(6, n_items=60)
    given = evaluate(posterior, labels)
    assert dict(given) == dict(evaluate(posterior, labels, n_bins=15, n_bootstrap=500, level=0.95, seed=0))
    for other in ({"n_bootstrap": 501}, {"level": 0.9}, {"seed": 1}):
        assert given["nll"].low != evaluate(posterior, labels, **other)["nll"].low
    assert given["ece"] != evaluate(posterior, labels, n_bins=16)["ece"]
    without = evaluate(posterior, labels, n_bootstrap=0)["nll"]
    assert without.low == without.value == without.high == given["nll"].value


def test_intervals_stay_where_values_can_be():
    """Nearly always right, and calibrated: what lies beyond 0 is cut off, except where values may be negative."""
    rng = np.random.default_rng(0)
    confidence = rng.uniform(0.9, 1, size=100)
    labels = (rng.random(100) > confidence).astype(int)
    result = evaluate(np.stack([confidence, 1 - confidence], axis=1), labels)
    assert 0.9 < result["accuracy"].value < result["accuracy"].high <= 1
    wide = evaluate(np.stack([confidence, 1 - confidence], axis=1), labels, level=0.9999)
    assert wide["accuracy"].high <= 1
    assert wide["ece"].low == 0
    assert wide["ece debiased"].low < 0
    assert wide["nll"].high < np.inf


def test_intervals_cover_the_truth_at_about_their_level():
    """95 % intervals of accuracy over 200 draws: binomial(200, .95) is almost never below 178."""
    hits = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        labels = (rng.random(150) < 0.3).astype(int)
        low, high = evaluate(np.tile([0.8, 0.2], (150, 1)), labels, n_bootstrap=200)["accuracy"][1:]
        hits += low <= 0.7 <= high
    assert 178 <= hits < 200


def test_accuracy_has_an_interval_where_all_answers_are_right():
    found = evaluate([[0.9, 0.1]] * 20, [0] * 20)["accuracy"]
    assert found == (1.0, pytest.approx(0.839, abs=1e-3), 1.0)
    assert evaluate([[0.9, 0.1]] * 20, [1] * 20)["accuracy"][1:] == pytest.approx((0, 1 - found.low))


def test_evaluate_leaves_unknown_labels_out():
    posterior, labels = draw(4)
    labels[10:] = -1
    assert evaluate(posterior, labels)["nll"].value == pytest.approx(nll(posterior[:10], labels[:10]))


def test_evaluate_understands_names():
    posterior, labels = draw(5)
    names = ["ant", "bee", "cat", "dog"]
    named = [names[k] for k in labels]
    assert evaluate(posterior, named, classes=names)["nll"] == evaluate(posterior, labels)["nll"]
    with pytest.raises(cs.InvalidPredictions, match="known for at least one item"):
        evaluate(posterior, [None] * 50, classes=names)
    with pytest.raises(cs.InvalidPredictions, match=r"posterior must be numbers \(items, classes\).* shape \(4,\)"):
        evaluate(posterior[0], named, classes=names)


@pytest.mark.parametrize("metric", [accuracy, nll, brier_score, evaluate])
def test_wrong_input(metric):
    with pytest.raises(
        cs.InvalidPredictions, match=r"^labels must be among the classes \[0, 1\], or -1 where unknown; item 0 has 2$"
    ):
        metric([[0.5, 0.5]], [2])


def test_wrong_options():
    with pytest.raises(ValueError, match="level must be a number from 0 to 1; got 95"):
        evaluate([[1.0, 0.0]], [0], level=95)
    with pytest.raises(cs.InvalidPredictions, match=r"^labels must be known for at least one item; all are -1$"):
        evaluate([[1.0, 0.0]], [-1])
    for level in (0, 1):
        with pytest.raises(ValueError, match=f"^level must be between 0 and 1; got {level}$"):
            evaluate([[1.0, 0.0]], [0], level=level)
    for name in ("seed", "n_bootstrap"):
        with pytest.raises(ValueError, match=f"^{name} must be an integer of at least 0; got -1$"):
            evaluate([[1.0, 0.0]], [0], **{name: -1})
