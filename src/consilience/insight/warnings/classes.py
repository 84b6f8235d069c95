"""Warnings about classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from consilience.insight.warnings.evidence import Warned
from consilience.insight.warnings.thresholds import EMPTIED, MOST_SHOWN, NOISE

if TYPE_CHECKING:
    from consilience.insight.warnings.evidence import Evidence


def emptied_classes(evidence: Evidence) -> list[Warned]:
    """Classes that the fused answer gives to far fewer items than probabilities expect, or to none."""
    if evidence.is_taught:  # it may rightly differ from the members
        return []
    n_chosen = np.bincount(evidence.chosen, minlength=evidence.data.n_classes)
    expected = np.minimum(evidence.averaged, evidence.believed)
    is_emptied = (n_chosen < EMPTIED * expected) & (expected - n_chosen > NOISE * np.sqrt(expected + 1))
    return [
        Warned(
            f"class {evidence.data.classes[k]} has collapsed: about {expected[k]:.0f} items are expected to be of it, "
            f"and the fused answer gives it to {n_chosen[k]}. Do not read the answers as its share; look at the items "
            "where it is the second most probable class, or label some of them",
            (int(k),),
        )
        for k in np.flatnonzero(is_emptied)[:MOST_SHOWN]
    ]
