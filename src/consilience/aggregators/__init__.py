"""The methods, one file each."""

from consilience.aggregators.average import Average as Average
from consilience.aggregators.bayesian_combination import (
    BayesianClassifierCombination as BayesianClassifierCombination,
)
from consilience.aggregators.consensus.consensus import Consensus as Consensus
from consilience.aggregators.dawid_skene import DawidSkene as DawidSkene
from consilience.aggregators.majority_vote import MajorityVote as MajorityVote
from consilience.aggregators.registry import load as load
from consilience.aggregators.soft_dawid_skene import SoftDawidSkene as SoftDawidSkene
