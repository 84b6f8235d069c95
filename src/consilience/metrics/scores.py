"""How good a posterior is, given the truth. `evaluate` gives all of it, with uncertainty.

Calibration is whether an answer given with probability p comes true with frequency p. Its bins are half-open, (low,
high]; a confidence of 1 falls in the last one and a confidence of 0 in the first. An empty bin weighs nothing, so only
the means of empty bins are NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from consilience.data.validation import check_number
from consilience.metrics.posteriors import read_known, read_posterior_and_labels
from consilience.metrics.ratings import RatingScores, ratings
from consilience.system.arrays import FloatArray, IntArray
from consilience.system.tables import Table


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

LEAST_SCORES = {"ece debiased": -np.inf, "quadratic kappa": -1.0}  # the least values of metrics that may be negative
LEAST_PROBABILITY = 1e-12  # the floor under the logarithm of `nll`: one item costs at most 27.6 nats


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
        weights = np.ones(len(self.values)) if weights is None else weights
        plain = weights @ self.values / weights.sum()
        gaps = self.values[:, 0] - self.confidence
        errors = [binned_gap(self._bins, gaps, self.n_bins, debiased=own, weights=weights) for own in (False, True)]
        return dict(zip(METRICS, map(float, [*plain, *errors]), strict=True))

    @cached_property
    def _bins(self) -> IntArray:
        return bins_of(self.confidence, self.n_bins, "uniform")[0]


class Estimate(NamedTuple):
    """A value and its confidence interval."""

    value: float
    low: float
    high: float

    def text(self, form: str) -> str:
        """All three in a form such as ".2f"; the value alone where nothing is known of the interval."""
        ends = "" if np.isnan(self.low) else f" ({self.low:{form}} to {self.high:{form}})"
        return f"{self.value:{form}}{ends}"


@final
class Evaluation(dict[str, Estimate]):
    """Metrics by name, each with its confidence interval; prints as a table."""

    def __init__(self, estimates: dict[str, Estimate], n_items: int) -> None:
        super().__init__(estimates)
        self.n_items = n_items

    def to_table(self) -> Table:
        """One row per metric."""
        return Table.of_rows({"metric": name, **estimate._asdict()} for name, estimate in self.items())

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
    rows, truth, names = read_known(posterior, labels, classes)
    scored: list[ItemScores | RatingScores] = [ItemScores.of(rows, truth, n_bins)]
    if ordered:
        scored.append(RatingScores.of(rows, truth, ratings(rows.shape[1], names)))

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
        bottom = LEAST_SCORES.get(name, 0.0)
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


Strategy: TypeAlias = Literal["uniform", "quantile"]

# ---- calibration ----------------------------------------------------------------------------------------

GAP_ROUNDING = 1e-14  # the rounding error of a sum of gaps, for each item in it


class ReliabilityCurve(NamedTuple):
    """Per bin: its edges, the mean confidence and the accuracy in it (NaN where empty), and how many items."""

    edges: FloatArray  # (bins + 1,)
    confidence: FloatArray  # (bins,)
    accuracy: FloatArray  # (bins,)
    n_items: IntArray  # (bins,)


def reliability_curve(
    posterior: Any, labels: Any, *, n_bins: int = 15, strategy: Strategy = "uniform"
) -> ReliabilityCurve:
    """Confidence in the most probable class against how often it is right.

    `strategy="uniform"` cuts [0, 1] into bins of equal width, "quantile" into bins of equal mass (fewer where
    confidences tie).

    >>> reliability_curve([[0.9, 0.1], [0.8, 0.2]], [0, 1], n_bins=2).accuracy.tolist()
    [nan, 0.5]
    """
    return curve_of(*confidence_and_correctness(posterior, labels), n_bins=n_bins, strategy=strategy)


def curve_of(
    confidence: FloatArray, is_right: FloatArray, *, n_bins: int = 15, strategy: Strategy = "uniform"
) -> ReliabilityCurve:
    """The curve from the confidence in each answer, and 1 where the answer is right."""
    bins, edges = bins_of(confidence, n_bins, strategy)
    count, mean_confidence, accuracy = (
        np.bincount(bins, weights=weights, minlength=len(edges) - 1) for weights in (None, confidence, is_right)
    )
    with np.errstate(invalid="ignore"):
        return ReliabilityCurve(edges, mean_confidence / count, accuracy / count, count)


def calibration_error(
    posterior: Any, labels: Any, *, n_bins: int = 15, strategy: Strategy = "uniform", debiased: bool = False
) -> float:
    """Expected calibration error (ECE) of the most probable class: Σ_b |Σ_{i in b} right_i - confidence_i| / N.

    With many bins it has a floor: even calibrated predictions score about .044 with 300 bins and 10,000 items, because
    noise has an absolute value too. `debiased=True` takes the sign of each bin's gap, for each item, from the
    *other* items of the bin; calibrated predictions then score 0 on average, and so sometimes less.

    >>> round(calibration_error([[0.9, 0.1], [0.8, 0.2]], [0, 0]), 3)
    0.15
    """
    confidence, is_right = confidence_and_correctness(posterior, labels)
    bins, edges = bins_of(confidence, n_bins, strategy)
    return binned_gap(bins, is_right - confidence, len(edges) - 1, debiased=debiased)


def confidence_and_correctness(posterior: Any, labels: Any) -> tuple[FloatArray, FloatArray]:
    """The probability of each item's most probable class, and 1 where that class is right."""
    probabilities, truth = read_posterior_and_labels(posterior, labels)
    return probabilities.max(axis=1), (probabilities.argmax(axis=1) == truth).astype(np.float64)


def bins_of(confidence: FloatArray, n_bins: int, strategy: Strategy) -> tuple[IntArray, FloatArray]:
    """The bin (low, high] of each confidence, and the edges of the bins, from 0 to 1."""
    check_number("n_bins", n_bins, least=1, integer=True)
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f"strategy must be 'uniform' or 'quantile'; got {strategy!r}")
    edges = np.linspace(0, 1, n_bins + 1)
    if strategy == "quantile":
        inner = np.unique(np.quantile(confidence, edges[1:-1], method="lower"))
        edges = np.concatenate([[0.0], inner[(inner > 0) & (inner < 1)], [1.0]])
    return np.searchsorted(edges[1:-1], confidence, side="left"), edges


def binned_gap(
    bins: IntArray, gaps: FloatArray, n_bins: int, *, debiased: bool = False, weights: FloatArray | None = None
) -> float:
    """Σ_b |Σ_{i in b} gap_i| / N, each item counted `weights` times."""
    weighted = gaps if weights is None else weights * gaps
    n_items = len(gaps) if weights is None else weights.sum()
    totals = np.bincount(bins, weights=weighted, minlength=n_bins)
    if not debiased:
        return float(np.abs(totals).sum() / n_items)
    others = totals[bins] - weighted
    # Gaps that cancel leave a rounding error, whose sign depends on the order of the items.
    signs = np.where(np.abs(others) > GAP_ROUNDING * n_items, np.sign(others), 0.0)
    return float((signs * weighted).sum() / n_items)
