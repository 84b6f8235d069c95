"""The scores of an answer, among them the calibration error three ways, and what noise alone would score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.metrics.scores import binned_gap, bins_of, calibration_error, score

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

PAPER_BINS, USUAL_BINS = 300, 15
N_DRAWS = 20


def scores(rows: FloatArray, labels: Any) -> dict[str, float]:
    """Accuracy, Brier score, NLL; the calibration error in the paper's 300 bins, in the usual 15, and debiased.

    Beside each number of bins stands its floor: what these very confidences would score if they were true.
    """
    found = score(rows, labels)
    found["ece 15"] = found.pop("ece")
    found["ece 300"] = calibration_error(rows, labels, n_bins=PAPER_BINS)
    confidence = rows.max(axis=1)
    for n_bins in (USUAL_BINS, PAPER_BINS):
        found[f"ece {n_bins} floor"] = calibrated_error(confidence, n_bins)
    return found


def calibrated_error(confidence: FloatArray, n_bins: int) -> float:
    """The mean calibration error of answers that are right as often as they say: noise in the bins, nothing else."""
    rng = np.random.default_rng(0)
    bins, _ = bins_of(confidence, n_bins, "uniform")
    draws = (rng.random(len(confidence)) < confidence for _ in range(N_DRAWS))
    return float(np.mean([binned_gap(bins, is_right - confidence, n_bins) for is_right in draws]))
