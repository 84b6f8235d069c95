"""The default method, and the hint of what it would answer if it knew more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.aggregators.base import AbstractAggregator, check_is_aggregator
from consilience.aggregators.consensus.class_shares import EVEN
from consilience.aggregators.consensus.consensus import Consensus
from consilience.system.arrays import sample, take, to_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.data.predictions import Predictions
    from consilience.system.arrays import Array, FloatArray, IntArray


EQUAL_WITHIN = 1e-9
"""Probabilities that differ by less are equal."""


def is_tie(rows: FloatArray, chosen: IntArray) -> npt.NDArray[np.bool_]:
    """Where no class is more probable than the chosen one (items,), so that another answer is only one of several.

    >>> is_tie(np.array([[0.5, 0.5], [0.6, 0.4]]), np.array([1, 1])).tolist()
    [True, False]
    """
    return np.asarray(rows[np.arange(len(rows)), chosen] >= rows.max(axis=1) - EQUAL_WITHIN)


LEAST_CHANGED, LEAST_SHARE = 3, 0.01
"""Fewer answers that would change, or a smaller share of them, are not worth a hint."""

MOST_NUMBERS = 2**18
"""Changes are counted on all items, or on so many numbers."""


def given_or_consensus(aggregator: AbstractAggregator | None, class_shares: Any = None) -> AbstractAggregator:
    """The aggregator, or, where none is given, a `Consensus` that knows the class shares."""
    if aggregator is None:
        return Consensus(class_shares=class_shares)
    check_is_aggregator(aggregator)
    if class_shares is not None and isinstance(aggregator, Consensus):
        raise ValueError("class_shares must be given to the aggregator where that is a Consensus; got both")
    return aggregator


def check_order(verb: str, predictions: Any, labels: Any = None) -> None:
    """Raise where an aggregator stands in the place of the predictions or of the labels."""
    swapped = next((own for own in (predictions, labels) if isinstance(own, AbstractAggregator)), None)
    if swapped is not None:
        name = type(swapped).__name__
        raise TypeError(
            f"{verb} takes the predictions first, then labels, and the aggregator by its name: "
            f"{verb}(predictions, …, aggregator=…); got {name} in the place of "
            f"the {'predictions' if swapped is predictions else 'labels'}"
        )


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


def hint_of(method: AbstractAggregator, predictions: Predictions, posterior: Array) -> Hint | None:
    """What even class shares would change in a method's answers (items, classes).

    None where little would change, where shares or labels were given, and where the method is not `Consensus`.
    """
    if not isinstance(method, Consensus) or method.stated_ is not None or method.labelled_ is not None:
        return None
    n_items, most = predictions.n_items, max(1, MOST_NUMBERS // predictions.n_classes)
    if n_items > most:
        places = sample(n_items, most)
        predictions, posterior = predictions.take(places), take(posterior, places, axis=0)
    chosen = to_numpy(method.rule_given(predictions, EVEN).posterior(predictions)).argmax(axis=1)
    is_changed = ~is_tie(to_numpy(posterior).astype(np.float64), chosen)
    if is_changed.sum() < LEAST_CHANGED or is_changed.mean() < LEAST_SHARE:
        return None
    return Hint(round(is_changed.mean() * n_items), n_items, is_exact=n_items <= most)
