"""What labels teach a rule that was found without them, and what is to be said of such labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, final

import numpy as np

from consilience.aggregators.consensus.labels.corrected import CorrectedRule, bounded, trust_in
from consilience.aggregators.consensus.labels.correction import learn_correction
from consilience.data.axes import COUNT
from consilience.data.names import text_of
from consilience.data.predictions import Predictions
from consilience.system.arrays import to_numpy
from consilience.system.errors import warn

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.aggregators.consensus.label_free_fit import Sample
    from consilience.aggregators.consensus.learned.network import LearnedRule
    from consilience.answering.rule import AbstractRule
    from consilience.data.axes import Axis
    from consilience.system.arrays import FloatArray


FORGOTTEN = 1e-3
"""A labelled item that counts for less is dropped."""

NAMELESS = 0
"""The key of an item without a name, which is like no other item."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class LabelledItems:
    """What members said of the items whose classes are known. Those of two sets of items add up."""

    said: FloatArray  # (items, members, classes): labels one-hot, NaN where missing
    targets: FloatArray  # (items, classes): one-hot rows, or probabilities
    noise: FloatArray  # (items,): how often such a label is wrong; NaN where that is to be estimated
    weights: FloatArray  # (items,): 1, less of those that a stream is forgetting
    keys: npt.NDArray[np.int64]  # (items,): of their names

    def __add__(self, other: LabelledItems) -> LabelledItems:
        """An item that is labelled again, by its name, counts once, with its later label."""
        mine = self.take((self.keys == NAMELESS) | ~np.isin(self.keys, other.keys))
        pairs = zip(mine._parts(), other._parts(), strict=True)
        return LabelledItems(*(np.concatenate(pair) for pair in pairs))

    def __rmul__(self, factor: float) -> LabelledItems:
        faded = LabelledItems(self.said, self.targets, self.noise, factor * self.weights, self.keys)
        return faded.take(faded.weights > FORGOTTEN)

    def take(self, items: npt.NDArray[Any]) -> LabelledItems:
        """Some of the items: a mask, or positions in the order wanted."""
        return LabelledItems(*(part[items] for part in self._parts()))

    def _parts(self) -> tuple[npt.NDArray[Any], ...]:
        return self.said, self.targets, self.noise, self.weights, self.keys


def keys_of(items: Axis, positions: npt.NDArray[np.intp], said: FloatArray) -> npt.NDArray[np.int64]:
    """A number for each item, the same wherever the item is met, so that a file need not hold the names.

    Names that count, as those of items without names do, are no names of their own: other data have them too. Such
    items are known by their names and by what members said (items, members, classes).
    """
    keys = np.empty(len(positions), dtype=np.int64)
    for place, position in enumerate(positions.tolist()):
        name = text_of(items.name(position))
        content = np.ascontiguousarray(said[place]).tobytes() if COUNT.fullmatch(name) else b""
        digest = blake2b(name.encode() + content, digest_size=8).digest()
        keys[place] = int.from_bytes(digest, "little", signed=True) or 1
    return keys


MANY_OF_ONE = 5
"""So many labels, all of one class, are worth a warning: they were hardly drawn at random."""

DISTRUSTED = 0.5
"""Labels that are less probable than this to tell of other items are worth a warning."""


def taught(
    rule: LearnedRule, labelled: LabelledItems, sample: Sample | None, classes: list[Any], *, is_vouched: bool
) -> AbstractRule:
    """The rule with what these labels correct in it, as far as so many labels can justify it.

    Labels that somebody vouches for are trusted. Labels of one class alone would teach that there is no other.
    """
    labels = labelled.targets.argmax(axis=1).tolist()
    if len(set(labels)) < 2:
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
