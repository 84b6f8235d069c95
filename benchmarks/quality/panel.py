"""A panel: what several members say of the same items, and the truth, which only scores see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import consilience as cs


@dataclass(frozen=True, eq=False)
class Panel:
    """What the members of one panel say. Exactly one of `probabilities` and `labels` is given."""

    name: str
    family: str  # panels of one family share members, items or a task
    kind: str  # "as it is", or how it was drawn from such a panel
    truth: np.ndarray  # (items,): the true classes, -1 where unknown
    n_classes: int
    probabilities: np.ndarray | None = None  # (members, items, classes), a NaN row where a member says nothing
    labels: np.ndarray | None = None  # (members, items), -1 where a member says nothing

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return len(self.votes)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.truth)

    @cached_property
    def votes(self) -> np.ndarray:
        """(members, items): the class each member finds most probable, the first of a tie; -1 where it says nothing."""
        if self.labels is not None:
            return self.labels
        assert self.probabilities is not None  # noqa: S101 - one of the two is given
        is_missing = np.isnan(self.probabilities[:, :, 0])
        return np.where(is_missing, -1, np.nan_to_num(self.probabilities).argmax(axis=2))

    @cached_property
    def predictions(self) -> cs.Predictions:
        """The same as a user would bring it."""
        if self.labels is not None:
            return cs.Predictions.from_labels(self.labels, self.n_classes)
        return cs.Predictions(self.probabilities, normalize=True)
