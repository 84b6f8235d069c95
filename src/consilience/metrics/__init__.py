"""How good a posterior is, given the truth: scores, calibration, and the detection of foreign items.

It may import from `system` and `data`.
"""

from consilience.metrics import ood
from consilience.metrics.ratings import expected_rating, mean_absolute_error, quadratic_kappa, ranked_probability_score
from consilience.metrics.scores import Estimate as Estimate
from consilience.metrics.scores import Evaluation as Evaluation
from consilience.metrics.scores import accuracy, brier_score, calibration_error, evaluate, nll, reliability_curve

__all__ = [
    "accuracy",
    "brier_score",
    "calibration_error",
    "evaluate",
    "expected_rating",
    "mean_absolute_error",
    "nll",
    "ood",
    "quadratic_kappa",
    "ranked_probability_score",
    "reliability_curve",
]
