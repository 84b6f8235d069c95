"""Estimate from the labelled items what known labels gained, and whether more are worth it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from consilience.aggregators import Consensus
from consilience.aggregators.consensus.consensus import rule_taught
from consilience.aggregators.consensus.label_free_fit import MOST_CORRECTED
from consilience.answering.rule import AbstractRule
from consilience.data.axes import Axis
from consilience.data.labels import known_truths, which_known
from consilience.data.predictions import Predictions, renamed
from consilience.data.validation import check_number
from consilience.insight.arguments import by_predictions, look_at
from consilience.metrics.scores import METRICS, Estimate, ItemScores, paired_difference
from consilience.system.arrays import FloatArray, IntArray, to_numpy
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

FEW_GIVEN = 50  # with fewer labels, no visible difference between half and all says nothing about more

N_BOOTSTRAP, LEVEL = 1000, 0.95


@final
class LabelEvaluation(NamedTuple):
    """Scores of labelled items that were answered without their own labels, by metric."""

    n_labels: int
    before: dict[str, float]  # no labels at all
    half: dict[str, float]  # half of the labels of the other folds
    after: dict[str, float]  # all labels of the other folds
    gain: dict[str, Estimate]  # after - before, on the same items
    last_gain: dict[str, Estimate]  # after - half: what the second half brought

    def to_table(self) -> Table:
        """One row per metric."""
        scores = {"no labels": self.before, "half of them": self.half, "all": self.after}
        columns: dict[str, list[Any]] = {name: list(values.values()) for name, values in scores.items()}
        columns["all against none"] = [estimate.text("+.3f") for estimate in self.gain.values()]
        columns["all against half"] = [estimate.text("+.3f") for estimate in self.last_gain.values()]
        return Table({"metric": list(self.before), **columns})

    def sentence(self) -> str:
        """Say what the labels gained, and whether more are likely to help."""
        points = Estimate(*(100 * value for value in self.gain["accuracy"]))
        if points.low <= 0 <= points.high:
            verb = "may have changed accuracy by chance alone"
        else:
            verb = f"{'gained' if points.value > 0 else 'cost'} accuracy"
        ends = f"{points.low:+.1f} to {points.high:+.1f}"
        brought = f"{self.n_labels} labels {verb}, {points.value:+.1f} points ({ends})"
        return f"{brought}, and changed NLL by {self.gain['nll'].text('+.3f')}; {self.outlook()}."

    def outlook(self) -> str:
        """Say whether more labels are likely to help."""
        last = self.last_gain["nll"]
        if self.gain["accuracy"].value < 0 and self.gain["nll"].value < 0:
            return "they made the probabilities better and not the answers, so do not expect more answers to be right"
        if last.high < 0 and self.gain["accuracy"].low <= 0:
            return "the second half of them still made the probabilities better; more right answers are within chance"
        if last.high < 0:
            return "the second half of them still helped, so more are likely worth it"
        if self.n_labels < FEW_GIVEN:
            return "these are too few to tell whether more would help"
        if last.low > 0:
            return "the second half of them made it no better"
        return "whether the second half of them helped is within chance, so more may bring little"

    def __repr__(self) -> str:
        return f"{self.to_table()!r}\n{self.sentence()}"


@by_predictions
def value_of_labels(
    predictions: Any, labels: Any, *, aggregator: Consensus | None = None, n_folds: int = 10, seed: int = 0
) -> LabelEvaluation:
    """Score the labelled items without labels, with half of the other labels, and with all of them.

    Consensus is fitted once, without labels. Each fold of the labelled items is then answered with a correction learned
    from the other folds. Bootstrap intervals are of differences on the same items. The scores hold for items like the
    labelled ones: if hard items were labelled, other items score better.

    Parameters
    ----------
    predictions, labels
        As `Consensus.fit` takes them; at least two labels.
    aggregator
        A Consensus with other parameters. A copy is fitted.
    n_folds
        The most folds. Each takes about as long as learning from the labels twice.
    seed
        The seed of the folds, the half and the bootstrap.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(3, size=200)
    >>> mistaken = np.where(truth == 2, 1, truth)  # two of three take 2 for 1, now and then
    >>> votes = np.where(rng.random((3, 200)) < 0.3, np.stack([truth, mistaken, mistaken]), truth)
    >>> rows = 0.1 + 0.7 * np.eye(3)[np.where(rng.random((3, 200)) < 0.1, rng.integers(3, size=(3, 200)), votes)]
    >>> found = value_of_labels(rows, np.where(np.arange(200) < 60, truth, -1), n_folds=3)
    >>> found.n_labels, found.gain["nll"].value < 0
    (60, True)
    """
    if aggregator is not None and not isinstance(aggregator, Consensus):
        raise ValueError(f"aggregator must be a Consensus, which labels correct; got {type(aggregator).__name__}")
    check_number("n_folds", n_folds, least=2, integer=True)
    check_number("seed", seed, integer=True)
    looked = look_at(predictions, labels)
    data = looked.predictions
    items, targets = _known(looked.labels[0], data)
    model = looked.fitted(aggregator or Consensus())
    order = _order(data.take(items), to_numpy(model.predict_proba(data.take(items))), targets)
    items, targets = items[order], targets[order]
    rng = np.random.default_rng(seed)
    fold = rng.permutation(len(items)) % min(n_folds, len(items))
    is_first_half = rng.permutation(len(items)) % 2 == 0
    labelled = renamed(data.take(items), items=Axis("item", len(items)))

    def taught(seen: IntArray) -> AbstractRule:
        """What answers after learning from some: from class names if all are certain, so that `label_noise` applies."""
        rows = targets[seen]
        is_sure = bool((rows.max(axis=1) == 1).all())
        names = [model.classes_[k] for k in rows.argmax(axis=1)] if is_sure else rows
        return rule_taught(model, labelled.take(seen), names)

    def cross_validated(may_see: npt.NDArray[np.bool_]) -> FloatArray:
        """The answers to each fold after learning from the items of the others that may be seen."""
        answers = np.empty(targets.shape)
        for left_out in range(fold.max() + 1):
            seen, asked = np.flatnonzero((fold != left_out) & may_see), np.flatnonzero(fold == left_out)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # all labels together are warned of
                rule = taught(seen) if len(seen) else model.rule()
            answers[asked] = to_numpy(rule.posterior(model.aligned(labelled.take(asked))))
        return answers

    taught(np.arange(len(items)))  # warns of labels that contradict
    everything = np.ones(len(items), dtype=bool)
    answers = to_numpy(model.predict_proba(labelled)), cross_validated(is_first_half), cross_validated(everything)
    scores = np.stack([ItemScores.of(rows, targets).values for rows in answers])  # (three, items, metrics)
    before, half, after = (dict(zip(METRICS[:3], row, strict=True)) for row in scores.mean(axis=1).tolist())
    weights = rng.multinomial(len(items), np.full(len(items), 1 / len(items)), size=N_BOOTSTRAP) / len(items)
    gain, last = (_difference(scores[2] - scores[other], weights) for other in (0, 1))
    return LabelEvaluation(len(items), before, half, after, gain, last)


def _known(labels: Any, data: Predictions) -> tuple[IntArray, FloatArray]:
    """The labelled items, and their labels as rows (items, classes)."""
    if data.n_members * data.n_classes > MOST_CORRECTED:
        raise InvalidPredictions(
            f"labels correct other items where members × classes are at most {MOST_CORRECTED:,}; "
            f"got {data.n_members} × {data.n_classes}"
        )
    known = known_truths(labels, data.axes)
    items = np.flatnonzero(which_known(known)) if known is not None else np.empty(0, dtype=np.intp)
    if known is None or len(items) < 2:
        raise InvalidPredictions(f"labels must be known for at least 2 items; got {len(items)}")
    rows = known[items] if known.ndim == 2 else np.eye(data.n_classes)[known[items].astype(np.intp)]
    return items, rows.astype(np.float64)


def _order(labelled: Predictions, answers: FloatArray, targets: FloatArray) -> IntArray:
    """The labelled items by what is known of them, so that folds do not depend on the order they came in.

    First by how well the answers foretell their labels, then by the answers, then by what members said.
    """
    foretold = (answers * targets).sum(axis=1).round(9).tolist()  # sums in another order differ by 1e-13
    rows = np.sort(answers, axis=1).round(9).tolist()
    said = labelled.to_array()
    contents = [np.ascontiguousarray(said[:, place]).tobytes() for place in range(len(targets))]
    return np.array(sorted(range(len(targets)), key=lambda place: (foretold[place], rows[place], contents[place])))


def _difference(scores: FloatArray, weights: FloatArray) -> dict[str, Estimate]:
    """The mean difference of each metric, with a bootstrap interval; that of accuracy knows what few items can tell."""
    low, high = np.quantile(weights @ scores, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    low[0], high[0] = paired_difference(scores[:, 0] > 0, scores[:, 0] < 0, LEVEL)[1:]
    rows = np.column_stack([scores.mean(axis=0), low, high]).tolist()
    return {name: Estimate(*row) for name, row in zip(METRICS[:3], rows, strict=True)}
