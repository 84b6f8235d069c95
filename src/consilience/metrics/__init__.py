"""How good a posterior is, given the truth: scores, calibration, and the detection of foreign items.

It may import from `system` and `data`.
"""

from consilience.metrics import ood as ood
from consilience.metrics.ratings import expected_rating as expected_rating
from consilience.metrics.ratings import mean_absolute_error as mean_absolute_error
from consilience.metrics.ratings import quadratic_kappa as quadratic_kappa
from consilience.metrics.ratings import ranked_probability_score as ranked_probability_score
from consilience.metrics.scores import Estimate as Estimate
from consilience.metrics.scores import Evaluation as Evaluation
from consilience.metrics.scores import accuracy as accuracy
from consilience.metrics.scores import brier_score as brier_score
from consilience.metrics.scores import calibration_error as calibration_error
from consilience.metrics.scores import evaluate as evaluate
from consilience.metrics.scores import nll as nll
from consilience.metrics.scores import reliability_curve as reliability_curve

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
