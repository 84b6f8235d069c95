"""How often members call one class another, counted on labelled items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from consilience.data.answers import HardAnswers
    from consilience.system.arrays import FloatArray, IntArray

ENOUGH_LABELS = 20
"""With so many labels for each class, confusions are counted on labelled items alone."""


def counted_confusions(votes: HardAnswers, truth: IntArray, n_members: int, n_classes: int) -> FloatArray | None:
    """Count the votes on labelled items (members, true, predicted); None if there are too few labels.

    `truth` (items,) is -1 where unknown.
    """
    if (truth >= 0).sum() < ENOUGH_LABELS * n_classes:
        return None
    is_labelled = truth[votes.items] >= 0
    members, labels = votes.members[is_labelled], votes.labels[is_labelled]
    cells = (members * n_classes + truth[votes.items[is_labelled]]) * n_classes + labels
    counts = np.bincount(cells, minlength=n_members * n_classes**2)
    return counts.reshape(n_members, n_classes, n_classes).astype(np.float64)
