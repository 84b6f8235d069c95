"""Look at one window, or at a whole panel: accuracies, agreement, confidence, class shares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.aggregators.consensus.consensus import Consensus
from consilience.insight.accuracy.estimates import FUSED, AccuracyEstimate, Estimates, named_estimates, voters_of
from consilience.insight.agreement import agreement
from consilience.insight.coverage import answered_shares
from consilience.insight.monitoring.numbers import CONFIDENCE, SHARES, ItemNumbers, numbers_of
from consilience.system.arrays import position_of_largest

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray, IntArray


class Seen(NamedTuple):
    """What is kept of a window."""

    n_items: int
    accuracies: Estimates
    agreement: float  # Krippendorff's alpha
    confidence: float
    shares: FloatArray  # (classes,)
    answered: FloatArray  # (members,): the share of the items that each answers


class Look(NamedTuple):
    """A window, with the numbers that only the test needs."""

    seen: Seen
    numbers: ItemNumbers
    fused: float  # how often the fused answer is right, estimated whatever is known


def look(data: Predictions, known: IntArray | None = None, class_shares: Any = None) -> Look:
    """Look at a window by itself; where true classes are known (items,), accuracies are measured."""
    model = Consensus(class_shares=class_shares).fit(data)
    answers = {FUSED: position_of_largest(model.posterior_)}
    voters = voters_of(data, model, answers)
    numbers, votes = numbers_of(data), data.harden().hard
    assert votes is not None  # noqa: S101 - hardened predictions are hard
    confidence = numbers.mean(CONFIDENCE)
    seen = Seen(
        n_items=data.n_items,
        accuracies=named_estimates(voters, answers, known),
        agreement=agreement(data).alpha.value,
        confidence=float(np.nanmean(confidence)) if np.isfinite(confidence).any() else float("nan"),
        shares=numbers.mean(SHARES),
        answered=answered_shares(votes, data.n_members, data.n_items),
    )
    return Look(seen, numbers, float(voters.believed[-1]))


def estimate_columns(found: list[AccuracyEstimate]) -> dict[str, list[Any]]:
    """Accuracies as columns of a table."""
    return {
        "accuracy": [one.value for one in found],
        "from": [one.low for one in found],
        "to": [one.high for one in found],
        "measured": [one.is_measured for one in found],
    }
