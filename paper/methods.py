"""The methods that experiments compare, by the names of the paper's tables."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, final

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
from paper.crowd_kit import CrowdKitDawidSkene

if TYPE_CHECKING:
    from collections.abc import Callable

    from consilience.aggregators.base import AbstractAggregator
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray
    from paper.tasks import Preset

SDS_PAPER, SDS_OURS = "SDS (paper)", "SDS (ours)"
"""Soft Dawid-Skene to the letter, and the same from our smoothed start."""

SDS_ANEW, SDS_COUNTS = "SDS (paper), moments anew", "SDS (counts)"
"""The other reading of what the optimizer remembers; a start from counts that are not normalized, which is neither the
paper's nor ours but the best of the readings that were tried."""

PAPER = ("DS", "BCC", "EA", "MV", "PE", SDS_PAPER, SDS_ANEW, SDS_COUNTS, SDS_OURS)
"""In the order of the paper's tables. PE is not an aggregator: it needs the networks and their training data."""


class Method(Protocol):
    """What learns from predictions; the result has a `posterior_`."""

    def fit(self, predictions: Any, /) -> Any:
        """Learn from predictions, without labels."""


@final
@dataclass(frozen=True)
class OnLabels:
    """A method that learns from each member's most probable class alone; as in the paper, the first one wins a tie."""

    method: AbstractAggregator

    def fit(self, predictions: Predictions) -> AbstractAggregator:
        """The method, fitted."""
        return self.method.fit(predictions.harden())


def aggregators(preset: Preset) -> dict[str, Callable[[], Any]]:
    """Every `Method`, SDS with the hyper-parameters that the paper's appendix D gives for a data set.

    DS is crowd-kit's, as in the paper. `SDS default` is this project's own default, where that is another than
    `SDS (ours)`.
    """
    found: dict[str, Callable[[], Any]] = {
        "DS": CrowdKitDawidSkene,
        "BCC": lambda: OnLabels(BayesianClassifierCombination(max_iter=200)),
        "EA": Average,
        "MV": lambda: OnLabels(MajorityVote()),
        SDS_PAPER: lambda: SoftDawidSkene.paper(preset),
        SDS_ANEW: lambda: SoftDawidSkene.paper(preset).set_params(optimizer_moments="anew"),
        SDS_COUNTS: lambda: SoftDawidSkene.paper(preset).set_params(init_rows="counts"),
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
