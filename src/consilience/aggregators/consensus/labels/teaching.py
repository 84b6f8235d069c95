"""What labels teach a rule that was found without them, and what is to be said of such labels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.aggregators.consensus.labels.corrected import CorrectedRule
from consilience.aggregators.consensus.labels.correction import learn_correction
from consilience.aggregators.consensus.labels.influence import bounded, trust_in
from consilience.data.predictions import Predictions
from consilience.system.arrays import to_numpy
from consilience.system.warning import warn

if TYPE_CHECKING:
    from consilience.aggregators.consensus.labels.labelled_items import LabelledItems, Sample
    from consilience.aggregators.consensus.learned.rule import LearnedRule
    from consilience.answering.rule import AbstractRule
    from consilience.system.arrays import FloatArray

MANY_OF_ONE = 5
"""So many labels, all of one class, are worth a warning: they were hardly drawn at random."""

DISTRUSTED = 0.5
"""Labels that are less probable than this to tell of other items are worth a warning."""


def taught(
    rule: LearnedRule, labelled: LabelledItems | None, sample: Sample | None, classes: list[Any], *, is_vouched: bool
) -> AbstractRule:
    """The rule with what these labels correct in it, as far as so many labels can justify it.

    Labels that somebody vouches for are trusted. Labels of one class alone would teach that there is no other.
    """
    labels = [] if labelled is None else labelled.targets.argmax(axis=1).tolist()
    if labelled is None or len(set(labels)) < 2:
        if len(labels) >= MANY_OF_ONE:
            warn(
                "labels teach nothing of other items where all are of one class; "
                f"all {len(labels)} are {classes[labels[0]]!r}"
            )
        return rule
    said = _sampled(labelled, sample)
    answers, usual = _answered(rule, labelled.said), _answered(rule, said)
    trust = trust_in(labelled, answers, usual)
    if trust < DISTRUSTED:
        _warn_of_contradiction(labelled, answers, classes, is_vouched=is_vouched)
    correction = learn_correction(labelled, answers)
    return CorrectedRule(rule, bounded(correction, 1.0 if is_vouched else trust, labelled.weights.sum(), said, usual))


def is_doubted(rule: LearnedRule, labelled: LabelledItems, sample: Sample | None) -> bool:
    """Whether labels contradict the answers so often that they are not believed."""
    answers, usual = _answered(rule, labelled.said), _answered(rule, _sampled(labelled, sample))
    return trust_in(labelled, answers, usual) < DISTRUSTED


def _sampled(labelled: LabelledItems, sample: Sample | None) -> FloatArray:
    """What members said of a sample of all items; of the labelled ones where none was kept."""
    return labelled.said if sample is None else sample.said.astype(np.float64)


def _answered(rule: LearnedRule, said: FloatArray) -> FloatArray:
    """(items, classes): the answers where members said this (items, members, classes)."""
    return to_numpy(rule.posterior(Predictions(said.transpose(1, 0, 2))))


def _warn_of_contradiction(
    labelled: LabelledItems, answers: FloatArray, classes: list[Any], *, is_vouched: bool
) -> None:
    labels, found = labelled.targets.argmax(axis=1), answers.argmax(axis=1)
    is_other = labels != found
    pairs = Counter(zip(labels[is_other].tolist(), found[is_other].tolist(), strict=True))
    (label, answer), _ = pairs.most_common(1)[0]
    outcome = "These labels change little but their own items, unless label_noise=0 says that they are right and of "
    outcome += "items drawn at random."
    if is_vouched:
        outcome = "They are believed, since label_noise=0 vouches for them."
    warn(
        f"{is_other.sum()} of {len(labels)} labels contradict the answers, which are {answers.max(axis=1).mean():.0%} "
        f"sure there; most often {classes[label]!r} is labelled where {classes[answer]!r} is found. Are classes "
        f"swapped, or were only mistakes labelled? {outcome}"
    )
