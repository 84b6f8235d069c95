"""Scores, and the calibration error of answers that are perfectly calibrated."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

pytest.importorskip("torch")

from paper.scoring import calibrated_error, scores

import reference


def test_every_calibration_error_stands_beside_its_floor(rng):
    rows, labels = rng.dirichlet(np.ones(4), size=200), rng.integers(4, size=200)
    found = scores(rows, labels)
    names = {f"ece {n_bins}{what}" for n_bins in (15, 300) for what in ("", " floor")}
    assert set(found) == {"accuracy", "nll", "brier", "ece debiased"} | names
    for n_bins in (15, 300):
        assert found[f"ece {n_bins}"] == pytest.approx(reference.calibration_error(rows, labels, n_bins), rel=1e-9)
    assert found["nll"] == pytest.approx(log_loss(labels, rows, labels=range(4)), rel=1e-9)


def test_the_floor_is_what_calibrated_answers_score(rng):
    """With 300 bins on 2,000 items it is as large as what people compare."""
    rows = rng.dirichlet(np.full(10, 0.4), size=2000)
    labels = np.array([rng.choice(10, p=row) for row in rows])  # so rows are true probabilities
    found = scores(rows, labels)
    assert found["ece 300"] == pytest.approx(found["ece 300 floor"], rel=0.15) and found["ece 300 floor"] > 0.08
    assert found["ece 15"] == pytest.approx(found["ece 15 floor"], abs=0.01)
    assert abs(found["ece debiased"]) < 0.2  # nothing on average, but one draw says little
    assert calibrated_error(np.ones(50), 15) == 0
