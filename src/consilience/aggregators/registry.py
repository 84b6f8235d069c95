"""Reading a saved aggregator back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from consilience.aggregators.average import Average
from consilience.aggregators.bayesian_combination import BayesianClassifierCombination
from consilience.aggregators.consensus.consensus import Consensus
from consilience.aggregators.dawid_skene import DawidSkene
from consilience.aggregators.majority_vote import MajorityVote
from consilience.aggregators.soft_dawid_skene import SoftDawidSkene
from consilience.answering import saving
from consilience.answering.saved import reason_to_refuse
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.aggregators.base import AbstractAggregator

METHODS: dict[str, type[AbstractAggregator]] = {
    method.__name__: method
    for method in (Average, MajorityVote, DawidSkene, BayesianClassifierCombination, SoftDawidSkene, Consensus)
}


def load(path: str | os.PathLike[str]) -> AbstractAggregator:
    """The aggregator that `save` wrote to a file."""
    name, parameters, learned = saving.read(path)
    if name not in METHODS:
        raise InvalidPredictions(f"{os.fspath(path)} holds {name!r}; expected one of {list(METHODS)}")
    method = METHODS[name]
    reason = reason_to_refuse(name, learned)
    if reason is None:
        try:
            return method.from_saved(parameters, learned)
        except (TypeError, ValueError) as error:  # parameters that it does not have, or that make no sense
            reason = str(error)
    raise InvalidPredictions(f"{os.fspath(path)} is not a file that consilience saved: {reason}")
