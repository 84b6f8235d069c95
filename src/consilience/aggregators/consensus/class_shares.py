"""Class shares that the user knows: answers are weighted by class, so that they have these shares in the mean.

Answers q become p ∝ q · exp(b), as under a shift of the class prior. The logarithms of the weights, b, minimize

    Σ_i log Σ_k q_ik exp(b_k) - n Σ_k s_k b_k + n t / 2 · Σ_k s_k b_k² + RIDGE / 2 · Σ_k b_k²,

which is convex. Without the last two terms, the mean of p is exactly the shares s at the minimum. The third allows for
shares that are not quite right, by the tolerance t: it is the dual of a slack on the shares, measured by chi-square.
Where answers are sure, a small error in the shares would mean large weights. Shares that were counted on few items have
a larger tolerance. With the last, few items change little: their own shares differ from s by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import chdtrc, log_softmax, rel_entr

from consilience.answering.rule import AbstractRule
from consilience.data.axes import Axis, index_of, short, some
from consilience.data.predictions import AbstractPredictions, sampled
from consilience.system.arrays import Array, FloatArray, plain_numpy, to_numpy
from consilience.system.errors import warn

EVEN = "even"  # what says that all classes are about equally frequent
ROUNDED = 0.01  # how far from 1 the sum of the shares may be: people round
# The tolerance of shares counted on m items is `SHARE_TOLERANCE` + `COUNT_TOLERANCE` / m; "even" counts as if it had
# been counted on `EVEN_WORTH` items. `python -m benchmarks.quality.shares` compares these numbers with others.
RIDGE, SHARE_TOLERANCE, COUNT_TOLERANCE, EVEN_WORTH = 10.0, 0.1, 20.0, 100.0
# Added to the count of each class: one that was not met among 20 items is not impossible.
UNMET_COUNT = 0.5
UNLIKELY = 1e-5  # labels this unlikely under the shares are worth a warning
MOST_TOLD = 8  # so many shares are told in words
MANY = 1e9  # shares that nobody counted are taken as if they were counted on so many items
# The largest logarithm of a weight: no class becomes 20,000 times as probable. Of a share of zero it is the negative,
# so that an item whose members are all sure of that class still gets it.
MOST_WEIGHT = 10.0
LEAST_ANSWER = 1e-12  # smaller answers count as this under the logarithm
# Weights are learned from all items, or from so many numbers: they tell the shares well.
MOST_WEIGHED = 2**20


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reweighting:
    """What the answers to all items are multiplied by, class by class."""

    log_weights: FloatArray  # (classes,)
    precision: FloatArray  # (classes,): how well each is known, as the second derivative of what is minimized

    def __rmul__(self, factor: float) -> Reweighting:
        """The same, less well known: what a stream remembers."""
        return Reweighting(self.log_weights, np.maximum(factor * self.precision, RIDGE))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ClassShares:
    """How frequent the classes are, and what that is worth."""

    shares: FloatArray  # (classes,)
    n_counted: float  # the items that they were counted on; `MANY` where shares were given

    def flaw(self) -> str | None:
        """Why nobody can have stated these; None where somebody can."""
        return None if self.n_counted > 0 else "must be of more than 0 counted items"

    def in_words(self, classes: Sequence[Any]) -> str:
        """The shares by name, and what they are worth."""
        shown = [f"{classes[place]} {self.shares[place]:.3g}" for place in range(min(len(classes), MOST_TOLD))]
        more = "" if len(classes) <= MOST_TOLD else f", and {len(classes) - MOST_TOLD} more"
        worth = "known" if self.n_counted == MANY else f"as counted on {self.n_counted:,.0f} items"
        return f"class shares: {', '.join(shown)}{more} ({worth})"

    @property
    def tolerance(self) -> float:
        """How far the answers may stay from the shares."""
        return SHARE_TOLERANCE + COUNT_TOLERANCE / self.n_counted

    def check_labels(self, known: Array, classes: Sequence[Any]) -> None:
        """Raise or warn where known labels (positions of classes, or soft rows) contradict the shares."""
        counts = np.bincount(known[known >= 0], minlength=len(classes)) if known.ndim == 1 else np.nansum(known, axis=0)
        if (is_wrong := (self.shares == 0) & (counts > 0)).any():
            wrong = classes[int(np.argmax(is_wrong))]
            raise ValueError(
                f"class_shares must be above 0 for classes that known labels have; got 0 for {short(wrong)}"
            )
        n_labels = counts.sum()
        pooled = (counts + self.n_counted * self.shares) / (n_labels + self.n_counted)
        # The likelihood ratio of different shares against the same: chi-square would mind one label of a rare class.
        ratio = 2 * (rel_entr(counts, n_labels * pooled) + self.n_counted * rel_entr(self.shares, pooled)).sum()
        if chdtrc(len(classes) - 1, ratio) < UNLIKELY:
            labelled = counts / n_labels
            k = int(np.argmax(np.abs(labelled - self.shares)))
            warn(
                f"class_shares contradict the known labels: {short(classes[k])} has the share {self.shares[k]:.0%}, "
                f"and {labelled[k]:.0%} of {n_labels:,.0f} labels; if these were drawn at random, correct the share"
            )


def read_shares(class_shares: Any, classes: list[Any]) -> ClassShares | None:
    """Shares or counts in the order of the classes, whose names a mapping or a Series has; None where none are given.

    Whole numbers that sum to 2 or more are counts; a Series or a Counter may lack classes that were not met. Of shares
    one class may be left out, and gets the rest.
    """
    if class_shares is None:
        return None
    if isinstance(class_shares, str) and class_shares == EVEN:
        return ClassShares(np.full(len(classes), 1 / len(classes)), EVEN_WORTH)
    numbers, are_counts = _numbers_in(class_shares, Axis("class", len(classes), classes))
    shares = numbers + UNMET_COUNT if are_counts else numbers
    return ClassShares(shares / shares.sum(), float(numbers.sum()) if are_counts else MANY)


def saved_shares(class_shares: Any, classes: list[Any]) -> Any:
    """The same as a file can hold it: a Series as a mapping, or as a list where it is in the order of the classes."""
    if index_of(class_shares) is None and not isinstance(class_shares, Counter):
        return class_shares
    axis = Axis("class", len(classes), classes)
    numbers = _numbers_in(class_shares, axis)[0].tolist()
    return numbers if _names_in(class_shares, axis) is None else dict(zip(classes, numbers, strict=True))


def _numbers_in(class_shares: Any, classes: Axis) -> tuple[FloatArray, bool]:
    """A number for each class, and whether they are counts."""
    places, given = _by_place(class_shares, classes)
    total, is_whole = given.sum(), (given == np.rint(given)).all()
    are_counts = bool(2 <= total < np.inf and is_whole)
    missing = [name for place, name in enumerate(classes.names) if place not in places]
    may_lack = isinstance(class_shares, Counter) or not isinstance(class_shares, dict)  # classes that were not met
    rest = max(1.0 - total, 0.0) if len(missing) == 1 and not are_counts else 0.0
    none = f"got none for {some(missing)}"
    wrong: dict[str, Any] = {
        f"be at least 0; got {given.min(initial=0):g}": not (given >= 0).all(),
        "be counts of 2 items or more, or shares below 1; got a single 1": total == 1 and is_whole,
    }
    if are_counts:
        wrong[f"have a count for every class, 0 where none was met; {none}"] = missing and not may_lack
    else:
        sums_to_one = abs(total + rest - 1) <= ROUNDED + 1e-9
        wrong |= {
            "have a number above 0; got none": total + rest == 0,
            f"have a share for every class, or for all but one; {none}": len(missing) > 1,
            f"leave some for a class without a share, or name it with 0; {none}": missing and abs(total - 1) <= ROUNDED,
            f"sum to 1, or be whole numbers that were counted; they sum to {total:g}": not sums_to_one,
        }
    for must, is_wrong in wrong.items():
        if is_wrong:
            raise ValueError(f"class_shares must {must}")
    numbers = np.full(classes.size, rest)
    numbers[places] = given
    return numbers, are_counts


def _by_place(class_shares: Any, classes: Axis) -> tuple[list[int], FloatArray]:
    """The places of the classes that have a number, and the numbers."""
    places, values = list(range(classes.size)), class_shares
    if (names := _names_in(class_shares, classes)) is not None:
        if unknown := [name for name in names if classes.find(name) is None]:
            raise ValueError(f"class_shares must be of the classes {some(classes.names)}; got {short(unknown[0])}")
        places, values = [classes.position_of(name) for name in names], [value for _, value in class_shares.items()]
        if len({*places}) < len(places):
            raise ValueError(f"class_shares must name each class once; got {some(names)}")
    try:
        numbers = plain_numpy(values, "class_shares").astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"class_shares must be {EVEN!r}, or numbers, one for each class; got {short(values)}"
        ) from None
    if numbers.shape != (len(places),):
        raise ValueError(
            f"class_shares must be one number for each of {classes.size} classes; got the shape {numbers.shape}"
        )
    return places, numbers


def _names_in(class_shares: Any, classes: Axis) -> list[Any] | None:
    """The names that a mapping or a Series has; None where numbers are in the order of the classes."""
    if isinstance(class_shares, Mapping):
        return list(class_shares)
    index = index_of(class_shares)
    return None if index == list(range(classes.size)) and not classes.has_all(index) else index


def reweighted(
    rule: AbstractRule, predictions: AbstractPredictions, given: ClassShares, before: Reweighting | None = None
) -> Reweighting:
    """The weights that give a rule's answers to these items the shares.

    What earlier items have told is kept, as far as these are too few to outweigh it.
    """
    most = max(1, MOST_WEIGHED // predictions.n_classes)
    answers = to_numpy(rule.posterior(sampled(predictions, most))).astype(np.float64)
    return matched(answers, given, before)


def matched(answers: FloatArray, given: ClassShares, before: Reweighting | None = None) -> Reweighting:
    """The weights that give these answers (items, classes) the shares."""
    from scipy.optimize import minimize  # noqa: PLC0415 - slow to import

    shares = given.shares
    if before is None:
        before = Reweighting(np.zeros(len(shares)), np.full(len(shares), RIDGE))
    logs, n_items = np.log(np.maximum(answers, LEAST_ANSWER)), len(answers)
    tolerance, memory = given.tolerance * shares, before.precision / n_items

    def loss(log_weights: FloatArray) -> tuple[float, FloatArray]:
        """What is minimized, by item, and its slopes."""
        rows = logs + log_weights
        top = rows.max(axis=1, keepdims=True)
        rows = np.exp(rows - top)
        totals = rows.sum(axis=1, keepdims=True)
        away = log_weights - before.log_weights
        value = (np.log(totals) + top).mean() - shares @ log_weights
        value += (tolerance @ log_weights**2 + memory @ away**2) / 2
        slopes = (rows / totals).mean(axis=0) - shares + tolerance * log_weights + memory * away
        return float(value), slopes

    bounds = [(-MOST_WEIGHT, MOST_WEIGHT if share > 0 else -MOST_WEIGHT) for share in shares]
    options: Any = {"gtol": 1e-10, "ftol": 1e-15, "maxiter": 1000}  # as far as it goes: in any order the same
    found = minimize(loss, before.log_weights, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    posterior = np.exp(log_softmax(logs + found, axis=1))
    learned = (posterior * (1 - posterior)).sum(axis=0) + n_items * tolerance
    return Reweighting(found, before.precision + learned)
