"""How a posterior scores in an experiment: the paper's metrics and the steadier ones beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consilience.metrics.scores import accuracy, brier_score, calibration_error, nll

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

PAPER_BINS, USUAL_BINS = 300, 15


def scores(posterior: FloatArray, labels: Any) -> dict[str, float]:
    """Accuracy, the paper's ECE of 300 bins, ECE of 15 bins and debiased, Brier score, NLL."""
    return {
        "accuracy": accuracy(posterior, labels),
        "ece 300": calibration_error(posterior, labels, n_bins=PAPER_BINS),
        "ece 15": calibration_error(posterior, labels, n_bins=USUAL_BINS),
        "ece debiased": calibration_error(posterior, labels, n_bins=USUAL_BINS, debiased=True),
        "brier": brier_score(posterior, labels),
        "nll": nll(posterior, labels),
    }
