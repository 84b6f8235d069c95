"""Warnings about the panel as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from consilience.insight.accuracy.estimates import FUSED
from consilience.insight.warnings.evidence import Warned
from consilience.insight.warnings.thresholds import AT_BEST, LEAST_RIGHT, MOST_OFF, MOSTLY_RIGHT, NINE_OF_TEN

if TYPE_CHECKING:
    from consilience.insight.accuracy.estimates import AccuracyEstimate
    from consilience.insight.warnings.evidence import PanelEvidence

LOST = "fusing made more answers wrong than right"
"""What is found where labels show that the plain average is better."""


def not_settled(evidence: PanelEvidence) -> list[Warned]:
    """The fit stopped before its objective settled."""
    if evidence.has_settled:
        return []
    finding = "the fit had not settled when it stopped, so all numbers may still change"
    return [Warned(finding, "Raise max_iter or tol")]


def contradicting_labels(evidence: PanelEvidence) -> list[Warned]:
    """The labels of the fit contradict the answers that members are sure of."""
    if not evidence.doubts_labels:
        return []
    return [
        Warned(
            "the known labels contradict most of the answers to their items",
            "Check whether classes are swapped, or only mistakes were labelled; until then, do not take what these "
            "labels measure for all items",
        )
    ]


def wrong_together(evidence: PanelEvidence) -> list[Warned]:
    """Everybody is wrong together: the fused answer is wrong on a quarter of the items or more, or probably so."""
    fused = evidence.estimates.answers[FUSED]
    if fused.is_measured:
        return [_measured_wrong(fused)] if fused.high < MOSTLY_RIGHT else []
    if not (fused.value < LEAST_RIGHT and fused.high < AT_BEST):
        return []
    return [
        Warned(
            "the fused answer is probably wrong on a quarter of the items or more",
            "Before you use it, label some items drawn at random, 50 say: they tell how often it is right, and "
            "correct it",
            f"it is estimated to be right on {fused}",
        )
    ]


def _measured_wrong(fused: AccuracyEstimate) -> Warned:
    return Warned(
        "the fused answer is wrong on more than a quarter of the items",
        "Give labels of some items to the fit, which correct it, and use the others to measure it again",
        f"measured with the labels, it is right on {fused}",
    )


def lost_by_fusing(evidence: PanelEvidence) -> list[Warned]:
    """Labels show that the plain average is right more often than the fused answer."""
    changed = evidence.changed
    if changed is None or not changed.is_loss:
        return []
    return [
        Warned(
            LOST,
            "Use the plain average instead, or give labels of some items to the fit, which correct it",
            f"of the labelled answers that differ from the plain average, {changed.made_right:,} became right and "
            f"{changed.made_wrong:,} became wrong",
        )
    ]


def too_few_items(evidence: PanelEvidence) -> list[Warned]:
    """So few items that even their labels would not tell how good the members are."""
    known = [found.value for found in evidence.estimates.members if not np.isnan(found.value)]
    if not known:
        return []
    usual, n_items = float(np.median(known)), evidence.data.n_items
    usual = (usual * n_items + 1) / (n_items + 2)  # on one item, nobody is known to be always right
    off = NINE_OF_TEN * np.sqrt(usual * (1 - usual) / n_items)
    if off <= MOST_OFF:
        return []
    return [
        Warned(
            f"{n_items} {'item is' if n_items == 1 else 'items are'} too few to tell how good the members are",
            "Bring more items of the same kind; they need no labels",
            f"even with all labels, an accuracy would be known to {100 * off:.0f} points up or down",
        )
    ]
