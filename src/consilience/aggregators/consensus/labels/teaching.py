"""What labels teach a rule that was found without them, and what is to be said of such labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logsumexp

from consilience.aggregators.consensus.label_free_fit import MOST_CORRECTED, Sample, rows_said
from consilience.aggregators.consensus.labels.corrected_rule import ANSWER_FLOOR, LOG_FLOOR, CorrectedRule, Correction
from consilience.aggregators.consensus.labels.regression import learn_correction
from consilience.aggregators.consensus.learned.network import LearnedRule
from consilience.answering.rule import AbstractRule
from consilience.data.axes import COUNT, Axis
from consilience.data.labels import which_known
from consilience.data.names import text_of
from consilience.data.predictions import AbstractPredictions, Predictions
from consilience.system.arrays import Array, FloatArray, to_numpy
from consilience.system.errors import warn

FORGOTTEN = 1e-3  # a labelled item that counts for less is dropped
NAMELESS = 0  # the key of an item without a name, which is like no other item


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


def labelled_items(
    predictions: AbstractPredictions, known: Array, noise: float | None, *, are_new: bool
) -> LabelledItems | None:
    """The items of which something is known, as far as that can correct anything.

    Those without names are new ones if they come in a stream, or are not as many as those of the fit.
    """
    if predictions.n_members * predictions.n_classes > MOST_CORRECTED:
        warn(
            f"labels only settle their own items where members × classes are over {MOST_CORRECTED:,}; "
            f"got {predictions.n_members} × {predictions.n_classes}"
        )
        return None
    items, is_soft = np.flatnonzero(which_known(known)), known.ndim == 2
    said, axis = rows_said(predictions.take(items)), predictions.axes.items
    is_nameless = are_new and not axis.is_named
    return LabelledItems(
        said,
        targets=known[items] if is_soft else np.eye(predictions.n_classes)[known[items]],
        noise=np.full(len(items), 0.0 if is_soft else np.nan if noise is None else noise),
        weights=np.ones(len(items)),
        keys=np.full(len(items), NAMELESS, dtype=np.int64) if is_nameless else keys_of(axis, items, said),
    )


# The share of all answers that ten labels may turn; it grows with the cube of their number. On generated panels ten
# labels, all of them wrong, must not cost 5 points; twenty that are right must gain as much as without a limit.
TEN_TURN = 0.03
CONTRADICTING = 0.2  # how probable it is, before a look at them, that labels contradict right answers
# A power: answers half as sure as they can be, beyond chance, are taken to mean nothing in one of 2^4 panels.
UNSURE_POWER = 4
LEAST_RATE = 1e-3  # nothing is taken to be rarer, so that one label does not decide
SHARE_GRID = (np.arange(20) + 0.5) / 20  # shares from 0 to 1, to average over


def bounded(correction: Correction, trust: float, n_labels: float, said: FloatArray, answers: FloatArray) -> Correction:
    """The correction, as far as labels that are worth so much trust can justify it.

    `said` (items, members, classes) and `answers` (items, classes), found without labels, are of a sample of all items.
    """
    shown = Correction(1 + trust * (correction.sharpness - 1), correction.bias, correction.weights)
    limits = np.sort(turning_points(shown, said, answers))
    n_allowed = int(most_turned(trust * n_labels) * len(limits))
    limit = limits[n_allowed] if n_allowed < len(limits) else np.inf
    share = min(trust, limit * (1 - 1e-9))
    return Correction(shown.sharpness, share * correction.bias, share * correction.weights)


def most_turned(n_labels: float) -> float:
    """The share of all answers that so many labels may turn."""
    return float(min(1.0, TEN_TURN * (n_labels / 10) ** 3))


def turning_points(correction: Correction, said: FloatArray, answers: FloatArray) -> FloatArray:
    """(items,): by how much biases and weights are multiplied when they turn the answer to an item.

    Scores are linear in that factor, so each other class overtakes the answer at one factor, or never.
    """
    logs = np.nan_to_num(np.log(np.maximum(said, LOG_FLOOR))).reshape(len(said), -1)
    taught = logs @ correction.table() + correction.bias
    scores = correction.sharpness * np.log(np.maximum(answers, ANSWER_FLOOR))
    answer = answers.argmax(axis=1)[:, None]
    lead = np.take_along_axis(scores, answer, axis=1) - scores
    push = taught - np.take_along_axis(taught, answer, axis=1)
    factors = np.divide(lead, push, out=np.full(lead.shape, np.inf), where=push > 0)
    return np.asarray(factors.min(axis=1))


def trust_in(labelled: LabelledItems, answers: FloatArray, usual: FloatArray) -> float:
    """How probable it is that labels tell of other items, and do not just contradict them, by how often they agree.

    Labels that tell of others agree with an answer as often as it is sure, or less often, down to chance, since
    members may be too sure; the surer, the likelier. Where answers are hardly sure of anything, labels may agree with
    them as seldom as they like. Labels that contradict, because classes are swapped or only mistakes were labelled,
    agree less often than chance.

    `answers` are to the labelled items, and `usual` ones to a sample of all: noticed mistakes are where answers are
    unsure.
    """
    n_classes = answers.shape[1]
    agrees = np.take_along_axis(labelled.targets, answers.argmax(axis=1)[:, None], axis=1)[:, 0]
    beyond_chance = answers.max(axis=1) - 1 / n_classes
    usual_sureness = (usual.max(axis=1).mean() - 1 / n_classes) / (1 - 1 / n_classes)
    is_unsure = np.clip(1 - usual_sureness, LEAST_RATE, 1 - LEAST_RATE) ** UNSURE_POWER
    noise = np.nan_to_num(labelled.noise)
    sure = 1 / n_classes + SHARE_GRID[:, None] * beyond_chance
    telling = (1 - noise) * sure + noise * (1 - sure) / (n_classes - 1)
    anything = SHARE_GRID[:, None]  # the same for all items

    def evidence(rates: FloatArray, prior: FloatArray) -> float:
        log_rates = agrees * np.log(rates) + (1 - agrees) * np.log(np.maximum(1 - rates, LEAST_RATE))
        return float(logsumexp((labelled.weights * log_rates).sum(axis=1), b=prior / prior.sum()))

    even = np.ones(len(SHARE_GRID))
    if_sure, if_unsure = evidence(telling, SHARE_GRID), evidence(anything, even)
    told = np.logaddexp(if_sure + np.log1p(-is_unsure), if_unsure + np.log(is_unsure))
    contradicting = evidence(anything / n_classes, even)
    return float(expit(told - contradicting + np.log((1 - CONTRADICTING) / CONTRADICTING)))


# So many labels, all of one class, are worth a warning: they were hardly drawn at random.
MANY_OF_ONE = 5
DISTRUSTED = 0.5  # labels that are less probable than this to tell of other items are worth a warning


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
    answers, said, usual, trust = _judged(rule, labelled, sample)
    if trust < DISTRUSTED:
        _warn_of_contradiction(labelled, answers, classes, is_vouched=is_vouched)
    correction = learn_correction(labelled, answers)
    return CorrectedRule(rule, bounded(correction, 1.0 if is_vouched else trust, labelled.weights.sum(), said, usual))


def is_doubted(rule: LearnedRule, labelled: LabelledItems, sample: Sample | None) -> bool:
    """Whether labels contradict the answers so often that they are not believed."""
    return _judged(rule, labelled, sample)[-1] < DISTRUSTED


def _judged(
    rule: LearnedRule, labelled: LabelledItems, sample: Sample | None
) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """The answers to labelled items; what members said of a sample of all items, and the answers; the labels' trust."""
    said = labelled.said if sample is None else sample.said.astype(np.float64)
    answers, usual = (to_numpy(rule.posterior(Predictions(rows.transpose(1, 0, 2)))) for rows in (labelled.said, said))
    return answers, said, usual, trust_in(labelled, answers, usual)


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
