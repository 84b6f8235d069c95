"""Scores of ordered classes, where an error of one step is less than one of two; and the rating to expect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from consilience.data.axes import Axis, check_order, ratings_of
from consilience.data.validation import check_number
from consilience.metrics.posteriors import checked_posterior, read_known
from consilience.system.arrays import FloatArray, IntArray

RATINGS = ("mae", "mae of median", "rps", "quadratic kappa")  # their names wherever scores are listed
SHARE_ROUNDING = 1e-9  # shares of the probability that differ by less are equal


class Rating(NamedTuple):
    """The rating to expect of each item (items,), and an interval that has the true one with the given probability."""

    expected: FloatArray
    median: FloatArray
    low: FloatArray
    high: FloatArray


def expected_rating(posterior: Any, classes: Sequence[Any] | None = None, *, level: float = 0.9) -> Rating:
    """The mean and the median of the ratings by their probabilities, and the range from one quantile to the other.

    Ratings are the numbers that classes are called by: 0, 1, 2, … if they have no names, or if some name is no number.
    `low` is the least rating that is reached with a probability of more than (1 - level) / 2, and `high` the largest
    that is. The median is the rating that is nearest to the truth in the mean, if the probabilities are right. The
    interval is as good as they are.

    >>> expected_rating([[0.1, 0.2, 0.6, 0.1]], [1, 2, 3, 4], level=0.7)
    Rating(expected=array([2.7]), median=array([3.]), low=array([2.]), high=array([3.]))
    """
    check_number("level", level, most=1)
    rows = checked_posterior(posterior)
    values, tail = ratings(rows.shape[1], classes), (1 - level) / 2
    low, median, high = (values[places] for places in _quantiles(rows, (tail, 0.5, 1 - tail)))
    return Rating(rows @ values / rows.sum(axis=1), median, low, high)


def _quantiles(rows: FloatArray, shares: Sequence[float]) -> list[IntArray]:
    """The places of the classes where these shares of the probability are reached (items,), the shares rising."""
    reached = np.cumsum(rows, axis=1) / rows.sum(axis=1, keepdims=True)
    # A probability of exactly a share is a sum, whose rounding must not decide: the interval is the narrower one.
    return [(reached < share + (SHARE_ROUNDING if share < 0.5 else -SHARE_ROUNDING)).sum(axis=1) for share in shares]


def ratings(n_classes: int, classes: Sequence[Any] | None) -> FloatArray:
    """The numbers (classes,) that ordered classes stand for; raises where they do not rise."""
    return ratings_of(check_order(Axis("class", n_classes, classes)).names)


def mean_absolute_error(posterior: Any, labels: Any, classes: Sequence[Any] | None = None) -> float:
    """The mean distance of the most probable rating from the true one.

    >>> mean_absolute_error([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]], [0, 2])
    1.0
    """
    return score_ratings(posterior, labels, classes)["mae"]


def ranked_probability_score(posterior: Any, labels: Any, classes: Sequence[Any] | None = None) -> float:
    """The mean of Σ_k (P(rating ≤ k) - [truth ≤ k])² / (classes - 1), from 0 to 1: the Brier score of each threshold.

    >>> round(ranked_probability_score([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]], [0, 0]), 4)
    0.1875
    """
    return score_ratings(posterior, labels, classes)["rps"]


def quadratic_kappa(posterior: Any, labels: Any, classes: Sequence[Any] | None = None) -> float:
    """Cohen's kappa of the most probable and the true ratings, errors weighted by the square of their distance.

    NaN where all of them are the same rating.

    >>> round(quadratic_kappa(np.eye(3)[[0, 1, 2, 1]], [0, 1, 2, 2]), 4)
    0.8
    """
    return score_ratings(posterior, labels, classes)["quadratic kappa"]


def score_ratings(posterior: Any, labels: Any, classes: Sequence[Any] | None = None) -> dict[str, float]:
    """All scores of ratings by name; items of unknown label are left out."""
    rows, truth, names = read_known(posterior, labels, classes)
    return RatingScores.of(rows, truth, ratings(rows.shape[1], names)).means()


@final
@dataclass(frozen=True, eq=False)
class RatingScores:
    """What each item adds to the scores of ratings."""

    values: FloatArray  # (items, 3): the distances of the answer and of the median, ranked probability score
    moments: FloatArray  # (items, 5): the answer, the truth, their squares, the square of their distance

    @classmethod
    def of(cls, posterior: FloatArray, truth: Any, ratings: FloatArray) -> RatingScores:
        """`truth` has the true class of each item, or the probabilities of all classes (items, classes)."""
        n_classes = len(ratings)
        rows = truth if truth.ndim == 2 else np.eye(n_classes)[truth]
        (middle,) = _quantiles(posterior, (0.5,))
        answer, median = ratings[posterior.argmax(axis=1)], ratings[middle]
        distances = [(rows * np.abs(guess[:, None] - ratings)).sum(axis=1) for guess in (answer, median)]
        steps = np.cumsum(posterior - rows, axis=1)[:, :-1]
        true, squares = rows @ ratings, rows @ ratings**2
        apart = answer**2 - 2 * answer * true + squares
        return cls(
            np.stack([*distances, (steps**2).sum(axis=1) / (n_classes - 1)], axis=1),
            np.stack([answer, true, answer**2, squares, apart], axis=1),
        )

    def means(self, weights: Any = None) -> dict[str, float]:
        """All scores by name, each item counted `weights` times (once by default)."""
        weights = np.ones(len(self.values)) if weights is None else weights
        plain = weights @ self.values / weights.sum()
        answer, true, answer_square, true_square, apart = weights @ self.moments / weights.sum()
        by_chance = answer_square + true_square - 2 * answer * true  # the distance of two that are drawn by themselves
        kappa = 1 - apart / by_chance if by_chance > 1e-12 else np.nan
        return dict(zip(RATINGS, map(float, [*plain, kappa]), strict=True))
