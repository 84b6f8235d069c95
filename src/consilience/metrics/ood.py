"""Out-of-distribution detection: whether uncertainty tells foreign items from the data's own.

Foreign (out-of-distribution) items are the positives throughout. Each function takes what is known of the own and of
the foreign items: posteriors (items, classes), or any uncertainty scores (items,).
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from consilience.data.validation import check_number
from consilience.metrics.posteriors import checked_posterior
from consilience.system.arrays import FloatArray, plain_numpy
from consilience.system.errors import InvalidPredictions

Score: TypeAlias = Literal["max_probability", "entropy"]


def uncertainty(posterior: Any, *, score: Score = "max_probability") -> FloatArray:
    """How unsure a posterior is of each item: 1 - its largest probability, or its entropy in nats.

    >>> uncertainty([[0.9, 0.1], [0.5, 0.5]]).round(3).tolist()
    [0.1, 0.5]
    """
    values = checked_posterior(posterior)
    if score == "max_probability":
        return np.asarray(1 - values.max(axis=1))
    if score == "entropy":
        return np.asarray(-(values * np.log(np.where(values > 0, values, 1))).sum(axis=1))
    raise ValueError(f"score must be 'max_probability' or 'entropy'; got {score!r}")


def auroc(own: Any, foreign: Any, *, score: Score = "max_probability") -> float:
    """The probability that a foreign item is more uncertain than an own one (ties count half).

    >>> auroc(own=[0.1, 0.2], foreign=[0.2, 0.9])
    0.875
    """
    from sklearn.metrics import roc_auc_score  # noqa: PLC0415 - scikit-learn's metrics are slow to import

    return float(roc_auc_score(*_truth_and_scores(own, foreign, score)))


def aupr(own: Any, foreign: Any, *, score: Score = "max_probability") -> float:
    """The area under precision over recall (average precision) of finding foreign items."""
    from sklearn.metrics import average_precision_score  # noqa: PLC0415 - see auroc

    return float(average_precision_score(*_truth_and_scores(own, foreign, score)))


def fpr_at_tpr(own: Any, foreign: Any, *, tpr: float = 0.95, score: Score = "max_probability") -> float:
    """The least share of own items flagged by a threshold that flags at least `tpr` of the foreign ones."""
    check_number("tpr", tpr, most=1)
    if tpr == 0:
        raise ValueError(f"tpr must be above 0 and at most 1; got {tpr}")
    own_scores, foreign_scores = _scores(own, "own", score), _scores(foreign, "foreign", score)
    needed = int(np.ceil(tpr * len(foreign_scores) - 1e-9))
    threshold = np.sort(foreign_scores)[::-1][needed - 1]
    return float((own_scores >= threshold).mean())


def _truth_and_scores(own: Any, foreign: Any, score: Score) -> tuple[FloatArray, FloatArray]:
    own_scores, foreign_scores = _scores(own, "own", score), _scores(foreign, "foreign", score)
    truth = np.repeat([0.0, 1.0], [len(own_scores), len(foreign_scores)])
    return truth, np.concatenate([own_scores, foreign_scores])


def _scores(values: Any, name: str, score: Score) -> FloatArray:
    array = plain_numpy(values, name)
    if array.ndim == 2:
        return uncertainty(array, score=score)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise InvalidPredictions(
            f"{name} must be posteriors (items, classes) or finite scores (items,); "
            f"got {array.dtype} of shape {array.shape}"
        )
    return array.astype(np.float64)
