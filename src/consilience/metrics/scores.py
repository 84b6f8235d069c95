"""How good a posterior is, given the truth. `evaluate` gives all of it, with uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from scipy.special import ndtri

from consilience.data.reading import check_number
from consilience.metrics.inputs import class_names, read_known, read_posterior_and_labels
from consilience.metrics.ratings import RatingScores, ratings
from consilience.metrics.reliability import bin_edges, bin_of, binned_gap
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from consilience.system.arrays import FloatArray, IntArray


def wilson(share: float, n_items: int, level: float = 0.95) -> tuple[float, float]:
    """The ends of the confidence interval of a share of `n_items` items.

    >>> [round(end, 3) for end in wilson(1.0, 20)]
    [0.839, 1.0]
    >>> [round(end, 3) for end in wilson(0.5, 100)]
    [0.404, 0.596]
    """
    z = float(ndtri((1 + level) / 2))
    shrink = 1 + z**2 / n_items
    middle = (share + z**2 / (2 * n_items)) / shrink
    reach = z / shrink * np.sqrt(share * (1 - share) / n_items + z**2 / (4 * n_items**2))
    return 0.0 if share == 0 else float(middle - reach), 1.0 if share == 1 else float(middle + reach)


METRICS = ("accuracy", "nll", "brier", "ece", "ece debiased")
"""Their names wherever scores are listed; ECE is the expected calibration error."""

BOTTOM = {"ece debiased": -np.inf, "quadratic kappa": -1.0}
"""The least values of metrics that may be negative."""

LEAST_PROBABILITY = 1e-12
"""The floor under the logarithm of `nll`: one item costs at most 27.6 nats."""


def accuracy(posterior: Any, labels: Any) -> float:
    """The share of items whose most probable class is right; the lowest class index wins a tie.

    >>> accuracy([[0.9, 0.1], [0.8, 0.2]], [0, 1])
    0.5
    """
    return score(posterior, labels)["accuracy"]


def nll(posterior: Any, labels: Any) -> float:
    """The mean negative log-likelihood, -ln max(p of the truth, 1e-12).

    >>> round(nll([[0.5, 0.5]], [1]), 4)
    0.6931
    """
    return score(posterior, labels)["nll"]


def brier_score(posterior: Any, labels: Any) -> float:
    """The mean of Σ_l (p_l - [truth = l])², from 0 to 2.

    >>> brier_score([[0.5, 0.5]], [1])
    0.5
    """
    return score(posterior, labels)["brier"]


def score(posterior: Any, labels: Any, *, n_bins: int = 15) -> dict[str, float]:
    """All metrics by name, without intervals; the calibration errors are of `n_bins` bins of equal width."""
    return ItemScores.of(*read_posterior_and_labels(posterior, labels), n_bins).means()


@dataclass(frozen=True, eq=False)
class ItemScores:
    """What each item adds to each metric."""

    values: FloatArray  # (items, 3): 1 where the answer is right, NLL, Brier score
    confidence: FloatArray  # (items,): the probability of the answer
    n_bins: int = 15

    @classmethod
    def of(cls, posterior: FloatArray, truth: Any, n_bins: int = 15) -> ItemScores:
        """`truth` has the true class of each item, or the probabilities of all classes (items, classes)."""
        items, answer = np.arange(len(posterior)), posterior.argmax(axis=1)
        if truth.ndim == 2:
            right = truth[items, answer]
            loss = -(truth * np.log(np.maximum(posterior, LEAST_PROBABILITY))).sum(axis=1)
            distance = ((posterior - truth) ** 2).sum(axis=1)
        else:
            of_truth = posterior[items, truth]
            right = answer == truth
            loss = -np.log(np.maximum(of_truth, LEAST_PROBABILITY))
            distance = (posterior**2).sum(axis=1) - 2 * of_truth + 1
        return cls(np.stack([right, loss, distance], axis=1), posterior.max(axis=1), n_bins)

    def means(self, weights: Any = None) -> dict[str, float]:
        """All metrics by name, each item counted `weights` times (once by default)."""
        plain = (
            [column.mean() for column in self.values.T] if weights is None else weights @ self.values / weights.sum()
        )
        gaps = self.values[:, 0] - self.confidence
        errors = (
            binned_gap(self._bins, gaps, self.n_bins, debiased=debiased, weights=weights) for debiased in (False, True)
        )
        return dict(zip(METRICS, map(float, [*plain, *errors]), strict=True))

    @cached_property
    def _bins(self) -> IntArray:
        return bin_of(self.confidence, bin_edges(self.confidence, self.n_bins, "uniform"))


class Estimate(NamedTuple):
    """A value and its confidence interval."""

    value: float
    low: float
    high: float


@final
class Evaluation(Mapping[str, Estimate]):
    """Metrics by name, each with its confidence interval; prints as a table."""

    def __init__(self, estimates: dict[str, Estimate], n_items: int) -> None:
        self._estimates = estimates
        self.n_items = n_items

    def __getitem__(self, metric: str) -> Estimate:
        return self._estimates[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._estimates)

    def __len__(self) -> int:
        return len(self._estimates)

    def to_table(self) -> Table:
        """One row per metric."""
        columns = {name: [getattr(e, name) for e in self.values()] for name in Estimate._fields}
        return Table({"metric": list(self), **columns})

    def __repr__(self) -> str:
        """The table, and on how many items it rests."""
        return f"{self.to_table()!r}\n({self.n_items} labelled items)"


def evaluate(
    posterior: Any,
    labels: Any,
    *,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    n_bins: int = 15,
    n_bootstrap: int = 500,
    level: float = 0.95,
    seed: int = 0,
) -> Evaluation:
    """All metrics of a posterior, with confidence intervals; labels of -1 are left out.

    Labels are positions of classes; or names, where `classes` has the names of the posterior's columns, in order. A
    posterior that is a data frame names classes and items itself, and a Series of labels is matched by its index. Soft
    labels are rows of probabilities (items, classes), NaN throughout where unknown, or a frame with a column for each
    class: accuracy is then the mean probability of the answers.

    `ordered` says that classes are ratings in rising order. Then there are also the mean absolute error of the answers
    and of the medians, the ranked probability score, and the quadratic kappa (`metrics.ratings`).

    The interval of the accuracy is Wilson's, which also has a width where all answers are right. The others are
    percentiles over resampled items, centered on the estimate (resampling alone makes a calibration error larger).
    `n_bootstrap=0` gives no intervals.

    >>> evaluate([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], [0, 1, -1])["accuracy"].value
    1.0
    """
    check_number("level", level, most=1)
    if level in (0, 1):
        raise ValueError(f"level must be between 0 and 1; got {level}")
    check_number("n_bootstrap", n_bootstrap, integer=True)
    check_number("seed", seed, integer=True)
    rows, truth = read_known(posterior, labels, classes)
    scored: list[ItemScores | RatingScores] = [ItemScores.of(rows, truth, n_bins)]
    if ordered:
        scored.append(RatingScores.of(rows, truth, ratings(rows.shape[1], class_names(posterior, classes))))

    def means(weights: Any) -> dict[str, float]:
        return {name: value for part in scored for name, value in part.means(weights).items()}

    n_items = len(rows)
    rng = np.random.default_rng(seed)
    resampled = [means(np.bincount(rng.integers(n_items, size=n_items), minlength=n_items)) for _ in range(n_bootstrap)]
    estimates = {}
    # With weights of 1, so that the estimate is rounded as the draws are.
    for name, value in means(np.ones(n_items)).items():
        low, high = value, value
        if n_bootstrap and name == "accuracy":
            low, high = wilson(value, n_items, level)
        elif n_bootstrap:
            draws = np.array([draw[name] for draw in resampled])
            low, high = np.quantile(draws - draws.mean() + value, [(1 - level) / 2, (1 + level) / 2])
        bottom = BOTTOM.get(name, 0.0)
        estimates[name] = Estimate(value, max(float(low), bottom), max(float(high), bottom))
    return Evaluation(estimates, n_items)


def paired_difference(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], level: float = 0.9) -> Estimate:
    """By how much the first is right more often than the second, given which items (items,) each is right on.

    Two who err on the same items differ less by chance than two separate intervals suggest: only the items count on
    which one of them alone is right. The interval is the adjusted Wald interval of Bonett and Price (2012).

    >>> right, other = np.arange(100) < 90, np.arange(100) < 80
    >>> [round(number, 3) for number in paired_difference(right, other)]
    [0.1, 0.045, 0.152]
    """
    n_items, gained, lost = len(first), int((first & ~second).sum()), int((second & ~first).sum())
    up, down = (gained + 1) / (n_items + 2), (lost + 1) / (n_items + 2)
    reach = float(ndtri((1 + level) / 2)) * np.sqrt((up + down - (up - down) ** 2) / (n_items + 2))
    value = (gained - lost) / n_items if n_items else float("nan")
    return Estimate(value, max(-1.0, float(up - down - reach)), min(1.0, float(up - down + reach)))
