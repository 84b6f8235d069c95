"""The fused answers as a table: how sure each is, how many members share it, and whether somebody should look again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from consilience.aggregators.base import AbstractAggregator
from consilience.data.answers import HardAnswers
from consilience.data.tables.told import RATED
from consilience.data.validation import check_number
from consilience.insight.agreement import by_class, labels_of, main_answers
from consilience.insight.analysis import Analysis
from consilience.insight.arguments import all_items, by_predictions, given_or_consensus
from consilience.insight.suggestion import LEAST_RIVAL
from consilience.metrics.ratings import expected_rating
from consilience.system.arrays import FloatArray, to_numpy
from consilience.system.tables import Table

LEAD = 0.1
"""An expert is right more often than others by at least so much: estimated accuracies are off by this on average."""

SHARE_ROUNDING = 1e-9
"""A share of the items that misses a whole number by less than this is the whole number: 0.29 of 100 is 29."""


@by_predictions
def answers(
    predictions: Any,
    labels: Any = None,
    *,
    aggregator: AbstractAggregator | None = None,
    class_shares: Any = None,
    review_share: float = 1,
) -> Table:
    """The fused answer to each item, how far to trust it, and why somebody should look again.

    The columns are `item`; the `answer`, which is the most probable class, and its probability, the `confidence`;
    `n_answers`, how many members answered the item; `agreement`, the share of them who say the answer; and `review`:

    - *outvoted expert*: a member says otherwise who is right more often than each member that says the answer, by at
      least 10 points, as `diagnose` estimates or measures it
    - *contested*: another class has as many votes as the answer, or more
    - *unsure*: the confidence is below 0.8
    - empty: none of these, or the label is known

    The first that holds is given. Items of hard tasks are mostly unsure: `review_share` bounds how many are named. A
    member votes for its most probable class, and for none where several are equally
    probable; of several answers to an item the most frequent one counts, of equally frequent ones the last.

    Of ordered classes there are also `expected_rating`, `median_rating`, and `low_rating` and `high_rating`, between
    which the rating is with a probability of 0.9 (`metrics.expected_rating`).

    Parameters
    ----------
    predictions
        Whatever `Predictions` takes.
    labels
        Known labels, as `fit` takes them.
    aggregator
        `Consensus(class_shares=class_shares)` by default. If it is not fitted, a copy is, with the labels.
    class_shares
        How frequent the classes are, where you know it.
    review_share
        At most this share of the items is named for review, rounded down: those with the least confidence. Of 10 items,
        0.25 names at most 2, and 0.09 none.

    Examples
    --------
    >>> import consilience as cs
    >>> p = cs.Predictions.from_labels([[0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, -1]], classes=["cat", "dog"])
    >>> table = answers(p)
    >>> table["answer"], table["n_answers"]
    (['cat', 'dog', 'dog', 'dog'], [3, 3, 3, 2])
    >>> table["review"], answers(p, review_share=0.25)["review"]
    (['', '', 'unsure', 'contested'], ['', '', '', 'contested'])
    """
    check_number("review_share", review_share, most=1)
    method = given_or_consensus(aggregator, class_shares)
    analysis = Analysis(all_items(predictions), method, labels, class_shares=class_shares)
    posterior = analysis.method.posterior_ if analysis.is_fitted_here else analysis.posterior
    return answers_under(analysis, to_numpy(posterior), review_share)


def answers_under(analysis: Analysis, rows: FloatArray, review_share: float = 1) -> Table:
    """The same, given an analysis, and the posterior (items, classes) that answers."""
    data, chosen, confidence = analysis.predictions, rows.argmax(axis=1), rows.max(axis=1)
    n_answers = np.bincount(main_answers(labels_of(analysis.hardened)).items, minlength=data.n_items)
    votes = main_answers(labels_of(analysis.voted))
    is_same = votes.labels == chosen[votes.items]
    n_same = np.bincount(votes.items[is_same], minlength=data.n_items)
    of_others = by_class(votes.items[~is_same], votes.labels[~is_same], (data.n_items, data.n_classes))
    n_other = of_others.max(axis=1).toarray().ravel()  # for the class that has the most beside the chosen one
    reasons = {
        "outvoted expert": _is_outvoted(votes, is_same, analysis),
        "contested": (n_other > 0) & (n_other >= n_same),
        "unsure": confidence < 1 - LEAST_RIVAL,
    }
    review = np.where(analysis.is_given, "", np.select([*reasons.values()], [*reasons], default=""))
    named = np.flatnonzero(review != "")
    in_order = named[np.argsort(confidence[named], kind="stable")]
    review[in_order[int(review_share * len(rows) + SHARE_ROUNDING) :]] = ""
    answer = np.array(data.classes, dtype=object)[chosen]
    found: list[Any] = [answer, confidence, n_answers, n_same / np.maximum(n_answers, 1), review]
    if data.ordered:
        found += expected_rating(rows, data.classes)
    return Table({"item": data.items} | {name: own.tolist() for name, own in zip(RATED, found, strict=False)})


def _is_outvoted(votes: HardAnswers, is_same: npt.NDArray[np.bool_], analysis: Analysis) -> npt.NDArray[np.bool_]:
    """Where a member disagrees who is right more often than all who say the chosen class, the same (items,)."""
    accuracy = np.array(analysis.diagnosis.members["estimated accuracy"], dtype=np.float64)[votes.members]
    # A member with too few answers to be judged is no expert, and nobody is known to be better.
    accuracy = np.where(np.isnan(accuracy), is_same, accuracy)
    best = np.zeros((2, analysis.predictions.n_items))  # of those who say another class, and of those who say this one
    np.maximum.at(best, (is_same.astype(np.intp), votes.items), accuracy)
    return np.asarray(best[0] >= best[1] + LEAD)
