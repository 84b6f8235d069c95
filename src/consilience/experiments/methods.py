"""The methods that experiments compare, by the names of the paper's tables."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Protocol

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
from consilience.experiments.crowd_kit import CrowdKitDawidSkene
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from consilience.data.predictions import Predictions
    from consilience.experiments.tasks import Preset
    from consilience.system.arrays import FloatArray

SDS_PAPER, SDS_OURS = "SDS (paper)", "SDS (ours)"
"""Soft Dawid-Skene to the letter, and the same from our smoothed start."""

PAPER = ("DS", "BCC", "EA", "MV", "PE", SDS_PAPER, SDS_OURS)
"""In the order of the paper's tables. PE is not an aggregator: it needs the networks and their training data."""


class Method(Protocol):
    """What answers predictions."""

    posterior_: Any

    def fit(self, predictions: Any, /) -> Any:
        """Learn from predictions, without labels."""


def aggregators(preset: Preset) -> dict[str, Callable[[], Any]]:
    """Every `Method`, SDS with the hyper-parameters that the paper's appendix D gives for a data set.

    DS is crowd-kit's, as in the paper. `SDS default` is this project's own default, where that is another than
    `SDS (ours)`.
    """
    found: dict[str, Callable[[], Any]] = {
        "DS": CrowdKitDawidSkene,
        "BCC": lambda: BayesianClassifierCombination(max_iter=200),
        "EA": Average,
        "MV": MajorityVote,
        SDS_PAPER: lambda: SoftDawidSkene.paper(preset),
        SDS_OURS: lambda: SoftDawidSkene.paper(preset, start="ours"),
        "SDS default": SoftDawidSkene,
        "Consensus": Consensus,
        "DS smoothed": DawidSkene,
        "EA geometric": lambda: Average(kind="geometric"),
    }
    if SoftDawidSkene.paper(preset, start="ours").get_params() == SoftDawidSkene().get_params():
        del found["SDS default"]
    return found


def fitted(method: Method, predictions: Predictions) -> Any:
    """A method that has learned from predictions, without labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # as the paper's, it makes so many iterations
        return method.fit(predictions)


def posterior(method: Method, predictions: Predictions) -> FloatArray:
    """What a method makes of predictions, without labels."""
    return to_numpy(fitted(method, predictions).posterior_).astype(np.float64)
