"""The default method, and the hint of what it would answer if it knew more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.aggregators.base import AbstractAggregator, check_is_aggregator
from consilience.aggregators.consensus.class_shares import EVEN, matched, read_shares
from consilience.aggregators.consensus.consensus import Consensus
from consilience.insight.ties import is_tie
from consilience.system.arrays import take, to_numpy

if TYPE_CHECKING:
    from consilience.system.arrays import Array

LEAST_CHANGED, LEAST_SHARE = 3, 0.01
"""Fewer answers that would change, or a smaller share of them, are not worth a hint."""

MOST_NUMBERS = 2**18
"""Changes are counted on all items, or on so many numbers of evenly spaced ones."""


def given_or_consensus(aggregator: AbstractAggregator | None, class_shares: Any = None) -> AbstractAggregator:
    """The aggregator, or, where none is given, a `Consensus` that knows the class shares."""
    if aggregator is None:
        return Consensus(class_shares=class_shares)
    check_is_aggregator(aggregator)
    if class_shares is not None and isinstance(aggregator, Consensus):
        raise ValueError("class_shares must be given to the aggregator where that is a Consensus; got both")
    return aggregator


class Hint(NamedTuple):
    """How many answers would change if the classes were known to be about equally frequent."""

    n_changed: int
    n_items: int
    is_exact: bool

    def sentence(self, say: str = f'class_shares="{EVEN}"') -> str:
        """The hint in words, given how to say it."""
        about = "" if self.is_exact else "about "
        return (
            f"If the classes are about equally frequent, say {say}: "
            f"{about}{self.n_changed:,} of {self.n_items:,} answers would change"
        )


def hint_of(method: AbstractAggregator, posterior: Array) -> Hint | None:
    """What even class shares would change in the answers (items, classes) of a method.

    None where little would change, where shares or labels were given, and where the method is not `Consensus`.
    """
    if not isinstance(method, Consensus) or method.class_shares is not None or method.labelled_ is not None:
        return None
    (n_items, n_classes), most = posterior.shape, max(1, MOST_NUMBERS // posterior.shape[1])
    some = posterior if n_items <= most else take(posterior, np.linspace(0, n_items - 1, most).astype(np.intp), axis=0)
    answers = to_numpy(some).astype(np.float64)
    even = read_shares(EVEN, list(range(n_classes)))
    assert even is not None  # noqa: S101 - they were given
    chosen = (answers * np.exp(matched(answers, even).log_weights)).argmax(axis=1)
    is_changed = ~is_tie(answers, chosen)
    if is_changed.sum() < LEAST_CHANGED or is_changed.mean() < LEAST_SHARE:
        return None
    return Hint(round(is_changed.mean() * n_items), n_items, is_exact=len(answers) == n_items)
