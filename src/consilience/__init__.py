"""Fuse the predictions of several classifiers into one answer, without labels."""

from consilience import metrics as metrics
from consilience import ood as ood
from consilience import plots as plots
from consilience.aggregators import Average as Average
from consilience.aggregators import BayesianClassifierCombination as BayesianClassifierCombination
from consilience.aggregators import Consensus as Consensus
from consilience.aggregators import DawidSkene as DawidSkene
from consilience.aggregators import MajorityVote as MajorityVote
from consilience.aggregators import SoftDawidSkene as SoftDawidSkene
from consilience.aggregators import load as load
from consilience.checks import check_aggregator as check_aggregator
from consilience.comparison import compare as compare
from consilience.diagnostics import diagnose as diagnose
from consilience.ensemble import EnsembleClassifier as EnsembleClassifier
from consilience.errors import InvalidPredictions as InvalidPredictions
from consilience.explanation import explain as explain
from consilience.label_evaluation import evaluate_labels as evaluate_labels
from consilience.metrics import evaluate as evaluate
from consilience.predictions import Predictions as Predictions
from consilience.reliability import reliability_curve as reliability_curve
from consilience.suggestion import suggest as suggest

__version__ = "0.1.0"
