"""The methods that experiments compare, by the names of the paper's tables."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from consilience.aggregators import (
    Average,
    BayesianClassifierCombination,
    Consensus,
    DawidSkene,
    MajorityVote,
    SoftDawidSkene,
)
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from consilience.aggregators.base import AbstractAggregator
    from consilience.data.predictions import Predictions
    from consilience.experiments.tasks import Preset
    from consilience.system.arrays import FloatArray

PAPER = ("DS", "BCC", "EA", "MV", "PE", "SDS")
"""In the order of the paper's tables. PE is not an aggregator: it needs the networks and their training data."""


def aggregators(preset: Preset) -> dict[str, Callable[[], AbstractAggregator]]:
    """Every aggregator, SDS with the hyper-parameters that the paper's appendix D gives for a data set.

    DS is crowd-kit's of the paper: no smoothing, 100 iterations. `SDS default` is this project's own default, where
    that is another.
    """
    found: dict[str, Callable[[], AbstractAggregator]] = {
        "DS": lambda: DawidSkene(smoothing=0, tol=None, max_iter=100),
        "BCC": lambda: BayesianClassifierCombination(max_iter=200),
        "EA": Average,
        "MV": MajorityVote,
        "SDS": lambda: SoftDawidSkene.paper(preset),
        "SDS default": SoftDawidSkene,
        "Consensus": Consensus,
        "DS smoothed": DawidSkene,
        "EA geometric": lambda: Average(kind="geometric"),
    }
    if SoftDawidSkene.paper(preset).get_params() == SoftDawidSkene().get_params():
        del found["SDS default"]
    return found


def fitted(method: AbstractAggregator, predictions: Predictions) -> AbstractAggregator:
    """A method that has learned from predictions, without labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as the paper's, it makes so many iterations
        return method.fit(predictions)


def posterior(method: AbstractAggregator, predictions: Predictions) -> FloatArray:
    """What a method makes of predictions, without labels."""
    return to_numpy(fitted(method, predictions).posterior_).astype(np.float64)
