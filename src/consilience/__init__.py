"""Fuse the predictions of several classifiers into one calibrated answer, without labels."""

from consilience.aggregators import Average as Average
from consilience.aggregators import BayesianClassifierCombination as BayesianClassifierCombination
from consilience.aggregators import DawidSkene as DawidSkene
from consilience.aggregators import MajorityVote as MajorityVote
from consilience.aggregators import SoftDawidSkene as SoftDawidSkene
from consilience.errors import InvalidPredictions as InvalidPredictions
from consilience.predictions import Predictions as Predictions

__version__ = "0.1.0"
