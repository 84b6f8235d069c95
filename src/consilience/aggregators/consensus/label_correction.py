"""What known labels correct in an answer found without them, as far as they support it and no further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import softmax

from consilience.answering.corrected import ANSWER_FLOOR, FLOOR, Correction

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.system.arrays import FloatArray

STRENGTHS = (1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
"""Ridges that are tried beside no correction at all, from strong restraint to hardly any."""

MEMBER_SHARE = 1 / 10
"""The share of the ridge on each member's one weight of trust. It is small, because one number for each member needs
far fewer labels than one for each class."""

CLASS_SHARE, LEAST_CLASS_RIDGE = 1 / 30, 1.0
"""The share of the ridge on the biases of the classes, and the least such ridge."""

STEP = 0.5
"""A weaker ridge is preferred to the next stronger one only if it predicts labels it has not seen better by this many
nats: with ten labels, chance alone makes that much difference."""

N_FOLDS, FEW_FOLDS = 10, 3
LITTLE_WORK, MOST_WORK = 2e6, 5e7
"""Work is items × features × classes. Up to `LITTLE_WORK` there are `N_FOLDS` folds; above it `FEW_FOLDS`, which takes
some seconds; above `MOST_WORK` each member gets one weight, and none for each class."""

SURPRISE = 0.02
"""The share of labels that are taken to be random, so that one unexpected label does not decide."""

SHARPNESS_SPREAD = 0.5
"""How far, as a standard deviation of its logarithm, the sharpness of the answers is expected to be from 1."""

MOST_NUMBERS = 20_000
"""Above so many members × classes no correction is learned: it would have more numbers than labels can determine."""

DENOMINATORS, MEANT = np.array([*range(2, 1001), 10_000]), 1e-6
"""A probability within MEANT of a fraction with one of these denominators is a simple fraction."""

FORGOTTEN = 1e-3
"""A labelled item that counts for less is dropped."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class LabelledItems:
    """What members said of the items whose classes are known. Those of two sets of items add up."""

    said: FloatArray  # (items, members, classes): labels one-hot, NaN where missing
    targets: FloatArray  # (items, classes): one-hot rows, or probabilities
    noise: FloatArray  # (items,): how often such a label is wrong
    weights: FloatArray  # (items,): 1, less of those that a stream is forgetting

    def __add__(self, other: LabelledItems) -> LabelledItems:
        mine = self.take(~self._is_again(other))
        pairs = zip(mine._parts(), other._parts(), strict=True)
        return LabelledItems(*(np.concatenate(pair) for pair in pairs))

    def __rmul__(self, factor: float) -> LabelledItems:
        faded = LabelledItems(self.said, self.targets, self.noise, factor * self.weights)
        return faded.take(faded.weights > FORGOTTEN)

    def take(self, items: npt.NDArray[np.bool_]) -> LabelledItems:
        """Some of the items."""
        return LabelledItems(*(part[items] for part in self._parts()))

    def _parts(self) -> tuple[FloatArray, ...]:
        return self.said, self.targets, self.noise, self.weights

    def _is_again(self, other: LabelledItems) -> npt.NDArray[np.bool_]:
        """Which items are labelled again there: members gave them the same probabilities, which no other item gets."""
        later = {said.tobytes() for said in other.said}
        return np.array([said.tobytes() in later and _is_unique(said) for said in self.said], dtype=np.bool_)


def _is_unique(said: FloatArray) -> bool:
    """Whether what members said (members, classes) tells an item from all others.

    Labels do not, nor do counts of runs or neighbours, nor rounded probabilities: all of them are simple fractions.
    """
    shares = said[(said > 0) & (said < 1)]
    multiples = shares[:, None] * DENOMINATORS
    return bool((np.abs(multiples - np.round(multiples)) > MEANT).all(axis=1).any())


class Lesson(NamedTuple):
    """Labelled items as the regression sees them."""

    log_answers: FloatArray  # (items, classes): of what was found without labels
    logs: FloatArray  # (items, members, classes): centred, zero where missing, divided by √members
    features: FloatArray  # (items, features): the same, in the directions that the items span
    targets: FloatArray  # (items, classes): each row sums to the item's weight
    believed: FloatArray  # (items, 1): p(label) = believed · p(class) + chance
    chance: FloatArray  # (items, 1)

    def take(self, items: npt.NDArray[np.bool_]) -> Lesson:
        """Some of the items."""
        return Lesson(*(part[items] for part in self))


class Solution(NamedTuple):
    """What is added to the sharpened answers: logs @ members + features @ weights + bias."""

    members: FloatArray  # (members,)
    weights: FloatArray  # (features, classes)
    bias: FloatArray  # (classes,)

    @classmethod
    def of(cls, flat: FloatArray, lesson: Lesson) -> Solution:
        """The parts of one array."""
        n_members, n_classes = lesson.logs.shape[1:]
        members, rest = flat[:n_members], flat[n_members:].reshape(-1, n_classes)
        return cls(members, rest[:-1], rest[-1])

    def scores(self, lesson: Lesson) -> FloatArray:
        """(items, classes)."""
        return np.asarray(self.members @ lesson.logs + lesson.features @ self.weights + self.bias)


def learn_correction(labelled: LabelledItems, answers: FloatArray) -> Correction:
    """The average of the corrections of all strengths, weighted by how well each predicts labels it has not seen.

    `answers` (items, classes) are what was found without labels. The mean is one of logits, so that it is one linear
    layer. With few labels nothing foretells better than no correction, and answers stay what they are.
    """
    n_items, n_members, n_classes = labelled.said.shape
    logs = _centred_logs(labelled.said) / np.sqrt(n_members)
    features, directions = _reduced(logs.reshape(n_items, -1), n_classes)
    wrong = labelled.noise[:, None] / (n_classes - 1)  # how often a label is one certain other class
    lesson = Lesson(
        log_answers=np.log(np.maximum(answers, ANSWER_FLOOR)),
        logs=logs,
        features=features,
        targets=labelled.targets * labelled.weights[:, None],
        believed=(1 - SURPRISE) * (1 - n_classes * wrong),
        chance=(1 - SURPRISE) * wrong + SURPRISE / n_classes,
    )
    shares = softmax(-_cross_validated(lesson) - STEP * np.arange(2 + len(STRENGTHS)))
    sharpness = _sharpness(lesson)
    parts = zip(*_regularized(lesson, sharpness), strict=True)
    members, weights, bias = (np.tensordot(shares[2:], np.stack(part), axes=1) for part in parts)
    by_feature = weights if directions is None else directions.T @ weights
    by_class = by_feature.reshape(n_members, n_classes, n_classes).transpose(0, 2, 1)
    by_class = by_class + members[:, None, None] * np.eye(n_classes)
    # Logs were centred: the same scores come from plain logarithms where weights are centred instead.
    centred = (by_class - by_class.mean(axis=2, keepdims=True)) / np.sqrt(n_members)
    return Correction(float(shares[0] + (1 - shares[0]) * sharpness), bias, centred)


def _centred_logs(said: FloatArray) -> FloatArray:
    """What members said as logarithms less their mean; zero where nothing was said."""
    logs = np.log(np.maximum(said, FLOOR))
    return np.asarray(np.nan_to_num(logs - logs.mean(axis=2, keepdims=True)))


def _reduced(features: FloatArray, n_classes: int) -> tuple[FloatArray, FloatArray | None]:
    """The features, reduced to one for each item at most, and the projection; None where they were not reduced.

    A ridge makes no use of any other direction. Where it would be too much work, there are no features at all.
    """
    n_items, n_features = features.shape
    if n_items * min(n_items, n_features) * n_classes > MOST_WORK:
        return np.zeros((n_items, 0)), np.zeros((0, n_features))
    if n_features <= n_items:
        return features, None
    left, sizes, directions = np.linalg.svd(features, full_matrices=False)
    return left * sizes, directions


def _cross_validated(lesson: Lesson) -> FloatArray:
    """How badly each fold's labels are foretold by what the others teach.

    First by the answers as they are, then by sharpened ones, then by the corrections of each strength.
    """
    n_items, n_classes = lesson.targets.shape
    losses = np.zeros(2 + len(STRENGTHS))
    if n_items == 1:
        losses[1:] = np.inf  # nothing tells whether it helps
        return losses
    is_little = n_items * lesson.features.shape[1] * n_classes <= LITTLE_WORK
    fold = _ranks(lesson) % min(N_FOLDS if is_little else FEW_FOLDS, n_items)
    for left_out in range(fold.max() + 1):
        seen, unseen = lesson.take(fold != left_out), lesson.take(fold == left_out)
        sharpness = _sharpness(seen)
        sharpened = sharpness * unseen.log_answers
        corrected = (sharpened + solution.scores(unseen) for solution in _regularized(seen, sharpness))
        for place, scores in enumerate([unseen.log_answers, sharpened, *corrected]):
            losses[place] += _surprise(unseen, softmax(scores, axis=1))
    return losses


def _ranks(lesson: Lesson) -> npt.NDArray[np.intp]:
    """A number from 0 on for each item, by what is known of it, so that folds do not depend on the order of items.

    Items are ranked by how well the answers foretell their labels: every fold gets easy ones and hard ones. Among
    equals, by their labels and by what members say, each member and class weighted by a sum over all items, so that
    their order does not matter either.
    """
    foretold = np.vecdot(lesson.targets, lesson.log_answers)
    members = np.einsum("imk,ik,i->m", lesson.logs, lesson.targets, foretold, optimize=True)
    classes = foretold @ lesson.log_answers
    keys = [foretold, lesson.targets @ classes, (members @ lesson.logs) @ classes]
    rounded = np.stack(keys, axis=1).round(9).tolist()  # sums in another order differ by 1e-13
    parts = (lesson.logs, lesson.targets, lesson.believed)
    contents = [b"".join(part[item].tobytes() for part in parts) for item in range(len(rounded))]
    order = sorted(range(len(rounded)), key=lambda item: (rounded[item], contents[item]))
    return np.argsort(order)


def _surprise(lesson: Lesson, posterior: FloatArray) -> float:
    """The negative log-likelihood of the labels, each of which may be wrong."""
    return float(-np.vdot(lesson.targets, np.log(lesson.believed * posterior + lesson.chance)))


def _sharpness(lesson: Lesson) -> float:
    """The inverse temperature of the answers that fits the labels, drawn to 1."""

    def loss(logarithm: float) -> float:
        posterior = softmax(np.exp(logarithm) * lesson.log_answers, axis=1)
        return 0.5 * (logarithm / SHARPNESS_SPREAD) ** 2 + _surprise(lesson, posterior)

    return float(np.exp(minimize_scalar(loss, bounds=(-2, 1.5), method="bounded").x))


def _regularized(lesson: Lesson, sharpness: float) -> list[Solution]:
    """Multinomial logistic regressions beside the sharpened answers, one for each strength."""
    (_, n_members, n_classes), n_features = lesson.logs.shape, lesson.features.shape[1]
    offset = sharpness * lesson.log_answers
    by_member = lesson.logs.transpose(0, 2, 1).reshape(-1, n_members)  # (items × classes, members)
    found = np.zeros(n_members + (n_features + 1) * n_classes)
    solutions = []
    for strength in STRENGTHS:
        ridge = np.concatenate(
            [
                np.full(n_members, MEMBER_SHARE * strength),
                np.full(n_features * n_classes, strength),
                np.full(n_classes, max(CLASS_SHARE * strength, LEAST_CLASS_RIDGE)),
            ]
        )

        def loss(flat: FloatArray, ridge: FloatArray = ridge) -> tuple[float, FloatArray]:
            # It is called some thousand times, mostly of small arrays, so that each call of NumPy counts.
            solution = Solution.of(flat, lesson)
            scores = offset + (by_member @ solution.members).reshape(offset.shape)
            scores += lesson.features @ solution.weights + solution.bias
            scores -= scores.max(axis=1, keepdims=True)
            posterior = np.exp(scores)
            posterior /= posterior.sum(axis=1, keepdims=True)
            heard = lesson.believed * posterior
            of_label = heard + lesson.chance
            value = np.vdot(ridge, flat**2) / 2 - np.vdot(lesson.targets, np.log(of_label))
            pull = lesson.targets * heard / of_label  # each label, as far as it is not put down to chance
            residual = posterior * pull.sum(axis=1, keepdims=True) - pull
            slopes = [residual.ravel() @ by_member, (lesson.features.T @ residual).ravel(), residual.sum(axis=0)]
            return float(value), np.concatenate(slopes) + ridge * flat

        # Each strength begins where the one before ended.
        found = minimize(loss, found, jac=True, method="L-BFGS-B", options={"maxiter": 60, "ftol": 1e-6}).x
        solutions.append(Solution.of(found, lesson))
    return solutions
