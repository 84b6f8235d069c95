"""What known labels correct in an answer found without them, as far as they support it and no further."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from consilience.aggregators.consensus.labels.corrected_rule import ANSWER_FLOOR, LOG_FLOOR, Correction
from consilience.system.arrays import FloatArray
from consilience.system.machine import one_thread_per_product

if TYPE_CHECKING:
    from consilience.aggregators.consensus.labels.teaching import LabelledItems

# Ridges that are tried beside no correction at all, from strong restraint to hardly any.
STRENGTHS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0)
# The share of the ridge on each member's one weight of trust. It is small, because one number for each member needs
# far fewer labels than one for each class.
MEMBER_SHARE = 1 / 10
# The share of the ridge on the biases of the classes, and the least such ridge.
CLASS_SHARE, LEAST_CLASS_RIDGE = 1 / 30, 1.0
# A weaker ridge is preferred to the next stronger one only if it predicts labels it has not seen better by this many
# nats: with ten labels, chance alone makes that much difference.
STEP = 0.5

N_FOLDS, FEW_FOLDS = 5, 3
# Work is items × features × classes. Up to `LITTLE_WORK` there are `N_FOLDS` folds; above it `FEW_FOLDS`, which takes
# some seconds; above `MOST_WORK` each member gets one weight, and none for each class.
LITTLE_WORK, MOST_WORK = 2e5, 5e7
# The share of labels that are taken to be random, so that one unexpected label does not decide.
SURPRISE = 0.02
# Shares of wrong labels that are tried where none is given. Labels are believed as if `RIGHT_LABELS` right ones had
# been seen before: without a reason to doubt them, they are right.
NOISES, RIGHT_LABELS = (0.0, 0.05, 0.1, 0.2, 0.35), 20.0
# Where the regression stops, by its loss or slopes: the order of labels, by which sums are rounded, must not show.
PRECISION, GRADIENT = 1e-9, 1e-6
# How far, as a standard deviation of its logarithm, the sharpness of the answers is expected to be from 1.
SHARPNESS_SPREAD = 0.5


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


def parts_of(solution: FloatArray, lesson: Lesson) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights of the members (members,) and of the features (features, classes), and biases (classes,).

    They stand one after the other in a solution. The sharpened answers plus logs @ members + features @ weights + bias
    are its scores.
    """
    n_members, n_classes = lesson.logs.shape[1:]
    rest = solution[n_members:].reshape(-1, n_classes)
    return solution[:n_members], rest[:-1], rest[-1]


def learn_correction(labelled: LabelledItems, answers: FloatArray) -> Correction:
    """The average of the corrections of all strengths, weighted by how well each predicts labels it has not seen.

    `answers` (items, classes) are what was found without labels. The mean is one of logits, so that it is one linear
    layer. With few labels nothing foretells better than no correction, and answers stay what they are.
    """
    n_items, n_members, n_classes = labelled.said.shape
    logs = np.log(np.maximum(labelled.said, LOG_FLOOR))
    logs = np.nan_to_num(logs - logs.mean(axis=2, keepdims=True)) / np.sqrt(n_members)
    features, directions = _reduced(logs.reshape(n_items, -1), n_classes)
    lesson = Lesson(
        log_answers=np.log(np.maximum(answers, ANSWER_FLOOR)),
        logs=logs,
        features=features,
        targets=labelled.targets * labelled.weights[:, None],
        believed=np.full((n_items, 1), 1 - SURPRISE),
        chance=np.full((n_items, 1), SURPRISE / n_classes),
    )
    with one_thread_per_product():  # of small arrays, where more threads only get in each other's way
        lesson = _noisy(lesson, labelled.noise)
        shares = softmax(-_cross_validated(lesson) - STEP * np.arange(2 + len(STRENGTHS)))
        sharpness = _sharpness(lesson)
        solutions = _regularized(lesson, sharpness)
    members, weights, bias = parts_of(shares[2:] @ np.stack(solutions), lesson)
    by_feature = weights if directions is None else directions.T @ weights
    by_class = by_feature.reshape(n_members, n_classes, n_classes).transpose(0, 2, 1)
    by_class = by_class + members[:, None, None] * np.eye(n_classes)
    # Logs were centred: the same scores come from plain logarithms where weights are centred instead.
    centred = (by_class - by_class.mean(axis=2, keepdims=True)) / np.sqrt(n_members)
    return Correction(float(shares[0] + (1 - shares[0]) * sharpness), bias, centred)


def _noisy(lesson: Lesson, noise: FloatArray) -> Lesson:
    """The lesson with labels that are wrong as often as was said; where nothing was said, as often as they seem to be.

    That is how often the sharpened answers foretell them best, if labels are believed to be right mostly.
    """
    n_classes = lesson.targets.shape[1]

    def supposing(share: float) -> tuple[float, Lesson]:
        wrong = np.where(np.isnan(noise), share, noise)[:, None] / (n_classes - 1)  # one certain other class
        supposed = lesson._replace(
            believed=lesson.believed * (1 - n_classes * wrong), chance=lesson.chance + lesson.believed * wrong
        )
        sharpness = _sharpness(supposed)
        return _sharpened_loss(supposed, sharpness) - RIGHT_LABELS * np.log(1 - share), supposed

    if not np.isnan(noise).any():
        return supposing(0.0)[1]
    return min(map(supposing, NOISES), key=itemgetter(0))[1]


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
        scored = [unseen.log_answers, sharpness * unseen.log_answers]
        for solution in _regularized(seen, sharpness):
            members, weights, bias = parts_of(solution, unseen)
            scored.append(scored[1] + members @ unseen.logs + unseen.features @ weights + bias)
        losses += [_surprise(unseen, softmax(scores, axis=1)) for scores in scored]
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
    from scipy.optimize import minimize_scalar  # noqa: PLC0415 - slow to import

    found = minimize_scalar(lambda log: _sharpened_loss(lesson, np.exp(log)), bounds=(-2, 1.5), method="bounded")
    return float(np.exp(found.x))


def _sharpened_loss(lesson: Lesson, sharpness: float) -> float:
    surprise = _surprise(lesson, softmax(sharpness * lesson.log_answers, axis=1))
    return 0.5 * float(np.log(sharpness) / SHARPNESS_SPREAD) ** 2 + surprise


def _regularized(lesson: Lesson, sharpness: float) -> list[FloatArray]:
    """Multinomial logistic regressions beside the sharpened answers, one for each strength."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    (_, n_members, n_classes), n_features = lesson.logs.shape, lesson.features.shape[1]
    offset = sharpness * lesson.log_answers
    by_member = lesson.logs.transpose(0, 2, 1).reshape(-1, n_members)  # (items × classes, members)
    counts = lesson.targets.sum(axis=1)
    of_members = (lesson.logs**2).mean(axis=2).T @ counts
    of_features = np.repeat((lesson.features**2).T @ counts, n_classes) / n_classes
    curvature = np.concatenate([of_members, of_features, np.full(n_classes, counts.sum() / n_classes)])
    found = np.zeros(n_members + (n_features + 1) * n_classes)
    solutions = []
    for strength in STRENGTHS:
        ridges = [MEMBER_SHARE * strength, strength, max(CLASS_SHARE * strength, LEAST_CLASS_RIDGE)]
        ridge = np.repeat(ridges, [n_members, n_features * n_classes, n_classes])
        unit = 1 / np.sqrt(curvature + ridge)  # in these units all directions curve about alike: half the steps

        def loss(scaled: FloatArray, ridge: FloatArray = ridge, unit: FloatArray = unit) -> tuple[float, FloatArray]:
            # It is called some hundred times, mostly of small arrays, so that each call of NumPy counts.
            flat = unit * scaled
            members, weights, bias = parts_of(flat, lesson)
            scores = offset + (by_member @ members).reshape(offset.shape)
            scores += lesson.features @ weights + bias
            scores -= scores.max(axis=1, keepdims=True)
            posterior = np.exp(scores)
            posterior /= posterior.sum(axis=1, keepdims=True)
            heard = lesson.believed * posterior
            of_label = heard + lesson.chance
            value = np.vdot(ridge * flat, flat) / 2 - np.vdot(lesson.targets, np.log(of_label))
            pull = lesson.targets * heard / of_label  # each label, as far as it is not put down to chance
            residual = posterior * pull.sum(axis=1, keepdims=True) - pull
            slopes = [residual.ravel() @ by_member, (lesson.features.T @ residual).ravel(), residual.sum(axis=0)]
            return float(value), unit * (np.concatenate(slopes) + ridge * flat)

        # Each strength begins where the one before ended.
        options: Any = {"maxiter": 200, "ftol": PRECISION, "gtol": GRADIENT}
        found = unit * minimize(loss, found / unit, jac=True, method="L-BFGS-B", options=options).x
        solutions.append(found)
    return solutions
