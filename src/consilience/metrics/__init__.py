"""How good a posterior is, given the truth: scores, calibration, and the detection of foreign items.

It may import from `system` and `data`.
"""

from consilience.metrics import ood as ood
from consilience.metrics.reliability import calibration_error as calibration_error
from consilience.metrics.reliability import reliability_curve as reliability_curve
from consilience.metrics.scores import Estimate as Estimate
from consilience.metrics.scores import Evaluation as Evaluation
from consilience.metrics.scores import accuracy as accuracy
from consilience.metrics.scores import brier_score as brier_score
from consilience.metrics.scores import evaluate as evaluate
from consilience.metrics.scores import nll as nll

__all__ = ["accuracy", "brier_score", "calibration_error", "evaluate", "nll", "ood", "reliability_curve"]
